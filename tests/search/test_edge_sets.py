"""The kernels of counting, beside slow and obvious ones; and how many of them a count compiles."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.search import tour_meet
from pipeline.search.tour_edge_sets import Filter, iter_edge_sets, rank_edge_sets, relabel_needs
from pipeline.search.tour_sweep import CountOverflow
from tablebase.frontier.compiled import list_all_partners
from tablebase.frontier.layers import END, FREE, MATCHING_BITS, State
from tests import long_run
from tests.support.shell import python

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
    (sets,) = iter_edge_sets(keys >> MATCHING_BITS, edge_cells, Filter())
    expected = [(row, bits) for row in range(2) for bits in list_sets(others[row], edges)]
    assert sorted(zip(sets.rows.tolist(), sets.bits.tolist(), strict=True)) == expected
    needs = relabel_needs(sets.left, to)
    partners = list_all_partners(len(state.needs) + 2)
    ranks = rank_edge_sets(
        keys[sets.rows], sets.bits, needs, edge_cells, np.array(places), partners
    )
    for row, bits, need, rank in zip(*(column.tolist() for column in (*sets[:2], needs, ranks)),
                                     strict=True):  # fmt: skip
        after = add_edges(others[row], edges, bits)
        assert (rank < 0) == (after is None)
        if after:
            assert need << MATCHING_BITS | rank == after.relabel(places).key


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


FIRST_COUNT = """
import json
from concurrent.futures import ThreadPoolExecutor
from numba.core import event
from pipeline.builders.tour_sweeps import count_tours
from pipeline.tasks import TaskRunner
from tablebase.puzzles.knight.board import KnightBoard

with event.install_recorder("numba:compile") as recorder, ThreadPoolExecutor(1) as pool:
    for ranks in (5, 6):
        count_tours(KnightBoard(5, ranks), TaskRunner(pool, 1), paths=True)
kernels = [of.data["dispatcher"].py_func.__name__ for _, of in recorder.buffer if of.is_start]
print(json.dumps(sorted(kernels)))
"""


@long_run
def test_a_first_count_compiles_four_kernels_once(tmp_path: Path) -> None:
    """Compiling takes longer than counting: each kernel more is most of a tenth of a second.

    Nothing of numba's own library is among them, such as the making of arrays and of texts.
    """
    ended = python(FIRST_COUNT, env={"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"})
    assert ended.code == 0, ended.err
    kernels = ["_list_edge_sets", "_rank_edge_sets", "_sum_completions", "_use_table"]
    assert json.loads(ended.out) == [*kernels, "rank_matching", "unpack_key"]
