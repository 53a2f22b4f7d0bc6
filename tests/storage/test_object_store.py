"""Tables in a real object store on loopback: built, queried, verified; and its faults."""

import os
import pickle
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pytest

from puzzle_tablebase.errors import (
    BadRequest,
    FileChanged,
    OutputError,
    StoreError,
    TableError,
    TableMissing,
    TableUnreadable,
    Unreachable,
)
from puzzle_tablebase.output import write_output
from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.plan import Request
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles import MODULES
from puzzle_tablebase.puzzles.eight import PUZZLE as EIGHT
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.queries.explorer.writer import write_explorer
from puzzle_tablebase.queries.histogram import count_states
from puzzle_tablebase.queries.status import list_status
from puzzle_tablebase.tables import BACKUP
from puzzle_tablebase.tables.access import open_store
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.object_store import PART_BYTES, ObjectStore
from puzzle_tablebase.tables.store import Folder
from tests.support.build_recorder import Recorder
from tests.support.object_store import (
    Answer,
    LoopbackStore,
    bucket,
    cut,
    reject_put,
    write_parts,
)
from tests.support.shell import Cli

TOURS = [(KNIGHT, (make_tour_table(KnightBoard(3, 4)),))]
BUILT = [".lock", BACKUP, "knight_tours_3x4.parquet", "manifest.json"]
URL = "s3://puzzles/tables"


@pytest.fixture(scope="module")
def served_store() -> Iterator[LoopbackStore]:
    with bucket("puzzles") as store:
        yield store


@pytest.fixture
def server(served_store: LoopbackStore) -> Iterator[LoopbackStore]:
    yield served_store
    served_store.fault = None
    served_store.ignored_headers.clear()


@pytest.fixture
def place(server: LoopbackStore, request: pytest.FixtureRequest) -> ObjectStore:
    """Return a prefix for this test only."""
    return ObjectStore(f"{URL}/{abs(hash(request.node.name))}")


@pytest.fixture(scope="module")
def built_store(served_store: LoopbackStore) -> ObjectStore:
    """Return a store with the 8-puzzle's tables built in it."""
    store = ObjectStore(URL)
    build(Request(store, [(EIGHT, EIGHT.tables)]), Recorder())
    return store


def test_an_object_store_is_queried_and_verified_like_a_folder(
    built_store: ObjectStore, outputs: Path
) -> None:
    with open_tables(URL) as tables, open_tables(str(outputs)) as here:
        assert tables.eight.probe("378546201") == here.eight.probe("378546201")
        with pytest.raises(TableMissing, match=r"knight_tours_8x8 --outputs 's3://puzzles/tables'"):
            tables.knight.probe("b1")
        frame = pl.DataFrame({"state": ["378546201", "867254301", "nothing"]})
        assert tables.eight.annotate(frame).equals(here.eight.annotate(frame))
    with pytest.raises(ValueError, match=f"the tables in {URL} are closed"):
        tables.eight.probe("378546201", "edge")
    assert count_states("eight", built_store).equals(count_states("eight", Folder(outputs)))
    states = {row["table"]: row["state"] for row in list_status(built_store)}
    assert (states["eight"], states["knight_counts"]) == ("published", "missing")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(MODULES, "knight")
        patch.delitem(MODULES, "senet")
        proved = {claim.table for claim in verify(built_store).claims}
        assert proved == {"manifest", "eight", "eight_edge"}


def test_a_small_index_is_read_by_one_request(
    built_store: ObjectStore, server: LoopbackStore
) -> None:
    server.requests.clear()
    eight = open_reader("eight", built_store)
    eight.make_query(path=True).answer("378546201")
    size = built_store.get_size("eight.idx")
    assert server.requests[:3] == [
        "GET /puzzles/tables/manifest.json?",
        "HEAD /puzzles/tables/eight.idx?",
        f"GET /puzzles/tables/eight.idx? bytes=0-{size - 1}",
    ]
    assert len(server.requests) == 4  # the last is this test's
    server.requests.clear()
    eight.make_query().answer("152673084")
    assert server.requests == []


def test_pages_are_written_to_an_object_store(
    built_store: ObjectStore, server: LoopbackStore, cli: Cli, outputs: Path, tmp_path: Path
) -> None:
    here = f"--outputs {outputs}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "puzzle_tablebase.queries.explorer.writer._make_page", lambda store: "the page"
        )
        write_explorer(built_store, built_store.locate("explorer.html"))
    assert built_store.read("explorer.html") == b"the page"
    for name in ("eight.parquet", "manifest.json"):
        with pytest.raises(OutputError, match="it belongs to the tables"):
            write_output(built_store.locate(name), b"a page")
    drawn = f"query knight b1 --svg {built_store.locate('tour.svg')}"
    assert cli(*drawn.split(), *here.split(), env=server.variables).code == 0
    assert built_store.read("tour.svg").startswith(b"<svg")
    with pytest.raises(OutputError, match="only folders and object stores can be written to"):
        write_output("http://127.0.0.1:9/page.html", b"a page")
    for name in ("explorer.html", "tour.svg"):
        built_store.remove(name)


def test_rights_to_a_prefix_suffice(place: ObjectStore, server: LoopbackStore) -> None:
    prefix = str(place).removeprefix("s3://puzzles/")

    def only(method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        return ask() if prefix in unquote(address) else reject_put("PUT", address, ask)

    server.fault = only
    build(Request(place, TOURS), Recorder())
    assert place.list_names() == BUILT


def test_an_object_store_can_be_pickled(built_store: ObjectStore) -> None:
    assert pickle.loads(pickle.dumps(built_store)).list_names() == built_store.list_names()


def test_an_incomplete_upload_leaves_no_file(place: ObjectStore) -> None:
    def write() -> None:
        with place.write_files("a.idx", "b.idx") as files:
            files[0].write(b"much")
            files[1].write(b"more")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert place.list_names() == []


def test_concurrent_builds_are_both_listed(place: ObjectStore) -> None:
    sides = (3, 4), (4, 3)
    builds = [[(KNIGHT, (make_tour_table(KnightBoard(*board)),))] for board in sides]
    meeting = threading.Barrier(2)

    class Waiting(Recorder):
        def on_table(self, *on_progress: object) -> None:
            super().on_table(*on_progress)  # type: ignore[arg-type]
            meeting.wait(30)

    threads = [
        threading.Thread(target=build, args=(Request(place, tables), Waiting()))
        for tables in builds
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {*read_manifest(place)} == {"knight_tours_3x4", "knight_tours_4x3"}


@pytest.mark.parametrize("header", ["", "HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"])
def test_nothing_is_published_without_writes_or_conditional_ones(
    place: ObjectStore, server: LoopbackStore, header: str
) -> None:
    if header:
        server.ignored_headers.append(header)
    else:
        server.fault = reject_put
    with pytest.raises(
        StoreError, match="ignores conditional writes" if header else "Access Denied"
    ):
        build(Request(place, TOURS), Recorder())
    assert place.list_names() == [".lock"] * bool(header)
    server.ignored_headers.clear()
    server.fault = None
    build(Request(place, TOURS), Recorder())
    assert place.list_names() == BUILT


def test_denied_access_is_reported_as_unreadable(
    built_store: ObjectStore, server: LoopbackStore
) -> None:
    def refused_to_all(method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        status, headers, body = reject_put("PUT", address, ask)
        return status, headers, body if method != "HEAD" else b""

    server.fault = refused_to_all
    with pytest.raises(TableUnreadable) as caught:
        open_tables(URL)
    why = "cannot be read: HTTP status 403: Access Denied. Check the address, the network and the"
    assert str(caught.value) == f"{URL}/manifest.json {why} credentials."
    with pytest.raises(Unreachable, match="HTTP status 403: Access Denied"):
        built_store.list_names()
    with pytest.raises(TableUnreadable, match="403"):
        build(Request(built_store, [(EIGHT, EIGHT.tables)]), Recorder())
    server.fault = None
    assert ObjectStore(f"{URL}/nothing/there").list_names() == []
    assert not built_store.is_read_only


@pytest.mark.parametrize(
    ("name", "problem"),
    [("manifest.json", "is damaged: its text"), ("eight.idx", "733,183 bytes came instead of")],
)
def test_a_truncated_read_is_an_error(
    name: str, problem: str, built_store: ObjectStore, server: LoopbackStore
) -> None:
    names = (name, BACKUP) if name == "manifest.json" else (name,)
    server.fault = lambda method, address, ask: (
        cut(method, address, ask) if any(each in address for each in names) else ask()
    )
    with pytest.raises(TableError, match=f"{name}.*{problem}"), open_tables(URL) as tables:
        tables.eight.probe("378546201")


def test_a_stale_listing_loses_nothing(place: ObjectStore, server: LoopbackStore) -> None:
    build(Request(place, TOURS), Recorder())
    old: list[Answer] = []

    def stale(method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        if "list-type" not in address:
            return ask()
        old.extend([] if old else [ask()])
        return old[0]

    server.fault = stale
    place.list_names()
    build(Request(place, [(KNIGHT, (make_tour_table(KnightBoard(4, 3)),))]), Recorder())
    reported = Recorder()
    build(Request(place, TOURS), reported)
    server.fault = None
    assert reported.finished == []
    assert {*read_manifest(place)} == {"knight_tours_3x4", "knight_tours_4x3"}


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("s3://nowhere/x", TableUnreadable, "the bucket nowhere does not exist"),
        ("memory://x", BadRequest, "not a supported store"),
        ("s3://", BadRequest, "not a supported store"),
    ],
)
def test_builds_into_unwritable_stores_are_rejected(
    server: LoopbackStore, url: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        build(Request(open_store(url), TOURS), Recorder())


def test_a_large_file_is_sent_in_parts_and_an_interrupted_one_removed(
    place: ObjectStore, server: LoopbackStore
) -> None:
    with pytest.raises(KeyError):
        write_parts(place, 1, KeyError)
    assert server.requests[-1].startswith("DELETE ")
    server.requests.clear()
    write_parts(place, 2, None)
    assert sum("partNumber=" in request for request in server.requests) == 3
    assert place.get_size("large.idx") == 2 * PART_BYTES + 3


def test_a_failure_that_passes_is_retried(
    built_store: ObjectStore, server: LoopbackStore, outputs: Path
) -> None:
    failures = [None] * 3

    def fail(method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        if failures and failures.pop() is None:
            return "503 SLOW DOWN", [("Content-Length", "0")], b""
        return ask()

    server.fault = fail
    assert built_store.read("eight.idx") == (outputs / "eight.idx").read_bytes()
    assert not failures


def test_a_file_that_changes_while_it_is_read_is_noticed(place: ObjectStore) -> None:
    for data in (bytes(3 << 20), b"few"):
        place.write("a.idx", data)
        if data[0] == 0:
            opened = place.open_random_access("a.idx")
            opened.read(10, 0)
    with pytest.raises(FileChanged, match="it has 3 bytes instead of 3,145,728"):
        opened.read(1, 0)
    place.remove("a.idx")
    place.remove("a.idx")
    with pytest.raises(FileNotFoundError):
        opened.read(1, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_is_told_to_be_spawned(built_store: ObjectStore) -> None:
    process = os.fork()
    if not process:
        try:
            built_store.list_names()
        except Unreachable as error:
            os._exit(7 if "start it by spawn" in str(error) else 1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
