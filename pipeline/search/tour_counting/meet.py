"""The meeting of two half sweeps: which states complete each other, and in how many ways.

The edges between the cells of the cut are divided between the two sides: each side adds some of its
edges to its states. Two states complete each other if each cell gets the edges that it needs, and
if the paths of both, joined at their ends, are one cycle. So the needs of one side after its edges
must be met by the other side. For each such need, the states that have it after some edges are
looked up by their needs before these edges, and only the matchings of these states are combined.

Combining them is a linear map: given numbers for the matchings of 2k ends (the *ways* of one side),
compute for each matching the sum over those that close with it into one cycle. It is computed
without testing pairs. Suppose that one side pairs the first end with end j. A matching of the other
side pairs both of these with other ends; removing the two ends, and joining their partners, leaves
a matching of 2k-2 ends and the same problem for those. So for every j the numbers are added up by
the remaining matching, and so on, until one pair remains on both sides, which closes the cycle.
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
    """The states of one half at the cut, by ascending key, and the edges that they may add there.

    A state represents one or more *views*: states of the cut in which its cells have other places.
    Its ways are those of all views together. `needs` and `begins` are a hash table: by a need plus
    one, the number of the first state with that need.
    """

    keys: Array
    ways: Array
    needs: Array
    begins: Array
    views: Array
    """For each view, the place of each cell in the cut."""
    edges: Array
    """For each view, rows of `Halves.between`, in the numbers of the state's own cells."""
    partners: Array
    wanted: int = 0
    """The edges of the cut that this side must add, as bits."""


class PairRemoval(NamedTuple):
    """The matchings that become a given matching when a pair of ends is removed, by pairs of ends.

    For k pairs: for each end j that the first end may be paired with, and each matching of the 2k-2
    ends without these two, the 2k-2 matchings of all ends that become it. They begin at
    `sources[begins[k]]`.
    """

    begins: Array
    sources: Array


def make_sides(longer: Layer, shorter: Layer, halves: Halves) -> tuple[Side, Side]:
    """Return the sides of both halves, in the numbers that the longer half gives the cut's cells.

    The states of the longer half have one view, those of the other also that of the mirror image.
    Each side gets every second edge of the cut.
    """
    facing, one_edges, other_edges = halves.facing, halves.between[::2], halves.between[1::2]
    views = np.unique([facing, facing[halves.mirror]], axis=0)
    one = make_side(longer, one_edges, np.arange(len(facing))[np.newaxis])
    one = one._replace(wanted=halves.wanted)
    return one, change_view(one, other_edges, views) if shorter is longer else make_side(
        shorter, other_edges, views
    )


def make_side(layer: Layer, edges: Array, views: Array) -> Side:
    """Sort a layer's states by key and return them as a side with these edges and views."""
    order = np.argsort(layer.keys)
    keys, ways = layer.keys[order], layer.ways[order]
    needs = keys >> MATCHING_BITS
    begins = np.flatnonzero(_mark_new(needs))
    table = make_hash_table(needs[begins] + 1, begins)
    return change_view(
        Side(keys, ways, *table, views, edges, list_all_partners(views.shape[1])), edges, views
    )


def change_view(side: Side, edges: Array, views: Array) -> Side:
    """Return the side's states with other edges of the cut, and in other views."""
    view_edges = [np.column_stack((np.argsort(view)[edges[:, :2]], edges[:, 2])) for view in views]
    return side._replace(edges=np.array(view_edges, dtype=np.int64), views=views, wanted=0)


def make_pair_removal(max_pairs: int) -> PairRemoval:
    """Return the pair removal for matchings of up to `max_pairs` pairs."""
    pairs = np.arange(max_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHING_COUNTS[pairs])
    sources, partners = np.empty(ends[-1], dtype=np.int32), list_all_partners(2 * max_pairs)
    for k in range(2, max_pairs + 1):
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
                # before the removal, the path between these two went through the first end and j
                one = renumber_end(way, j)
                other = rest[one]
                partner[:] = rest
                partner[0], partner[one] = one, 0
                partner[j], partner[other] = other, j
                sources[j - 1, matching, way] = rank_matching(needs, partner)


def find_max_pairs(needs: Array) -> int:
    """Return the largest number of pairs of path ends among states with these needs."""
    return int(np.bitwise_count(needs & END_BITS).max(initial=0)) // 2


def make_full_needs(cells: int) -> int:
    """Return the needs of both sides together: two edges for each cell.

    The last cell has no edge yet on either side, and needs two on both.
    """
    return sum(FREE << 2 * cell for cell in (*range(cells), cells - 1))


def find_shared_needs(one: Side, other: Side, cells: int) -> Array:
    """Return the needs of one side after its edges that some state of the other side meets.

    The two needs, each after the side's edges, add up to those of `make_full_needs`.
    """
    one_needs, other_needs = (_list_needs_left(side) for side in (one, other))
    return np.intersect1d(one_needs, make_full_needs(cells) - other_needs, assume_unique=True)


def _list_needs_left(side: Side) -> Array:
    """List the remaining needs of a side's states after each set of its edges, in all views."""
    needs = side.keys[:0]
    for view, edges in zip(side.views, side.edges, strict=True):
        view_needs = side.needs[side.needs != 0] - 1
        for one, two, _ in edges:
            can_join = (view_needs >> 2 * one & 3 > 0) & (view_needs >> 2 * two & 3 > 0)
            needs_joined = view_needs[can_join] - (1 << 2 * one) - (1 << 2 * two)
            view_needs = _merge_distinct(view_needs, needs_joined)
        moved = [(view_needs >> 2 * cell & 3) << 2 * place for cell, place in enumerate(view)]
        needs = _merge_distinct(needs, np.sum(moved, axis=0))
    return needs


def _merge_distinct(one: Array, other: Array) -> Array:
    """Return the distinct values of two arrays, ascending.

    `numpy.union1d` hashes, and is slower here.
    """
    values = np.sort(np.append(one, other))
    merged: Array = values[_mark_new(values)]
    return merged


def _mark_new(ascending: Array) -> Array:
    """Return for each value whether it differs from the one before it."""
    new = np.ones(len(ascending), dtype=np.bool_)
    new[1:] = ascending[1:] != ascending[:-1]
    return new


def add_completions(
    needs: Array, one: Side, other: Side, removal: PairRemoval, onward: Array
) -> Array:
    """Add to `onward` the number of ways to complete each state of one side, for some needs.

    Only states that have one of these needs after their edges get completions. Returns for each
    cell the number of the cycles that use its edge to the virtual square.
    """
    sums, spare = np.zeros((2, MATCHING_COUNTS[len(removal.begins) - 1]), dtype=np.int64)
    full_needs = make_full_needs(one.views.shape[1])
    uses, approximate_sum = _add_completions(
        needs, one, other, full_needs, removal, sums, spare, onward
    )
    if approximate_sum >= COUNT_LIMIT:
        raise CountOverflow
    # sums over two views may exceed 2^63, but no number of cycles does
    total: Array = uses[0] + (uses[1].view(np.uint64) // len(other.views)).astype(np.int64)
    return total


@compiled
def _add_completions(
    needs_list: Array, one: Side, other: Side, full_needs: int, removal: PairRemoval,
    buffer: Array, spare: Array, onward: Array,
) -> tuple[Array, float]:  # fmt: skip
    """Compute `add_completions`; return the uses by side, and the largest sum of ways as a float.

    The float is infinite on overflow. `buffer` and `spare` are scratch space.
    """
    uses = np.zeros((2, MAX_CELLS), dtype=np.int64)
    has_virtual, views = other.edges[:, :, 2].any(), len(other.views)
    one_rows, other_rows = np.empty((1, 3), dtype=np.int64), np.empty((1, 3), dtype=np.int64)
    largest = 0.0
    for needs in needs_list:
        pairs = count_ones(needs & END_BITS) // 2
        one_count, one_rows = _find_states(needs, one, one_rows)
        if one_count == 0:
            continue
        other_count, other_rows = _find_states(full_needs - needs, other, other_rows)
        if other_count == 0:
            continue
        sums = buffer[: MATCHING_COUNTS[pairs]]
        sums[:] = 0
        approximate_sum = 0.0
        for state, matching, _ in other_rows[:other_count]:
            sums[matching] += other.ways[state]
            approximate_sum += float(other.ways[state])
        largest = max(largest, approximate_sum)
        sums //= views
        completions = _sum_completions(buffer, spare, pairs, removal)
        for state, matching, edges in one_rows[:one_count]:
            onward[state] += completions[matching]
            if onward[state] < 0:
                return uses, np.inf
            _count_uses(uses[0], one, edges, one.ways[state] * completions[matching])
        if has_virtual:
            sums[:] = 0
            for state, matching, _ in one_rows[:one_count]:
                sums[matching] += one.ways[state]
            completions = _sum_completions(buffer, spare, pairs, removal)
            for state, matching, edges in other_rows[:other_count]:
                _count_uses(uses[1], other, edges, other.ways[state] * completions[matching])
    return uses, largest


@compiled
def _count_uses(uses: Array, side: Side, edges: int, cycles: int) -> None:
    """Add a number of cycles for each of these edges that leads to the virtual square."""
    while edges:
        _, cell, is_virtual = side.edges[0, find_lowest(edges)]
        uses[side.views[0, cell]] += is_virtual * cycles
        edges &= edges - 1


@compiled
def _find_states(needs: int, side: Side, rows: Array) -> tuple[int, Array]:
    """Find the states of a side that have these needs after some edges, in all views.

    Returns their number and the rows, which have been enlarged if necessary. A row is the number of
    the state, the rank of its matching after the edges, and the edges as bits.
    """
    buffers = np.zeros((3, MAX_CELLS + 1), dtype=np.int64)
    chosen = np.empty(side.edges.shape[1], dtype=np.int64)
    count = 0
    for view in range(len(side.views)):
        places, view_edges = side.views[view], side.edges[view]
        needs_before = size = edges = 0
        for cell in range(len(places)):
            needs_before |= (needs >> 2 * places[cell] & 3) << 2 * cell
        while size >= 0:
            slot = find_place(needs_before + 1, side.needs)
            has_states = side.needs[slot] and edges & side.wanted == side.wanted
            state = side.begins[slot] if has_states else len(side.keys)
            while state < len(side.keys) and side.keys[state] >> MATCHING_BITS == needs_before:
                matching = _rank_with_edges(
                    side.keys[state], side, view_edges, chosen[:size], places, buffers
                )
                if matching >= 0:
                    if count == len(rows):
                        rows = np.append(rows, np.empty_like(rows), axis=0)
                    rows[count] = state, matching, edges
                    count += 1
                state += 1
            size, needs_before, edges = _next_set(view_edges, chosen, size, needs_before, edges)
    return count, rows


@compiled
def _next_set(
    edges: Array, chosen: Array, size: int, needs_before: int, bits: int
) -> tuple[int, int, int]:
    """Choose the next set of edges; return its size or -1, the needs before it, and its bits.

    `chosen` gets the numbers of its edges. A cell needs at most two edges before the set.
    """
    number = chosen[size - 1] + 1 if size else 0
    while True:
        while number < len(edges):
            one, two, _ = edges[number]
            if needs_before >> 2 * one & 3 < FREE and needs_before >> 2 * two & 3 < FREE:
                chosen[size] = number
                needs_before += (1 << 2 * one) + (1 << 2 * two)
                return size + 1, needs_before, bits | 1 << number
            number += 1
        if size == 0:
            return -1, needs_before, bits
        size -= 1
        one, two, _ = edges[chosen[size]]
        needs_before -= (1 << 2 * one) + (1 << 2 * two)
        bits ^= 1 << chosen[size]
        number = chosen[size] + 1


@compiled
def _rank_with_edges(
    key: int, side: Side, edges: Array, chosen: Array, places: Array, buffers: Array
) -> int:
    """Return the rank of a state's matching after the chosen edges, -1 if they close a cycle.

    The matching is that of the cut: cells are renumbered by `places`. `buffers` is scratch space.
    """
    partner, ends, moved = buffers
    unpack_key(key, side.partners, partner, ends)
    needs = key >> MATCHING_BITS
    for number in chosen:
        one, two, _ = edges[number]
        one_end = one if needs >> 2 * one & 3 == FREE else partner[one]
        two_end = two if needs >> 2 * two & 3 == FREE else partner[two]
        if one_end == two:
            return -1
        partner[one_end], partner[two_end] = two_end, one_end
        needs -= (1 << 2 * one) + (1 << 2 * two)
    moved_needs, remaining = 0, needs & END_BITS
    while remaining:
        cell = find_lowest(remaining) // 2
        moved[places[cell]] = places[partner[cell]]
        moved_needs |= END << 2 * places[cell]
        remaining &= remaining - 1
    return rank_matching(moved_needs, moved)


@compiled
def _sum_completions(sums: Array, spare: Array, pairs: int, removal: PairRemoval) -> Array:
    """Sum for each matching of `pairs` pairs the numbers of those that close it into one cycle.

    `sums` has the numbers; both arrays are overwritten, and one of them is returned.
    """
    total_count = MATCHING_COUNTS[pairs]
    for pairs_left in range(pairs, 1, -1):
        count, ways = MATCHING_COUNTS[pairs_left], 2 * pairs_left - 2
        for block in range(0, total_count, count):
            begin = removal.begins[pairs_left]
            for matching in range(count):
                total = 0
                for source in removal.sources[begin : begin + ways]:
                    total += sums[block + source]
                spare[block + matching] = total
                begin += ways
        sums, spare = spare, sums
    return sums
