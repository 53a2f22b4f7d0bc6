"""Every damage of every kind of file, by all that reads it: refused, named, and built again."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from puzzle_tablebase import puzzles
from puzzle_tablebase.errors import TableDamaged, TableError, TableMissing, TableUnreadable
from puzzle_tablebase.pipeline.proofs import VerifyFailed, verify
from puzzle_tablebase.pipeline.single_query import answer_as_text
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.queries.scans import scan_table
from puzzle_tablebase.queries.status import list_status
from puzzle_tablebase.stores.folder import Folder
from tests.conftest import make_once
from tests.support.build_recorder import COUNTS, TOURS, build_tables, contents
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.tampered import DAMAGES, write_manifest

SIDEWAYS = make_tour_table(KnightBoard(4, 3))
OWN = {"pancakes.parquet": PANCAKES, "pancakes.idx": PANCAKES, TOURS.file: KNIGHT}
OTHERS = {"pancakes.parquet": TOURS.file, "pancakes.idx": "eight.idx", TOURS.file: SIDEWAYS.file}


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut_most(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def put_other(path: Path) -> None:
    """Put another table's file of the same kind in place of a file."""
    shutil.copy(path.parent / OTHERS[path.name], path)


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def put_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


KINDS: dict[Callable[[Path], None], tuple[type[TableError], str, str]] = {
    **dict.fromkeys(
        [*DAMAGES.values(), empty, zero, cut_most, put_other], (TableDamaged, "damaged", "damaged")
    ),
    Path.unlink: (TableMissing, "damaged", "missing"),
    put_pipe: (TableUnreadable, "unreadable", "cannot be read"),
    put_folder: (TableUnreadable, "unreadable", ""),
}
"""Damages: the error of a reader, the state of the table, the reason to build it again if it is."""


@pytest.fixture
def whole(
    outputs: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setitem(puzzles.MODULES, PANCAKES.name, "tests.support.pancakes")

    def make(place: Path) -> None:
        build_tables(place, PANCAKES)
        build_tables(place, KNIGHT, TOURS, SIDEWAYS)
        shutil.copy(outputs / "eight.idx", place)

    return make_once(tmp_path_factory, "whole_files", make)


def look_up(folder: Path, file: str) -> object:
    """Ask for a record of an index, or for a tour of a list."""
    name, key, board = (
        ("pancakes", "45321", {}) if file == "pancakes.idx" else ("knight", "a1", {"board": "3x4"})
    )
    return answer_as_text(name, key, {**board, "outputs": str(folder)})


def scan(folder: Path, file: str) -> object:
    return (
        scan_table(Folder(folder), TOURS if file == TOURS.file else PANCAKES.tables[0])
        .collect()
        .height
    )


def compare_files(folder: Path, file: str) -> object:
    return verify(Folder(folder), quick=True)


READERS: dict[str, tuple[Callable[[Path, str], object], ...]] = {
    "pancakes.parquet": (scan, compare_files),
    "pancakes.idx": (look_up, compare_files),
    TOURS.file: (look_up, scan, compare_files),
}


@pytest.mark.parametrize("damage", KINDS, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("file", READERS)
def test_a_damaged_file_is_named_by_all_that_reads_it(
    whole: Path, tmp_path: Path, file: str, damage: Callable[[Path], None]
) -> None:
    folder = tmp_path / "tables"
    shutil.copytree(whole, folder)
    for ask in READERS[file]:
        assert ask(folder, file)
    damage(folder / file)
    kind, state, reason = KINDS[damage]
    name = file.partition(".")[0]
    for ask in READERS[file]:
        with pytest.raises(TableError) as caught:
            ask(folder, file)
        is_refuted = kind is TableDamaged and ask is compare_files
        assert isinstance(caught.value, VerifyFailed if is_refuted else kind)
        command = f"pipeline precompute {name}{' --force' * is_refuted} --outputs {folder}"
        assert (caught.value.file, caught.value.command) == (str(folder / file), command)
        assert caught.value.exit_code == 3
    (row,) = (row for row in list_status(Folder(folder)) if row["table"] == name)
    assert row["state"] == state
    if reason:
        tables = [TOURS] if file == TOURS.file else PANCAKES.tables
        report = build_tables(folder, OWN[file], *tables)
        assert report.reasons == {name: f"{file} {reason}"}
        assert contents(folder) == contents(whole)


def test_a_file_that_no_manifest_lists_is_missing(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    shutil.copytree(whole, folder)
    write_manifest(Folder(folder), {})
    for file in ("pancakes.parquet", TOURS.file):
        with pytest.raises(TableMissing, match=file):
            scan(folder, file)


def test_a_damaged_list_leaves_the_counts_readable(tmp_path: Path) -> None:
    build_tables(tmp_path, KNIGHT, TOURS, COUNTS)
    (tmp_path / TOURS.file).write_bytes(b"")
    words: dict[str, str | bool] = {"board": "3x4", "count": True, "outputs": str(tmp_path)}
    assert "tours" in answer_as_text("knight", "a1", words)
