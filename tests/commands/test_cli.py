"""Tests of the command line: exact output and exit codes, and no traceback for any input."""

import gc
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from msgspec.structs import replace
from polars.exceptions import PanicException

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.commands import load_app
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.registry import MODULES, list_puzzles_with_depths
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.false_tables import CASES
from tests.support.shell import SCRIPT, Cli, run, run_here
from tests.support.tampered import rename_entry, write_manifest

GOLDEN = Path(__file__).parents[1] / "golden"
FAST_PATH = "puzzle_tablebase.pipeline.run.answer_fast"
QUERY = ["query", "eight", "123456780"]
EXITS = {
    **dict.fromkeys(("eight", "senet", "knight", "overview", "help"), 0),
    "no": 1,
    "bad": 2,
    "usage": 2,
    "missing": 3,
}
"""The exit code of every command of a group."""


@pytest.mark.parametrize("group", EXITS)
def test_golden(group: str, workspace: Path, golden: Callable[[str, str], None]) -> None:
    """Compare the exact output of each command with its golden file.

    The first one of a group runs in a process of its own. Typer answers as the fast path does.
    """
    transcript = list[str]()
    text = (GOLDEN / f"{group}.txt").read_text("utf-8")
    for line in re.findall(r"^\$ pipeline (.+)", text, re.MULTILINE):
        words = shlex.split(line)
        completed = (
            run_here(*words, cwd=workspace) if transcript else run([SCRIPT, *words], cwd=workspace)
        )
        transcript.append(f"$ {shlex.join(['pipeline', *words])}\n{completed.out}{completed.err}")
        if words[0] == "query" and "" not in words:  # Typer takes an empty word for a missing one
            with patch(FAST_PATH, return_value=None):
                assert run_here(*words, cwd=workspace) == completed
        if EXITS[group]:
            # an error and no answer; status prints its answer all the same
            assert bool(completed.out) == (words[0] == "status" and group == "missing")
            if group == "usage" and not completed.err.startswith("pipeline: "):  # Typer's own
                assert "Error: " in completed.err
            else:
                assert re.fullmatch("pipeline: .*\n", completed.err)
        else:
            assert completed.err == ""
        assert completed.code == EXITS[group], completed
    golden(group, ("" if EXITS[group] else "\n").join(transcript))


def test_a_test_writes_each_golden_file() -> None:
    """`make docs` leaves none behind that nothing writes any more."""
    names = {path.stem for path in GOLDEN.iterdir()}
    assert names == {*EXITS, *(f"claims_{name}" for name in CASES)}


# ---- no traceback for any input ------------------------------------------------------------

NONSENSE = ["x", "--x", "--json=1", "-1", "\u2603", "--size=x", "--board", "\udcff\x1b[31m"]


@pytest.mark.parametrize("word", NONSENSE)
def test_nonsense_is_refused(word: str, cli: Cli, tmp_path: Path) -> None:
    """Type nonsense into every command."""
    env = {"PIPELINE_OUTPUTS": str(tmp_path / "none")}
    group: Any = load_app()
    paths = [[name] for name in group.commands if name != "query"]
    for path in [*paths, ["precompute", "sliding"], *(["query", name] for name in MODULES)]:
        for words in ([*path, word], [*path, "eight", word, word]):
            code, _, complaint = cli(*words, cwd=tmp_path, env=env)
            # a site and a folder may have any name, and verify looks for tables that it knows first
            is_late = path[0] in ("copy", "site", "verify")
            assert code == 2 or (code == 3 and is_late), (words, complaint)
            assert "\x1b" not in complaint, (words, complaint)


@pytest.mark.parametrize("error_class", [ZeroDivisionError, PanicException])
def test_an_internal_error_is_one_sentence(
    error_class: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("PIPELINE_TRACEBACK")
    with patch(FAST_PATH, side_effect=error_class("\x1b")):
        assert run_command(QUERY) == 3
        completed = capsys.readouterr().err
        assert completed.startswith(f"pipeline: internal error ({error_class.__name__}: ")
        assert (completed.count("\n"), "\x1b" in completed) == (1, False)
        monkeypatch.setenv("PIPELINE_TRACEBACK", "1")
        with pytest.raises(error_class):
            run_command(QUERY)


def test_an_interrupt_on_the_fast_path(capsys: pytest.CaptureFixture[str]) -> None:
    with patch(FAST_PATH, side_effect=KeyboardInterrupt):
        assert run_command(QUERY) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", MODULES)
def test_the_help_has_an_example_that_is_understood(name: str, cli: Cli, tmp_path: Path) -> None:
    for command in ("query", "check"):
        described = cli(command, name, "--help").out
        (example,) = re.findall(r"Example: +(\S.*)$", described, re.MULTILINE)
        words = example.replace("ANSWER", "1").split()
        completed = cli(command, name, *words, cwd=tmp_path, env={"PIPELINE_OUTPUTS": "none"})
        assert completed.code == 3 or (command == "check" and completed.out), (
            completed
        )  # judged by the rules


def test_without_a_command_the_help_is_an_error(cli: Cli) -> None:
    for words in ([], ["query"]):
        assert cli(*words) == (2, "", cli(*words, "--help").out)


# ---- completion and comparison -------------------------------------------------------------


def complete(cli: Cli, line: str, folder: Path) -> str:
    variables = {
        "_PIPELINE_COMPLETE": "complete_bash",
        "COMP_WORDS": f"pipeline {line}",
        "COMP_CWORD": str(1 + line.count(" ")),
        "PIPELINE_OUTPUTS": str(folder),
    }
    completed = cli(env=variables)
    assert (completed.code, completed.err) == (0, "")
    return " ".join(completed.out.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("precompute eight se", "senet"),
        ("precompute fifteen_", "fifteen_7-8 fifteen_6-6-3 fifteen_5-5-5"),
        ("histogram ", " ".join(list_puzzles_with_depths())),
        ("sample ", " ".join(MODULES)),
        ("sample senet --di", "--distance"),
        ("query eight --ha", "--hardest"),
    ],
)
def test_commands_and_options_are_offered(cli: Cli, line: str, words: str, tmp_path: Path) -> None:
    assert complete(cli, line, tmp_path) == words


def test_published_tables_are_offered(cli: Cli, tmp_path: Path) -> None:
    build_tables(tmp_path, PUZZLE, *PUZZLE.find_tables("knight_tours_3x4"))
    assert complete(cli, "remove kn", tmp_path) == "knight_tours_3x4"
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / ".manifest.backup").unlink()
    assert complete(cli, "remove ", tmp_path) == "", "a damaged manifest is no error here"


def test_tables_whose_content_differs_are_listed(cli: Cli, copy: Path, outputs: Path) -> None:
    entries = read_manifest(Folder(copy))
    # other bytes of the same content are no difference
    write_manifest(Folder(copy), {**entries, "eight": replace(entries["eight"], made_by="another")})
    assert cli("diff", str(outputs), str(copy)) == (0, "", "")
    other = {**entries, "hanoi": rename_entry(entries["senet"], "hanoi")}
    other["eight"] = replace(entries["eight"], content="0" * 64)
    del other["senet"]
    write_manifest(Folder(copy), other)
    completed = cli("diff", str(outputs), str(copy), "--json")
    assert completed.code == 1
    assert {row["table"]: row["difference"] for row in json.loads(completed.out)} == {
        "eight": "content",
        "hanoi": "only in B",
        "senet": "only in A",
    }


def test_a_command_that_is_no_lone_lookup_collects_its_garbage(cli: Cli) -> None:
    gc.disable()
    try:
        assert cli("--help").code == 0
        assert gc.isenabled()
    finally:
        gc.enable()
