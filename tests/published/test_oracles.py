"""Tests of the published tables, state for state and tour for tour, against oracles."""

from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from tests.support import oracles
from tests.support.tour_lists import all_tours

# ---- 8-puzzle -------------------------------------------------------------------------------


GOALS = [
    ("eight_edge", "edge", "123456708"),
    ("eight", "corner", "123456780"),
    ("eight", "centre", "123804765"),
]


@pytest.mark.parametrize(("name", "goal", "goal_state"), GOALS)
def test_the_8_puzzle_state_for_state(outputs: Path, name: str, goal: str, goal_state: str) -> None:
    distances, solutions = oracles.eight_search(goal_state)
    table = pl.read_parquet(outputs / f"{name}.parquet").filter(pl.col("goal") == goal)
    assert table["state"].to_list() == sorted(distances)
    ranks = {"".join(digits): rank for rank, digits in enumerate(permutations("012345678"))}
    for row in table.drop("goal").iter_rows():
        state = row[0]
        assert row == (
            state,
            distances[state],
            oracles.eight_best_moves(state, distances),
            solutions[state],
            *oracles.eight_features(state, goal_state).values(),
            ranks[state],
        )


# ---- Senet ----------------------------------------------------------------------------------


def test_senets_lines_are_legal(outputs: Path) -> None:
    """Replay some of the lines with the oracle, including some of the longest."""
    table = pl.read_parquet(outputs / "senet.parquet").drop_nulls("plies")
    longest = table.filter(pl.col("plies") == pl.col("plies").max())
    sampled = pl.concat([table.gather_every(601), longest.gather_every(50)])
    for row in sampled.iter_rows(named=True):
        assert oracles.senet_replay(row["dice"], row["moves"]) == row["position"]
        assert len(row["dice"]) == row["plies"]
        others = [row["plies_even"], row["plies_odd"]]
        assert min(plies for plies in others if plies is not None) == row["plies"]


# ---- tours ----------------------------------------------------------------------------------


def test_5x5_tour_for_tour(outputs: Path) -> None:
    expected = [
        (
            "5x5",
            oracles.square_name(5, start),
            oracles.square_name(5, tour[-1]),
            number,
            oracles.is_closed(5, tour),
            "".join(oracles.square_name(5, square) for square in tour),
        )
        for start, tours in enumerate(all_tours(5, 5))
        for number, tour in enumerate(tours)
    ]
    assert pl.read_parquet(outputs / "knight_tours_5x5.parquet").rows() == expected
