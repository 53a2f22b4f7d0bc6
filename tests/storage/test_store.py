"""Stores: a folder, and a store in memory, which shows that no other module depends on paths."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import polars as pl
import pytest

from pipeline.build import Request, build
from pipeline.verify import VerifyFailed, verify
from queries import open_tables
from queries.dispatch import open_reader
from queries.histogram import count_states
from queries.status import list_status
from tablebase.errors import NotAFile, StoreError, TableDamaged, TableMissing, TableUnreadable
from tablebase.puzzles.eight import PUZZLE as EIGHT
from tablebase.tables import BACKUP, MANIFEST
from tablebase.tables.access import list_files, open_store
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import PART_SUFFIX, Folder, Store
from tests.support.build_recorder import Recorder, build_tables


class Onward(io.BytesIO):
    """A new file that can only be written sequentially."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation("seek")


class Memory(Store):
    """Store of files in a dictionary: no paths, no renames, no system locks."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.held = False

    def __str__(self) -> str:
        return "memory:"

    def locate(self, name: str) -> str:
        return f"memory:{name}"

    def list_names(self, begin: str = "") -> list[str]:
        return sorted(name for name in self.files if name.startswith(begin))

    def _find(self, name: str) -> bytes:
        if name not in self.files:
            raise FileNotFoundError(2, "No such file", name)
        return self.files[name]

    def get_size(self, name: str) -> int:
        return len(self._find(name))

    def open(self, name: str) -> IO[bytes]:
        return io.BytesIO(self._find(name))

    @contextlib.contextmanager
    def write_atomically(
        self, *names: str, durable: bool = True, shared: bool = False
    ) -> Iterator[list[IO[bytes]]]:
        assert self.held or shared, "the rest is written by who holds the lock"
        new_files = [Onward() for _ in names]
        yield [*new_files]
        self.files |= {name: file.getvalue() for name, file in zip(names, new_files, strict=True)}

    def remove(self, name: str) -> None:
        del self.files[name]

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        if self.held:
            raise StoreError(str(self), "another build holds it")
        self.held = True
        try:
            yield
        finally:
            self.held = False


@pytest.fixture(scope="module")
def memory_store() -> Memory:
    """Return a store with the 8-puzzle's tables built in memory."""
    store = Memory()
    build(Request(store, [(EIGHT, EIGHT.tables)]), Recorder())
    return store


@pytest.fixture
def memory(memory_store: Memory) -> Memory:
    store = Memory()
    store.files |= memory_store.files
    return store


def test_a_build_writes_the_same_bytes_as_to_a_folder(memory: Memory, outputs: Path) -> None:
    eight = [name for name in memory.list_names() if name not in (MANIFEST, BACKUP)]
    assert eight == ["eight.idx", "eight.parquet", "eight_edge.idx", "eight_edge.parquet"]
    for name in eight:
        assert memory.read(name) == (outputs / name).read_bytes(), name
    listed = read_manifest(Folder(outputs))
    assert read_manifest(memory) == {name: listed[name] for name in ("eight", "eight_edge")}


def test_a_second_build_does_nothing_unless_forced(memory: Memory) -> None:
    before = dict(memory.files)
    for force, finished in ((False, []), (True, ["eight", "eight_edge"])):
        reported = Recorder()
        build(Request(memory, [(EIGHT, EIGHT.tables)], force), reported)
        assert reported.finished == finished
        assert memory.files == before


def test_a_damaged_file_is_rebuilt(memory: Memory) -> None:
    original = memory.files["eight.idx"]
    memory.files["eight.idx"] = original[:-1]
    reported = Recorder()
    build(Request(memory, [(EIGHT, EIGHT.tables)]), reported)
    assert reported.reasons == {"eight": "eight.idx damaged", "eight_edge": "up to date"}
    assert memory.files["eight.idx"] == original


def test_a_build_without_the_lock_writes_nothing(memory: Memory) -> None:
    memory.files.clear()
    with memory.lock(), pytest.raises(StoreError, match="Cannot build in memory:: another build"):
        build(Request(memory, [(EIGHT, EIGHT.tables)]), Recorder())
    assert memory.files == {}


def test_every_kind_of_query_is_answered_from_a_store(memory: Memory, outputs: Path) -> None:
    expected = open_tables(str(outputs)).eight
    with open_tables(memory) as tables:
        assert repr(tables.eight) == "<EightReader in memory:: eight, eight_edge>"
        for goal in (None, "edge", "012345678"):
            assert tables.eight.probe("378546201", goal) == expected.probe("378546201", goal)
        frame = pl.DataFrame({"state": ["378546201", "867254301", "nothing"]})
        assert tables.eight.annotate(frame).equals(expected.annotate(frame))
    with pytest.raises(ValueError, match="the tables in memory: are closed"):
        tables.eight.probe("378546201", "edge")
    asks = open_reader("eight", memory)
    remote, local = (
        reader.make_query().answer("378546201")
        for reader in (asks, open_reader("eight", Folder(outputs)))
    )
    assert remote.to_dict() == local.to_dict()
    assert count_states("eight", memory).equals(count_states("eight", Folder(outputs)))


def test_missing_and_damaged_files_are_named_by_location(memory: Memory) -> None:
    memory.files["eight.idx"] = bytes(4096)
    with pytest.raises(TableDamaged, match=r"^memory:eight\.idx is damaged") as reported:
        open_tables(memory).eight.probe("378546201")
    assert reported.value.command == "pipeline precompute eight --outputs 'memory:'"
    with pytest.raises(TableMissing, match=r"^memory:senet\.parquet is not published"):
        count_states("senet", memory)
    with pytest.raises(TableMissing, match=r"^memory:manifest\.json is not published"):
        open_tables(Memory())


def test_status_of_a_store_in_memory(memory: Memory) -> None:
    assert {row["table"] for row in list_status(memory) if row["state"] == "published"} == {
        "eight",
        "eight_edge",
    }
    del memory.files["eight_edge.parquet"]
    states = {row["table"]: row["state"] for row in list_status(memory)}
    assert (states["eight"], states["eight_edge"], states["senet"]) == (
        "published",
        "damaged",
        "missing",
    )


def test_published_tables_in_a_store_are_verified(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pipeline.verify", "pipeline.verify.files"):
        monkeypatch.setattr(f"{module}.list_puzzles", lambda: [EIGHT])
    quick, proved = verify(memory, quick=True).claims, verify(memory).claims
    assert proved[: len(quick)] == quick
    assert {claim.table for claim in proved[len(quick) :]} == {"eight", "eight_edge"}
    memory.files["eight.parquet"] = b""
    with pytest.raises(VerifyFailed, match=r"^memory:eight\.parquet fails a proof"):
        verify(memory)


# ---- a folder -------------------------------------------------------------------------------


def test_open_store_uses_argument_environment_or_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert str(open_store(None)) == "outputs"
    monkeypatch.setenv("PIPELINE_OUTPUTS", "elsewhere")
    assert str(open_store(None)) == "elsewhere"
    assert open_store("here").locate("eight.idx") == "here/eight.idx"
    memory = Memory()
    assert open_store(memory) is memory


def test_a_folder_can_be_pickled(tmp_path: Path) -> None:
    (tmp_path / "eight.idx").write_bytes(b"records")
    assert pickle.loads(pickle.dumps(Folder(tmp_path))).read("eight.idx") == b"records"


def test_pipes_folders_and_devices_are_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "deeper").mkdir()
    store = Folder(tmp_path)
    for read in (store.get_size, store.read, store.open_random_access):
        with pytest.raises(NotAFile, match="it is a folder, not a file"):
            read("deeper")
        with pytest.raises(NotAFile, match="it is a named pipe, not a file"):
            read("pipe")
    with pytest.raises(NotAFile, match="it is a device, not a file"):
        Folder("/dev").get_size("null")


def test_only_a_builds_unfinished_files_are_listed(tmp_path: Path) -> None:
    """Recognize unfinished files by the build's suffix, whatever their names."""
    unfinished = [
        f".{name}{PART_SUFFIX}"
        for name in ("eight.idx", "manifest.json", ".eight.1.a.kept", "page")
    ]
    for name in (
        *unfinished,
        ".film.mkv.part",
        ".eight.parquet.part",
        f"eight.parquet{PART_SUFFIX}",
    ):
        (tmp_path / name).write_bytes(b"half")
    assert Folder(tmp_path).list_unfinished() == sorted(unfinished)


def test_find_name_resolves_paths(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder / "page.html")
    store = Folder(folder)
    assert store.find_name(str(folder / "page.html")) == "page.html"
    assert store.find_name(str(tmp_path / "link")) == "page.html"
    assert store.find_name(str(tmp_path / "page.html")) is None
    assert Memory().find_name("page.html") is None


def test_the_lock_is_released_and_names_its_holder(tmp_path: Path) -> None:
    store = Folder(tmp_path / "new")
    for _ in range(2):
        with store.lock():
            assert (tmp_path / "new" / ".lock").read_text() == f"{os.getpid()}\n"
            with pytest.raises(StoreError, match=rf"\(process {os.getpid()}\)"), store.lock():
                pass


def test_an_unlistable_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Distinguish it from an empty folder: pages would go unchecked, and shards would vanish."""

    def refuse(path: str) -> list[str]:
        raise PermissionError(13, "Permission denied")

    assert Folder(tmp_path / "nowhere").list_names() == []
    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(TableUnreadable) as caught:
        list_files(Folder(tmp_path))
    text = f"{tmp_path} cannot be read: permission denied. Change its permissions."
    assert (str(caught.value), caught.value.exit_code) == (text, 3)
    with pytest.raises(TableUnreadable):
        build_tables(tmp_path, EIGHT)
