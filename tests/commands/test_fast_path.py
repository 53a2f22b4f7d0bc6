"""Command lines on the fast path and through Typer: the same answers, pictures and errors."""

import re
import shlex
from pathlib import Path
from unittest.mock import patch

import pytest

from puzzle_tablebase.queries.prober import (
    get_prober_class,
    list_check_options,
    list_query_options,
)
from puzzle_tablebase.registry import MODULES
from tests.support.shell import Cli

FAST_PATH = "puzzle_tablebase.pipeline.run.answer_fast"
TYPER = "puzzle_tablebase.pipeline.commands.run_app"
FLAG = re.compile("--[a-z-]+")
EIGHT, SENET = "378 546 201", "ABAAABBB.B...A."
TOUR = "a1c2e1d3c1a2b4d5e3d1b2a4c3e2d4b5a3b1d2e4c5b3a5c4e5"
LINES = {
    f"query eight {EIGHT} --goal 123456780 --path --json": "outputs",
    "query eight 378546201 --boards --svg picture.svg": "outputs",
    "query eight 150423786 --solutions": "outputs",
    "query eight --hardest --json": "outputs",
    "check eight 123450786 L R D --goal corner --json": "outputs",
    "check eight 123450786 1 --answers distances": "outputs",
    "check eight 123450786 U --moves-of tile": "outputs",
    "query sliding 9876543210 --board 2x5 --goal 1234567890 --path --json": "large_boards",
    "query sliding 1234567809 --board 5x2 --boards --svg picture.svg": "large_boards",
    "query sliding 0369147a258b --board 3x4 --solutions": "large_boards",
    "query sliding --hardest --board 2x5": "large_boards",
    "check sliding 1234567809 L --board 2x5 --goal corner --json": "large_boards",
    "check sliding 1234567809 1 --board 2x5 --answers distances": "large_boards",
    "check sliding 1234567809 R --board 2x5 --moves-of tile": "large_boards",
    "query fifteen 123456789abcde0f --goal 123456789abcdef0 --path --json": "patterns_555",
    "query fifteen 123456789abcd0ef --boards --time-limit 60 --svg picture.svg": "patterns_555",
    "query fifteen 123456789abcde0f --patterns 5-5-5": "patterns_555",
    "check fifteen 123456789abcde0f L --goal 123456789abcdef0 --moves-of tile": "patterns_555",
    "check fifteen 123456789abcde0f 1 --answers distances --time-limit 60 --json": "patterns_555",
    "check fifteen 123456789abcde0f R --patterns 5-5-5": "patterns_555",
    f"query senet {SENET} --turn B --path --json": "outputs",
    f"query senet {SENET} --svg picture.svg": "outputs",
    "query senet --hardest": "outputs",
    f"check senet {SENET} 9-14 4x7 --json": "outputs",
    f"check senet {SENET} 2 --answers distances": "outputs",
    "query knight a1 --board 5x5 --number 3 --svg picture.svg": "outputs",
    "query knight a1 --board 6x6 --to b1 --json": "outputs",
    "query knight --count --board 5x5": "outputs",
    "query knight b1 --closed --rank 77 --board 6x6": "ranked_boards",
    f"query knight --rank-of '{TOUR}' --board 5x5": "ranked_boards",
    "check knight b1 a3c2 --board 5x5 --json": "outputs",
    # errors
    "query eight 378546210 --goal corner --json": "outputs",
    "query eight 133456789": "outputs",
    "check eight 133456789 U": "outputs",
    "check eight 123450786 D --answers colours": "outputs",
    "check knight b1 a3c2 --board 2x": "outputs",
    "check sliding 123450 D": "outputs",
}
"""Command lines on the fast path, with all options, each with the fixture that has its tables."""
LEFT_TO_TYPER = [
    *("check eight", "check eight 123450786", "check eight 123450786 D --path"),
    *("query eight 378546201 --goal", "query eight 378546201 --svg", "check knight b1 a3 --closed"),
]
"""Command lines that the fast path must not answer."""


@pytest.mark.parametrize("line", LINES)
def test_typer_answers_as_the_fast_path(
    line: str, request: pytest.FixtureRequest, tmp_path: Path, cli: Cli
) -> None:
    """Compare what is printed, the exit code and the picture."""
    words = [*shlex.split(line), "--outputs", str(request.getfixturevalue(LINES[line]))]
    picture = tmp_path / "picture.svg"
    with patch(TYPER, side_effect=AssertionError):
        fast = cli(*words, cwd=tmp_path)
    drawn = picture.read_bytes() if picture.name in line else b""
    picture.unlink(missing_ok=True)
    with patch(FAST_PATH, return_value=None):
        assert cli(*words, cwd=tmp_path) == fast
    assert bool(fast.out) == (not fast.err) == (fast.code == 0)
    assert fast.code < 3, "the tables are found"
    assert fast.out.startswith("{") == ("--json" in line and fast.code == 0)
    assert drawn == (picture.read_bytes() if picture.name in line else b"")
    assert {*tmp_path.iterdir()} <= {picture}


@pytest.mark.parametrize("line", LEFT_TO_TYPER)
def test_the_fast_path_leaves_other_lines_to_typer(line: str, outputs: Path, cli: Cli) -> None:
    words = [*line.split()]
    fast = cli(*words, env={"PIPELINE_OUTPUTS": str(outputs)})
    with patch(FAST_PATH, return_value=None):
        assert cli(*words, env={"PIPELINE_OUTPUTS": str(outputs)}) == fast


@pytest.mark.parametrize("puzzle", MODULES)
def test_each_option_is_compared(puzzle: str) -> None:
    prober = get_prober_class(puzzle)
    listed = {"query": list_query_options(prober), "check": list_check_options(prober)}
    for command, options in listed.items():
        typed = {"--outputs"}.union(
            *(FLAG.findall(line) for line in LINES if line.startswith(f"{command} {puzzle} "))
        )
        assert typed == {option.flag for option in options}


def test_a_printed_picture_takes_the_place_of_the_text(cli: Cli, outputs: Path) -> None:
    completed = cli("query", "eight", "378546201", "--svg", "-", "--outputs", str(outputs))
    assert re.fullmatch("<svg[^\0]*</svg>\n", completed.out)
    assert (completed.code, completed.out.count("<svg"), completed.err) == (0, 1, "")
