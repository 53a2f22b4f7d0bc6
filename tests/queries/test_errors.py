"""Queries whose answer is no, bad input, and keys that are the name of a file: errors and hints.

The messages are in `tests/golden`.
"""

from pathlib import Path

import pytest

from puzzle_tablebase.errors import (
    BadRequest,
    GoalUnreachable,
    NoAnswer,
    NotationError,
    TablebaseError,
    TableMissing,
)
from puzzle_tablebase.pipeline.single_query import answer_as_text
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from tests.support.build_recorder import build_tables

Options = dict[str, str | bool]
Case = tuple[str, str, Options, type[TablebaseError], dict[str, object]]

EVEN, NEVER, SEVEN = "123456780", "BBBBB.....AAAAA", "AAAAAAABBB....."
CASES: list[Case] = [
    ("eight", EVEN, {"goal": "centre"}, GoalUnreachable, {}),
    ("senet", NEVER, {}, NoAnswer, {}),
    ("knight", "a1", {"to": "c3"}, NoAnswer, {}),
    ("knight", "a1", {"board": "5x5", "number": "9999999999"}, NoAnswer, {}),
    ("knight", "a1", {"board": "6x9"}, NoAnswer, {}),
    ("knight", "a1", {"count": True, "board": "7x9"}, NoAnswer, {}),
    ("eight", "１23456780", {}, NotationError, {"text": "１23456780"}),
    ("eight", "", {}, NotationError, {"text": ""}),
    ("eight", EVEN, {"goal": "top"}, NotationError, {"text": "top"}),
    ("senet", SEVEN, {}, NotationError, {"text": SEVEN, "example": "ABABABABAB....."}),
    ("knight", "i9", {}, NotationError, {"text": "i9", "example": "b1"}),
    ("knight", "b1", {"to": "k1"}, NotationError, {"text": "k1"}),
    ("knight", "b1", {"number": "-1"}, NotationError, {"text": "-1"}),
    ("knight", "b1", {"number": "٣"}, NotationError, {"text": "٣"}),
    ("knight", "b1", {"number": "1", "to": "a3"}, BadRequest, {}),
]


def refusal(name: str, key: str, options: Options) -> TablebaseError:
    with pytest.raises(TablebaseError) as caught:
        answer_as_text(name, key, options)
    return caught.value


@pytest.mark.parametrize(("name", "key", "options", "kind", "known"), CASES)
def test_refusals_have_their_kind_their_code_and_their_facts(
    outputs: Path, name: str, key: str,
    options: Options, kind: type[TablebaseError], known: dict[str, object],
) -> None:  # fmt: skip
    error = refusal(name, key, {**options, "outputs": str(outputs)})
    assert type(error) is kind
    assert error.exit_code == (1 if isinstance(error, NoAnswer) else 2)
    assert {check: getattr(error, check) for check in known} == known


def test_boards_with_few_tours(tmp_path: Path) -> None:
    boards = KnightBoard(1, 1), KnightBoard(3, 4)
    build_tables(tmp_path, KNIGHT, *map(make_tour_table, boards))
    options: Options = {"outputs": str(tmp_path), "board": "1x1", "to": "a1"}
    assert "from a1 to a1, number 0\n" in answer_as_text("knight", "a1", options)
    error = refusal("knight", "a1", options | {"board": "3x4", "to": "b3", "closed": True})
    assert isinstance(error, NoAnswer)


def test_a_missing_table_names_its_build_command(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        error = refusal("eight", "123456708", {"goal": "edge", "outputs": str(folder)})
        assert isinstance(error, TableMissing)
        assert (error.exit_code, error.file) == (3, f"{folder}/eight_edge.idx")
        assert error.command == f"pipeline precompute eight_edge --outputs {folder}"


@pytest.mark.parametrize(("board", "closed"), [("6x8", True), ("10x7", False)])
def test_closed_tours_may_be_counted_alone(outputs: Path, board: str, closed: bool) -> None:
    """Who asks for closed tours need not count all, and of 10x7 all are too many."""
    options: Options = {"board": board, "count": True, "outputs": str(outputs), "closed": closed}
    error = refusal("knight", "a1", options)
    assert isinstance(error, TableMissing)
    assert error.command == f"pipeline precompute knight_closed_counts_{board} --outputs {outputs}"


def test_rejected_options_leave_no_picture(tmp_path: Path, outputs: Path) -> None:
    picture = tmp_path / "drawn.svg"
    options: Options = {"count": True, "board": "5x5", "outputs": str(outputs)}
    error = refusal("knight", "a1", {**options, "svg": str(picture)})
    assert isinstance(error, BadRequest)
    assert not picture.exists()
