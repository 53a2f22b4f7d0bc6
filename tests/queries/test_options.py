"""Options are declared once, parsed once, and hold for the verbs that they are declared with."""

import re
from typing import Any

import numpy as np
import pytest

from puzzle_tablebase.errors import TablebaseError, Undecided
from puzzle_tablebase.queries.api import Tables
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
    assert knight.probe("b1", number=0).number == 0, "zero is a value"
    assert knight.probe("b1", closed=np.True_) == knight.probe("b1", closed=True)
    assert tables.eight.probe("123450786", path=value) == tables.eight.probe("123450786")


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
    with pytest.raises(TablebaseError, match="Undecided"):
        reader.annotate(["ABAAABBB.B...A."], errors="raise", turn="B")
