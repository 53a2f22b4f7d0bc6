"""Estimates of a search from some of its branches, and searches that begin with an opening."""

import statistics

import numpy as np
import pytest

from pipeline.builders.tour_columns import make_search_board
from pipeline.builders.tour_list import list_openings
from pipeline.search.hamiltonian_paths import count_paths, iter_paths, list_beginnings
from pipeline.search.path_estimate import estimate_paths
from tablebase.puzzles.knight.board import KnightBoard
from tests.support.tour_lists import all_tours

FIVE = KnightBoard(5, 5)


@pytest.mark.parametrize("length", [1, 2, 4, 25])
def test_openings_partition_the_tours(length: int) -> None:
    names = np.arange(25, dtype=np.uint8)[:, None]
    for start in (0, 12):
        entered = list_beginnings(*make_search_board(FIVE), length, start)
        assert entered == sorted(entered)
        result = [
            tuple(path)
            for way in entered
            for text, *_ in iter_paths(*make_search_board(FIVE), names, *way)
            for path in text.tolist()
        ]
        assert result == all_tours(5, 5)[start]
        assert [count_paths(*make_search_board(FIVE), *way) for way in entered] == [
            sum(tour[:length] == tuple(way) for tour in result) for way in entered
        ]


def test_openings_begin_where_tours_begin() -> None:
    result = list_openings(FIVE, 3)
    assert result == sorted({*result})
    begun = {tour[:3] for tours in all_tours(5, 5) for tour in tours}
    assert begun <= {*result}
    assert all(
        b in FIVE.list_neighbours(a)
        and c in FIVE.list_neighbours(b)
        and a != c
        and not FIVE.is_light(a)
        for a, b, c in result
    )


def test_estimates_without_sampling_are_exact() -> None:
    corner: list[tuple[int, ...]] = [(0, 7), (0, 11)]
    for openings, tours in ((list_openings(FIVE, 1), 1728), (corner, 304)):
        result = estimate_paths(*make_search_board(FIVE), openings, 0)
        assert (result.paths, result.is_exact) == (tours, True)


def test_estimates_are_close_and_deterministic() -> None:
    six = KnightBoard(6, 6)

    def estimate(seed: int) -> float:
        openings = list_openings(six, 1)
        found = estimate_paths(
            *make_search_board(six), openings, seed, max_ways=300, counted_nodes=24
        )
        return found.paths

    runs = [*map(estimate, range(12))]
    assert estimate(3) == runs[3]
    assert len({*runs}) > 1
    error = statistics.stdev(runs) / len(runs) ** 0.5
    assert abs(statistics.fmean(runs) - 6_637_920) < 3 * error
    assert error < 0.15 * 6_637_920
