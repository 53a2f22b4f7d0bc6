"""Tests of the command line: exact output and exit codes, and no traceback for any input."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import typer

from puzzle_tablebase import __version__
from puzzle_tablebase.pipeline.commands.app import load_app
from puzzle_tablebase.puzzles import MODULES, list_puzzles
from tests.support.commands import EXITS, GROUPS, lines
from tests.support.shell import Cli, Said, pipeline


@pytest.mark.parametrize("group", GROUPS)
def test_golden(group: str, cli: Cli, place: Path, golden: Callable[[str, str], None]) -> None:
    """Compare the exact output of each command with its golden file.

    The first line of each command in a group runs in a process of its own.
    """
    transcript = []
    started: set[str] = set()
    for words in lines(group):
        command = " ".join(words[: 2 if words[0] in ("query", "sample", "check") else 1])
        text = (cli if command in started else pipeline)(*words, cwd=place)
        started.add(command)
        transcript.append(f"$ {shlex.join(['pipeline', *words])}\n{text.out}{text.err}")
        if group in EXITS:
            # an error and no answer; status prints its answer all the same
            assert bool(text.out) == (words[0] == "status" and group == "missing")
            if group == "usage" and not text.err.startswith("pipeline: "):  # Typer's own
                assert "Error: " in text.err
            else:
                assert text.err.startswith("pipeline: ")
                assert text.err.count("\n") == 1
        else:
            assert text.err == ""
        assert text.code == EXITS.get(group, 0), text
    golden(group, ("" if group in EXITS else "\n").join(transcript))


def test_status(cli: Cli, place: Path) -> None:
    made_by, folder = f"puzzle-tablebase {__version__}", place / "outputs"
    rows = [
        {
            "table": table.name,
            "state": "published",
            "rows": pq.read_metadata(folder / table.file).num_rows,
            "bytes": sum(file.stat().st_size for file in folder.glob(f"{table.name}.*")),
            "made_by": made_by,
            "command": f"pipeline precompute {table.name}",
        }
        for stage in list_puzzles()
        for table in stage.tables
    ]
    text = cli("status", "--json", cwd=place)
    assert (text.code, json.loads(text.out), text.err) == (0, rows, "")
    expected = [f"{'table':<16}  {'rows':>9}  {'bytes':>10}  {'made by':<{len(made_by)}}  state"]
    line = "{table:<16}  {rows:>9,}  {bytes:>10,}  {made_by}  published"
    expected += [line.format(**row) for row in rows]
    text = cli("status", cwd=place)
    assert (text.code, text.out.splitlines(), text.err) == (0, expected, "")


# ---- no traceback for any input ------------------------------------------------------------

NONSENSE = ["x", "--x", "--json=1", "-1", "\u2603", "--size=x", "--jobs=1.5", "--board"]
NONSENSE += ["\udcff\x1b[31m"]


@pytest.mark.parametrize("word", NONSENSE)
def test_nonsense_is_refused(word: str, cli: Cli, tmp_path: Path) -> None:
    """Type nonsense into every command."""
    env = {"PIPELINE_OUTPUTS": str(tmp_path / "none")}
    group: Any = typer.main.get_command(load_app())
    paths = [[name] for name in group.commands if name != "query"]
    for path in [*paths, ["precompute", "sliding"], *(["query", name] for name in MODULES)]:
        for words in ([*path, word], [*path, "eight", word, word]):
            code, _, complaint = cli(*words, cwd=tmp_path, env=env)
            # a site may have any name, and verify looks for the tables that it knows first
            assert code == 2 or (code == 3 and path[0] in ("site", "verify")), (words, complaint)
            assert "\x1b" not in complaint, (words, complaint)


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("-V") == cli("--version")
    assert cli("-V") == Said(0, f"puzzle-tablebase {__version__}\n", "")


def test_without_a_command_the_help_is_an_error(cli: Cli) -> None:
    for words in ([], ["query"]):
        text = cli(*words)
        assert (text.code, text.out) == (2, "")
        assert text.err == cli(*words, "--help").out
