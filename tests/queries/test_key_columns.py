"""Columns of keys: boards pasted into cells, and numbers that have lost a zero."""

import json
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.puzzles.sliding import EIGHT, SlidingBoard
from puzzle_tablebase.queries import Tables
from puzzle_tablebase.queries.answer_frames import read_key_column
from puzzle_tablebase.queries.board_columns import normalize_keys
from tests.queries.test_batch_input import write_frame
from tests.support.board_layouts import write_layouts
from tests.support.shell import Ask
from tests.support.strategies import eight_states

TEXTS = ["378546201", "012345678", "378546 2_1", " 3 7 8\n 5 4 6\n 2 . 1", "3,7,8,5,4,6,2,_,1", "7"]
STATES = ["378546201", "012345678", "378546201", "378546201", "378546201", None]


@given(
    st.lists(
        eight_states.flatmap(lambda state: st.sampled_from([*write_layouts(state, 3)]))
        | st.text("12345678 0.", min_size=8, max_size=11)
        | st.none(),
        max_size=6,
    )
)
def test_whole_columns_are_read_as_single_texts(tables: Tables, texts: list[str | None]) -> None:
    keys = pl.Series(texts, dtype=pl.String)
    rows = tables.eight.load_rows(None)
    states, ranks = rows.find_rows(keys)
    assert keys.to_list() == texts, "the column is not changed"
    for text, state, rank in zip(texts, states, ranks, strict=True):
        try:
            expected = EIGHT.parse(text or "")
        except NotationError:
            assert rank == rows.size
        else:
            assert (state, rank) == (expected, EIGHT.rank(expected))


@pytest.mark.parametrize("sides", [(2, 3), (3, 4), (2, 5)])
def test_whole_columns_of_a_sliding_board_are_read_as_single_texts(sides: tuple[int, int]) -> None:
    board = SlidingBoard(*sides)
    for state in (board.example, board.example[::-1], "10" + board.example[1:-1]):
        texts = pl.Series([*write_layouts(state, board.width)])
        assert {*normalize_keys(texts, board.cells)} == {state}
    texts = pl.Series(["3, 10, 1, 11, 8, 7, 2, 5, 4, 9, 6, 0", "10 123456789b0", "é10"])
    assert normalize_keys(texts, 12).to_list() == ["3a1b87254960", "10123456789b0", "é10"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_cells_with_boards_and_numbers_are_answered(
    ask: Ask, tables: Tables, tmp_path: Path, kind: str
) -> None:
    source = tmp_path / f"frame.{kind}"
    source.write_bytes(write_frame(kind, pl.DataFrame({"n": range(len(TEXTS)), "state": TEXTS})))
    code, out, _ = ask("eight", "--input", str(source), "--format", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (code, [row["state"] for row in rows]) == (2, TEXTS), "a cell comes back as it was"
    for row, state in zip(rows, STATES, strict=True):
        assert row["distance"] == (state and tables.eight.distance(state))
    frame = pl.DataFrame({"n": ["a", "b", "c"], "state": [12345678, None, 378546201]})
    source.write_bytes(write_frame(kind, frame))
    rows = ["a,12345678,corner,22,DR,2,", "b,,,,,,", "c,378546201,corner,27,ULR,15,"]
    assert ask("eight", "--input", str(source))[1].splitlines()[1:] == rows
    # text stays text: it may have lost something else
    for text, words in ((b"12345678", ()), (b'{"state":"12345678"}', ("--input-format", "jsonl"))):
        assert ask("eight", *words, text=text)[0] == 2


@pytest.mark.parametrize("kind", [pl.Int32, pl.UInt64, pl.Int128, pl.Float64, pl.Decimal(12, 0)])
def test_numbers_get_their_lost_zero_back(kind: pl.DataType, tables: Tables) -> None:
    numbers = pl.Series("state", [12345678, 378546201, None, 7, -12345678, 11345678], pl.Int64)
    column = numbers.cast(kind, strict=False)
    expected = ["012345678", "378546201", None, "7", "-12345678", "11345678"]
    negative = [None if kind == pl.UInt64 else expected[4]]
    assert read_key_column(column, 9).to_list() == [*expected[:4], *negative, expected[5]]
    frame = column.to_frame()
    answers = tables.eight.annotate(frame)
    assert answers["state"].equals(column), "the column itself stays a column of numbers"
    assert answers["distance"].to_list() == [22, 27, None, None, None, None]
    assert tables.eight.annotate(frame.lazy()).collect().equals(answers)


def test_fractions_are_no_keys(tables: Tables) -> None:
    column = pl.Series("state", [378546201.5, float("nan"), float("inf"), 1e300, 12345678.0])
    assert read_key_column(column, 9).to_list()[1:] == [None, "inf", "1e+300", "012345678"]
    assert tables.eight.annotate(column.to_frame())["distance"].to_list() == [None] * 4 + [22]
    fractions = pl.Series("state", [Decimal("1.5")])
    with pytest.raises(BadRequest):
        tables.eight.annotate(fractions.to_frame())
