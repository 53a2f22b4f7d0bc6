"""Tests of `puzzle_tablebase`: the public names, whatever stands in the working directory."""

import inspect
import sys
from pathlib import Path

import pytest

import puzzle_tablebase as pt
from tests import first
from tests.support.shell import run


@pytest.mark.parametrize("is_first", first(1, [True, False]))
def test_a_users_own_modules_stay_and_change_nothing(
    outputs: Path, tmp_path: Path, is_first: bool
) -> None:
    for name in ("tablebase", "queries", "pipeline"):
        (tmp_path / f"{name}.py").write_text("NAME = 'mine'")
    theirs = "import tablebase, queries, pipeline\n"
    code = (
        f"{theirs if is_first else ''}import puzzle_tablebase as pt\n"
        f"tables = pt.open_tables({str(outputs)!r})\n"
        "print(tables.eight.probe('378546201').distance, tables.knight.probe('b1').start)\n"
        "import puzzle_tablebase.pipeline.build, puzzle_tablebase.queries.batch\n"
        f"{theirs}print(tablebase.NAME, queries.NAME, pipeline.NAME)"
    )
    (tmp_path / "script.py").write_text(code)
    ended = run([sys.executable, "script.py"], cwd=tmp_path)
    assert ended == (0, "27 b1\nmine mine mine\n", "")
    if is_first:
        module = [sys.executable, "-m", "puzzle_tablebase"]
        assert run([*module, "status", "--outputs", outputs], cwd=tmp_path).code == 0
        assert run([*module, "nope"], cwd=tmp_path).code == 2


def test_each_public_name_is_there_and_typed() -> None:
    assert {*dir(pt)} == {*pt.__all__}
    assert not {"NotAFile", "Unreachable"} & {*pt.__all__}  # a user meets none of these
    stated = inspect.getsource(pt)
    assert all(getattr(pt, name) is not None for name in pt.__all__)
    for name in " ".join(pt.MODULES.values()).split():  # those of errors are imported as they are
        assert f"{name} as {name}\n" in stated
    with pytest.raises(AttributeError):
        _ = pt.nope  # type: ignore[attr-defined]
