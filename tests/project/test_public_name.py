"""Tests of `puzzle_tablebase`: the public names, whatever stands in the working directory."""

import inspect
import sys
from functools import cached_property
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from tests.support.shell import ROOT, Said, run

OWN = ("tablebase", "queries", "pipeline")


@pytest.fixture(params=["packages", "modules", "folders"])
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Make a folder with packages, modules or plain folders of the names of our packages."""
    for name in OWN:
        if request.param == "modules":
            (tmp_path / f"{name}.py").write_text("raise RuntimeError('foreign')")
        else:
            (tmp_path / name).mkdir()
        if request.param == "packages":
            (tmp_path / name / "__init__.py").write_text("raise RuntimeError('foreign')")
    return tmp_path


def run_python(folder: Path, *words: str) -> Said:
    """Run Python in a folder, which comes first among the places of modules."""
    return run([sys.executable, *words], cwd=folder)


def test_foreign_folders_do_not_win(foreign: Path, outputs: Path) -> None:
    code = (
        "import puzzle_tablebase as pt\n"
        f"tables = pt.open_tables({str(outputs)!r})\n"
        "print(tables.eight.probe('378546201').distance, tables.knight.probe('b1').start)\n"
        "import pipeline.build, queries.batch, sys; print(pipeline.build.__file__)\n"
        "print(sys.path[0] in ('', '.'))"
    )
    text = run_python(foreign, "-c", code)
    assert text == (0, f"27 b1\n{ROOT / 'pipeline' / 'build.py'}\nTrue\n", "")


def test_the_module_is_the_command_line(foreign: Path, outputs: Path) -> None:
    words = ("-m", "puzzle_tablebase")
    query = ("query", "eight", "123456780", "--outputs", str(outputs))
    text = run_python(foreign, *words, *query)
    assert (text.code, "0 moves" in text.out, text.err) == (0, True, "")
    text = run_python(foreign, *words, "status", "--outputs", str(outputs))
    assert (text.code, text.err) == (0, "")
    assert run_python(foreign, *words, "nope").code == 2


@pytest.mark.parametrize("name", OWN)
def test_a_foreign_module_that_is_imported_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").touch()
    text = run_python(tmp_path, "-c", f"import {name}, puzzle_tablebase")
    assert text.code == 1
    assert text.err.splitlines()[-1] == (
        f"ImportError: Another module named {name} is imported already "
        f"({tmp_path / f'{name}.py'}). Import puzzle_tablebase before it, or give yours another "
        "name."
    )


def test_each_public_name_is_there_and_typed() -> None:
    assert {*dir(pt)} == {*pt.__all__}
    stated = inspect.getsource(pt)
    for name in pt.__all__:
        assert getattr(pt, name) is not None
        assert f"{name} as {name}\n" in stated
    with pytest.raises(AttributeError, match="'puzzle_tablebase' has no attribute 'nope'"):
        _ = pt.nope  # type: ignore[attr-defined]


def test_each_public_method_has_a_docstring() -> None:
    documented = {
        f"{name}.{member}": value
        for name in pt.__all__
        if inspect.isclass(getattr(pt, name))
        for member, value in [("", getattr(pt, name)), *inspect.getmembers(getattr(pt, name))]
        if member[:1] != "_" and (callable(value) or isinstance(value, property | cached_property))
    }
    assert {"Tables.eight", "EightReader.probe", "Answer.to_dict"} <= {*documented}
    assert [name for name, value in documented.items() if not inspect.getdoc(value)] == []
    assert "Return" in (inspect.getdoc(pt.open_tables().eight.distance) or "")
