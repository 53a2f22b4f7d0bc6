"""One path per pair of ends: all of the chessboard's are tours, and always the same ones."""

import json
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.search.path_per_pair import find_paths
from tests.support import oracles
from tests.support.shell import run_uncompiled

Rows = npt.NDArray[np.int64]


def rows(neighbours: list[list[int]]) -> Rows:
    """Return one row per node, padded with -1."""
    most = max(map(len, neighbours)) or 1
    return np.array([near + [-1] * (most - len(near)) for near in neighbours], dtype=np.int64)


def chessboard() -> Rows:
    return rows(list(oracles.knight_jumps(8, 8).values()))


def list_joinable_pairs() -> list[tuple[int, int]]:
    """Return every pair of squares of different colours, in order."""

    def colour(square: int) -> int:
        return (square % 8 + square // 8) % 2

    return [(a, b) for a in range(64) for b in range(64) if colour(a) != colour(b)]


def find_path(neighbours: Rows, ends: list[tuple[int, int]]) -> list[list[int]]:
    paths = find_paths(neighbours, np.array(ends))
    assert paths.dtype == np.uint8
    listed: list[list[int]] = paths.tolist()
    return listed


def test_every_pair_of_the_chessboard_has_the_published_tour(outputs: Path) -> None:
    ends = list_joinable_pairs()
    tours = find_path(chessboard(), ends)
    assert len(tours) == len(ends) == 2048
    for pair, tour in zip(ends, tours, strict=True):
        oracles.knight_check(8, 8, tour)
        assert (tour[0], tour[-1]) == pair
    texts = ["".join(oracles.square_name(8, square) for square in tour) for tour in tours]
    assert len(set(texts)) == 2048
    assert texts == pl.read_parquet(outputs / "knight_tours_8x8.parquet")["path"].to_list()


def test_a_tour_depends_on_its_ends_alone() -> None:
    ends = list_joinable_pairs()
    tours = find_path(chessboard(), ends)
    assert find_path(chessboard(), ends) == tours
    assert find_path(chessboard(), ends[::-7]) == tours[::-7]


def list_tours() -> str:
    """Return a few of the tours as text."""
    ends = list_joinable_pairs()
    return json.dumps(find_path(chessboard(), ends[:: len(ends) // 6]))


def test_the_search_finds_the_same_with_the_compiler_off() -> None:
    # the random numbers overflow on purpose, about which only uncompiled numpy would warn
    assert run_uncompiled(list_tours, ignored="overflow encountered") == list_tours()


# ---- other graphs ---------------------------------------------------------------------------


def test_unconnected_ends_have_a_row_of_zeros() -> None:
    star = rows([[1, 2, 3], [0], [0], [0]])
    assert find_path(star, [(1, 2), (3, 1)]) == [[0, 0, 0, 0], [0, 0, 0, 0]]


def test_two_nodes_joined_by_an_edge() -> None:
    assert find_path(rows([[1], [0]]), [(0, 1), (1, 0)]) == [[0, 1], [1, 0]]


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    """Draw any graph of a few nodes, two-coloured or not."""
    nodes = draw(st.integers(2, 7))
    edges = [(a, b) for a in range(nodes) for b in range(a) if draw(st.integers(0, 2))]
    return [sorted(b + a - node for a, b in edges if node in (a, b)) for node in range(nodes)]


@given(graphs())
def test_a_path_is_found_where_there_is_one(graph: list[list[int]]) -> None:
    nodes = range(len(graph))
    joined = {
        (order[0], order[-1])
        for order in permutations(nodes)
        if all(b in graph[a] for a, b in pairwise(order))
    }
    ends = list(permutations(nodes, 2))
    for pair, path in zip(ends, find_path(rows(graph), ends), strict=True):
        if pair not in joined:
            assert path == [0] * len(graph)
            continue
        assert sorted(path) == list(nodes)
        assert (path[0], path[-1]) == pair
        assert all(b in graph[a] for a, b in pairwise(path))
