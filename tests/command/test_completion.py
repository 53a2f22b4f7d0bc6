"""Tests of shell completion, called as the completion script of bash calls it."""

from pathlib import Path

import pytest

from puzzle_tablebase.puzzles import MODULES, list_puzzles_with_depths
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from tests.support.build_recorder import build_tables
from tests.support.shell import Cli


def complete(cli: Cli, line: str, folder: Path) -> str:
    variables = {
        "_PIPELINE_COMPLETE": "complete_bash",
        "COMP_WORDS": f"pipeline {line}",
        "COMP_CWORD": str(1 + line.count(" ")),
        "PIPELINE_OUTPUTS": str(folder),
    }
    said = cli(env=variables)
    assert (said.code, said.err) == (0, "")
    return " ".join(said.out.split())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("precompute eight se", "senet"),
        ("precompute fifteen_", "fifteen_7-8 fifteen_6-6-3 fifteen_5-5-5"),
        ("histogram ", " ".join(list_puzzles_with_depths())),
        ("sample ", " ".join(name for name in MODULES if name != "fifteen")),
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
