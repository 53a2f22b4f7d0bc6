"""Tests of the page on Python: its sessions run, and it lists everything that can be called."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

from queries import open_tables
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


SIGNATURE = re.compile(r"^### tables\.(\w+)\.(\w+)\n\n```py\n(.*?)```", re.DOTALL | re.MULTILINE)


def test_each_method_has_a_heading_with_its_signature(outputs: Path) -> None:
    tables = open_tables(str(outputs))
    signatures = SIGNATURE.findall(PAGE.read_text("utf-8"))
    assert len(signatures) == 32
    for puzzle in ("eight", "fifteen", "senet", "knight"):
        (row,) = re.findall(
            rf"^\| `tables\.{puzzle}` \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE
        )
        methods = [method for name, method, _ in signatures if name == puzzle]
        assert set(re.findall(r"`(\w+)`", row)) == {*methods}
    for puzzle, method, text in signatures:
        (function,) = ast.parse(f"def {text.strip()}: ...").body
        assert isinstance(function, ast.FunctionDef)
        arguments = function.args
        given = [*arguments.args, *arguments.kwonlyargs, *filter(None, [arguments.kwarg])]
        page_names = [each.arg for each in given]
        parameters = inspect.signature(getattr(getattr(tables, puzzle), method)).parameters
        assert page_names == [*parameters], (puzzle, method)
        defaults = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
        expected = [each.default for each in parameters.values() if each.default is not each.empty]
        assert [ast.literal_eval(each) for each in defaults] == expected, (puzzle, method)
