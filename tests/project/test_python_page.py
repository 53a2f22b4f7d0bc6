"""Tests of the page on Python: its sessions run, and it lists everything that can be called."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

from puzzle_tablebase.queries import open_tables
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


SIGNATURES = re.compile(r"^### [\w ]+\n\n```py\n(.*?)```", re.DOTALL | re.MULTILINE)
ROWS = re.compile(r"^\| `tables\.(eight|fifteen|senet|knight)` \| (.*) \|$", re.MULTILINE)


def test_each_method_is_described_with_its_signature(outputs: Path) -> None:
    tables, page = open_tables(str(outputs)), PAGE.read_text("utf-8")
    described = dict[str, list[ast.arguments]]()
    for lines in SIGNATURES.findall(page):
        for line in lines.splitlines():
            text = line.partition("  #")[0].replace("Answer | default", "object")
            (function,) = ast.parse(f"def {text}: ...").body
            assert isinstance(function, ast.FunctionDef)
            described.setdefault(function.name, []).append(function.args)
    rows = dict(ROWS.findall(page))
    assert {*rows} == {"eight", "fifteen", "senet", "knight"}
    methods = {puzzle: re.findall(r"`(\w+)`", row) for puzzle, row in rows.items()}
    assert {name for names in methods.values() for name in names} == described.keys()
    for puzzle, names in methods.items():
        for name in names:
            function = getattr(getattr(tables, puzzle), name)
            parameters = [*inspect.signature(function).parameters.values()]
            is_described = (_matches(arguments, parameters) for arguments in described[name])
            assert any(is_described), (puzzle, name)


def _matches(arguments: ast.arguments, parameters: list[inspect.Parameter]) -> bool:
    """Return whether the arguments of the page have the names and defaults of a function's."""
    given = [*arguments.args, *arguments.kwonlyargs, *filter(None, [arguments.kwarg])]
    defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
    expected = [each.default for each in parameters if each.default is not each.empty]
    return [each.arg for each in given] == [each.name for each in parameters] and [
        ast.literal_eval(each) for each in defaults
    ] == expected
