"""Tests of the page of mutation results: its form, and its rows."""

from pathlib import Path

import pytest

from tests.support.shell import ROOT
from tools import mutants_page
from tools.mutants import TESTS, find_tests
from tools.mutants_page import PAGE, Result, format_page, parse_page, update_page


def test_the_page_is_what_the_tool_writes() -> None:
    page = PAGE.read_text("utf-8")
    results = parse_page(page)
    assert results
    assert page == format_page(results)


def test_each_row_adds_up_and_belongs_to_a_file_with_tests() -> None:
    for source, result in parse_page(PAGE.read_text("utf-8")).items():
        assert source in TESTS
        assert (ROOT / source).exists()
        assert result.mutants == result.killed + result.timed_out + result.survived


def test_every_file_that_is_mutated_exists_and_has_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    for source, tests in TESTS.items():
        assert Path(source).is_file()
        for argument in find_tests(tests):
            file, _, test = argument.partition("::")
            name, _, _ = test.partition("[")
            assert f"def {name}" in Path(file).read_text("utf-8")


def test_a_run_replaces_only_its_own_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "mutants.md"
    monkeypatch.setattr(mutants_page, "PAGE", page)
    first, second = Result(3, 2, 0, 1), Result(1234, 1230, 4, 0)
    update_page({"b.py": first, "a.py": first})
    update_page({"b.py": second})
    assert parse_page(page.read_text("utf-8")) == {"a.py": first, "b.py": second}
