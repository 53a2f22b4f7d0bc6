"""Tests of removal: a requested table is removed completely or not at all, even when killed."""

import shutil
from pathlib import Path

import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.puzzles.knight.tables import PUZZLE
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables, contents
from tests.support.made_once import make_once
from tests.support.shell import Cli, python
from tests.support.tampered import describe_file, edit_manifest

TABLES = {"knight_tours_2x7", "knight_tours_4x3", "knight_counts"}


@pytest.fixture
def folder(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of two requested boards, and the counts."""

    def build(folder: Path) -> None:
        build_tables(folder, PUZZLE, *(PUZZLE.find_tables(name)[0] for name in sorted(TABLES)))

    return shutil.copytree(make_once(tmp_path_factory, "removable", build), tmp_path / "folder")


def test_only_requested_tables_are_removed(folder: Path, cli: Cli) -> None:
    before = contents(folder)
    for words in ("knight_tours_2x7 eight", "knight_tours_5x5", "knight_tours_3x8", "../listed"):
        code, out, err = cli("remove", *words.split(), "--outputs", str(folder))
        assert (code, out, words.split()[-1] in err) == (2, "", True)
    assert contents(folder) == before
    text = cli("remove", "knight_tours_2x7", "--outputs", str(folder))
    assert text == (0, "removed knight_tours_2x7\n", "")
    assert read_manifest(Folder(folder)).keys() == TABLES - {"knight_tours_2x7"}
    assert not [*folder.glob("*2x7*")]


def test_a_strangers_file_with_a_tables_name_stays(folder: Path, cli: Cli) -> None:
    """Expect it of tables that are up to date, built, removed, and not published."""
    mine = [folder / f"knight_tours_{name}" for name in ("4x3.idx", "3x8.parquet", "2x7.idx")]
    for path in mine:
        path.write_text("mine")
    for words, code in (
        ("precompute knight_tours_4x3", 0),
        ("precompute knight_tours_4x3 --force", 0),
        ("remove knight_tours_3x8", 2),
        ("remove knight_tours_2x7", 0),
        ("precompute knight_tours_2x7", 0),
    ):
        assert cli(*words.split(), "--outputs", str(folder)).code == code, words
    assert [path.read_text() for path in mine] == ["mine"] * len(mine)


def test_a_table_of_no_known_puzzle_can_be_removed(folder: Path, cli: Cli) -> None:
    with edit_manifest(folder) as entries:
        path = Path(shutil.copy(folder / "knight_tours_4x3.parquet", folder / "hanoi.parquet"))
        entries["hanoi"] = {**entries["knight_tours_4x3"], "parquet": describe_file(path)}
    (folder / "hanoi.parquet.txt").write_text("mine")
    (folder / "hanoi.parquet").write_text("damaged")
    status = cli("status", "--outputs", str(folder)).out
    assert f"pipeline remove hanoi --outputs {folder}" in status
    assert cli("remove", "hanoi", "--quiet", "--outputs", str(folder)) == (0, "", "")
    assert not (folder / "hanoi.parquet").exists()
    assert (folder / "hanoi.parquet.txt").read_text() == "mine"
    assert read_manifest(Folder(folder)).keys() == TABLES


COPIED = """
import os, shutil, sys

folder, copies = sys.argv[1:]

def copy_before(real):
    def step(*args, **kwargs):
        shutil.copytree(folder, os.path.join(copies, f"{len(os.listdir(copies)):03}"))
        return real(*args, **kwargs)
    return step

os.replace, real_unlink = copy_before(os.replace), os.unlink
os.unlink = copy_before(real_unlink)
from puzzle_tablebase.pipeline.commands import app
app(["remove", "knight_tours_2x7", "--outputs", folder])
"""
"""Script that copies the folder before each rename and removal: a kill there leaves these files."""


def test_killed_before_every_step(folder: Path, tmp_path: Path) -> None:
    """Expect no change until the manifest is written; then a second removal completes the work."""
    copies = tmp_path / "copies"
    copies.mkdir()
    assert python(COPIED, str(folder), str(copies)).code == 0
    states = []
    for left in [*sorted(copies.iterdir()), folder]:
        is_listed = "knight_tours_2x7" in read_manifest(Folder(left))
        states.append(is_listed)
        query = ["query", "knight", "a1", "--board", "2x7", "--outputs", str(left)]
        assert run_command(query) == (1 if is_listed else 3)  # it has no tours
        if (left / "knight_tours_2x7.parquet").exists():
            assert run_command(["remove", "knight_tours_2x7", "--outputs", str(left)]) == 0
        assert not list(left.glob("*2x7*"))
    assert states == sorted(states, reverse=True)
    assert set(states) == {True, False}
