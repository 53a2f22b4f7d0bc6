"""Answers about sliding boards, compared with the oracle; single, in batches, from Python."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from puzzle_tablebase.errors import BadRequest, GoalUnreachable, NotationError, TableDamaged
from puzzle_tablebase.pipeline.single_query import OptionTexts
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.queries import dispatch, open_tables
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.queries.board_columns import CHUNK_ROWS, normalize_keys
from puzzle_tablebase.queries.boards import BoardReader
from puzzle_tablebase.queries.goals import GoalAnswer, GoalReader
from puzzle_tablebase.stores.folder import Folder
from tests.support import sliding_oracle as oracle
from tests.support.asking import ask_many, ask_one
from tests.support.shell import Cli
from tests.support.tampered import change_records, link_copy


@pytest.fixture(scope="module")
def tables(small_boards: Path) -> Tables:
    return open_tables(str(small_boards))


@pytest.mark.parametrize("name", ["2x2", "2x3", "3x2"])
def test_every_state_is_answered_for_many_goals(tables: Tables, name: str) -> None:
    board, table = parse_board(name), tables.sliding(name)
    states = ["".join(cells) for cells in itertools.permutations(board.example)]
    for goal in states[:: 1 if board.cells == 4 else 119]:
        known = oracle.distances(goal, board.height, board.width)
        for state in states:
            if state not in known:
                with pytest.raises(GoalUnreachable):
                    table.probe(state, goal)
                continue
            best = oracle.best_moves(state, board.height, board.width, known)
            answer = table.probe(state, goal)
            assert isinstance(answer, GoalAnswer)
            facts = {"state": state, "goal": goal, "distance": known[state], "best_moves": best}
            assert answer.to_dict() == facts


def find_most_solutions() -> tuple[str, list[str]]:
    """Return the state of 2x3 with the most solutions, and these."""
    known = oracle.distances("123450", 2, 3)
    ways = {state: oracle.list_solutions(state, 2, 3, known) for state in known}
    return max(ways.items(), key=lambda item: (len(item[1]), item[0]))


def test_solutions_are_counted_and_listed(cli: Cli, small_boards: Path) -> None:
    state, ways = find_most_solutions()
    words = ("query", "sliding", state, "--board", "2x3", "--outputs", str(small_boards))
    assert cli(*words, "--solutions").out.split() == ways
    facts = json.loads(cli(*words, "--solutions", "--json").out)
    assert facts["solutions"] == len(facts["all_solutions"]) == len(ways) > 1
    assert "solutions" not in json.loads(cli(*words, "--json").out)


def test_solutions_are_counted_before_they_are_listed(small_boards: Path) -> None:
    start, ways = find_most_solutions()
    board_reader = BoardReader(parse_board("2x3"), Folder(small_boards))
    board_reader.max_solutions = 1
    with pytest.raises(BadRequest) as caught:
        ask_one(board_reader, start, solutions=True)
    assert str(caught.value) == (
        f"{len(ways)} shortest solutions lead from {start} to 123450, and at most 1 can be listed. "
        "Use --path for one of them."
    )
    result = ask_many(board_reader, pl.Series(["123450", start]), solutions=True)
    assert result["all_solutions"].to_list() == ["", None]
    assert result["error"].to_list() == [None, str(caught.value)]


@pytest.mark.parametrize("board", [34, None, b"3x4"])
def test_a_board_must_be_text(tables: Tables, board: Any) -> None:
    with pytest.raises(NotationError, match=f"it is of type {type(board).__name__}, not text"):
        tables.sliding(board)


CHARACTERS = "0123456789ab"
WRITTEN: list[Callable[[str], str]] = [
    ",".join,
    " ".join,
    "\n ".join,
    lambda state: f" {state[:2]}  {state[2:]}\t",
    lambda state: f"{state[:2]}{state[2:].upper()}",
    lambda state: f"{state}0",
    lambda state: state[1:],
    lambda state: state.replace("1", "2"),
    lambda state: state.replace("1", "10"),
    lambda state: " ".join(state.replace("1", "x")).replace("x", "10"),
    lambda state: f"{state}{' ' * 256}",
    lambda state: f"{state}{'9' * 256}",
    lambda state: state.translate(str.maketrans("0123", "０１２３")),
]


@pytest.mark.parametrize(("name", "goal"), [("2x3", None), ("3x2", "054321"), ("2x2", "2103")])
def test_a_long_batch_answers_as_a_short_one(
    small_boards: Path, name: str, goal: str | None
) -> None:
    """Answer every state, and keys of other kinds, so often that there are several chunks."""
    board = parse_board(name)
    states = ["".join(cells) for cells in itertools.permutations(board.example)]
    other = [write(state) for write in WRITTEN for state in states[::97]]
    keys = pl.Series([*states, *other, None, "", " "], dtype=pl.String)
    times = CHUNK_ROWS // len(keys) + 2
    board_reader = BoardReader(board, Folder(small_boards))
    options: OptionTexts = {"goal": goal} if goal else {}
    short = ask_many(board_reader, keys, **options)
    board_reader.max_single_keys = 0
    answers = ask_many(board_reader, pl.concat([keys] * times), **options)
    assert answers.equals(pl.concat([short] * times))
    assert answers.schema == short.schema
    assert ask_many(board_reader, keys.clear(), **options).schema == short.schema


def test_numbers_of_two_digits_in_a_long_batch() -> None:
    def number(state: str) -> str:
        return ", ".join(str(CHARACTERS.index(mark)) for mark in state)

    states = ["3a1b87254960", "b123456789a0"]
    keys = pl.Series([*map(number, states), "10 123456789b0", "10 23456789ab1", "é10"])
    assert normalize_keys(keys, 12).to_list() == [
        *states, "10123456789b0", "1023456789ab1", "é10"
    ]  # fmt: skip


def test_unreachable_states_are_not_queried_singly(
    small_boards: Path, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answer a batch of which half is unreachable: a lone query for each would be slow."""
    monkeypatch.delattr(GoalReader, "find_distance")
    half = pl.Series(["123456780", "213456780"] * 5)
    board = BoardReader(parse_board("3x3"), Folder(small_boards))
    board.max_single_keys = 0
    for reader in (board, dispatch.open_reader("eight", Folder(outputs))):
        result = ask_many(reader, half, goal="123456780")
        assert result["distance"].to_list() == [0, None] * 5
        assert result["error"].is_null().to_list() == [True, False] * 5


@pytest.mark.parametrize(
    ("state", "options", "problem"),
    [
        (None, {}, "no move from 1230 is nearer to 1230"),
        ("1203", {"solutions": True}, "0 solutions lead from 1203 to 1230, not at least one"),
    ],
)
def test_inconsistent_records_are_damage(
    small_boards: Path, tmp_path: Path, state: str | None, options: OptionTexts, problem: str
) -> None:
    """Give every state the same distance, or another one than the goal that of the goal."""
    board, copied = parse_board("2x2"), link_copy(small_boards, tmp_path)
    rows = slice(None) if state is None else slice(board.rank(state), board.rank(state) + 1)
    distance = 3 if state is None else 0
    change_records(copied, "sliding_2x2_4", lambda records: records[rows].fill(distance))
    board_reader = BoardReader(board, Folder(copied))
    with pytest.raises(TableDamaged, match=problem) as caught:
        ask_many(board_reader, pl.Series([state or "1230"]), **options)
    assert caught.value.file == str(copied / "sliding_2x2_4.idx")
