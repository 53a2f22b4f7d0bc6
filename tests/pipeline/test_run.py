"""Every kind of query, as text and through the typed tables; any of the 9! goals; and refusals."""

import json
import random
import subprocess
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError, TableMissing
from puzzle_tablebase.pipeline.terminal import format_repair
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.puzzles.sliding import EIGHT as PUZZLE
from puzzle_tablebase.queries.knight.prober import KnightAnswer
from puzzle_tablebase.queries.questions import format_json
from puzzle_tablebase.queries.tables import Tables, open_tables
from tests import first, usual_or_nightly
from tests.support import oracles, reference_numbers
from tests.support.build_recorder import build_tables
from tests.support.oracles import eight_best_moves, eight_replay, eight_search
from tests.support.querying import query_text
from tests.support.shell import ROOT, SCRIPT, environment
from tests.support.strategies import eight_states


@pytest.fixture(scope="module")
def eight_rows(outputs: Path) -> dict[str, tuple[Any, ...]]:
    """Return the table of the 8-puzzle by state, without the ranks."""
    rows = pl.read_parquet(outputs / "eight.parquet").drop("rank").iter_rows()
    return {row[0]: row for row in rows}


def words(name: str, key: str, **options: str | bool) -> str:
    """Return the answer as text, from the repository's tables wherever the test runs."""
    return query_text(name, ROOT / "outputs", key, **options)


def facts(name: str, key: str, **options: str | bool) -> Any:
    """Return the answer as JSON, which is one object on one line."""
    (line,) = words(name, key, json=True, **options).splitlines()
    return json.loads(line)


def check_path(path: list[str], start: str, goal: str, distance: int) -> None:
    """Require that every state of a path is one move from the one before."""
    assert (path[0], path[-1], len(path)) == (start, goal, distance + 1)
    for before, after in pairwise(path):
        assert after in oracles.eight_neighbours(before).values()


@pytest.mark.parametrize(("key", "goal", "moves"), reference_numbers.examples("eight"))
def test_examples_of_the_8_puzzle(outputs: Path, key: str, goal: str, moves: str) -> None:
    state = key.replace(" ", "")
    result = facts("eight", key, goal=goal)
    assert (result["state"], result["goal_state"], result["distance"]) == (state, goal, int(moves))
    assert oracles.eight_replay(state, result["solution"])[-1] == goal
    assert facts("eight", key)["distance"] == int(moves)
    assert f"{moves} moves" in words("eight", key)


@pytest.mark.parametrize(("start", "goal"), reference_numbers.examples("eight path"))
def test_example_of_a_path(outputs: Path, start: str, goal: str) -> None:
    path = words("eight", start, goal=goal, path=True).splitlines()
    check_path(path, start, goal, oracles.eight_distances(goal)[start])


@pytest.mark.parametrize(("position", "dice"), reference_numbers.examples("senet"))
def test_example_of_senet(outputs: Path, position: str, dice: str) -> None:
    result = facts("senet", position)
    assert " ".join(result["dice"]) == dice
    assert oracles.senet_replay(result["dice"], result["moves"]) == position
    assert f"dice       {dice}\n" in words("senet", position)


@pytest.mark.parametrize(("board", "start"), reference_numbers.examples("knight"))
def test_example_of_the_knight(tables: Tables, board: str, start: str) -> None:
    result = facts("knight", start, board=board)
    tour = replay(tables.knight.probe(start, board=board))
    assert tour == oracles.read_tour(8, 8, result["path"])
    assert tour[0] == 1  # file 1, rank 7 from the top
    order = {square: move for move, square in enumerate(tour, start=1)}
    rows = [[order[8 * rank + file] for file in range(8)] for rank in reversed(range(8))]
    assert result["order"] == rows


@given(eight_states)
def test_any_state_of_the_8_puzzle(
    eight_rows: dict[str, tuple[Any, ...]], tables: Tables, state: str
) -> None:
    result = facts("eight", state, path=True)
    columns = ("state", "goal", "distance", "best_moves", "solutions")
    features = oracles.eight_features(state, state)
    assert tuple(result[name] for name in (*columns, *features)) == eight_rows[state]
    check_path(result["path"], state, result["goal_state"], result["distance"])
    assert oracles.eight_replay(state, result["solution"]) == result["path"]
    slid = [before[after.index("0")] for before, after in pairwise(result["path"])]
    assert result["tiles"] == "".join(slid)
    after = oracles.eight_neighbours(state)
    best = [state[after[letter].index("0")] for letter in result["best_moves"]]
    assert result["best_tiles"] == "".join(best)
    assert {result["goal"], *result["out_of_reach"]} == {"corner", "centre"}
    for key in (state, " ".join(state), f" {state}\n"):
        assert tables.eight.distance(key) == tables.eight.probe(key).distance == result["distance"]
    for goal in (result["goal"], result["goal_state"]):
        assert tables.eight.probe(state, goal) == tables.eight.probe(state)


@given(eight_states, eight_states)
def test_any_two_states_of_the_8_puzzle(tables: Tables, start: str, goal: str) -> None:
    eight = tables.eight
    answer, back = eight.get(start, goal=goal), eight.get(goal, goal=start)
    if answer is None or back is None:
        assert answer is back
        # exchanging two tiles of the goal makes it reachable
        assert eight.get(start, goal=goal.translate(str.maketrans("12", "21"))) is not None
        return
    assert (back.distance, back.solutions) == (answer.distance, answer.solutions)
    assert answer.distance >= oracles.eight_manhattan(start, goal)
    path, solution = eight.path(start, goal), eight.solution(start, goal)
    check_path(path, start, goal, answer.distance)
    assert oracles.eight_replay(start, solution) == path
    assert solution[:1] in answer.best_moves


def replay(answer: KnightAnswer) -> list[int]:
    files, ranks = map(int, answer.board.split("x"))
    tour = oracles.read_tour(files, ranks, answer.path)
    ends = [oracles.square_name(files, square) for square in (tour[0], tour[-1])]
    assert [answer.start, answer.finish] == ends
    assert answer.closed == oracles.is_closed(files, tour)
    for (origin, target), jump in zip(pairwise(tour), answer.jumps, strict=True):
        right, down = oracles.JUMPS[jump - 1]
        assert target == origin + right - files * down
    return tour


def test_tours_of_the_chessboard_from_every_square(tables: Tables) -> None:
    for start in range(64):
        name = oracles.square_name(8, start)
        assert replay(tables.knight.probe(name))[0] == start
        closed = tables.knight.probe(name, closed=True)
        assert closed.closed
        assert replay(closed)[0] == start


@pytest.mark.parametrize("board", ["5x5", "6x6"])
def test_tours_of_a_listed_board(outputs: Path, tables: Tables, board: str) -> None:
    table = pl.scan_parquet(outputs / f"knight_tours_{board}.parquet")
    rows = table.filter(pl.col("start") == "c3").collect()
    for number in (0, 1, len(rows) // 2, len(rows) - 1):
        answer = tables.knight.probe("c3", board=board, number=number)
        replay(answer)
        assert answer.path == rows["path"][number]
    assert tables.knight.probe("c3", board=board).number == 0
    end = str(rows["finish"][-1])
    answer = tables.knight.probe("c3", board=board, to=end)
    assert (answer.finish, answer.number) == (end, rows["finish"].to_list().index(end))
    assert (tables.knight.get("c3", board=board, closed=True) is None) == (board == "5x5")
    count = tables.knight.count("c3", board=board)
    assert (count.tours, count.closed) == (len(rows), rows["closed"].sum())


def test_opening_an_empty_folder_fails(tmp_path: Path) -> None:
    with pytest.raises(TableMissing):
        open_tables(str(tmp_path))


@pytest.mark.parametrize("cell", first(1, [5, 0, 1, 2, 3, 4, 6, 7, 8], rest=pytest.mark.nightly))
def test_every_state_of_goals_with_the_blank_on_each_cell(tables: Tables, cell: int) -> None:
    """Let no goal have its tiles in the order of a named one."""
    chance = random.Random(cell)
    tiles = chance.sample("12345678", 8)
    goal = "".join([*tiles[:cell], "0", *tiles[cell:]])
    distances, solutions = eight_search(goal)
    assert len(distances) == 181_440
    eight, view, states = tables.eight._prober, PUZZLE.view_goal(goal), sorted(distances)
    keys = pl.Series("state", PUZZLE.list_states()).cast(pl.String)
    rows = tables.eight.annotate(keys, goal=goal)
    found = rows.drop_nulls("distance").select("state", "distance", "solutions").rows()
    assert sorted(found) == [(state, distances[state], solutions[state]) for state in states]
    for state in chance.sample(states, usual_or_nightly(500, len(states))):
        assert eight.read_record(view, state) == (distances[state], solutions[state]), state
    for state in chance.sample(states, 100):
        best = "".join(letter for letter, _ in eight.list_best_moves(state, goal))
        assert best == eight_best_moves(state, distances)
        assert best == rows["best_moves"][PUZZLE.rank(state)]
        letters, path = eight.find_path(state, goal)
        assert path == eight_replay(state, letters)
        assert path[-1] == goal
        assert len(path) == distances[state] + 1


Options = dict[str, str | bool]


@pytest.mark.parametrize(
    ("name", "key", "options"),
    [
        *(("eight", "１23456780", {}), ("eight", "123456780", {"goal": "top"})),
        *(("knight", "b1", {"number": text}) for text in ("-1", "٣")),
    ],
)
def test_an_error_holds_the_text_that_is_wrong(
    outputs: Path, name: str, key: str, options: Options
) -> None:
    with pytest.raises(NotationError) as caught:
        query_text(name, outputs, key, **options)
    assert caught.value.text == next(iter(options.values()), key)


def test_boards_with_few_tours(tmp_path: Path) -> None:
    boards = KnightBoard(1, 1), KnightBoard(3, 4)
    build_tables(tmp_path, KNIGHT, *map(make_tour_table, boards))
    options: Options = {"board": "1x1", "to": "a1"}
    assert "from a1 to a1, number 0\n" in query_text("knight", tmp_path, "a1", **options)
    with pytest.raises(NoAnswer):
        query_text("knight", tmp_path, "a1", board="3x4", to="b3", closed=True)


@pytest.mark.parametrize(("board", "closed"), [("6x8", True), ("10x7", False)])
def test_closed_tours_may_be_counted_alone(outputs: Path, board: str, closed: bool) -> None:
    """Counting closed tours does not need the count of all, and of 10x7 all are too many."""
    options: Options = {"board": board, "count": True, "closed": closed}
    with pytest.raises(TableMissing) as caught:
        query_text("knight", outputs, "a1", **options)
    assert format_repair(caught.value).split()[2] == f"knight_closed_counts_{board}"


def test_rejected_options_leave_no_picture(tmp_path: Path, outputs: Path) -> None:
    picture = tmp_path / "drawn.svg"
    options: Options = {"count": True, "board": "5x5"}
    with pytest.raises(BadRequest):
        query_text("knight", outputs, "a1", **options, svg=str(picture))
    assert not picture.exists()


TEXT = st.text() | st.text(st.characters()) | st.text('"\\\x7f\x1b\n\té\ud800😀')
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
FACTS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda facts: st.lists(facts) | st.tuples(facts) | st.dictionaries(TEXT, facts),
)


@given(FACTS)
def test_format_json_agrees_with_the_standard_library(facts: object) -> None:
    assert format_json(facts) == json.dumps(facts)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (b"1", "b'1'"),
        (np.float64(0.1), 0.1),
        (np.int8(-3), -3),
        (date(2024, 2, 29), "2024-02-29"),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_values_unknown_to_json_are_valid_json(value: object, written: object) -> None:
    assert json.loads(format_json({"fact": [value], 1: value})) == {"fact": [written], "1": written}


@pytest.mark.parametrize("board", [["--board", "5x5"], ["--board=5x5"]], ids=["quick", "proper"])
def test_a_count_without_a_square_reads_no_input(outputs: Path, board: list[str]) -> None:
    """Keep standard input open and silent, so that a process that reads it never ends."""
    with subprocess.Popen(
        [SCRIPT, "query", "knight", "--count", *board, "--json", "--outputs", str(outputs)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.wait(timeout=60) == 0
        assert process.stdout
        assert process.stdout.read() == b'{"board": "5x5", "tours": 1728, "closed": 0}\n'
