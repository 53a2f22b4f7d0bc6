"""The folder as a store, what a store may be named, and what a killed build leaves in it.

Whoever holds the lock next empties its temporary files; checkpoints stay.
"""

import errno
import os
import shlex
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import BadRequest, NotAFile, StoreError, TableUnreadable
from puzzle_tablebase.pipeline.kinds import checkpoints
from puzzle_tablebase.pipeline.log import RUNS, log_run
from puzzle_tablebase.pipeline.terminal import format_rebuild
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.stores import LOCK, TEMPORARY_SUFFIX, WORK, Folder, list_files, open_store
from tests.support.build_recorder import TOURS, build_tables, contents, litter
from tests.support.shell import Cli, begin_python, python

LATIN_1 = os.fsdecode(b"caf\xe9")
NO_STORES = ["", "a\0b", "\ud800", LATIN_1, "memory://x", "s3://", "http://", "http://[::1/x"]


def test_open_store_uses_argument_environment_or_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(open_store(None)) == "outputs"
    monkeypatch.setenv("PIPELINE_OUTPUTS", "elsewhere")
    assert str(open_store(None)) == "elsewhere"
    assert open_store("here").locate("eight.idx") == "here/eight.idx"
    folder = Folder("there")
    assert open_store(folder) is folder


@pytest.mark.parametrize("name", NO_STORES)
def test_some_texts_name_no_store(name: str, cli: Cli, tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        pt.open_tables(name)
    for words in ("status", "precompute eight", "query eight 123456780") if name == LATIN_1 else ():
        completed = cli(*words.split(), "--outputs", name, cwd=tmp_path)
        assert (completed.code, completed.out) == (2, "")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("folder", ["/data/tables-8_x.old", "$HOME", "it's 'here'"])
def test_commands_name_other_folders_than_the_default(folder: str) -> None:
    assert format_rebuild("", Folder("outputs").outputs) == "pipeline precompute"
    words = shlex.split(format_rebuild("eight", Folder(folder).outputs, force=True))
    assert words == ["pipeline", "precompute", "eight", "--force", "--outputs", folder]


def test_commands_name_the_usual_folder_where_another_one_is_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PIPELINE_OUTPUTS", "elsewhere")
    for name in ("outputs", "elsewhere"):  # typed in another shell, a command means the same
        command = format_rebuild("eight", Folder(name).outputs)
        assert command == f"pipeline precompute eight --outputs {name}"


def test_a_path_is_printed_without_its_control_characters(
    cli: Cli, outputs: Path, tmp_path: Path
) -> None:
    completed = cli("explore", "--output", "\x1b[31m.html", "--outputs", str(outputs), cwd=tmp_path)
    assert (completed.code, completed.out, completed.err) == (0, "\\x1b[31m.html\n", "")


def test_pipes_folders_and_devices_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "deeper").mkdir()
    store, opened = Folder(tmp_path), Path("/proc/self/fd")
    for read in (store.get_size, store.read, store.open_random_access):
        for name in ("deeper", "pipe"):
            with pytest.raises(NotAFile):
                read(name)
    assert not {*map(Path.resolve, opened.iterdir())} & {*tmp_path.iterdir()}, "none stays open"
    with pytest.raises(NotAFile):
        Folder("/dev").get_size("null")


def test_links_lead_no_writer_out_of_the_folder(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "log").write_text("of another program")
    (outside / f"x{TEMPORARY_SUFFIX}").touch()
    store = Folder(folder)
    for name in ("log", "nowhere"):
        (folder / RUNS).symlink_to(outside / name)
        with pytest.raises(NotAFile, match="it is a link"):
            store.append(RUNS, b"more")
        notes = list[str]()
        log_run(store, "eight", "missing", 1.0, "built", notes.append)
        assert notes == [f"note: {folder}/{RUNS} was not written: it is a link, not a file"]
        (folder / RUNS).unlink()
    (folder / WORK.rstrip("/")).symlink_to(outside)
    with pytest.raises(StoreError, match=r"\.work is a link"), store.lock():
        pass
    assert {path.name: path.read_text() for path in outside.iterdir()} == {
        "log": "of another program",
        f"x{TEMPORARY_SUFFIX}": "",
    }


def test_only_space_that_the_user_may_fill_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = SimpleNamespace(f_bavail=3, f_bfree=9, f_blocks=99, f_frsize=10**9, f_bsize=7)
    monkeypatch.setattr(os, "statvfs", lambda _: disk)
    Folder(tmp_path).require_space("A search", 3 * 10**9)
    with pytest.raises(StoreError, match=r"needs 3\.01 GB of disk; free: 3\.00 GB"):
        Folder(tmp_path).require_space("A search", 3_010_000_000)


class Unlistable(Folder):
    def list_names(self, begin: str = "") -> list[str]:
        raise PermissionError(13, "Permission denied")


def test_an_unlistable_folder_is_reported(tmp_path: Path) -> None:
    """Distinguish it from an empty folder: pages would go unchecked, and shards would vanish."""
    assert Folder(tmp_path / "nowhere").list_names() == []
    for read in (list_files, lambda store: build_tables(store, EIGHT)):
        with pytest.raises(TableUnreadable):
            read(Unlistable(tmp_path))


# ---- what a killed build leaves ------------------------------------------------------------------

WRITER = """
import signal, sys
from puzzle_tablebase.stores import Folder

store = Folder(sys.argv[1])
with store.lock(), store.write_files("a.parquet", "a.idx"):
    print("begun", flush=True)
    signal.pause()
"""


LOCKER = """
import sys
from puzzle_tablebase.stores import Folder

with Folder(sys.argv[1]).lock():
    pass
"""


def test_the_next_build_removes_files_of_a_killed_one(tmp_path: Path) -> None:
    with begin_python(WRITER, tmp_path) as writer:
        writer.kill()
    assert len(litter(tmp_path)) == 2
    build_tables(tmp_path, KNIGHT, TOURS)
    assert litter(tmp_path) == []
    assert not (tmp_path / WORK).exists()


def test_a_build_whose_lock_was_deleted_says_that_its_files_are_gone(tmp_path: Path) -> None:
    """Another build then takes them for those of a killed one."""
    store = Folder(tmp_path)

    with store.lock(), store.write_files("a.parquet") as files:
        files[0].write(b"rows")
        (tmp_path / LOCK).unlink()
        assert python(LOCKER, str(tmp_path)) == (0, "", "")
        files.finish()
        for step in (files.reopen(0).__enter__, files.publish):
            with pytest.raises(StoreError, match="another program removed a file"):
                step()


def test_files_of_others_stay(tmp_path: Path) -> None:
    others = (tmp_path / f".others{TEMPORARY_SUFFIX}", tmp_path / WORK / "note.txt")
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("of another program")
    build_tables(tmp_path, KNIGHT, TOURS)
    assert all(path.read_text() == "of another program" for path in others)
    assert {*contents(tmp_path)} == {TOURS.file, "manifest.json"}


def test_new_files_are_invisible_until_they_are_published(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    store.write("a", b"old")
    with store.write_files("a", "b") as files:
        files[0].write(b"new")
        files[1].write(b"other")
        files.finish()
        for number, data in enumerate([b"new", b"other"]):
            with files.reopen(number) as written:
                assert written.read() == data
        assert store.list_names() == [WORK.rstrip("/"), "a"]
        assert store.read("a") == b"old"
        files.publish()
    assert (store.read("a"), store.read("b")) == (b"new", b"other")
    with store.write_files("a") as files:
        files[0].write(b"newer")
    assert store.read("a") == b"new"
    assert litter(tmp_path) == []


def test_a_file_whose_write_error_was_swallowed_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(number: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = Folder(tmp_path)
    with store.write_files("eight.idx") as files:
        with monkeypatch.context() as patch, suppress(StoreError):
            patch.setattr(os, "write", fail)
            files[0].write(bytes(1 << 16))
            files[0].flush()
        files[0].write(b"the disk has space again")
        with pytest.raises(StoreError, match="no space left"):
            files.publish()
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


def test_checkpoints_go_once_their_table_is_there(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    saved = checkpoints(store, TOURS)
    tmp_path.joinpath(WORK).mkdir()
    saved.save("part", [np.arange(3)])
    for _ in range(2):  # missing, up to date
        build_tables(store, KNIGHT, TOURS)
        assert saved.load("part") is None
        saved.save("part", [np.arange(3)])
    build_tables(store, KNIGHT, TOURS, force=True)
    assert saved.load("part") is None


def test_a_part_of_a_file_is_synced_by_whoever_wrote_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write where another machine has the file open, which cannot sync what this one wrote."""
    synced, fsync = list[str](), os.fsync

    def record(number: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{number}"))
        fsync(number)

    monkeypatch.setattr(os, "fsync", record)
    store = Folder(tmp_path)
    with store.write_files("index") as files:
        hidden = files.get_hidden_name(0)
        with store.reopen_for_writing(hidden) as file:
            file.seek(4096)
            file.write(b"part")
        assert synced == [str(tmp_path / hidden)]
        assert (tmp_path / hidden).stat().st_size == 4100


def test_a_copied_file_is_synced_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sync the bytes before the name, and both folders after it."""
    steps, fsync, replace = list[str](), os.fsync, os.replace

    def record_sync(number: int) -> None:
        steps.append(os.readlink(f"/proc/self/fd/{number}"))
        fsync(number)

    def record_rename(source: str, target: str) -> None:
        steps.append("rename")
        replace(source, target)

    hidden, store = f"{WORK}pieces", Folder(tmp_path)
    (tmp_path / WORK).mkdir()
    (tmp_path / hidden).write_bytes(b"copied")
    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_rename)
    store.rename(hidden, "index")
    folders = [str(tmp_path), str(tmp_path / WORK).rstrip("/")]
    assert steps == [str(tmp_path / hidden), "rename", *folders]
    assert (tmp_path / "index").read_bytes() == b"copied"


def test_checkpoints_that_are_there_need_no_space_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, required = checkpoints(Folder(tmp_path), TOURS), list[int]()
    saved.save("part", [np.arange(3)])
    (file,) = tmp_path.glob(f"{WORK}*")
    monkeypatch.setattr(Folder, "require_space", lambda _, work, needed: required.append(needed))
    saved.require_space(1000)
    assert required == [1000 - file.stat().st_size]
