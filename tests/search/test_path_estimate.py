"""What a search would find, from some of its branches; and searches that begin with an opening."""

import statistics

import numpy as np
import pytest

from pipeline.builders.tour_columns import graph
from pipeline.builders.tour_list import openings
from pipeline.search import path_estimate
from pipeline.search.hamiltonian_paths import beginnings, count_from, paths_from
from pipeline.search.path_estimate import sampled
from tablebase.puzzles.knight.board import Board
from tests.support.tour_lists import all_tours

FIVE = Board(5, 5)


@pytest.mark.parametrize("length", [1, 2, 4, 25])
def test_openings_share_the_tours_out(length: int) -> None:
    names = np.arange(25, dtype=np.uint8)[:, None]
    for start in (0, 12):
        entered = beginnings(*graph(FIVE), length, start)
        assert entered == sorted(entered)
        found = [
            tuple(path)
            for way in entered
            for text, *_ in paths_from(*graph(FIVE), names, *way)
            for path in text.tolist()
        ]
        assert found == all_tours(5, 5)[start]
        assert [count_from(*graph(FIVE), *way) for way in entered] == [
            sum(tour[:length] == tuple(way) for tour in found) for way in entered
        ]


def test_every_opening_is_a_way_from_where_tours_begin() -> None:
    found = openings(FIVE, 3)
    assert found == sorted({*found})
    begun = {tour[:3] for tours in all_tours(5, 5) for tour in tours}
    assert begun <= {*found}
    assert all(
        b in FIVE.neighbours(a) and c in FIVE.neighbours(b) and a != c and not FIVE.light(a)
        for a, b, c in found
    )


def test_what_leaves_nothing_to_the_lot_is_exact() -> None:
    corner: list[tuple[int, ...]] = [(0, 7), (0, 11)]
    for asked, tours in ((openings(FIVE, 1), 1728), (corner, 304)):
        found = sampled(*graph(FIVE), asked, 0)
        assert (found.paths, found.exact) == (tours, True)


def test_estimates_are_near_and_the_same_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_estimate, "WIDTH", 300)
    monkeypatch.setattr(path_estimate, "LEFT", 24)
    six = Board(6, 6)
    runs = [sampled(*graph(six), openings(six, 1), seed).paths for seed in range(12)]
    assert sampled(*graph(six), openings(six, 1), 3).paths == runs[3]
    assert len({*runs}) > 1
    error = statistics.stdev(runs) / len(runs) ** 0.5
    assert abs(statistics.fmean(runs) - 6_637_920) < 3 * error
    assert error < 0.15 * 6_637_920
