"""Copies from folders, hosts and buckets to folders and buckets: the same bytes, or one sentence.

A copy may be killed at any moment. A reader beside it has an answer all the time.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import polars as pl
import pytest
from msgspec.structs import replace

from puzzle_tablebase import copy_tables
from puzzle_tablebase.errors import BadRequest, StoreError, TableError, TableMissing
from puzzle_tablebase.formats import index_writer, manifest, parquet
from puzzle_tablebase.formats.manifest import (
    add_version,
    drop_versions,
    find_current,
    read_manifest,
    read_versions,
)
from puzzle_tablebase.pipeline import copy_targets, stale
from puzzle_tablebase.pipeline.copy import Progress, copy, run_together
from puzzle_tablebase.pipeline.copy_targets import open_target
from puzzle_tablebase.pipeline.publish import COPIES
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.queries.scans import scan_table
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.registry import MODULES
from puzzle_tablebase.stores import MANIFEST, PARTIAL_COPY_SUFFIX, WORK, Folder, open_store, remote
from puzzle_tablebase.stores.remote import make_client
from tests import usual_or_nightly
from tests.support.build_recorder import build_tables, contents
from tests.support.faults import FAULTS, make_fault
from tests.support.hosts import Answer, Request, serve
from tests.support.object_store import LoopbackStore, bucket
from tests.support.pancakes import PUZZLE
from tests.support.shell import SCRIPT, Cli, environment
from tests.support.tampered import flip_byte, link_copy, replace_link

EIGHT_FILES = "eight.idx", "eight.parquet", "eight_edge.idx", "eight_edge.parquet"
STATE = "378546201"
NAMES = usual_or_nightly(["eight", "senet"], [])
"""The tables that are copied by copies that are killed: with the nightly run, all."""


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(remote, "REQUEST_TIMEOUT", 2.0)
    monkeypatch.setattr(remote, "RETRY_DELAY", 0.01)
    make_client.cache_clear()
    yield
    make_client.cache_clear()


@pytest.fixture
def pancakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Path]:
    """Return a function that builds a small table, of which each version has other bytes."""
    monkeypatch.setitem(MODULES, PUZZLE.name, "tests.support.pancakes")

    def build(version: int) -> Path:
        folder = tmp_path / f"version {version}"
        text = f"{version:064x}"
        with (
            patch.object(parquet.ContentHash, "hexdigest", return_value=text),
            patch.object(index_writer, "make_seed", return_value=bytes.fromhex(text)),
        ):
            build_tables(folder, PUZZLE)
        return folder

    return build


def require_same(folder: Path, source: Path) -> None:
    """Fail unless a folder has all tables of a source, byte by byte, and nothing half."""
    assert contents(folder) == {
        path.name: path.read_bytes()
        for path in source.iterdir()
        if path.suffix in (".parquet", ".idx", ".json") and not path.name.startswith(".")
    }
    assert not (folder / WORK).exists()


@pytest.fixture
def few(outputs: Path, tmp_path: Path) -> Path:
    """Return a folder with the default tables but the largest."""
    folder = link_copy(outputs, tmp_path)
    (folder / "knight_tours_6x6.parquet").unlink()
    listed = read_versions(Folder(outputs))
    del listed["knight_tours_6x6"]
    (folder / MANIFEST).write_bytes(manifest.format_manifest(listed))
    return folder


def test_a_folder_is_copied_from_any_store(few: Path, tmp_path: Path, cli: Cli) -> None:
    with serve(few) as host:
        completed = cli("copy", host.url, str(tmp_path / "a"), "--json")
        assert (completed.code, '"up_to_date": []' in completed.out) == (0, True)
        require_same(tmp_path / "a", few)
        host.requests.clear()
        completed = cli("copy", host.url, str(tmp_path / "a"))
        assert (completed.code, completed.out.startswith("up to date: eight, ")) == (0, True)
        assert [request.name for request in host.requests] == [MANIFEST]
    with bucket("puzzles"):
        assert {*copy_tables(tmp_path / "a", "s3://puzzles/b")} == {*read_manifest(Folder(few))}
        copy_tables("s3://puzzles/b", str(tmp_path / "c"))
    require_same(tmp_path / "c", few)
    assert cli("verify", "--quick", "--outputs", str(tmp_path / "c")).code == 0


def test_names_are_copied_and_the_rest_stays(outputs: Path, tmp_path: Path, cli: Cli) -> None:
    assert copy_tables(outputs, tmp_path, ["eight_edge", "knight_counts"]) == [
        "eight_edge",
        "knight_counts",
    ]
    assert copy_tables(outputs, tmp_path, ["eight"]) == ["eight"]
    assert {*read_manifest(Folder(tmp_path))} == {"eight", "eight_edge", "knight_counts"}
    for names, error in ((["nothing"], BadRequest), (["sliding_3x4"], TableMissing)):
        with pytest.raises(error):
            copy_tables(outputs, tmp_path, names)
    with pytest.raises(TableMissing):
        copy_tables(tmp_path / "none", tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(BadRequest, match="web host"):
        copy_tables(outputs, "https://example.org/tables")
    with pytest.raises(BadRequest, match="take-over"):
        copy(open_store(outputs), open_target(tmp_path), take_over=True)


def test_what_differs_is_copied_again(outputs: Path, tmp_path: Path) -> None:
    copy_tables(outputs, tmp_path, ["eight"])
    flip_byte(tmp_path / "eight.idx")
    (tmp_path / "eight_edge.parquet").unlink()
    with serve(outputs) as host:
        assert copy_tables(host.url, tmp_path, ["eight"]) == ["eight", "eight_edge"]
        assert {request.name for request in host.requests} == {
            MANIFEST,
            "eight.idx",
            "eight_edge.parquet",
        }
    for name in EIGHT_FILES:
        assert (tmp_path / name).read_bytes() == (outputs / name).read_bytes()


def test_a_file_of_another_program_stays(outputs: Path, tmp_path: Path) -> None:
    (tmp_path / "eight.idx").write_text("of another program")
    with pytest.raises(StoreError, match=r"eight\.idx is there"):
        copy_tables(outputs, tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.name != ".lock"] == ["eight.idx"]


def test_a_folder_has_one_writer(outputs: Path, tmp_path: Path) -> None:
    with Folder(tmp_path).lock(), pytest.raises(StoreError, match="locked"):
        copy_tables(outputs, tmp_path)


# ---- faults -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_hosts(name: str, outputs: Path, tmp_path: Path, cli: Cli) -> None:
    """Copy a small file from a faulty host: it is there whole, or not at all, with a sentence."""
    words = (str(tmp_path), "eight")
    with serve(outputs, make_fault(name)) as host:
        completed = cli("copy", host.url, *words, "--quiet")
        assert completed.code in (0, 3)
        assert completed.err.removesuffix("is read whole\n").count("\n") <= (
            4 if not completed.code else 1
        )
        if completed.code:
            assert completed.err.startswith("pipeline: ")
        for file in EIGHT_FILES:
            with suppress(FileNotFoundError):
                assert (tmp_path / file).read_bytes() == (outputs / file).read_bytes()
        host.fault = None
        assert cli("copy", host.url, *words, "--quiet").code == 0
    for file in EIGHT_FILES:
        assert (tmp_path / file).read_bytes() == (outputs / file).read_bytes()
    assert not (tmp_path / WORK).exists()


def test_a_table_published_anew_meanwhile_is_told(outputs: Path, tmp_path: Path) -> None:
    def name_another(request: Request, answer: Answer) -> None:
        if request.span and request.span[0]:
            answer.headers["ETag"] = '"another"'

    with (
        serve(outputs, name_another) as host,
        pytest.raises(TableError, match=r"senet\.\w+ is damaged: it has changed .* copy again"),
    ):
        copy_tables(host.url, tmp_path, ["senet"])
    assert not [*tmp_path.glob("senet*")]
    with pytest.raises(TableMissing):
        open_tables(str(tmp_path))


def test_a_full_disk_is_told_before(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    required = list[int]()

    def refuse(_: Folder, work: str, needed: int) -> None:
        required.append(needed)
        raise StoreError(str(tmp_path), work)

    monkeypatch.setattr(Folder, "require_space", refuse)
    with pytest.raises(StoreError):
        copy_tables(outputs, tmp_path, ["senet"])
    entry = read_manifest(Folder(outputs))["senet"]
    assert required == [entry.total_bytes]
    assert entry.index
    (tmp_path / WORK).mkdir()
    (tmp_path / WORK / f"{entry.index.sha256}{PARTIAL_COPY_SUFFIX}").write_bytes(bytes(1000))
    with pytest.raises(StoreError):
        copy_tables(outputs, tmp_path, ["senet"])
    assert required[1] == entry.total_bytes - 1000


# ---- kills --------------------------------------------------------------------------------------


def test_a_copy_goes_on_where_it_was(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """Find the beginning of a file, a wrong one, one that is too long, and all of it."""
    monkeypatch.setattr(copy_targets, "STEP_BYTES", 1 << 20)
    data = (outputs / "senet.idx").read_bytes()
    index = read_manifest(Folder(outputs))["senet"].index
    assert index
    begun = tmp_path / WORK / f"{index.sha256}{PARTIAL_COPY_SUFFIX}"
    left = (data[: 2 << 20], 2 << 20), (bytes(2 << 20), 0), (data + b"more", 0), (data, None)
    for text, first in left:
        begun.parent.mkdir(exist_ok=True)
        begun.write_bytes(text)
        with serve(outputs) as host:
            assert copy_tables(host.url, tmp_path, ["senet"]) == ["senet"]
            spans = [each.span for each in host.requests if each.name == "senet.idx"]
        begins = [span[0] for span in spans if span and span != (0, 0)]
        assert min(begins, default=None) == first
        for name in ("senet.idx", "senet.parquet"):
            assert (tmp_path / name).read_bytes() == (outputs / name).read_bytes()
            (tmp_path / name).unlink()
    begun.parent.mkdir(exist_ok=True)
    begun.write_bytes(b"begun")
    completed = cli("remove", "--checkpoints", "--outputs", str(tmp_path))
    assert (completed.out, begun.exists()) == ("removed 1 checkpoints\n", False)


@pytest.mark.parametrize("left", [b"", bytes(100)], ids=["nothing", "wrong"])
def test_the_bytes_that_are_told_add_up(
    left: bytes, pancakes: Callable[[int], Path], tmp_path: Path
) -> None:
    """Also if a killed copy has left what is wrong: then a file is counted anew."""
    source, progress = Folder(pancakes(1)), list[tuple[int, int]]()
    entry = read_manifest(source)[PUZZLE.name]
    assert entry.index
    begun = tmp_path / "new" / WORK / f"{entry.index.sha256}{PARTIAL_COPY_SUFFIX}"
    begun.parent.mkdir(parents=True)
    begun.write_bytes(left)
    copy(source, open_target(tmp_path / "new"), tell=lambda *each: progress.append(each))
    assert max(progress) == progress[-1] == (entry.total_bytes, entry.total_bytes)


class Reader:
    """A thread that reads the tables of a store all the time; it must never fail."""

    def __init__(self, location: str | Path) -> None:
        self._location = str(location)
        self.reads = 0
        self.error: BaseException | None = None
        self._has_ended = threading.Event()

    def __enter__(self) -> Reader:
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        self._thread.join()
        if self.error:
            raise self.error

    def _read(self) -> None:
        try:
            while not self._has_ended.wait(0.01):
                with open_tables(self._location) as tables:
                    assert tables.eight.probe(STATE).distance == 27
                (table, _) = EIGHT.tables
                rows = scan_table(Folder(self._location), table)
                assert rows.filter(pl.col("distance") == 31).collect().height == 2
                self.reads += 1
        except BaseException as error:
            self.error = error


def publish_other_version(folder: Path) -> None:
    """Publish tables of the 8-puzzle of which every block has other bytes than usual."""
    with patch.object(parquet.ContentHash, "hexdigest", return_value=f"{1:064x}"):
        build_tables(folder, EIGHT)


def kill_copies(url: str, folder: Path, hook: Callable[[Callable[[], object]], None]) -> None:
    """Copy again and again; each copy is killed once its source has answered so many requests."""
    draw = random.Random(77)
    for _ in range(usual_or_nightly(3, 20)):
        words, left = [str(SCRIPT), "copy", url, str(folder), *NAMES], [draw.randrange(60)]
        with subprocess.Popen(words, env=environment(os.environ), stderr=-1) as process:

            def count(process: subprocess.Popen[bytes] = process, left: list[int] = left) -> None:
                left[0] -= 1
                if left[0] < 0:
                    process.kill()

            hook(count)
            _, errors = process.communicate(timeout=120)
            assert process.returncode in (0, -signal.SIGKILL), errors
    hook(lambda: None)


@contextmanager
def serve_somewhere(store_type: str, source: Path) -> Iterator[tuple[str, Callable[..., None]]]:
    """Serve a folder by a web host or from a bucket; yield its URL, and what sets a hook."""
    with ExitStack() as stack:
        if store_type == "host":
            host = stack.enter_context(serve(source))

            def set_fault(hook: Callable[[], object]) -> None:
                def answer(request: Request, answer: Answer) -> None:
                    hook()

                host.fault = answer

            yield host.url, set_fault
        else:
            server = stack.enter_context(bucket("puzzles"))
            copy_tables(source, "s3://puzzles/source")

            def set_watch(hook: Callable[[], object]) -> None:
                server.watch = lambda environ: hook()

            yield "s3://puzzles/source", set_watch


@pytest.mark.slow
@pytest.mark.parametrize("store_type", ["host", "bucket"])
def test_a_copy_that_is_killed_again_and_again(
    store_type: str, outputs: Path, tmp_path: Path
) -> None:
    """Kill copies of the default tables into a folder that has another version of some."""
    folder = tmp_path / "tables"
    publish_other_version(folder)
    with serve_somewhere(store_type, outputs) as (url, hook):
        with Reader(folder) as reader:
            kill_copies(url, folder, hook)
            copy_tables(url, folder, NAMES)
        assert reader.reads
    for name, data in contents(folder).items():
        assert name == MANIFEST or data == (outputs / name).read_bytes()
    assert NAMES or (folder / MANIFEST).read_bytes() == (outputs / MANIFEST).read_bytes()
    assert not (folder / WORK).exists()


@pytest.mark.nightly
@pytest.mark.parametrize("store_type", ["host", "bucket"])
def test_copies_of_large_tables_are_killed(
    store_type: str, outputs: Path, large_boards: Path, ranked_boards: Path, tmp_path: Path
) -> None:
    source, folder = link_copy(outputs, tmp_path, large_boards, ranked_boards), tmp_path / "tables"
    (source / MANIFEST).write_bytes(manifest.format_manifest(read_versions(Folder(source))))
    publish_other_version(folder)
    with serve_somewhere(store_type, source) as (url, hook), Reader(folder):
        kill_copies(url, folder, hook)
        copy_tables(url, folder)
    assert {"sliding_3x4_12", "knight_ranks_5x4"} <= {*read_manifest(Folder(folder))}
    require_same(folder, source)


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_an_interrupt_gives_the_claim_back(number: int, outputs: Path) -> None:
    reached, has_ended = threading.Event(), threading.Event()

    def hold(
        method: str, address: str, respond: Callable[[], tuple[str, list[tuple[str, str]], bytes]]
    ) -> tuple[str, list[tuple[str, str]], bytes]:
        if method == "PUT" and "eight.parquet" in address:
            reached.set()
            has_ended.wait(60)
        return respond()

    url = f"s3://puzzles/interrupted{number}"
    with bucket("puzzles") as server:
        server.fault = hold
        words = [str(SCRIPT), "copy", str(outputs), url, "eight"]
        with subprocess.Popen(words, env=environment(os.environ), stderr=-1) as process:
            while not reached.wait(0.01):
                assert process.poll() is None
            assert open_store(url).list_names(".claim")
            process.send_signal(number)
            process.communicate(timeout=20)
            assert process.returncode == 128 + number
        assert not open_store(url).list_names(".claim")
        has_ended.set()
        assert copy_tables(outputs, url, ["eight"])


class Cut:
    """The bucket as two writers and a reader see it: the requests of one end at some point.

    So a copy is killed as far as the bucket can tell: nothing of it arrives any more.
    """

    def __init__(self, server: LoopbackStore, before: Callable[[], object]) -> None:
        self.left, self.before = 0, before
        self.victims = set[int]()
        self._lock, self._is_responding = threading.Lock(), False
        server.fault = self

    def __call__(
        self,
        method: str,
        address: str,
        respond: Callable[[], tuple[str, list[tuple[str, str]], bytes]],
    ) -> tuple[str, list[tuple[str, str]], bytes]:
        with self._lock:
            if self._is_responding:
                return respond()
            self.left -= 1
            if self.left == 0:
                self._is_responding = True
        if self.left == 0:
            self.before()
            with self._lock:
                self._is_responding = False
        if self.left <= 0:
            return "403 FORBIDDEN", [("Content-Length", "0")], b""
        return respond()


@pytest.mark.slow
def test_two_copies_to_one_bucket_are_killed_at_each_request(
    pancakes: Callable[[int], Path], outputs: Path
) -> None:
    """Copy a version over another one; at each request, let a third come, and kill the copy."""
    old, new, other = map(pancakes, range(3))
    states = [*map(PUZZLE.unrank, range(0, PUZZLE.size, 7))]
    with open_tables(str(old)) as tables:
        expected = [tables.open(PUZZLE.name).probe(state).distance for state in states]
    with bucket("puzzles") as server:
        number, step = 1, usual_or_nightly(4, 1)
        while True:
            url = f"s3://puzzles/{number}"
            server.fault = None
            copy_tables(old, url)
            refused = list[str]()

            def come_between(url: str = url, refused: list[str] = refused) -> None:
                require_answers(url)
                try:
                    copy_tables(other, url)
                except StoreError as error:
                    refused.append(str(error))

            def require_answers(url: str) -> None:
                with open_tables(url) as tables:
                    reader = tables.open(PUZZLE.name)
                    assert [reader.probe(state).distance for state in states] == expected

            cut = Cut(server, come_between)
            cut.left = number
            with suppress(StoreError, TableError, OSError):
                copy_tables(new, url)
            is_whole = cut.left > 0
            server.fault = None
            require_answers(url)
            names = {*open_store(url).list_names()}
            with suppress(StoreError):
                copy(open_store(other), open_target(url), take_over=True)
            require_answers(url)
            assert len(read_versions(open_store(url))[PUZZLE.name]) == 1
            for name in ("pancakes.idx", "pancakes.parquet", MANIFEST):
                assert open_store(url).read(name) == (other / name).read_bytes(), number
            assert (".claim" in names) <= (not is_whole)
            if is_whole:
                break
            number += step
        assert number > 15


def test_a_table_that_fails_ends_the_copies_of_others() -> None:
    progress, finished = Progress(100, lambda done, total: None), list[str]()

    def run(name: str) -> None:
        if name == "failing":
            raise StoreError("x", "no room")
        for _ in range(100):
            time.sleep(0.01)
            progress.advance(1)
        finished.append(name)

    with pytest.raises(StoreError, match="no room"):
        run_together(run, [("large",), ("failing",)], progress)
    assert finished == []


# ---- versions and code --------------------------------------------------------------------------


def test_versions_are_told_apart_without_hashing(
    pancakes: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """List two versions, as a killed build or copy leaves them: nobody hashes a table."""
    folders = [pancakes(1), pancakes(2)]
    entries = [read_manifest(Folder(folder))[PUZZLE.name] for folder in folders]
    monkeypatch.setattr(manifest, "hash_stream", lambda file: pytest.fail("it hashes a table"))
    for folder, entry in zip(folders, entries, strict=True):
        for other in entries:
            add_version(Folder(folder), PUZZLE.name, other)
        assert len(read_versions(Folder(folder))[PUZZLE.name]) == 2
        assert read_manifest(Folder(folder))[PUZZLE.name] == entry
    mixed = folders[0]
    shutil.copy(folders[1] / "pancakes.idx", mixed)
    assert find_current(Folder(mixed), entries) is None


def test_a_copy_that_was_killed_at_its_end_is_ended(
    pancakes: Callable[[int], Path], tmp_path: Path
) -> None:
    """All files have their names, and the old version is listed still."""
    new, old = (read_manifest(Folder(pancakes(each)))[PUZZLE.name] for each in (1, 2))
    source, store = tmp_path / "version 1", Folder(tmp_path / "copied")
    copy_tables(source, store)
    add_version(store, PUZZLE.name, old)
    assert copy_tables(source, store) == []
    assert read_versions(store)[PUZZLE.name] == [new]


def test_a_file_that_the_new_version_lacks_is_removed(
    pancakes: Callable[[int], Path], tmp_path: Path
) -> None:
    source, store = Folder(pancakes(1)), Folder(tmp_path / "copied")
    copy_tables(pancakes(2), store)
    entry = read_manifest(source)[PUZZLE.name]
    drop_versions(source, PUZZLE.name, [entry], replace(entry, index=None))
    assert copy_tables(source, store) == [PUZZLE.name]
    assert store.list_names(PUZZLE.name) == ["pancakes.parquet"]


def test_copies_of_another_release_are_not_rebuilt_unasked(
    outputs: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_tables(outputs, tmp_path, ["eight_edge"])
    before = contents(tmp_path)
    monkeypatch.setattr(stale, "find_code", lambda *_: SimpleNamespace(digest="another"))
    completed = cli("precompute", "eight_edge", "--outputs", str(tmp_path))
    assert (completed.code, completed.out) == (0, "up to date: eight_edge\n")
    assert f"pipeline verify --outputs {tmp_path} proves" in completed.err
    assert f"pipeline precompute NAME --force --outputs {tmp_path}" in completed.err
    assert contents(tmp_path) == before
    replace_link(tmp_path / "eight_edge.idx").unlink()
    completed = cli("precompute", "eight_edge", "--dry-run", "--outputs", str(tmp_path))
    assert "eight_edge.idx missing" in completed.out
    copy_tables(outputs, tmp_path, ["eight_edge"])
    for text in ("[]", "{", '{"eight_edge": "0"}'):  # without the note, it is as if built here
        (tmp_path / COPIES).write_text(text)
        completed = cli("precompute", "eight_edge", "--dry-run", "--outputs", str(tmp_path))
        assert "code changed" in completed.out


def test_copy_says_that_code_differs(outputs: Path, tmp_path: Path, cli: Cli) -> None:
    folder = link_copy(outputs, tmp_path)
    text = (folder / MANIFEST).read_bytes()
    entry = read_manifest(Folder(outputs))["knight_counts"]
    body = text.replace(entry.code.encode(), b"0" * len(entry.code))
    (folder / MANIFEST).write_bytes(
        manifest.add_checksum(body.rpartition(manifest.CHECKSUM_KEY)[0] + b"\n}")
    )
    completed = cli("copy", str(folder), str(tmp_path / "new"), "knight_counts", "eight")
    assert completed.code == 0
    assert "made by other code than this program's: knight_counts. " in completed.err
    assert "eight" not in completed.err.partition("code")[2].partition(".")[0]
