"""Single queries at the shell: what is refused, and what is printed."""

import json
import subprocess
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NoAnswer, NotationError, TableMissing
from puzzle_tablebase.pipeline.single_query import answer_as_text
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.queries.answer import format_json
from tests.support.build_recorder import build_tables
from tests.support.shell import SCRIPT, environment

Options = dict[str, str | bool]


@pytest.mark.parametrize(
    ("name", "key", "options", "text"),
    [
        ("eight", "１23456780", {}, "１23456780"),
        ("eight", "123456780", {"goal": "top"}, "top"),
        ("knight", "b1", {"to": "k1"}, "k1"),
        ("knight", "b1", {"number": "-1"}, "-1"),
        ("knight", "b1", {"number": "٣"}, "٣"),
    ],
)
def test_an_error_holds_the_text_that_is_wrong(
    outputs: Path, name: str, key: str, options: Options, text: str
) -> None:
    with pytest.raises(NotationError) as caught:
        answer_as_text(name, key, {**options, "outputs": str(outputs)})
    assert caught.value.text == text


def test_boards_with_few_tours(tmp_path: Path) -> None:
    boards = KnightBoard(1, 1), KnightBoard(3, 4)
    build_tables(tmp_path, KNIGHT, *map(make_tour_table, boards))
    options: Options = {"outputs": str(tmp_path), "board": "1x1", "to": "a1"}
    assert "from a1 to a1, number 0\n" in answer_as_text("knight", "a1", options)
    with pytest.raises(NoAnswer):
        answer_as_text("knight", "a1", options | {"board": "3x4", "to": "b3", "closed": True})


@pytest.mark.parametrize(("board", "closed"), [("6x8", True), ("10x7", False)])
def test_closed_tours_may_be_counted_alone(outputs: Path, board: str, closed: bool) -> None:
    """Who asks for closed tours need not count all, and of 10x7 all are too many."""
    options: Options = {"board": board, "count": True, "outputs": str(outputs), "closed": closed}
    with pytest.raises(TableMissing) as caught:
        answer_as_text("knight", "a1", options)
    assert caught.value.command.split()[2] == f"knight_closed_counts_{board}"


def test_rejected_options_leave_no_picture(tmp_path: Path, outputs: Path) -> None:
    picture = tmp_path / "drawn.svg"
    options: Options = {"count": True, "board": "5x5", "outputs": str(outputs)}
    with pytest.raises(BadRequest):
        answer_as_text("knight", "a1", {**options, "svg": str(picture)})
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
