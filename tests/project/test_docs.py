"""Tests of the docs: their sessions are run, and their links and names lead to what exists."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from puzzle_tablebase.queries import open_tables
from tests.support.shell import program
from tools import sessions
from tools.generated_docs import MADE
from tools.sessions import ROOT

LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SECTION_LINK = re.compile(r"\]\(([^)#:]*)#([^)]*)\)")
PYTHON = re.compile(r"^```pycon\n(.*?)^```", re.DOTALL | re.MULTILINE)
MARKDOWN = [
    *(path for name in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in ROOT.glob(name)),
    *(ROOT / name for name in ("outputs/README.md", "queries/javascript/README.md")),
]
PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in MARKDOWN]
SLOW = ("docs/fifteen.md", "docs/sliding.md")
"""The pages with sessions that build large tables."""
BUILT = {"fifteen.md": "fifteen_6-6-3", "sliding.md": "sliding_3x4"}
"""The tables that the Python of a page reads, of those that are not built by default."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in MADE]
)
def test_page_is_what_the_program_writes(
    name: str, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PROGRAM", Path(program()))  # a preloaded one
    assert (ROOT / name).read_text() == MADE[name](), "run make docs, and read what changed"


@pytest.mark.parametrize("page", PAGES)
def test_python_sessions_print_what_the_page_shows(
    page: Path, outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    if name := BUILT.get(page.name):
        assert sessions.run_command(f"pipeline precompute {name} --quiet", str(tmp_path)) == ""
        monkeypatch.chdir(tmp_path)
    text = "\n".join(PYTHON.findall(page.read_text("utf-8")))
    session = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    shown: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(session, out=shown.append).failed == 0, "".join(shown)


def list_sections(page: Path) -> set[str]:
    """List the names by which links lead to a page's headings."""
    text = re.sub("```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall("^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_their_sections(page: Path) -> None:
    text = page.read_text("utf-8")
    for link in LINK.findall(text):
        assert (page.parent / link).exists(), link
    for name, section in SECTION_LINK.findall(text):
        assert section in list_sections(page.parent / name if name else page), (name, section)


def test_every_picture_is_shown() -> None:
    shown = {
        (page.parent / link).resolve()
        for page in MARKDOWN
        for link in LINK.findall(page.read_text("utf-8"))
    }
    pictures = {path for kind in ("svg", "png") for path in ROOT.glob(f"docs/*.{kind}")}
    assert pictures <= shown


def test_named_files_exist() -> None:
    """Look for the tests and the modules that pages name."""
    pages = [*MARKDOWN, ROOT / "Makefile", ROOT / ".ci/run"]
    names = {
        name
        for page in pages
        for name in re.findall(
            r"(?<![\w/])(?:tests|tools|queries|pipeline|puzzle_tablebase)/[a-z_0-9/]+(?:\.py|/)",
            page.read_text("utf-8"),
        )
    }
    assert len(names) > 20
    names.remove("queries/node_modules/")  # which `npm ci` makes
    assert {name for name in names if not (ROOT / name).exists()} == set()


def test_each_promise_names_a_test() -> None:
    _, _, text = (ROOT / "docs" / "trust.md").read_text("utf-8").partition("\n## Promises\n")
    rows = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert len(rows) > 10
    assert [row for row in rows[2:] if not re.search(r"`tests/[a-z_/]+(\.py|/)`", row)] == []


METHODS = re.compile(r"^\| `(\w+)\(.*?\)`.*? \| ([^|]*) \|", re.MULTILINE)


def test_each_method_of_the_python_page_exists(outputs: Path) -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    with open_tables(str(outputs)) as tables:
        puzzles = {name: getattr(tables, name) for name in ("eight", "fifteen", "senet", "knight")}
        named = {
            (puzzle, method)
            for method, users in METHODS.findall(page)
            for puzzle in puzzles
            if puzzle in users or users == "all"
        }
        absent = {(puzzle, name) for puzzle, name in named if not hasattr(puzzles[puzzle], name)}
    assert len(named) > 30
    assert absent == set()
