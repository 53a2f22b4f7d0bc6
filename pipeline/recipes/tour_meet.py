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

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.frontier.layers import END, FREE, MATCHING_BITS
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.recipes.tour_edge_sets import (
    Filter,
    iter_edge_sets,
    rank_edge_sets,
    relabel_needs,
)
from puzzle_tablebase.pipeline.recipes.tour_keys import (
    END_BITS,
    MATCHING_COUNTS,
    MAX_CELLS,
    MAX_PAIRS,
    list_all_partners,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    COUNT_LIMIT,
    CountOverflow,
    HashTable,
    Layer,
    make_mirror,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.resources import count_cores

MAX_SUMS = 1 << 16
"""Most matchings for which numbers are added up at a time, unless a single need has more."""
MAX_ROWS = 1 << 16
"""States of both sides; above so many, fewer needs are combined at a time."""
MAX_THREADS = 4
"""Most threads: each adds up numbers for all states, in an array of its own."""
MAX_PARTS, NEEDS_PER_PART = 512, 1000
"""Most parts into which the shared needs are divided, and the needs that each should have."""


class PairRemoval(NamedTuple):
    """The matchings that become a given matching when a pair of ends is removed, by pairs of ends.

    For k pairs: for each end j that the first end may be paired with, and each matching of the 2k-2
    ends without these two, the 2k-2 matchings of all ends that become it. They begin at
    `sources[begins[k]]`.
    """

    begins: Array
    sources: Array


def make_pair_removal(max_pairs: int) -> PairRemoval:
    """Return the pair removal for matchings of up to `max_pairs` pairs."""
    pairs = np.arange(max_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHING_COUNTS[pairs])
    sources = np.empty(ends[-1], dtype=np.int32)
    partners = list_all_partners(2 * max_pairs)
    listed, partner = np.zeros((2, 2 * MAX_PAIRS), dtype=np.int64)
    for k in range(2, max_pairs + 1):
        _fill_pair_removal(k, partners, listed, partner, sources[ends[k - 1] : ends[k]])
    return PairRemoval(np.roll(ends, 1), sources)


@compiled
def _fill_pair_removal(
    pairs: int, partners: Array, listed: Array, partner: Array, sources: Array
) -> None:
    """Fill in the sources for so many pairs.

    Before the removal of the first end and `j`, the path between two other ends went through both:
    the first end was paired with `one` of them, and `j` with the other.
    """
    needs, at = END_BITS & (1 << 4 * pairs) - 1, 0
    for j in range(1, 2 * pairs):
        left = needs & ~(END | END << 2 * j)
        for matching in range(MATCHING_COUNTS[pairs - 1]):
            unpack_key(left << MATCHING_BITS | matching, partners, partner, listed)
            for one in range(1, 2 * pairs):
                if one == j:
                    continue
                other = partner[one]
                partner[0], partner[one], partner[j], partner[other] = one, 0, other, j
                sources[at] = rank_matching(needs, partner)
                partner[one], partner[other] = other, one
                at += 1


class Cut(NamedTuple):
    """The cells between the two halves."""

    between: Array
    """The edges that neither half places: two cells, and whether the first is the virtual one."""
    mirror: Array
    """The mirror image of each cell."""
    facing: Array
    """For each cell, its number in the other half."""
    wanted: int = 0
    """The edges of `between` that all cycles must use, as bits: none, or the first one."""


def make_cut(sweep: Sweep, *, mirrored: bool) -> Cut:
    """Make the cut of a board.

    `mirrored`: whether a state may represent its mirror image too.
    """
    between = [(one, other, one < sweep.here) for one, other in sweep.between]
    mirror = make_mirror(sweep) if mirrored else np.arange(sweep.cells)
    return Cut(np.array(between, dtype=np.int64), mirror, np.array(sweep.facing))


class Side(NamedTuple):
    """The states of one half at the cut, by ascending key, and the edges that they may add there.

    A state represents one or more *views*: states of the cut in which its cells have other places.
    Its ways are those of all views together.
    """

    keys: Array
    ways: Array
    needs: Array
    """The distinct needs of the states, ascending."""
    begins: Array
    """Where the states with each of these needs begin, and the number of all states."""
    table: HashTable
    """By a need plus one, its number among `needs`, plus one."""
    views: Array
    """For each view, the place of each cell in the cut."""
    edges: Array
    """For each view, rows of `Cut.between`, in the numbers of the state's own cells."""
    partners: Array
    wanted: int = 0
    """The edges of the cut that this side must add, as bits."""


def make_sides(longer: Layer, shorter: Layer, cut: Cut) -> tuple[Side, Side]:
    """Return the sides of both halves, in the numbers that the longer half gives the cut's cells.

    The states of the longer half have one view, those of the other also that of the mirror image.
    Each side gets every second edge of the cut.
    """
    edges, views = cut.between[1::2], np.unique([cut.facing, cut.facing[cut.mirror]], axis=0)
    one = make_side(longer, cut.between[::2], np.arange(len(cut.facing))[np.newaxis])
    is_same = shorter is longer
    other = change_view(one, edges, views) if is_same else make_side(shorter, edges, views)
    return one._replace(wanted=cut.wanted), other


def make_side(layer: Layer, edges: Array, views: Array) -> Side:
    """Sort a layer's states by key and return them as a side with these edges and views."""
    order = np.argsort(layer.keys)
    keys, ways = layer.keys[order], layer.ways[order]
    needs = keys >> MATCHING_BITS
    begins = np.flatnonzero(np.append(len(needs) > 0, needs[1:] != needs[:-1]))
    needs = needs[begins]
    table = HashTable.from_columns(needs + 1, np.arange(len(needs)) + 1)
    partners = list_all_partners(views.shape[1])
    side = Side(keys, ways, needs, np.append(begins, len(keys)), table, views, edges, partners)
    return change_view(side, edges, views)


def change_view(side: Side, edges: Array, views: Array) -> Side:
    """Return the side's states with other edges of the cut, and in other views."""
    view_edges = [np.column_stack((np.argsort(view)[edges[:, :2]], edges[:, 2])) for view in views]
    return side._replace(edges=np.array(view_edges, dtype=np.int64), views=views)


def make_full_needs(cells: int) -> int:
    """Return the needs of both sides together: two edges for each cell.

    The last cell has no edge yet on either side, and needs two on both.
    """
    return sum(FREE << 2 * cell for cell in (*range(cells), cells - 1))


def find_shared_needs(one: Side, other: Side) -> Array:
    """Return the needs of one side after its edges that some state of the other side meets.

    The two needs, each after the side's edges, add up to those of `make_full_needs`.
    """
    one_needs, other_needs = (_list_needs_left(side) for side in (one, other))
    return np.intersect1d(
        one_needs, make_full_needs(one.views.shape[1]) - other_needs, assume_unique=True
    )


def _list_needs_left(side: Side) -> Array:
    """List the remaining needs of a side's states after each set of its edges, in all views."""
    needs = side.keys[:0]
    for view, edges in zip(side.views, side.edges, strict=True):
        view_needs = side.needs
        for one, two, _ in edges:
            can_join = (view_needs >> 2 * one & 3 > 0) & (view_needs >> 2 * two & 3 > 0)
            needs_joined = view_needs[can_join] - (1 << 2 * one) - (1 << 2 * two)
            view_needs = _merge_distinct(view_needs, needs_joined)
        needs = _merge_distinct(needs, relabel_needs(view_needs, view))
    return needs


def _merge_distinct(one: Array, other: Array) -> Array:
    """Return the distinct values of two arrays, ascending; `numpy.union1d` is slower."""
    values = np.sort(np.append(one, other))
    merged: Array = values[np.append(len(values) > 0, values[1:] != values[:-1])]
    return merged


# ---- the whole meeting ------------------------------------------------------------------------


def meet_halves(
    longer: Layer, shorter: Layer, cut: Cut, name: str, tasks: Tasks
) -> tuple[Layer, Array, Array]:
    """Combine two half sweeps at the cut.

    Returns the longer half's states by ascending key, the number of ways to complete each, and the
    number of cycles that use each cell's edge to the virtual square. `name`: what is reported.
    """
    one, other = make_sides(longer, shorter, cut)
    del longer, shorter  # large, and no longer needed
    needs = find_shared_needs(one, other)
    removal = make_pair_removal(int(np.bitwise_count(needs & END_BITS).max(initial=0)) // 2)
    parts = min(MAX_PARTS, 1 + len(needs) // NEEDS_PER_PART)
    threads = min(parts, tasks.jobs, count_cores(), MAX_THREADS)
    sums, uses = np.zeros((threads, len(one.keys)), np.int64), np.zeros(MAX_CELLS, np.int64)
    for done in range(0, parts, threads):
        tasks.report(name, done, parts)
        # each thread has a row of the sums
        shares = (
            (needs[at::parts], one, other, removal, sums[at - done])
            for at in range(done, min(parts, done + threads))
        )
        for uses_found in tasks.run_in_threads(add_completions, shares):
            uses += uses_found
    total: Array = sums[0]
    for row in sums[1:]:
        total += row
        if total.min(initial=0) < 0:
            raise CountOverflow
    return Layer(one.keys, one.ways), total, uses


# ---- completions ------------------------------------------------------------------------------


class MatchingStates(NamedTuple):
    """States that have needs after some edges: the number of the need and of the state, the rank of
    the state's matching after the edges, and the edges as bits."""

    needs: Array
    states: Array
    matchings: Array
    edges: Array


def add_completions(
    needs: Array, one: Side, other: Side, removal: PairRemoval, onward: Array
) -> Array:
    """Add to `onward` the number of ways to complete each state of one side, for some needs.

    Only states that have one of these needs after their edges get completions. Returns for each
    cell the number of the cycles that use its edge to the virtual square.
    """
    uses = np.zeros((2, MAX_CELLS), dtype=np.int64)
    full_needs = make_full_needs(one.views.shape[1])
    sizes = MATCHING_COUNTS[np.bitwise_count(needs & END_BITS) // 2]
    done, count = 0, 8
    while done < len(needs):
        fitting = np.searchsorted(np.cumsum(sizes[done : done + count]), MAX_SUMS, side="right")
        batch = needs[done : done + max(int(fitting), 1)]
        done += len(batch)
        one_rows = _find_states(batch, one)
        other_rows = _find_states(full_needs - batch, other)
        _combine(batch, (one, other), (one_rows, other_rows), removal, onward, uses)
        rows = len(one_rows.needs) + len(other_rows.needs)
        count = max(count // 2, 1) if rows > MAX_ROWS else 2 * count
    # sums over two views may exceed 2^63, but no number of cycles does
    total: Array = uses[0] + (uses[1].view(np.uint64) // len(other.views)).astype(np.int64)
    return total


def _find_states(needs: Array, side: Side) -> MatchingStates:
    """Find the states of a side that have one of these needs after some edges, in all views."""
    batches = [
        rows
        for view, edges in zip(side.views, side.edges, strict=True)
        for rows in _iter_states(needs, side, view, edges[:, :2])
    ]
    return MatchingStates(*(np.concatenate(columns) for columns in zip(*batches, strict=True)))


def _iter_states(needs: Array, side: Side, view: Array, edges: Array) -> Iterator[MatchingStates]:
    """Iterate over the states in one view; `edges` has the cells that each edge joins.

    A cell needs two edges less what it has: so the edges before which a state has few needs are
    those that can be added to what all these cells lack.
    """
    full = sum(FREE << 2 * cell for cell in range(len(view)))
    own_needs = relabel_needs(needs, np.argsort(view))
    for numbers, sets, left in iter_edge_sets(full - own_needs, edges, Filter(side.wanted)):
        group = side.table.look_up(full - left + 1) - 1
        at = np.flatnonzero(group >= 0)
        group = group[at]
        sizes = side.begins[group + 1] - side.begins[group]
        # one row for each state of each group
        at = np.repeat(at, sizes)
        skipped = np.cumsum(sizes) - sizes - side.begins[group]
        states = np.arange(len(at)) - np.repeat(skipped, sizes)
        rows, bits = numbers[at], sets[at]
        matchings = rank_edge_sets(side.keys[states], bits, needs[rows], edges, view, side.partners)
        at = np.flatnonzero(matchings >= 0)
        yield MatchingStates(rows[at], states[at], matchings[at], bits[at])


def _combine(
    needs: Array, sides: tuple[Side, Side], rows: tuple[MatchingStates, MatchingStates],
    removal: PairRemoval, onward: Array, uses: Array,
) -> None:  # fmt: skip
    """Add the completions of the first side's states, and the uses of both sides' edges.

    `rows` are the states that have these needs, or what remains of them on the other side.
    """
    pairs = np.bitwise_count(needs & END_BITS).astype(np.int64) // 2
    ends = np.cumsum(MATCHING_COUNTS[pairs])
    begins = ends - MATCHING_COUNTS[pairs]
    has_virtual = sides[1].edges[:, :, 2].any()
    for own, theirs in ((0, 1), (1, 0)) if has_virtual else ((0, 1),):
        sums = np.zeros((2, ends[-1]), dtype=np.int64)
        their_ways = sides[theirs].ways[rows[theirs].states]
        np.add.at(sums[0], begins[rows[theirs].needs] + rows[theirs].matchings, their_ways)
        if theirs == 1:
            approximate_sums = np.bincount(rows[1].needs, their_ways.astype(float))
            if approximate_sums.max(initial=0) >= COUNT_LIMIT:
                raise CountOverflow
            sums[0] //= len(sides[1].views)
        _sum_completions(sums[0], sums[1], begins, pairs, *removal, MATCHING_COUNTS)
        # each step from pairs to one less goes from one row of sums to the other
        at_row = np.maximum(pairs - 1, 0) % 2
        completions = sums[at_row[rows[own].needs], begins[rows[own].needs] + rows[own].matchings]
        if own == 0:
            _add_counts(onward, rows[0].states, completions)
        _count_uses(uses[own], sides[own], rows[own], completions)


def _add_counts(totals: Array, places: Array, counts: Array) -> None:
    """Add counts to the totals in some places; raise CountOverflow if a total does not fit."""
    most = float(totals[places].max(initial=0)) + float(counts.astype(float).sum())
    if most < COUNT_LIMIT / 2:
        np.add.at(totals, places, counts)
        return
    for place, count in zip(places.tolist(), counts.tolist(), strict=True):
        total = int(totals[place]) + count
        if total >= COUNT_LIMIT:
            raise CountOverflow
        totals[place] = total


def _count_uses(uses: Array, side: Side, rows: MatchingStates, completions: Array) -> None:
    """Add the cycles that use each edge to the virtual square, by the edge's other cell."""
    virtual = np.flatnonzero(side.edges[0, :, 2]).tolist()
    if not virtual:
        return
    cycles = side.ways[rows.states] * completions
    for number in virtual:
        cell = side.views[0, side.edges[0, number, 1]]
        uses[cell] += np.dot(cycles, rows.edges >> number & 1)


@compiled
def _sum_completions(
    sums: Array, spare: Array, block_begins: Array, pairs: Array, begins: Array, sources: Array,
    matching_counts: Array,
) -> None:  # fmt: skip
    """Sum for each matching the numbers of those that close it into one cycle, block by block.

    A block has all matchings of a number of pairs. `sums` has the numbers; both arrays are
    overwritten. Each step from k pairs to k-1 goes from one array to the other.
    """
    for block in range(len(pairs)):
        first = block_begins[block]
        last = first + matching_counts[pairs[block]]
        is_forward = True
        for pairs_left in range(pairs[block], 1, -1):
            count, ways = matching_counts[pairs_left], 2 * pairs_left - 2
            for part in range(first, last, count):
                begin = begins[pairs_left]
                for matching in range(part, part + count):
                    total = 0
                    if is_forward:
                        for source in range(begin, begin + ways):
                            total += sums[part + sources[source]]
                        spare[matching] = total
                    else:
                        for source in range(begin, begin + ways):
                            total += spare[part + sources[source]]
                        sums[matching] = total
                    begin += ways
            is_forward = not is_forward
