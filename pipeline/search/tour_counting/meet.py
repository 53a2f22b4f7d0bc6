"""Where two halves of a sweep meet: which states complete each other, and in how many ways.

The edges between the cells of the cut are dealt out: each side lays some of them on its states.
Then two states complete each other if each cell gets what it needs, and if the pieces of both, end
to end, are one cycle. So what one side needs after its edges, the other has to lay; for each such
need, the states that come to it with some edges are found by what they needed before, and only
their matchings meet.

Their question is a linear map: given numbers for the matchings of 2k ends (the *ways* of one
side), find for each matching the sum over those that close with it into one cycle. It is answered
without testing pairs. Say that one side pairs the first end with end j. Then a matching of the
other side goes on from both of them; dropping the two ends, and joining what they led to, leaves a
matching of 2k-2 ends and the same question about those. So for every j the numbers are added up by
the matching that is left, and so on, until one pair is left on both sides, which closes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.search.tour_counting.halves import Halves
from pipeline.search.tour_counting.sweep import (
    COUNT_LIMIT,
    CountOverflow,
    Layer,
    find_place,
    make_hash_table,
)
from tablebase.frontier.bits import count_ones, find_lowest
from tablebase.frontier.keys import (
    END_BITS,
    MATCHING_COUNTS,
    MATCHING_STARTS,
    MAX_CELLS,
    Array,
    list_all_partners,
    rank_matching,
    renumber_end,
    unpack_key,
)
from tablebase.frontier.state import END, FREE, MATCHING_BITS
from tablebase.jit import compiled


class Side(NamedTuple):
    """The states of one half at the cut, by ascending key, and the edges that they may take there.

    A state stands for one *view* or several: as many states of the cut, where its cells have other
    places. Its ways are those of all together. Where the states of a need begin is in a table, by
    the need plus one.
    """

    keys: Array
    ways: Array
    needs: Array
    begins: Array
    views: Array
    """Of each view, where it brings each cell."""
    edges: Array
    """Of each view, rows of `Halves.between` in the state's own cells."""
    partners: Array
    wanted: int = 0
    """Edges of the cut that it takes in any case, as bits."""


class PairRemoval(NamedTuple):
    """For so many pairs of ends, where the matchings without two of the ends come from.

    Of k pairs: for each end j that the first may be paired with, and each matching of the 2k-2 ends
    without these two, the 2k-2 matchings of all ends that leave it. They begin at `begins[k]`.
    """

    begins: Array
    sources: Array


def make_sides(longer: Layer, shorter: Layer, halves: Halves) -> tuple[Side, Side]:
    """Both halves as the longer one sees the cut: of the other, states and their images."""
    facing, own, others = halves.facing, halves.between[::2], halves.between[1::2]
    views = np.unique([facing, facing[halves.mirror]], axis=0)
    one = make_side(longer, own, np.arange(len(facing))[np.newaxis])
    one = one._replace(wanted=halves.wanted)
    return one, change_view(one, others, views) if shorter is longer else make_side(
        shorter, others, views
    )


def make_side(layer: Layer, edges: Array, views: Array) -> Side:
    order = np.argsort(layer.keys)
    keys, ways = layer.keys[order], layer.ways[order]
    needs = keys >> MATCHING_BITS
    begins = np.flatnonzero(_mark_new(needs))
    table = make_hash_table(needs[begins] + 1, begins)
    return change_view(
        Side(keys, ways, *table, views, edges, list_all_partners(views.shape[1])), edges, views
    )


def change_view(side: Side, edges: Array, views: Array) -> Side:
    """The same states with other edges of the cut, and in other views."""
    own = [np.column_stack((np.argsort(view)[edges[:, :2]], edges[:, 2])) for view in views]
    return side._replace(edges=np.array(own, dtype=np.int64), views=views, wanted=0)


def make_pair_removal(most_pairs: int) -> PairRemoval:
    """What is needed for up to so many pairs."""
    pairs = np.arange(most_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHING_COUNTS[pairs])
    sources, partners = np.empty(ends[-1], dtype=np.int32), list_all_partners(2 * most_pairs)
    for k in range(2, most_pairs + 1):
        shape = (2 * k - 1, int(MATCHING_COUNTS[k - 1]), 2 * k - 2)
        _fill_pair_removal(k, partners, sources[ends[k - 1] : ends[k]].reshape(shape))
    return PairRemoval(np.roll(ends, 1), sources)


@compiled
def _fill_pair_removal(pairs: int, partners: Array, sources: Array) -> None:
    ends = 2 * pairs
    needs = END_BITS & ((1 << 2 * ends) - 1)
    rest, partner = np.zeros((2, ends), dtype=np.int64)
    for j in range(1, ends):
        for matching in range(sources.shape[1]):
            packed = partners[MATCHING_STARTS[pairs - 1] + matching]
            for end in range(ends - 2):
                rest[renumber_end(end, j)] = renumber_end(packed >> 4 * end & 15, j)
            for way in range(ends - 2):
                # the piece between these two once led through the first end and j
                one = renumber_end(way, j)
                other = rest[one]
                partner[:] = rest
                partner[0], partner[one] = one, 0
                partner[j], partner[other] = other, j
                sources[j - 1, matching, way] = rank_matching(needs, partner)


def find_max_pairs(needs: Array) -> int:
    """The most pairs of ends that there are where so much is needed."""
    return int(np.bitwise_count(needs & END_BITS).max(initial=0)) // 2


def make_full_needs(cells: int) -> int:
    """What both sides need together: two edges of each cell.

    But to the last cell no edge has come yet, and both need two.
    """
    return sum(FREE << 2 * cell for cell in (*range(cells), cells - 1))


def find_shared_needs(one: Side, other: Side, cells: int) -> Array:
    """What one side can need after its edges when the other, after its own, needs all the rest."""
    left, rest = (_list_needs_left(side) for side in (one, other))
    return np.intersect1d(left, make_full_needs(cells) - rest, assume_unique=True)


def _list_needs_left(side: Side) -> Array:
    """What is left of all needs after each set of edges, in all views."""
    needs = side.keys[:0]
    for view, edges in zip(side.views, side.edges, strict=True):
        left = side.needs[side.needs != 0] - 1
        for one, two, _ in edges:
            room = (left >> 2 * one & 3 > 0) & (left >> 2 * two & 3 > 0)
            left = _merge_distinct(left, left[room] - (1 << 2 * one) - (1 << 2 * two))
        moved = [(left >> 2 * cell & 3) << 2 * place for cell, place in enumerate(view)]
        needs = _merge_distinct(needs, np.sum(moved, axis=0))
    return needs


def _merge_distinct(some: Array, more: Array) -> Array:
    """All that are among these or those, ascending; `numpy.union1d` hashes, and is slower here."""
    both = np.sort(np.append(some, more))
    merged: Array = both[_mark_new(both)]
    return merged


def _mark_new(ascending: Array) -> Array:
    """Which are not as the one before."""
    new = np.ones(len(ascending), dtype=np.bool_)
    new[1:] = ascending[1:] != ascending[:-1]
    return new


def add_completions(
    needs: Array, one: Side, other: Side, removal: PairRemoval, onward: Array
) -> Array:
    """Of the cycles that leave over some needs: add those onward from each state of one side.

    Returns for each cell how many of them use its edge to the virtual one.
    """
    room = np.zeros((2, MATCHING_COUNTS[len(removal.begins) - 1]), dtype=np.int64)
    both = make_full_needs(one.views.shape[1])
    uses, about = _add_completions(needs, one, other, both, removal, room[0], room[1], onward)
    if about >= COUNT_LIMIT:
        raise CountOverflow
    # seen in two views, these may pass 2^63, but no number of cycles does
    total: Array = uses[0] + (uses[1].view(np.uint64) // len(other.views)).astype(np.int64)
    return total


@compiled
def _add_completions(
    some: Array, one: Side, other: Side, both: int, drop: PairRemoval, asked: Array, spare: Array,
    onward: Array,
) -> tuple[Array, float]:  # fmt: skip
    uses = np.zeros((2, MAX_CELLS), dtype=np.int64)
    counted, views = other.edges[:, :, 2].any(), len(other.views)
    own, theirs = np.empty((1, 3), dtype=np.int64), np.empty((1, 3), dtype=np.int64)
    most = 0.0
    for needs in some:
        pairs = count_ones(needs & END_BITS) // 2
        own_many, own = _find_states(needs, one, own)
        their_many, theirs = _find_states(both - needs, other, theirs) if own_many else (0, theirs)
        if their_many == 0:
            continue
        every = asked[: MATCHING_COUNTS[pairs]]
        every[:] = 0
        about = 0.0
        for state, matching, _ in theirs[:their_many]:
            every[matching] += other.ways[state]
            about += float(other.ways[state])
        most = max(most, about)
        every //= views
        answer = _sum_completions(asked, spare, pairs, drop)
        for state, matching, edges in own[:own_many]:
            onward[state] += answer[matching]
            if onward[state] < 0:
                return uses, np.inf
            _count_uses(uses[0], one, edges, one.ways[state] * answer[matching])
        if counted:
            every[:] = 0
            for state, matching, _ in own[:own_many]:
                every[matching] += one.ways[state]
            answer = _sum_completions(asked, spare, pairs, drop)
            for state, matching, edges in theirs[:their_many]:
                _count_uses(uses[1], other, edges, other.ways[state] * answer[matching])
    return uses, most


@compiled
def _count_uses(uses: Array, side: Side, edges: int, cycles: int) -> None:
    while edges:
        _, cell, counted = side.edges[0, find_lowest(edges)]
        uses[side.views[0, cell]] += counted * cycles
        edges &= edges - 1


@compiled
def _find_states(needs: int, side: Side, rows: Array) -> tuple[int, Array]:
    """The states of a side, with edges, that need so much, in all views; returns how many.

    One row each: which state it is, the number of its matching after its edges, and these as bits.
    """
    room = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    chosen = np.empty(side.edges.shape[1], dtype=np.int64)
    many = 0
    for view in range(len(side.views)):
        to, between = side.views[view], side.edges[view]
        laid = size = edges = 0
        for cell in range(len(to)):
            laid |= (needs >> 2 * to[cell] & 3) << 2 * cell
        while size >= 0:
            place = find_place(laid + 1, side.needs)
            begins = side.needs[place] and edges & side.wanted == side.wanted
            at = side.begins[place] if begins else len(side.keys)
            while at < len(side.keys) and side.keys[at] >> MATCHING_BITS == laid:
                matching = _rank_with_edges(side.keys[at], side, between, chosen[:size], to, room)
                if matching >= 0:
                    if many == len(rows):
                        rows = np.append(rows, np.empty_like(rows), axis=0)
                    rows[many] = at, matching, edges
                    many += 1
                at += 1
            size, laid, edges = _next_set(between, chosen, size, laid, edges)
    return many, rows


@compiled
def _next_set(edges: Array, chosen: Array, size: int, laid: int, bits: int) -> tuple[int, int, int]:
    """The next set of edges that has room: its size or -1, what cells have with it, and its bits.

    Room is where cells have less than two.
    """
    number = chosen[size - 1] + 1 if size else 0
    while True:
        while number < len(edges):
            one, two, _ = edges[number]
            if laid >> 2 * one & 3 < FREE and laid >> 2 * two & 3 < FREE:
                chosen[size] = number
                return size + 1, laid + (1 << 2 * one) + (1 << 2 * two), bits | 1 << number
            number += 1
        if size == 0:
            return -1, laid, bits
        size -= 1
        one, two, _ = edges[chosen[size]]
        laid -= (1 << 2 * one) + (1 << 2 * two)
        bits ^= 1 << chosen[size]
        number = chosen[size] + 1


@compiled
def _rank_with_edges(
    key: int, side: Side, between: Array, chosen: Array, to: Array, room: Array
) -> int:
    """The number of a state's matching after some edges are laid, -1 where they close a cycle."""
    partner, ends, moved = room
    unpack_key(key, side.partners, partner, ends)
    needs = key >> MATCHING_BITS
    for number in chosen:
        one, two, _ = between[number]
        near = one if needs >> 2 * one & 3 == FREE else partner[one]
        far = two if needs >> 2 * two & 3 == FREE else partner[two]
        if near == two:
            return -1
        partner[near], partner[far] = far, near
        needs -= (1 << 2 * one) + (1 << 2 * two)
    ends_of, left = 0, needs & END_BITS
    while left:
        cell = find_lowest(left) // 2
        moved[to[cell]] = to[partner[cell]]
        ends_of |= END << 2 * to[cell]
        left &= left - 1
    return rank_matching(ends_of, moved)


@compiled
def _sum_completions(asked: Array, spare: Array, pairs: int, removal: PairRemoval) -> Array:
    """For each matching of so many pairs, the sum over those that close with it into one cycle."""
    every = MATCHING_COUNTS[pairs]
    for left in range(pairs, 1, -1):
        many, ways = MATCHING_COUNTS[left], 2 * left - 2
        for block in range(0, every, many):
            at = removal.begins[left]
            for matching in range(many):
                total = 0
                for source in removal.sources[at : at + ways]:
                    total += asked[block + source]
                spare[block + matching] = total
                at += ways
        asked, spare = spare, asked
    return asked
