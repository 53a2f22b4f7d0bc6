"""What a type checker knows of a program that uses the package: no answer or frame is Any."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shell import ROOT

PROGRAM = """\
from typing import assert_type

import polars as pl
import puzzle_tablebase as pt

tables = pt.open_tables("outputs")
frame = pl.DataFrame({"state": ["378546201"], "answer": ["U"]})
assert_type(tables.eight.get("378546201"), pt.BoardAnswer | None)
assert_type(tables.eight.get("378546201", 0), pt.BoardAnswer | int)
assert_type(tables.eight.annotate(["378546201", None]), pl.DataFrame)
assert_type(tables.eight.annotate(frame), pl.DataFrame)
assert_type(tables.eight.annotate(frame.lazy(), errors="column"), pl.LazyFrame)
assert_type(tables.eight.check_frame(frame), pl.DataFrame)
assert_type(tables.eight.check_frame(frame.lazy(), goal="edge"), pl.LazyFrame)
assert_type(tables.senet.get("ABABABABAB.....", default=""), pt.SenetAnswer | str)
assert_type(tables.knight.probe("b1").path, str)
assert_type(tables.sliding("3x4").distance("123456789ab0"), int)
assert_type(tables.fifteen.get("123456789abcdef0"), pt.FifteenSolution | None)
reader: pt.GoalReader = tables.goals("eight")
assert_type(reader.probe("123456780"), pt.GoalAnswer)
"""
WRONG = """\
import puzzle_tablebase as pt

pt.open_tables().senet.get("ABABABABAB.....").plies
pt.open_tables().eight.probe("378546201").plies
"""


def check(folder: Path, text: str) -> tuple[int, str]:
    (folder / "program.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run(
        [*command, "program.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.slow
def test_a_program_knows_its_types(tmp_path: Path) -> None:
    assert check(tmp_path, PROGRAM) == (0, "Success: no issues found in 1 source file\n")
    code, output = check(tmp_path, WRONG)
    assert code == 1
    assert 'Item "None" of "SenetAnswer | None" has no attribute "plies"' in output
    assert '"BoardAnswer" has no attribute "plies"' in output
