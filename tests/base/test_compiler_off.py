"""Every kernel gives the same results as plain Python, on small boards and graphs."""

import json
from collections.abc import Callable

import pytest

from tests.proofs import test_board_layers, test_goals, test_knight_counts
from tests.queries import test_bit_walks, test_fifteen_search
from tests.recipes import (
    test_board_shards,
    test_graph,
    test_tour_lists,
    test_tour_pairs,
    test_tour_sweep,
)
from tests.support.shell import python
from tests.two_bit_bfs import test_search

RUNS: tuple[Callable[[], str], ...] = (
    test_graph.run_small_searches,
    test_tour_lists.count_small_boards,
    test_tour_pairs.list_tours,
    test_board_shards.search_small_boards,
    test_tour_sweep.count_small_boards,
    test_search.search_small_boards,
    test_fifteen_search.solve_small_boards,
    test_bit_walks.answer_small_board,
    test_board_layers.list_layer_sizes,
    test_knight_counts.recount,
    test_goals.build_small_board,
)
"""Functions that run the kernels of each search, reader and proof."""
PROGRAM = """
import warnings
warnings.simplefilter("error")
from tests.base.test_compiler_off import run_all
run_all()
"""


def run_all() -> None:
    """Print the results of all runs, as the program of the other process."""
    print(json.dumps({run.__module__: run() for run in RUNS}))


@pytest.mark.slow
@pytest.mark.long
def test_the_kernels_do_the_same_with_the_compiler_off() -> None:
    ended = python(PROGRAM, env={"NUMBA_DISABLE_JIT": "1"})
    assert ended.code == 0, ended.err
    uncompiled = json.loads(ended.out)
    assert {run.__module__ for run in RUNS if run() != uncompiled[run.__module__]} == set()
