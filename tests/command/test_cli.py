"""Tests of the command line: exact output and exit codes, and no traceback for any input."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tablebase import __version__
from tablebase.puzzles import list_puzzles
from tests.support.commands import COMMANDS, EXITS, lines
from tests.support.shell import Cli, Said, environment, program


@pytest.mark.parametrize("group", COMMANDS)
def test_golden(group: str, cli: Cli, place: Path, golden: Callable[[str, str], None]) -> None:
    """Compare the exact output of each command with its golden file."""
    transcript = []
    for words in lines(group):
        text = cli(*words, cwd=place)
        transcript.append(f"$ {shlex.join(['pipeline', *words])}\n{text.out}{text.err}")
        if group in EXITS:
            # an error is one sentence and no answer; status prints its answer all the same
            assert text.err.startswith("pipeline: ")
            assert text.err.count("\n") == 1
            assert bool(text.out) == (words[0] == "status")
        else:
            assert text.err == ""
        assert text.code == EXITS.get(group, 0), text
    golden(group, "\n".join(transcript))


def test_status(cli: Cli, place: Path) -> None:
    made_by = f"puzzle-tablebase {__version__}"
    rows = [
        {
            "table": table.name,
            "state": "published",
            "rows": pq.read_metadata(place / "outputs" / table.file).num_rows,
            "bytes": (place / "outputs" / table.file).stat().st_size,
            "made_by": made_by,
            "command": f"pipeline precompute {registered.name}",
        }
        for registered in list_puzzles()
        for table in registered.tables
    ]
    text = cli("status", "--json", cwd=place)
    assert (text.code, json.loads(text.out), text.err) == (0, rows, "")
    expected = [f"{'table':<16}  {'rows':>9}  {'bytes':>10}  {'made by':<{len(made_by)}}  state"]
    for row in rows:
        numbers = f"{row['rows']:>9,}  {row['bytes']:>10,}"
        expected.append(f"{row['table']:<16}  {numbers}  {made_by}  published")
    text = cli("status", cwd=place)
    assert (text.code, text.out.splitlines(), text.err) == (0, expected, "")


# ---- no traceback for any input ------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        [b"query", b"eight", b"\xff\xfe"],
        [b"query", b"senet", b"\x1b[31m"],
        [b"query", b"knight", b"\xe2\x82"],
        [b"query", b"eight", b"123456780", b"--outputs", b"\xff"],
        [b"query", b"eight", b"123456780", b"--outputs", b"/dev/null"],
        [b"query", b"eight", b"123456780", b"--nope"],
        [b"query", b"eight", b"123456780", b"--goal"],
        [b"query", b"nope"],
        [b"nope"],
        [b"precompute", b"--jobs", b"0"],
        [b"precompute", b"--jobs", b"many"],
        [b"precompute", b"\xff"],
        [b"status", b"--outputs", b"/dev/null"],
        [b"histogram"],
        [b"histogram", b"\xff"],
    ],
    ids=repr,
)
def test_no_traceback(words: list[bytes], place: Path) -> None:
    result = subprocess.run(
        [os.fsencode(program()), *words],
        cwd=place,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in result.stderr + result.stdout
    assert b"should not happen" not in result.stderr
    assert result.returncode in (2, 3)
    assert b"\x1b" not in result.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("nope", "No such command 'nope'. See: pipeline --help."),
        ("query nope", "No such command 'nope'. See: pipeline query --help."),
        ("histogram", "Missing argument 'eight|sliding|senet'. See: pipeline histogram --help."),
        (
            "query eight --nope 123456780",
            "No such option: --nope (Possible options: --input). See: pipeline query eight --help.",
        ),
        (
            f"query {'9' * 1_000}",
            f"No such command '{'9' * 283}. See: pipeline query --help.",
        ),
    ],
)
def test_unknown_commands_and_options_are_refused(
    words: str, complaint: str, cli: Cli, place: Path
) -> None:
    assert cli(*words.split(), cwd=place) == Said(2, "", f"pipeline: {complaint}\n")


def test_without_a_command_the_help_is_printed(cli: Cli, place: Path) -> None:
    for words in ([], ["query"]):
        text = cli(*words, cwd=place)
        assert (text.code, text.err) == (2, "")
        assert text.out.rstrip() == cli(*words, "--help", cwd=place).out.rstrip()
