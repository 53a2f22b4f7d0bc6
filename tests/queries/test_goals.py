"""Any of the 9! goals: whole classes of states compared with a search from the goal."""

from __future__ import annotations

import random
import re
from pathlib import Path

import polars as pl
import pytest

from queries.api import Tables
from queries.dispatch import open_reader
from queries.eight import EightReader
from tablebase.errors import BadRequest
from tablebase.puzzles.eight import PUZZLE
from tablebase.tables.store import Folder
from tests import first, long_run, often
from tests.support.oracles import eight_best_moves, eight_replay, eight_search


@pytest.fixture(scope="module")
def asks(outputs: Path) -> EightReader:
    result = open_reader("eight", Folder(outputs))
    assert isinstance(result, EightReader)
    return result


def goal_with_blank_on(cell: int) -> str:
    """Return a goal whose blank is on a cell, with its tiles in no order that a named goal has."""
    tiles = list("12345678")
    random.Random(cell).shuffle(tiles)
    return "".join([*tiles[:cell], "0", *tiles[cell:]])


@pytest.mark.parametrize("cell", first(1, [5, 0, 1, 2, 3, 4, 6, 7, 8], rest=long_run))
def test_every_state_of_goals_with_the_blank_on_each_cell(asks: EightReader, cell: int) -> None:
    goal = goal_with_blank_on(cell)
    distances, solutions = eight_search(goal)
    view = PUZZLE.view_goal(goal)
    assert len(distances) == 181_440
    rows = asks.read_rows(goal)
    of_reached = rows.with_row_index().filter(pl.col("distance").is_not_null())
    assert {
        PUZZLE.unrank(rank): (distance, count)
        for rank, distance, count in of_reached.select("index", "distance", "solutions").iter_rows()
    } == {state: (distance, solutions[state]) for state, distance in distances.items()}
    chance, states = random.Random(cell), sorted(distances)
    for state in chance.sample(states, often(2_000, len(states))):
        assert asks.read_record(view, state) == (distances[state], solutions[state]), state
    for state in chance.sample(states, 300):
        best = "".join(letter for letter, _ in asks.list_best_moves(state, goal))
        assert best == eight_best_moves(state, distances)
        assert best == rows["best_moves"][PUZZLE.rank(state)]
        path = asks.find_path(state, goal)
        assert [step for _, step in path] == eight_replay(state, "".join(x for x, _ in path[1:]))
        assert path[-1][1] == goal
        assert len(path) == distances[state] + 1


@pytest.mark.parametrize("name", ["senet", "knight", "nine", ""])
def test_a_puzzle_without_goals_is_rejected(tables: Tables, name: str) -> None:
    sentence = f"{name!r} is not a puzzle with goals. Choose one of: eight."
    with pytest.raises(BadRequest, match=f"^{re.escape(sentence)}$"):
        tables.goals(name)
