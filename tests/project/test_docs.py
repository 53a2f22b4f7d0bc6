"""Tests of the docs: generated pages are current, code runs, links and figures are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.jobs import select_tables
from tests.support.build_recorder import build_tables
from tests.support.shell import program
from tools import sessions
from tools.generated_docs import MADE
from tools.sessions import ROOT

CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
SECTION_LINK = re.compile(r"\]\(([^)#:]*)#([^)]*)\)")
MARKDOWN = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "outputs" / "README.md"]


SLOW = ("docs/fifteen.md", "docs/sliding.md")
"""The pages with sessions that build large tables."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in MADE]
)
def test_page_is_what_the_program_writes(
    name: str, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PROGRAM", Path(program()))  # a preloaded one
    assert (ROOT / name).read_text() == MADE[name](), "run make docs, and read what changed"


BUILT = {"fifteen.md": ["fifteen_123"], "sliding.md": ["sliding_3x4_12"]}
"""The tables that the code of a page reads, of those that are not built by default."""


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_in_docs_runs(
    page: Path, outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    if names := BUILT.get(page.name):
        for puzzle, table in select_tables(names):
            build_tables(tmp_path / "outputs", puzzle, table)
        monkeypatch.chdir(tmp_path)
    for code in CODE.findall(page.read_text()):
        exec(compile(code, page.name, "exec"), {})


def list_sections(page: Path) -> set[str]:
    """List the names by which links lead to a page's headings."""
    text = re.sub("```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall("^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_their_sections(page: Path) -> None:
    text = page.read_text("utf-8")
    for link in LINK.findall(text):
        assert (page.parent / link).exists(), link
    for name, section in SECTION_LINK.findall(text):
        assert section in list_sections(page.parent / name if name else page), (name, section)


def test_named_test_files_exist() -> None:
    pages = [*MARKDOWN, ROOT / "Makefile", ROOT / ".ci/run"]
    names = {
        name
        for page in pages
        for name in re.findall(r"\btests/[a-z_0-9/]+(?:\.py|/)", page.read_text("utf-8"))
    }
    assert len(names) > 20
    assert {name for name in names if not (ROOT / name).exists()} == set()


def test_the_three_one_liners_agree(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = []
    for code in CODE.findall((ROOT / "docs/tour.md").read_text()):
        imported, line = code.strip().split("\n\n")
        names: dict[str, object] = {}
        exec(imported, names)
        result.append(eval(line, names))
    by_polars = [(str(goal), distance, states) for goal, distance, states in result[0].rows()]
    assert sorted(by_polars) == result[1].fetchall(), "DuckDB sorts the goals by name"
    assert by_polars == [(goal, distance, n) for (goal, distance), n in result[2].items()]
