"""Meet in the middle of two half sweeps: which states complete each other, and in how many ways.

The edges between the cells of the cut are divided between the two sides: each side adds some of its
edges to its states. Two states complete each other if each cell gets the edges that it needs, and
if the paths of both, joined at their ends, are one cycle. So the needs of one side after its edges
must be met by the other side. For each such need, the states that have it after some edges are
looked up by their needs before these edges, and only the matchings of these states are combined.

Combining them is a linear map: given numbers for the matchings of 2k ends (the *ways* of one side),
compute for each matching the sum over those that close with it into one cycle. It is computed
without testing pairs. Suppose that one side pairs the first end with end j. A matching of the other
side pairs both of these with other ends; removing the two ends, and joining their mates, leaves
a matching of 2k-2 ends and the same problem for those. So for every j the numbers are added up by
the remaining matching, and so on, until one pair remains on both sides, which closes the cycle.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.intrinsics import count_ones
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.recipes.tour_joins import (
    EdgeSets,
    Groups,
    Joins,
    Moves,
    find_moves,
    find_source,
    gather,
    join_slowly,
    list_tables,
    make_edge_sets,
    make_joins,
    make_moves,
    move,
)
from puzzle_tablebase.pipeline.recipes.tour_sweep import (
    COUNT_LIMIT,
    CountOverflow,
    Layer,
    count_matchings,
    make_mirror,
    make_work,
    relabel_needs,
    sort_distinct,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.knight.tour_ranker import Sweep
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.tour_frontier.keys import (
    END_BITS,
    MATCHING_COUNTS,
    MAX_CELLS,
    MAX_PAIRS,
    list_all_mates,
    rank_matching,
    unpack_key,
)
from puzzle_tablebase.tour_frontier.states import END, FREE, MATCHING_BITS

Edge = tuple[int, int]

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


@cache
def make_pair_removal(max_pairs: int) -> PairRemoval:
    """Return the pair removal for matchings of up to `max_pairs` pairs."""
    pairs = np.arange(max_pairs + 1)
    ends = np.cumsum(np.maximum(2 * pairs - 2, 0) * MATCHING_COUNTS[pairs])
    sources = np.empty(ends[-1], dtype=np.int32)
    mates = list_all_mates(2 * max_pairs)
    listed, mate = np.zeros((2, 2 * MAX_PAIRS), dtype=np.int64)
    for k in range(2, max_pairs + 1):
        _fill_pair_removal(k, mates, listed, mate, sources[ends[k - 1] : ends[k]])
    return PairRemoval(np.roll(ends, 1), sources)


@compiled
def _fill_pair_removal(
    pairs: int, mates: Array, listed: Array, mate: Array, sources: Array
) -> None:
    """Fill in the sources for so many pairs.

    Before the removal of the first end and `j`, the path between two other ends went through both:
    the first end was paired with `one` of them, and `j` with the other.
    """
    needs, at = END_BITS & (1 << 4 * pairs) - 1, 0
    for j in range(1, 2 * pairs):
        left = needs & ~(END | END << 2 * j)
        for matching in range(MATCHING_COUNTS[pairs - 1]):
            unpack_key(left << MATCHING_BITS | matching, mates, mate, listed)
            for one in range(1, 2 * pairs):
                if one == j:
                    continue
                other = mate[one]
                mate[0], mate[one], mate[j], mate[other] = one, 0, other, j
                sources[at] = rank_matching(needs, mate)
                mate[one], mate[other] = other, one
                at += 1


class Cut(NamedTuple):
    """The cells between the two halves, and the edges between them, which neither half adds."""

    own: list[Edge]
    """The edges that the longer half adds, as pairs of cells: all to the virtual square, and some
    more."""
    other: list[Edge]
    """The edges that the shorter half adds, in the numbers of the longer half's cells."""
    views: Array
    """The ways to see the other half's state from the longer half: a row of where each cell moves
    for the state, and another for its mirror image if it represents that too."""
    finished: int = 0
    """The first cell of the first column."""
    wanted: int = 0
    """The edges of `own` that all cycles must use, as bits."""
    modulus: int = 0


def make_cut(sweep: Sweep, *, mirrored: bool, modulus: int = 0) -> Cut:
    """Make the cut of a board.

    `mirrored`: whether a state may represent its mirror image too.
    """
    virtual = [edge for edge in sweep.cut_edges if edge[0] < sweep.finished]
    others = sweep.cut_edges[len(virtual) :]
    facing = np.array(sweep.mirrored_cells)
    views = np.array([facing, facing[make_mirror(sweep)]] if mirrored else [facing])
    # so that both sides have about as many sets of edges
    share = len(others) // (4 if virtual else 2)
    return Cut(virtual + others[:share], others[share:], views, sweep.finished, modulus=modulus)


def make_full_needs(cells: int) -> int:
    """Return the needs of both sides together: two edges for each cell.

    The last cell has no edge yet on either side, and needs two on both.
    """
    return sum(FREE << 2 * cell for cell in (*range(cells), cells - 1))


def find_shared_needs(own: Array, other: Array, cut: Cut) -> Array:
    """Return the needs of one side after its edges that some state of the other side meets.

    The two needs, each after the side's edges, add up to those of `make_full_needs`.
    """
    seen = np.concatenate([relabel_needs(other, view) for view in cut.views])
    met = make_full_needs(cut.views.shape[1]) - _list_needs_left(sort_distinct(seen), cut.other)
    shared = np.intersect1d(_list_needs_left(own, cut.own), met, assume_unique=True)
    return shared[shared & END_BITS > 0]


def _list_needs_left(needs: Array, edges: list[Edge]) -> Array:
    """List the remaining needs after each set of edges."""
    for one, other in edges:
        can_join = (needs >> 2 * one & 3 > 0) & (needs >> 2 * other & 3 > 0)
        joined = needs[can_join] - (END << 2 * one) - (END << 2 * other)
        needs = sort_distinct(np.append(needs, joined))
    return needs


def meet_halves(
    longer: Layer, shorter: Layer, cut: Cut, name: str, tasks: Tasks
) -> tuple[Array, Array]:
    """Combine two half sweeps at the cut.

    Return the number of ways to complete each state of the longer half, and for each column of its
    ways a matrix: the cycles that use the virtual edges of two cells, in the diagonal those of one.
    `name`: of the activity that is reported.
    """
    needs = find_shared_needs(longer.needs, shorter.needs, cut)
    parts = min(MAX_PARTS, 1 + len(needs) // NEEDS_PER_PART)
    threads = min(parts, tasks.jobs, count_cores(), MAX_THREADS)
    onward = np.zeros((threads, len(longer.ways)), np.int64)
    uses = np.zeros((_count_columns(longer), MAX_CELLS, MAX_CELLS), np.int64)
    for done in range(0, parts, threads):
        tasks.report(name, done, parts)
        # each thread has a row of the sums
        shares = (
            (needs[at::parts], longer, shorter, cut, onward[at - done])
            for at in range(done, min(parts, done + threads))
        )
        for uses_found in tasks.run_in_threads(add_completions, shares):
            uses += uses_found
    total: Array = onward[0]
    for row in onward[1:]:
        total += row
        if total.min(initial=0) < 0:
            raise CountOverflow
    if cut.modulus:
        total %= cut.modulus
    return total, uses


def add_completions(needs: Array, ours: Layer, theirs: Layer, cut: Cut, onward: Array) -> Array:
    """Add to `onward` the number of ways to complete each state of one side, for some needs.

    Only states that have one of these needs after their edges get completions. Return the cycles
    as `meet_halves` does.
    """
    cells = cut.views.shape[1]
    joins, full = make_joins(cells), make_full_needs(cells)
    removal = make_pair_removal(int(np.bitwise_count(needs & END_BITS).max(initial=0)) // 2)
    values = np.zeros((3, int(count_matchings(needs).max(initial=1))), dtype=np.int64)
    inverses = [np.argsort(view) for view in cut.views]
    seen_needs = np.array([relabel_needs(full - needs, new_cells) for new_cells in inverses])
    sets = make_edge_sets(cut.own, wanted=cut.wanted)
    # all views have the same sets, of other cells
    cells_of = [[(int(to[one]), int(to[other])) for one, other in cut.other] for to in inverses]
    their_sets = [make_edge_sets(edges) for edges in cells_of]
    firsts, seconds, _, sums = map(np.array, zip(*their_sets, strict=True))
    moves = make_moves(tuple(map(tuple, cut.views.tolist())), cut.finished)
    columns = _count_columns(ours)
    uses = np.zeros((len(sets.bits), columns), dtype=np.int64)
    ways = ours.ways.reshape(-1, columns)
    is_fitting = _meet(
        needs, seen_needs, full, ours.groups, ways, sets, theirs.groups, theirs.ways, moves,
        firsts, seconds, their_sets[0].bits, sums, joins, removal, MATCHING_COUNTS,
        cut.modulus, *make_work(), values, onward, uses,
    )  # fmt: skip
    if not is_fitting:
        raise CountOverflow
    totals = np.zeros((columns, MAX_CELLS, MAX_CELLS), dtype=np.int64)
    virtual = [(1 << number, other) for number, (one, other) in enumerate(cut.own) if one == 0]
    for (bit, cell), (other_bit, other_cell) in product(virtual, repeat=2):
        both = bit | other_bit
        totals[:, cell, other_cell] = uses[sets.bits & both == both].sum(axis=0)
    return totals


def _count_columns(layer: Layer) -> int:
    """Return how many numbers of ways each state has: one, or those of several lanes."""
    return 1 if layer.ways.ndim == 1 else layer.ways.shape[1]


@compiled
def _meet(
    needs: Array, seen_needs: Array, full: int, ours: Groups, our_ways: Array, sets: EdgeSets,
    theirs: Groups, their_ways: Array, moves: Moves, firsts: Array, seconds: Array, bits: Array,
    sums: Array, joins: Joins, removal: PairRemoval, matching_counts: Array, modulus: int,
    work: Array, tables: Array, arrays: Array, onward: Array, uses: Array,
) -> bool:  # fmt: skip
    """Compute `add_completions`, and return whether all sums fitted."""
    values, seen, spare = arrays
    for item in range(len(needs)):
        wanted = needs[item]
        pairs = count_ones(wanted & END_BITS) // 2
        size = matching_counts[pairs]
        largest = 0.0
        for view in range(len(moves.new_cells)):
            own = seen_needs[view, item]
            table = find_moves(own, view, moves)
            view_sets = EdgeSets(firsts[view], seconds[view], bits, sums[view])
            gather(own, theirs, their_ways, view_sets, joins, work, tables, seen)
            for matching in range(size):
                number = seen[matching]
                if number:
                    seen[matching] = 0
                    if number < 0:
                        return False
                    largest += number
                    if table >= 0:
                        moved = moves.tables[table + matching]
                    else:
                        to, left = moves.new_cells[view], full - wanted
                        moved = move(own, matching, to, left, joins.mates, work)
                    values[moved] += number
        if largest >= COUNT_LIMIT:
            return False
        if largest == 0:
            continue
        if len(moves.new_cells) == 2:  # the ways of a state are also those of its mirror image
            half = (modulus + 1) // 2
            for matching in range(size):
                number = values[matching]
                values[matching] = number % modulus * half % modulus if modulus else number // 2
        result = _close(values, spare, pairs, removal, matching_counts)
        for number in range(len(sets.bits)):
            group = find_source(wanted, sets.sums[number], ours.needs)
            if group < 0:
                continue
            count = list_tables(ours.needs[group], sets.bits[number], sets, joins, tables)
            for state in range(ours.begins[group], ours.begins[group + 1]):
                matching, at = ours.matchings[state], 0
                while at < count and matching >= 0:
                    table = tables[0, at]
                    if table >= 0:
                        matching = joins.tables[table + matching]
                    else:
                        matching = join_slowly(matching, at, tables, joins.mates, work)
                    at += 1
                if matching >= 0:
                    completions = result[matching]
                    onward[state] += completions
                    if onward[state] < 0:
                        return False
                    for column in range(our_ways.shape[1]):
                        uses[number, column] += our_ways[state, column] * completions
        values[:size] = 0
    return True


@compiled
def _close(
    values: Array, spare: Array, pairs: int, removal: PairRemoval, matching_counts: Array
) -> Array:
    """Sum for each matching of so many pairs the values of those that close it into one cycle.

    Each step from k pairs to k-1 goes from one array to the other; the result is in one of them.
    """
    for left in range(pairs, 1, -1):
        count, ways = matching_counts[left], 2 * left - 2
        for part in range(0, matching_counts[pairs], count):
            begin = removal.begins[left]
            for matching in range(part, part + count):
                total = 0
                for source in range(begin, begin + ways):
                    total += values[part + removal.sources[source]]
                spare[matching] = total
                begin += ways
        values, spare = spare, values
    return values
