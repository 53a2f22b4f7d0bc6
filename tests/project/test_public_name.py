"""Tests of `puzzle_tablebase`: the public names, whatever stands in the working directory."""

import inspect
import sys
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from tests.support.shell import Said, run

FOREIGN = ("tablebase", "queries", "pipeline")
"""Names of the project's parts that a user may have given to files of his own."""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Make a folder with a user's own `tablebase.py`, `pipeline.py` and `queries/`."""
    (tmp_path / "tablebase.py").write_text("NAME = 'mine'")
    (tmp_path / "pipeline.py").write_text("NAME = 'mine'")
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "__init__.py").write_text("NAME = 'mine'")
    return tmp_path


def run_python(folder: Path, *words: str) -> Said:
    """Run Python in a folder, which comes first among the places of modules."""
    return run([sys.executable, *words], cwd=folder)


@pytest.mark.parametrize("is_first", [True, False])
def test_a_users_own_modules_stay_and_change_nothing(
    foreign: Path, outputs: Path, is_first: bool
) -> None:
    theirs = f"import {', '.join(FOREIGN)}\n"
    code = (
        f"{theirs if is_first else ''}import puzzle_tablebase as pt\n"
        f"tables = pt.open_tables({str(outputs)!r})\n"
        "print(tables.eight.probe('378546201').distance, tables.knight.probe('b1').start)\n"
        "import puzzle_tablebase.pipeline.jobs, puzzle_tablebase.queries.batch\n"
        f"{theirs}print(tablebase.NAME, queries.NAME, pipeline.NAME)"
    )
    (foreign / "script.py").write_text(code)
    assert run_python(foreign, "script.py") == (0, "27 b1\nmine mine mine\n", "")


def test_the_module_is_the_command_line(foreign: Path, outputs: Path) -> None:
    words = ("-m", "puzzle_tablebase")
    query = ("query", "eight", "123456780", "--outputs", str(outputs))
    text = run_python(foreign, *words, *query)
    assert (text.code, "0 moves" in text.out, text.err) == (0, True, "")
    text = run_python(foreign, *words, "status", "--outputs", str(outputs))
    assert (text.code, text.err) == (0, "")
    assert run_python(foreign, *words, "nope").code == 2


def test_each_public_name_is_there_and_typed() -> None:
    assert {*dir(pt)} == {*pt.__all__}
    stated = inspect.getsource(pt)
    for name in pt.__all__:
        value = getattr(pt, name)
        is_error = isinstance(value, type) and issubclass(value, Exception)
        assert f"{name} as {name}\n" in stated or f"\n{name} = " in stated or is_error
    with pytest.raises(AttributeError, match="'puzzle_tablebase' has no attribute 'nope'"):
        _ = pt.nope  # type: ignore[attr-defined]
