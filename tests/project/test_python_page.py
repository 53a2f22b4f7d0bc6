"""Tests of the page on Python: its sessions run, and it lists everything that can be called."""

import doctest
import re
from pathlib import Path

import pytest

from queries.eight.table import EightTable
from queries.knight.table import KnightTable
from queries.senet.table import SenetTable
from tests.support.shell import ROOT

PAGE = ROOT / "docs" / "python.md"
SESSION = re.compile(r"```pycon\n(.*?)```", re.DOTALL)


def test_the_sessions_print_what_the_page_shows(
    outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = "\n".join(SESSION.findall(PAGE.read_text("utf-8")))
    session = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(session.examples) > 20
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(session, out=output.append).failed == 0, "".join(output)


@pytest.mark.parametrize("name", ["eight", "senet", "knight"])
def test_the_page_names_everything_that_can_be_called(name: str) -> None:
    kind = {"eight": EightTable, "senet": SenetTable, "knight": KnightTable}
    (row,) = re.findall(rf"^\| `tables\.{name}` \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    called = {word for word in dir(kind[name]) if not word.startswith("_")}
    # set when the object is created, so that a lookup is one call
    called |= {"distance"} if name == "eight" else set()
    assert set(re.findall(r"`(\w+)`", row)) == called
