"""Tests of builds that fail or are stopped, of what exists afterwards, and of files of others."""

import errno
import itertools
import json
import os
from concurrent.futures import Future, ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

from puzzle_tablebase.errors import SearchError, StoreError, TableUnreadable, TableVersionError
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.formats.parquet import ROW_GROUP_ROWS, TableWriter
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.queries.scans import scan_table
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import BACKUP, MANIFEST, Folder
from tests.support.build_recorder import (
    COUNTS,
    SMALL,
    TOURS,
    build_all,
    build_tables,
    contents,
    litter,
)
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.pancakes import Pancakes
from tests.support.shell import Cli, begin_python
from tests.support.tampered import seal_values

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns


# ---- the folder -----------------------------------------------------------------------------


HOLDER = """
import sys
from puzzle_tablebase.stores import Folder
with Folder(sys.argv[1]).lock():
    print("begun", flush=True)
    sys.stdin.read()
"""


def test_a_folder_locked_by_another_process_is_refused_until_that_dies(tmp_path: Path) -> None:
    with begin_python(HOLDER, tmp_path) as holder:
        for _ in range(2):
            with pytest.raises(StoreError) as caught:
                build_tables(tmp_path, KNIGHT, TOURS)
            assert caught.value.exit_code == 3
            assert "it is locked by another build" in str(caught.value)
        assert contents(tmp_path) == {}
        holder.kill()
    assert build_tables(tmp_path, KNIGHT, TOURS).finished == [TOURS.name]


@pytest.mark.parametrize(
    ("obstacle", "folder"),
    [("file", ""), ("file", "deeper"), ("link", ""), (".lock", ""), (TOURS.file, "")],
)
def test_an_obstacle_is_named_and_stays(obstacle: str, folder: str, tmp_path: Path) -> None:
    path = tmp_path / "taken"
    if obstacle == "file":
        path.write_bytes(b"a file")
    elif obstacle == "link":
        path.symlink_to("nowhere")
    else:
        (path / obstacle).mkdir(parents=True)
    before = [*tmp_path.rglob("*")]
    with pytest.raises((StoreError, TableUnreadable)) as caught:
        build_tables(path / folder, KNIGHT, TOURS)
    assert caught.value.exit_code == 3
    assert str(path) in str(caught.value)
    assert {*tmp_path.rglob("*")} - {*before} <= {path / ".lock"}


# ---- interrupted ----------------------------------------------------------------------------


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SearchError])
def test_an_interrupted_write_keeps_the_old_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    build_tables(tmp_path, KNIGHT, *SMALL)
    before, write, batches = contents(tmp_path), TableWriter.write, itertools.count(1)

    def fail_later(writer: TableWriter, columns: "Columns") -> None:
        if next(batches) == 3:
            raise error("in the middle")
        write(writer, columns)

    monkeypatch.setattr(TableWriter, "write", fail_later)
    with pytest.raises(error, match="in the middle"):
        build_tables(tmp_path, KNIGHT, TOURS, COUNTS, force=True)
    assert (contents(tmp_path), litter(tmp_path)) == (before, [])
    monkeypatch.undo()
    assert build_tables(tmp_path, KNIGHT, *SMALL).reasons == {}


class FullDisk(BytesIO):
    """A file on a disk that has no space for one of the writes, and again for the next."""

    bad_write = writes = 0

    def write(self, data: Any) -> int:
        self.writes += 1
        if self.writes == self.bad_write:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def test_whatever_part_of_a_row_group_finds_no_space_the_error_says_so() -> None:
    """Arrow closes a file when the end of a group's last column cannot be written."""
    counts = np.arange(ROW_GROUP_ROWS) % 100
    columns = {column.name: counts for column in COUNTS.columns}
    columns["board"] = np.full(len(counts), b"8x8")

    def write(bad_write: int) -> int:
        file = FullDisk()
        file.bad_write = bad_write
        with TableWriter(file, COUNTS) as writer:
            writer.write(columns)
        return file.writes

    for number in range(2, write(0) + 1):  # the first is that of the file's first bytes
        with pytest.raises(OSError, match="No space left on device"):
            write(number)


def test_a_table_and_its_index_are_synced_before_either_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def is_here(path: str) -> bool:
        """Return whether a path is in the folder; numba renames files of its cache meanwhile."""
        return Path(path).is_relative_to(tmp_path)

    def record_sync(number: int) -> None:
        if is_here(os.readlink(f"/proc/self/fd/{number}")):
            steps.append("folder" if os.path.isdir(f"/proc/self/fd/{number}") else "kept")
        fsync(number)

    def record_rename(source: str, target: str) -> None:
        if is_here(target):
            steps.append(Path(target).suffix)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_rename)
    build_tables(tmp_path, PANCAKES)
    folders = ["folder", "folder"]
    manifest = ["kept", ".backup", *folders, "kept", ".json", *folders]
    assert steps == ["kept", "kept", *manifest, ".parquet", ".idx", *folders, *manifest]


def test_a_failing_table_cancels_its_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    futures: list[Future[Any]] = []
    release = Event()

    class Slow(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
            futures.append(super().submit(*args, **kwargs))
            super().submit(release.wait, 1)
            return futures[-1]

    monkeypatch.setattr(TableWriter, "write", Mock(side_effect=SearchError("in the middle")))
    with Slow(1) as slow:
        with pytest.raises(SearchError, match="in the middle") as caught:
            build_all(Folder(tmp_path), [(KNIGHT, (TOURS,))], None, slow, jobs=4)
        assert caught.traceback, "it keeps all that was under way alive"
        assert [future.cancelled() for future in futures[-4:]] == [True] * 4
        release.set()


# ---- impossible data ----------------------------------------------------------------------


class Wrong(Pancakes):
    """Pancakes with a wrong value in all rows of a column, or in all records."""

    def __init__(self, column: str = "", record: str = "", value: int = 0, rows: int = 120) -> None:
        super().__init__()
        (old,) = self.tables
        words = old.name, old.meaning, old.rank
        self.tables = (Table(*words, old.columns, old.recipe, old.index, rows=rows),)
        values = np.full(self.size, value)
        self.columns, self.records = ({name: values} if name else {} for name in (column, record))

    def fill_columns(self, *arguments: Any) -> "Columns":
        return {**super().fill_columns(*arguments), **self.columns}

    def make_records(self, *arguments: Any) -> "Columns":
        return {**super().make_records(*arguments), **self.records}


class TwoGoals(Pancakes):
    """Pancakes with two goals that every state reaches, in a table that has room for one."""

    goals = {"stacked": "12345", "upside_down": "54321"}  # noqa: RUF012  # as its parent's

    def __init__(self) -> None:
        self.tables = (self.make_goal_table("pancakes", "Both", ("stacked", "upside_down")),)


@pytest.mark.parametrize(
    ("puzzle", "fact"),
    [
        (Wrong(column="distance", value=1 << 15), "distance does not fit int16"),
        (Wrong(column="distance", value=-(1 << 15) - 1), "distance does not fit int16"),
        (Wrong(record="distance", value=256), "distance does not fit the index"),
        (Wrong(record="solutions", value=-1), "solutions does not fit the index"),
        (TwoGoals(), "stacked, upside_down"),
        (Wrong(rows=119), "120 rows"),
    ],
)
def test_impossible_data_is_not_published(tmp_path: Path, puzzle: Pancakes, fact: str) -> None:
    with pytest.raises(SearchError, match=fact):
        build_tables(tmp_path, puzzle)
    assert (contents(tmp_path), litter(tmp_path)) == ({}, [])


# ---- files of others, and manifests of no use -------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build_tables(tmp_path, KNIGHT, TOURS, COUNTS)
    return tmp_path


@pytest.mark.parametrize("name", [TOURS.file, MANIFEST])
@pytest.mark.parametrize("has_manifest", [False, True])
@pytest.mark.parametrize("force", [False, True])
def test_a_strangers_file_is_never_replaced(
    name: str, has_manifest: bool, force: bool, tmp_path: Path
) -> None:
    if has_manifest and name != MANIFEST:
        build_tables(tmp_path, KNIGHT, COUNTS)
    (tmp_path / name).write_text(json.dumps({"name": "somebody's app"}))
    before = contents(tmp_path)
    with pytest.raises(StoreError, match=name):
        build_tables(tmp_path, KNIGHT, TOURS, force=force)
    assert contents(tmp_path) == before


def test_without_a_manifest_and_its_copy_a_build_names_what_it_does_not_list(
    folder: Path, cli: Cli
) -> None:
    for name in (MANIFEST, BACKUP):
        (folder / name).write_bytes(b"lost")
    planned = cli("precompute", TOURS.name, "--dry-run", "--outputs", str(folder))
    assert planned.err.endswith(f"; the new one does not list {COUNTS.file}\n")
    rows = (folder / COUNTS.file).read_bytes()
    built = build_tables(folder, KNIGHT, TOURS)
    assert [f"pipeline: note: {note}\n" for note in built.notes] == [planned.err]
    assert built.reasons == {TOURS.name: "missing"}
    assert [*read_manifest(Folder(folder))] == [TOURS.name]
    assert (folder / COUNTS.file).read_bytes() == rows


@pytest.mark.parametrize("name", [MANIFEST, BACKUP])
def test_with_one_of_the_two_nothing_is_built(name: str, folder: Path) -> None:
    before = read_manifest(Folder(folder))
    (folder / name).write_bytes(b"lost")
    assert build_tables(folder, KNIGHT, TOURS, COUNTS).reasons == {}
    assert read_manifest(Folder(folder)) == before


@pytest.mark.parametrize("version", [4, 6])
def test_an_older_manifest_is_replaced_and_a_newer_one_only_by_force(
    version: int, folder: Path
) -> None:
    (folder / MANIFEST).write_bytes(seal_values({"format_version": version}))
    with pytest.raises(TableVersionError):
        scan_table(Folder(folder), TOURS)
    if version > 5:
        with pytest.raises(TableVersionError):
            build_tables(folder, KNIGHT, TOURS)
    built = build_tables(folder, KNIGHT, TOURS, force=version > 5)
    assert f"has format version {version}, not 5; " in built.notes[0]
    assert [*read_manifest(Folder(folder))] == [TOURS.name]
