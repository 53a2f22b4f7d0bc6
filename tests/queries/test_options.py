"""Options are declared once, parsed once, and hold for the verbs that they are declared with."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import NoAnswer, TablebaseError, Undecided
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.queries.boards import EightReader
from tests.support.shell import ROOT

READERS = ("eight", "sliding", "fifteen", "senet", "knight")


def list_documented(name: str) -> set[str]:
    """Return the methods that the page's table lists for a reader, and those of arrays."""
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    listed = set[str]()
    for methods, readers in re.findall(r"^\| (`\w+\(.*?) \| (.*?) \|", text, re.MULTILINE):
        if name in readers.split(", ") or readers == "all":
            listed |= {*re.findall(r"`(\w+)\(", methods)}
    arrays = text.partition("## Arrays")[2].partition("\n## ")[0]
    return listed | {*re.findall(r"eight\.(\w+)\(states", arrays)} if name == "eight" else listed


@pytest.mark.parametrize("name", READERS)
def test_dir_lists_what_the_page_documents(tables: Tables, name: str) -> None:
    reader = tables.sliding("3x4") if name == "sliding" else getattr(tables, name)
    assert {*dir(reader)} == list_documented(name)
    assert all(callable(getattr(reader, method)) for method in dir(reader))


@pytest.mark.parametrize("value", [False, 0, np.False_, None])
def test_a_flag_is_false_by_its_truth(tables: Tables, value: Any) -> None:
    knight = tables.knight
    assert knight.probe("b1", closed=value) == knight.probe("b1")
    assert knight.probe("b1", closed=np.True_) == knight.probe("b1", closed=True)
    assert tables.eight.probe("123450786", path=value) == tables.eight.probe("123450786")


def test_zero_is_a_value(tables: Tables) -> None:
    assert tables.knight.probe("b1", number=0).number == 0
    with pytest.raises(pt.NotationError):
        tables.knight.probe("b1", to="")


def test_every_row_without_an_answer_raises(
    tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a second attempt succeed, as that of a search with a time limit may."""
    reader, answer, asked = tables.senet, type(tables.senet).answer, list[str]()

    def answer_later(self: Any, key: Any, options: Any) -> Any:
        asked.append(key)
        if asked.count(key) == 1:
            raise Undecided(key, 1, 1)
        return answer(self, key, options)

    monkeypatch.setattr(type(reader), "answer", answer_later)
    with pytest.raises(TablebaseError, match="Undecided after 1 s"):
        reader.annotate(["ABAAABBB.B...A."], errors="raise", turn="B")


def test_a_path_and_all_solutions_print_together(tables: Tables) -> None:
    answer = tables.answer("eight", "123450786", path=True, solutions=True)
    assert answer.to_text() == "123450786\n123456780\n\nD\n"
    rows = tables.eight.annotate(["123450786"], path=True, solutions=True)
    assert rows.select("solution", "all_solutions").row(0) == ("D", "D")


def test_a_spread_beyond_the_farthest_distance_is_refused(tables: Tables) -> None:
    for distance in ("32", "30-32", "0-999999999"):
        with pytest.raises(NoAnswer, match="the largest is 31"):
            tables.eight.sample(100, spread=True, distance=distance)


def test_a_board_is_read_as_the_8_puzzle_is(small_boards: Path) -> None:
    """Answer all states of 3x3 together by both readers."""
    reader = pt.open_tables(str(small_boards)).sliding("3x3")
    assert issubclass(EightReader, type(reader))
    rows = pl.read_parquet(ROOT / "outputs" / "eight.parquet")
    names = ["state", "distance", "best_moves"]
    corner = rows.filter(pl.col("goal").cast(pl.String) == "corner").select(names)
    assert reader.annotate(corner.select("state")).select(names).equals(corner)
