"""The kernels of counting, beside slow and obvious ones; and how many of them a count compiles."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.frontier.layers import END, FREE, MATCHING_BITS, State, iter_pairs
from puzzle_tablebase.pipeline.recipes import tour_meet
from puzzle_tablebase.pipeline.recipes.tour_edge_sets import (
    Filter,
    iter_edge_sets,
    rank_edge_sets,
    relabel_needs,
)
from puzzle_tablebase.pipeline.recipes.tour_keys import MATCHING_COUNTS, list_all_partners
from puzzle_tablebase.pipeline.recipes.tour_meet import make_pair_removal
from puzzle_tablebase.pipeline.recipes.tour_sweep import CountOverflow

Edge = tuple[int, int]


@st.composite
def states(draw: st.DrawFn) -> tuple[State, list[Edge], list[int]]:
    """Draw a state, some edges between its cells, and new places for the cells."""
    cells = draw(st.integers(3, 9))
    needs = draw(st.lists(st.integers(0, 2), min_size=cells, max_size=cells))
    ends = [cell for cell in range(cells) if needs[cell] == END]
    if len(ends) % 2:
        needs[ends.pop()] = FREE
    order = draw(st.permutations(ends))
    pairs = [*zip(order[::2], order[1::2], strict=True)]
    partner = dict(pairs) | {other: one for one, other in pairs}
    edges = draw(st.lists(st.sampled_from([*combinations(range(cells), 2)]), max_size=6))
    return State(needs, partner), edges, draw(st.permutations(range(cells)))


def list_sets(state: State, edges: list[Edge]) -> list[int]:
    """List the sets of edges, as bits, that give no cell more than it needs."""
    sets = []
    for bits in range(1 << len(edges)):
        needs = [*state.needs]
        for number, edge in enumerate(edges):
            for cell in edge:
                needs[cell] -= bits >> number & 1
        if min(needs) >= 0:
            sets.append(bits)
    return sets


def add_edges(state: State, edges: list[Edge], bits: int) -> State | None:
    """Return the state with a set of edges, added one by one; None if they close a cycle."""
    result: State | None = state
    for number, (one, other) in enumerate(edges):
        if result and bits >> number & 1:
            result = result.add_edge(one, other)
    return result


@given(states(), states())
def test_sets_of_edges_are_listed_and_ranked(
    drawn: tuple[State, list[Edge], list[int]], second: tuple[State, list[Edge], list[int]]
) -> None:
    """Add all sets of edges to two states of as many cells."""
    state, edges, places = drawn
    edges = edges or [(0, 1)]
    others = [state, second[0]] if len(second[0].needs) == len(state.needs) else [state, state]
    keys = np.array([other.key for other in others])
    edge_cells, to = np.array(edges), np.array(places)
    ((rows, chosen, left),) = iter_edge_sets(keys >> MATCHING_BITS, edge_cells, Filter())
    expected = [(row, bits) for row in range(2) for bits in list_sets(others[row], edges)]
    assert sorted(zip(rows.tolist(), chosen.tolist(), strict=True)) == expected
    needs = relabel_needs(left, to)
    partners = list_all_partners(len(state.needs) + 2)
    ranks = rank_edge_sets(keys[rows], chosen, needs, edge_cells, to, partners)
    found = (column.tolist() for column in (rows, chosen, needs, ranks))
    for row, bits, need, rank in zip(*found, strict=True):
        after = add_edges(others[row], edges, bits)
        assert (rank < 0) == (after is None)
        if after:
            assert need << MATCHING_BITS | rank == after.relabel(places).key


@given(states(), st.integers(0, 63), st.integers(0, 8), st.integers(-3, 3), st.integers(0, 511))
def test_sets_of_edges_are_filtered(
    drawn: tuple[State, list[Edge], list[int]], wanted: int, finished: int, surplus: int, dark: int
) -> None:
    state, edges, _ = drawn
    cells, wanted = len(state.needs), wanted & (1 << len(edges)) - 1
    finished %= cells
    dark_cells = [cell for cell in range(cells) if dark >> cell & 1]
    light_cells = [cell for cell in range(1, cells) if not dark >> cell & 1]
    dark_bits, light_bits = (
        sum(END << 2 * cell for cell in group) for group in (dark_cells, light_cells)
    )
    kept = Filter(wanted, 3 << 2 * finished, 3, dark_bits, light_bits, surplus)
    sets = [*iter_edge_sets(np.array([state.key >> MATCHING_BITS]),
                            np.array(edges, dtype=np.int64).reshape(-1, 2), kept)]  # fmt: skip
    expected = []
    for bits in list_sets(state, edges):
        needs = [*state.needs]
        for number, edge in enumerate(edges):
            for cell in edge:
                needs[cell] -= bits >> number & 1
        balance = sum(needs[cell] for cell in dark_cells) - sum(needs[cell] for cell in light_cells)
        if bits & wanted == wanted and not needs[finished] and (needs[0] or balance == surplus):
            expected.append(bits)
    assert sorted(bits for _, chosen, _ in sets for bits in chosen.tolist()) == expected


@pytest.mark.parametrize("pairs", range(2, 6))
def test_removing_a_pair_joins_the_ends_that_were_paired_with_it(pairs: int) -> None:
    """Remove the first end and each other one from every matching in which they are no pair."""
    removal = make_pair_removal(pairs)
    shape = 2 * pairs - 1, int(MATCHING_COUNTS[pairs - 1]), 2 * pairs - 2
    begin = removal.begins[pairs]
    sources = removal.sources[begin : begin + np.prod(shape)].reshape(shape)
    ends, left = range(2 * pairs), [[set[int]() for _ in range(shape[1])] for _ in range(shape[0])]
    for matching in range(int(MATCHING_COUNTS[pairs])):
        matched = dict(iter_pairs(matching, len(ends)))
        matched |= {other: one for one, other in matched.items()}
        for j in ends[1:]:
            if matched[0] == j:
                continue
            joined = {**matched, matched[0]: matched[j], matched[j]: matched[0]}
            rest = [end for end in ends[1:] if end != j]
            partner = {rest.index(end): rest.index(joined[end]) for end in rest}
            after = State([END] * len(rest), partner).key & (1 << MATCHING_BITS) - 1
            left[j - 1][after].add(matching)
    assert [[{*ways} for ways in rows] for rows in sources.tolist()] == left


@pytest.mark.parametrize("most", [0, 1 << 62, (1 << 63) - 1])
def test_counts_are_added_up_to_the_limit(most: int) -> None:
    totals, places = np.array([most, 0, 7]), np.array([1, 2, 1, 1])
    tour_meet._add_counts(totals, places, np.array([1, 2, 1 << 61, 1 << 61]))
    assert totals.tolist() == [most, 1 + (1 << 62), 9]
    tour_meet._add_counts(totals, np.array([1]), np.array([(1 << 62) - 2]))
    assert totals.tolist() == [most, (1 << 63) - 1, 9]
    for more in ([1], [1 << 62] * 4, [1 << 62] * 5):
        with pytest.raises(CountOverflow):
            tour_meet._add_counts(totals.copy(), np.full(len(more), 1), np.array(more))
