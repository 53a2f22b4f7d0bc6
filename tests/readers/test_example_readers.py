"""The reader to copy, alone in an empty folder: it answers the published cases of its puzzles."""

import io
import json
import runpy
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.format_page import VECTORS, read_cases
from tests.support.shell import ROOT, run

CODES = {"unreachable": 1, "malformed": 2}
"""The exit codes of this program for a key without an answer, by the kind of error in a case."""
PUZZLES = ("eight", "sliding", "senet", "knight")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the reader into an empty folder."""
    folder = tmp_path_factory.mktemp("copy")
    return Path(shutil.copy(ROOT / "examples" / "reader.py", folder))


def name_board(case: dict[str, Any]) -> str:
    """Return what the reader calls the puzzle of a case: a board, and a goal after a colon."""
    name = case.get("board", case["puzzle"])
    return f"{name}:{case['goal']}" if "goal" in case else name


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_the_reader_answers_every_case_from_bytes(
    puzzle: str, program: Path, outputs: Path, large_boards: Path
) -> None:
    reader = runpy.run_path(str(program))
    folders = (outputs, large_boards, VECTORS)

    def open_index(name: str, width: int) -> object:
        file = next(path for each in folders if (path := each / f"{name}.idx").exists())
        return reader["Index"](io.BytesIO(file.read_bytes()), name, width)

    cases = read_cases(puzzle)
    assert len(cases) > 8
    for case in cases:
        told = reader["answer"](open_index, name_board(case), case["key"])
        expected = case.get("answer", {"error": case.get("error")})
        assert {name: told.get(name) for name in expected} == expected, case


def test_the_reader_is_a_program_that_needs_only_the_standard_library(
    program: Path, outputs: Path
) -> None:
    command = [sys.executable, "-I", "-S", program.name, str(outputs)]
    for puzzle, key in (("eight", "378546201"), ("senet", "ABAAABBB.B...A."), ("knight", "b1 a3")):
        said = run([*command, puzzle, key, "?"], cwd=program.parent)
        (case,) = [each for each in read_cases(puzzle) if each["key"] == key and "goal" not in each]
        first, second = map(json.loads, said.out.splitlines())
        assert {"key": key, **case["answer"]}.items() <= first.items()
        assert second == {"key": "?", "error": "malformed"}


def test_a_damaged_block_gives_no_answer(program: Path, outputs: Path) -> None:
    reader: dict[str, Callable[..., Any]] = runpy.run_path(str(program))
    data = bytearray((outputs / "senet.idx").read_bytes())
    data[4096 * 400] ^= 1
    index = reader["Index"](io.BytesIO(data), "senet", 8)
    assert index.read_record(0)
    with pytest.raises(ValueError, match="damaged: block 400 is not whole"):
        index.read_record(399 * 511)
