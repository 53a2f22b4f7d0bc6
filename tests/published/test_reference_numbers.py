"""Tests of the published tables against reference numbers with sources, and against oracles."""

from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from tests import first, usual_or_nightly
from tests.support import oracles, reference_numbers
from tests.support.tour_lists import all_tours

EIGHT = [
    (*label.split(), [int(number) for number in value.split()])
    for label, value in reference_numbers.lines("eight.txt")
    if not label.startswith("farthest")
]


@pytest.mark.parametrize(("goal", "state", "expected"), EIGHT)
def test_states_at_each_distance(outputs: Path, goal: str, state: str, expected: list[int]) -> None:
    name = "eight_edge" if goal == "edge" else "eight"
    table = pl.read_parquet(outputs / f"{name}.parquet").filter(pl.col("goal") == goal)
    counts = table.group_by("distance").len().sort("distance")
    assert counts["distance"].to_list() == list(range(len(expected)))
    assert counts["len"].to_list() == expected
    assert table.filter(pl.col("distance") == 0)["state"].to_list() == [state]


def test_the_farthest_states_and_their_solutions(outputs: Path) -> None:
    expected = reference_numbers.read_named_numbers("eight.txt", "farthest 123456780")
    farthest = pl.read_parquet(outputs / "eight.parquet").filter(pl.col("distance") == 31)
    assert dict(farthest.select("state", "solutions").iter_rows()) == expected


def test_senets_positions_by_plies(outputs: Path) -> None:
    plies = pl.read_parquet(outputs / "senet.parquet", columns=["plies"])["plies"]
    expected = reference_numbers.numbers("senet.txt", "by plies")
    assert [int((plies == number).sum()) for number in range(len(expected))] == expected
    assert reference_numbers.numbers("senet.txt", "within 6 plies") == [int((plies <= 6).sum())]
    assert reference_numbers.numbers("senet.txt", "arrangements") == [len(plies)]
    assert reference_numbers.numbers("senet.txt", "reachable") == [plies.count()]


def sum_tours_by_board(outputs: Path) -> dict[str, int]:
    counts = pl.read_parquet(outputs / "knight_counts.parquet")
    return dict(counts.group_by("board").agg(pl.col("tours").sum()).iter_rows())


def test_tours_on_square_boards(outputs: Path) -> None:
    expected, totals = reference_numbers.numbers("knight.txt", "n x n"), sum_tours_by_board(outputs)
    assert [totals[f"{side}x{side}"] for side in range(1, 7)] == expected[:6]
    for side in (5, 6):
        rows = pl.scan_parquet(outputs / f"knight_tours_{side}x{side}.parquet")
        assert rows.select(pl.len()).collect().item() == expected[side - 1]


def test_closed_tours_on_6x6(outputs: Path) -> None:
    (undirected,) = reference_numbers.numbers("knight.txt", "closed 6x6")
    counts = pl.read_parquet(outputs / "knight_counts.parquet").filter(pl.col("board") == "6x6")
    assert counts["closed"].to_list() == [2 * undirected] * 36


def test_tours_on_5x5_by_square(outputs: Path) -> None:
    counts = pl.read_parquet(outputs / "knight_counts.parquet").filter(board="5x5")
    ranks = dict(reference_numbers.lines("knight.txt"))["5x5"].split(" / ")
    expected = [int(tours) for rank in reversed(ranks) for tours in rank.split()]
    assert counts["tours"].to_list() == expected


@pytest.mark.parametrize("label", ["boards", "side 3", "side 4", "side 5"])
def test_tours_on_other_boards(outputs: Path, label: str) -> None:
    expected = reference_numbers.read_named_numbers("knight.txt", label)
    assert expected.items() <= sum_tours_by_board(outputs).items()


def test_closed_tours_on_other_boards(outputs: Path) -> None:
    expected = reference_numbers.read_named_numbers("knight.txt", "closed")
    counts = pl.read_parquet(outputs / "knight_counts.parquet").group_by("board")
    closed = dict(counts.agg(pl.col("closed").max()).iter_rows())
    assert {board: closed[board] / 2 for board in expected} == expected


GOALS = [
    ("eight", "corner", "123456780"),
    ("eight", "centre", "123804765"),
    ("eight_edge", "edge", "123456708"),
]


@pytest.mark.parametrize(("name", "goal", "goal_state"), first(1, GOALS))
def test_the_8_puzzle_state_for_state(outputs: Path, name: str, goal: str, goal_state: str) -> None:
    """Compare every distance and number of solutions, and all of a row of each 25."""
    distances, solutions = oracles.eight_search(goal_state)
    table = pl.read_parquet(outputs / f"{name}.parquet").filter(pl.col("goal") == goal)
    states = sorted(distances)
    assert table["state"].to_list() == states
    assert table["distance"].to_list() == [distances[state] for state in states]
    assert table["solutions"].to_list() == [solutions[state] for state in states]
    ranks = {"".join(digits): rank for rank, digits in enumerate(permutations("012345678"))}
    assert table["rank"].to_list() == [ranks[state] for state in states]
    step = usual_or_nightly(25, 1)
    for row in table.drop("goal").gather_every(step).iter_rows():
        state = row[0]
        assert row == (
            state,
            distances[state],
            oracles.eight_best_moves(state, distances),
            solutions[state],
            *oracles.eight_features(state, goal_state).values(),
            ranks[state],
        )


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
