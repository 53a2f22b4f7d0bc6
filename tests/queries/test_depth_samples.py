"""Samples of states and positions, and the hardest of them, compared with plain searches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from queries import open_tables
from queries.api import Tables
from queries.dispatch import open_reader
from queries.sampling import SampleRequest, count_distances, find_ranks
from queries.sliding import BoardReader
from tablebase.errors import BadRequest, NoAnswer
from tablebase.puzzles.sliding import parse_board
from tablebase.tables.store import Folder
from tests.support import oracles
from tests.support import sliding_oracle as oracle

LIMIT = 3.719
"""The standard errors that a normal variable deviates by once in 5,000 times."""


def check_uniform(draws: list[str], kinds: set[str]) -> None:
    """Require that a sample has each kind about as often as any other, by chi-squared."""
    assert {*draws} <= kinds
    mean = len(draws) / len(kinds)
    squares = sum((draws.count(kind) - mean) ** 2 / mean for kind in kinds)
    assert abs(squares - (len(kinds) - 1)) < LIMIT * (2 * (len(kinds) - 1)) ** 0.5


@pytest.mark.parametrize("goal", ["corner", "edge", "087654321"])
def test_states_at_a_distance_are_equally_likely(tables: Tables, goal: str) -> None:
    distances = oracles.eight_distances(parse_goal(goal))
    wanted = {state for state, distance in distances.items() if distance == 6}
    sample = tables.eight.sample(4_000, seed=2, goal=goal, distance=6)
    assert {*sample["distance"]} == {6}
    check_uniform(sample["state"].to_list(), wanted)
    every = tables.eight.sample(len(wanted), goal=goal, distance=6, replacement=False)
    assert {*every["state"]} == wanted, "without replacement all of them come, once each"
    for row in every.head(20).iter_rows(named=True):
        answer = tables.eight.probe(row["state"], goal)
        assert row == {name: getattr(answer, name) for name in row}


def parse_goal(goal: str) -> str:
    return {"corner": "123456780", "centre": "123804765", "edge": "123456708"}.get(goal, goal)


def test_all_states_are_equally_likely(tables: Tables) -> None:
    """Group the states by their first digits, and by distance."""
    sample = tables.eight.sample(20_000, seed=8)
    starts = {f"{a}{b}" for a in "012345678" for b in "012345678" if a != b}
    check_uniform(sample["state"].str.head(2).to_list(), starts)
    shares = tables.eight.sample(20_000, seed=9)["goal"].value_counts()
    assert all(abs(count - 10_000) < LIMIT * 71 for count in shares["count"])


@pytest.mark.parametrize("goal", [None, "centre", "edge", "087654321"])
def test_the_hardest_states_are_all_there(tables: Tables, goal: str | None) -> None:
    distances = oracles.eight_distances(parse_goal(goal or "corner"))
    most = max(distances.values())
    hardest = sorted(state for state, distance in distances.items() if distance == most)
    assert tables.eight.list_hardest(goal)["state"].to_list() == hardest


def test_positions_of_senet_are_drawn_by_plies(tables: Tables, outputs: Path) -> None:
    rows = pl.read_parquet(outputs / "senet.parquet")
    for plies in (0, 1, 2):
        wanted = {*rows.filter(pl.col("plies") == plies)["position"]}
        sample = tables.senet.sample(2_000, distance=plies)
        assert {*sample["plies"]} == {plies}
        if len(wanted) > 1:
            check_uniform(sample["position"].to_list(), wanted)
    everything = tables.senet.sample(5_000, seed=1)
    assert everything["plies"].null_count() == 0, "positions that are never reached are not drawn"
    assert everything.join(rows, on="position", how="semi").height == 5_000
    hardest = rows.filter(pl.col("plies") == 15)["position"].to_list()
    assert tables.senet.list_hardest()["position"].to_list() == hardest
    assert len(hardest) == 4_033


@pytest.mark.parametrize(
    ("name", "goal"), [("2x3", None), ("2x3", "105432"), ("3x2", "012345"), ("2x2", "3210")]
)
def test_sliding_states_equal_those_of_a_search(
    small_boards: Path, name: str, goal: str | None
) -> None:
    """Draw in chunks of a few numbers."""
    board = parse_board(name)
    known = oracle.distances(goal or board.example, board.height, board.width)
    table = open_tables(str(small_boards)).sliding(name)
    request = SampleRequest(len(known), replacement=False, chunk_numbers=300)
    reader = open_reader("sliding", Folder(small_boards))
    everything = pl.concat(reader.make_query(board=name, goal=goal).draw_samples(request))
    assert {*everything["state"]} == {*known}
    assert {*everything["goal"]} == {goal or board.example}
    for state, distance, best in everything.select("state", "distance", "best_moves").rows():
        assert distance == known[state]
        assert best == oracle.best_moves(state, board.height, board.width, known)
    most = max(known.values())
    assert table.list_hardest(goal)["state"].to_list() == sorted(
        s for s, distance in known.items() if distance == most
    )
    depth = most // 2
    wanted = {state for state, distance in known.items() if distance == depth}
    sample = table.sample(1_000, seed=4, goal=goal, distance=depth)
    assert {*sample["distance"]} == {depth}
    check_uniform(sample["state"].to_list(), wanted)
    with pytest.raises(NoAnswer, match=f"at distance {most + 1}: the largest is {most}"):
        table.sample(1, goal=goal, distance=most + 1)


def test_ranks_are_found_in_the_order_of_their_places(small_boards: Path) -> None:
    reader = BoardReader(parse_board("2x3"), Folder(small_boards))
    (distances,) = reader.iter_distances(reader.puzzle.view_goal("123450"))
    chunks = np.split(distances, [50, 51, 200])
    every = find_ranks(chunks, 10)
    assert every.tolist() == np.flatnonzero(distances == 10).tolist()
    assert count_distances(chunks)[10] == len(every)
    places = np.array([3, 0, 3, len(every) - 1])
    assert find_ranks(chunks, 10, places).tolist() == every[places].tolist()


@pytest.mark.parametrize("distance", [-1, 1.5, "x", True])
def test_distances_are_whole_numbers(tables: Tables, distance: int) -> None:
    with pytest.raises(BadRequest, match="--distance needs a whole number from 0"):
        tables.eight.sample(1, distance=distance)


def test_sizes_and_seeds_may_be_numpy_integers() -> None:
    assert SampleRequest(np.int8(3), np.uint64(1)).check() == SampleRequest(3, 1)  # type: ignore[arg-type]
