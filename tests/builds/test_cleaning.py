"""Tests of `pipeline clean`: what it lists and removes, and what it never touches."""

import json
import shutil
from pathlib import Path

import pytest

from puzzle_tablebase.errors import StoreError
from puzzle_tablebase.pipeline.cleaning import list_leftovers, remove_leftovers
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.tables import BACKUP, REPLACED
from puzzle_tablebase.tables.store import Folder
from tests.support.build_recorder import SMALL, build_tables
from tests.support.shell import Cli, begin_python

DIGESTS = "0123456789abcdef", "fedcba9876543210"
KEPT = ".".join(["", "{}", *DIGESTS, "kept"])
LEFTOVERS = {
    KEPT.format("senet"): ("checkpoints", "senet"),
    KEPT.format("knight_tours_3x8"): ("checkpoints", "knight_tours_3x8"),
    f"{KEPT.format('eight')}.{DIGESTS[1]}.unpublished": ("temporary files", "eight"),
    f".eight.parquet.{DIGESTS[0]}.unpublished": ("temporary files", "eight"),
    f".answers 2.csv.{DIGESTS[0]}.unpublished": ("temporary files", ""),
    REPLACED: ("replaced manifest", ""),
}
"""Names that unfinished builds give to files, each with its kind and its table."""
FOREIGN = [
    *("notes.txt", ".hidden", "eight.parquet.bak", ".eight.parquet", "senet.kept", ".senet.kept"),
    *("mine.parquet", "knight_tours_9x9.parquet"),
]
"""Names that no build gives to a file, and a table's name for a file of somebody else."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    build_tables(folder, KNIGHT, *SMALL)
    return folder


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "folder"))


def read_all(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def test_every_kind_is_listed_and_removed(folder: Path, cli: Cli) -> None:
    before = read_all(folder)
    for name in LEFTOVERS:
        (folder / name).write_bytes(b"left")
    listed = list_leftovers(Folder(folder))
    assert {file: (each.kind, each.table) for each in listed for file in each.files} == LEFTOVERS
    assert sum(each.bytes for each in listed) == 4 * len(LEFTOVERS)
    listing = cli("clean", "--json", "--outputs", str(folder))
    assert json.loads(listing.out) == [each._asdict() | {"files": [*each.files]} for each in listed]
    assert {*LEFTOVERS} <= {*read_all(folder)}, "listing removes nothing"
    removed = cli("clean", "--yes", "--outputs", str(folder))
    assert removed.out.endswith(f"removed: {len(LEFTOVERS)} files, {4 * len(LEFTOVERS)} bytes\n")
    assert read_all(folder) == before


def test_other_files_are_never_listed(folder: Path) -> None:
    for name in FOREIGN:
        (folder / name).write_bytes(b"mine")
    (folder / ".senet.folder.kept").mkdir()
    before = read_all(folder)
    assert list_leftovers(Folder(folder)) == []
    assert remove_leftovers(Folder(folder)) == []
    assert read_all(folder) == before


def test_a_build_in_progress_keeps_its_files(folder: Path) -> None:
    kept = folder / KEPT.format("knight_tours_4x3")
    kept.write_bytes(b"left")
    with Folder(folder).lock(), pytest.raises(StoreError, match="locked by another build"):
        remove_leftovers(Folder(folder))
    assert kept.exists()
    table = make_tour_table(KnightBoard(4, 3))
    assert build_tables(folder, KNIGHT, table).finished == ["knight_tours_4x3"]


WRITER = """
import sys
from pathlib import Path
from puzzle_tablebase.tables.store import Folder

store, name = Folder(Path(sys.argv[1])), ".knight_tours_7x7.checkpoint"
with store.write_atomically(name) as (file,):
    file.write(b"a part")
    file.flush()
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_a_task_in_progress_keeps_its_files(folder: Path) -> None:
    """Expect nothing of a table to be listed while a writer of one of its shared files lives."""
    (folder / KEPT.format("knight_tours_7x7")).write_bytes(b"left")
    with begin_python(WRITER, folder) as writer:
        assert list_leftovers(Folder(folder)) == []
        writer.kill()
        writer.wait()
    kinds = {each.kind for each in list_leftovers(Folder(folder))}
    assert kinds == {"temporary files", "checkpoints"}


def test_a_damaged_manifest_is_no_licence_to_remove(folder: Path, cli: Cli) -> None:
    (folder / KEPT.format("senet")).write_bytes(b"left")
    (folder / "manifest.json").write_text("{")
    before = read_all(folder)
    answer = cli("clean", "--yes", "--outputs", str(folder))
    assert answer.code == 3
    assert "is damaged: it is not a manifest" in answer.err
    assert read_all(folder) == before


def test_published_tables_stay_without_a_manifest(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    assert list_leftovers(Folder(folder)) == []
    (folder / BACKUP).unlink()
    assert list_leftovers(Folder(folder)) == []
