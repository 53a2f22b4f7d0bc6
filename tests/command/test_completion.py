"""Tests of shell completion, called as the completion script of bash calls it."""

import json
import shutil
from pathlib import Path

import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles import MODULES, list_puzzles_with_depths
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.queries.answer import FORMATS
from puzzle_tablebase.stores.folder import Folder
from tests.support.build_recorder import build_tables
from tests.support.shell import Cli
from tests.support.tampered import write_manifest


@pytest.fixture(scope="module")
def folder_with_board(tmp_path_factory: pytest.TempPathFactory, outputs: Path) -> Path:
    """Make a folder with a default table and a requested board."""
    folder = tmp_path_factory.mktemp("asked")
    shutil.copy(outputs / "knight_tours_5x5.parquet", folder)
    entries = read_manifest(Folder(outputs))
    write_manifest(Folder(folder), {"knight_tours_5x5": entries["knight_tours_5x5"]})
    build_tables(folder, PUZZLE, *PUZZLE.find_tables("knight_tours_3x4"))
    return folder


def complete(cli: Cli, line: str, folder: Path | None = None) -> list[str]:
    """Return the completions of a command line whose last word is unfinished."""
    words = ["pipeline", *line.split(" ")]
    env = {
        "_PIPELINE_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        **({"PIPELINE_OUTPUTS": str(folder)} if folder else {}),
    }
    text = cli(env=env)
    assert (text.code, text.err) == (0, "")
    return text.out.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("precompute eight se", "senet"),
        ("precompute ei", "eight eight_edge"),
        ("precompute fifteen_", "fifteen_7-8 fifteen_6-6-3 fifteen_5-5-5"),
        ("histogram ", " ".join(list_puzzles_with_depths())),
        ("query eight 123456780 --goal ", "corner centre edge"),
        ("query senet ABABABABAB..... --turn ", "A B"),
        ("query knight --format ", " ".join(FORMATS)),
        ("query eight --input-format t", "text tsv"),
        ("query sliding 123450 --board 2x3 --goal ", "corner"),
        ("sample ", " ".join(name for name in MODULES if name != "fifteen")),
        ("sample senet --di", "--distance --distinct"),
        ("query eight --ha", "--hardest"),
    ],
)
def test_commands_and_option_values_are_offered(cli: Cli, line: str, words: str) -> None:
    assert complete(cli, line) == words.split()


def test_published_tables_are_offered(cli: Cli, folder_with_board: Path, tmp_path: Path) -> None:
    assert complete(cli, "query knight b1 --board ", folder_with_board) == ["3x4", "5x5"]
    assert complete(cli, "histogram knight --board ", folder_with_board) == []
    assert complete(cli, "remove ", folder_with_board) == ["knight_tours_3x4"]
    assert complete(cli, f"remove --outputs {folder_with_board} kn") == ["knight_tours_3x4"]
    assert complete(cli, "remove ", tmp_path) == []
    (tmp_path / "manifest.json").write_text(json.dumps({"format_version": 0}))
    for line in ("remove ", "query knight b1 --board "):
        assert complete(cli, line, tmp_path) == [], "a damaged manifest is no error here"
