"""Tours recounted, path by path and by a sweep, compared with an oracle that lists them."""

import random
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from pipeline.verify.knight_counts import (
    count_tours_from,
    list_jumps,
    recount_by_sweep,
    recount_tours,
)
from tablebase.puzzles.knight.board import KnightBoard
from tests import wide
from tests.support import oracles
from tests.support.tour_lists import all_tours

BOARDS = [(3, 4), (4, 3), (4, 4), (4, 5), pytest.param(3, 7, marks=wide)]


def list_expected(files: int, ranks: int) -> dict[str, list[int]]:
    listed = all_tours(files, ranks)
    closed = [sum(oracles.is_closed(files, tour) for tour in tours) for tours in listed]
    return {"tours": [len(tours) for tours in listed], "closed": closed}


@pytest.mark.parametrize(("files", "ranks"), BOARDS)
def test_the_recount_sweep_counts_all_listed_tours(files: int, ranks: int) -> None:
    result = recount_by_sweep(KnightBoard(files, ranks))
    assert {**result, "closed": [result["closed"]] * files * ranks} == list_expected(files, ranks)


def test_closed_tours_of_a_narrow_board_are_swept() -> None:
    for board in (KnightBoard(10, 3), KnightBoard(3, 10)):
        assert recount_by_sweep(board, is_open=False) == {"closed": 32}


@pytest.mark.parametrize(("files", "ranks"), BOARDS[:3])
def test_tours_are_counted_path_by_path(files: int, ranks: int) -> None:
    result = recount_tours(KnightBoard(files, ranks))
    assert {name: counts.tolist() for name, counts in result.items()} == list_expected(files, ranks)


def test_jumps_are_bits() -> None:
    for board in (KnightBoard(3, 4), KnightBoard(4, 3), KnightBoard(8, 8)):
        expected = oracles.knight_jumps(board.files, board.ranks)
        for square, bits in enumerate(list_jumps(board).tolist()):
            assert [to for to in range(64) if bits >> to & 1] == expected[square]


def test_paths_of_any_two_coloured_graph_are_counted() -> None:
    """Include graphs with closed tours, which no board of this size has."""
    draw = random.Random(7)
    all_edges = [*product(range(4), range(4, 8))]
    closed_ones = 0
    for edges in [
        all_edges[:0],
        all_edges,
        *(draw.sample(all_edges, size) for size in [*range(7, 16)] * 4),
    ]:
        near = np.zeros(8, dtype=np.int64)
        for one, two in edges:
            near[one] |= 1 << two
            near[two] |= 1 << one
        joined = {*edges, *(edge[::-1] for edge in edges)}
        for start, ours, others in ((0, (1, 2, 3), (4, 5, 6, 7)), (7, (4, 5, 6), (0, 1, 2, 3))):
            turns = product(permutations(ours), permutations(others))
            paths = [(start, d, a, e, b, f, c, g) for (a, b, c), (d, e, f, g) in turns]
            tours = [path for path in paths if joined.issuperset(pairwise(path))]
            closed = sum((path[-1], start) in joined for path in tours)
            assert count_tours_from(near, start) == (len(tours), closed)
            closed_ones += closed
    assert closed_ones > 300


def test_one_square_is_a_tour() -> None:
    assert count_tours_from(np.zeros(1, dtype=np.int64), 0) == (1, 0)
