"""Hamiltonian paths: all small boards path for path, and as many nodes as there may be."""

import hashlib

import numpy as np
import pytest

from puzzle_tablebase.pipeline.recipes.tour_lists import iter_paths, make_neighbour_sets
from tests import first
from tests.support import oracles
from tests.support.tour_lists import all_tours

PathList = tuple[list[tuple[int, ...]], list[bool]]
"""Paths, and for each whether it can close."""

SMALL = [(files, ranks) for files in range(1, 6) for ranks in range(1, 6) if files * ranks < 25]
LARGE = [(3, 8), (8, 3), (1, 9), (2, 7), (4, 6), (6, 4), (5, 5)]
BOARDS = first(len(SMALL) + 4, [*SMALL, *LARGE], rest=pytest.mark.nightly)
"""Boards; the tours of 5x5 that are published are compared with the oracle's, too."""


def paths(
    neighbours: list[list[int]], colours: list[int], start: int, chunk: int = 1 << 16
) -> PathList:
    """Return the paths of all chunks of a search as tuples; all but the last chunk are full."""
    names = np.arange(len(neighbours), dtype=np.uint8)[:, None]
    result: list[tuple[int, ...]] = []
    closing: list[bool] = []
    sets, marks = make_neighbour_sets(neighbours), np.array(colours, np.uint8)
    for text, ends, closed in iter_paths(sets, marks, names, start, chunk=chunk):
        assert len(result) % chunk == 0
        assert chunk >= len(text) == len(ends) == len(closed) > 0
        assert np.array_equal(text[:, -1], ends)
        result += [tuple(path) for path in text.tolist()]
        closing += closed.tolist()
    return result, closing


def board(files: int, ranks: int) -> tuple[list[list[int]], list[int]]:
    """Return the knight's graph according to the oracle, and its colours."""
    jumps = oracles.knight_jumps(files, ranks)
    return list(jumps.values()), [(s % files + s // files) % 2 for s in jumps]


@pytest.mark.parametrize(("files", "ranks"), BOARDS)
def test_all_tours_of_a_board_are_listed_in_order(files: int, ranks: int) -> None:
    neighbours, colours = board(files, ranks)
    for start, expected in enumerate(all_tours(files, ranks)):
        result, closing = paths(neighbours, colours, start)
        assert result == expected, f"from {oracles.square_name(files, start)}"
        assert closing == [oracles.is_closed(files, tour) for tour in expected]


@pytest.mark.parametrize("chunk", [1, 7, 304])
def test_chunk_size_does_not_change_the_tours(chunk: int) -> None:
    graph = board(5, 5)
    assert paths(*graph, 0, chunk) == paths(*graph, 0)


def count_small_boards() -> str:
    """Return a digest of the tours of two boards."""
    boards = [(board(files, ranks), files * ranks) for files, ranks in [(3, 4), (4, 5)]]
    listed = [[paths(*graph, start) for start in range(squares)] for graph, squares in boards]
    return hashlib.sha256(repr(listed).encode()).hexdigest()
