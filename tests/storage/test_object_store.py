"""Tables in an object store, a real one on loopback: built, asked, proved; and its faults."""

import pickle
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import fsspec
import pytest

from pipeline.build import Request, build
from pipeline.shards import Listing, make_piece, require_all
from pipeline.verify import verify
from queries import open_tables
from queries.dispatch import reader
from queries.explorer.writer import write_explorer
from queries.histogram import histogram
from queries.status import status
from tablebase.errors import (
    BadRequest,
    NotWritten,
    OutputsError,
    TableError,
    TableMissing,
    TableUnreadable,
)
from tablebase.output import write
from tablebase.puzzles import MODULES
from tablebase.puzzles.eight import PUZZLE as EIGHT
from tablebase.puzzles.knight.board import Board
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.definition import listed_table
from tablebase.tables import BACKUP
from tablebase.tables.checkpoints import Piece, pieces_of
from tablebase.tables.manifest import read_manifest
from tablebase.tables.object_store import Objects
from tablebase.tables.store import Unreachable
from tablebase.tables.store_factory import tables_store
from tests.support.build_recorder import Recorder
from tests.support.object_store import Answer, ObjectStore, bucket, cut, refused
from tests.support.shell import Cli

TOURS = [(KNIGHT, (listed_table(Board(3, 4)),))]
BUILT = [".lock", BACKUP, "knight_tours_3x4.parquet", "manifest.json"]
URL = "s3://puzzles/tables"


@pytest.fixture(scope="module")
def served() -> Iterator[ObjectStore]:
    with bucket("puzzles") as store:
        yield store


@pytest.fixture
def server(served: ObjectStore) -> Iterator[ObjectStore]:
    yield served
    served.fault = None
    served.unheard.clear()


@pytest.fixture
def place(server: ObjectStore, request: pytest.FixtureRequest) -> Objects:
    """A place of this test's own."""
    fsspec.filesystem("s3").clear_instance_cache()
    return Objects(f"{URL}/{abs(hash(request.node.name))}")


@pytest.fixture(scope="module")
def made(served: ObjectStore) -> Objects:
    """The 8-puzzle's tables, built there."""
    store = Objects(URL)
    build(Request(store, [(EIGHT, EIGHT.tables)]), Recorder())
    return store


def test_a_build_makes_the_same_bytes_there(made: Objects, outputs: Path) -> None:
    names = [f"{table.name}.{kind}" for table in EIGHT.tables for kind in ("idx", "parquet")]
    assert made.names() == sorted([".lock", BACKUP, *names, "manifest.json"])
    for name in names:
        assert made.read(name) == (outputs / name).read_bytes(), name
    told = Recorder()
    build(Request(made, [(EIGHT, EIGHT.tables)]), told)
    assert told.finished == []


def test_it_is_asked_and_proved_as_a_folder_is(made: Objects, outputs: Path) -> None:
    with open_tables(URL) as tables, open_tables(str(outputs)) as here:
        assert tables.eight.probe("378546201") == here.eight.probe("378546201")
        with pytest.raises(TableMissing, match=r"knight --outputs 's3://puzzles/tables'"):
            tables.knight.probe("b1")
    assert histogram("eight", made).equals(histogram("eight", tables_store(str(outputs))))
    states = {row["table"]: row["state"] for row in status(made)}
    assert (states["eight"], states["knight_counts"]) == ("published", "missing")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(MODULES, "knight")
        patch.delitem(MODULES, "senet")
        assert {claim.table for claim in verify(made).claims} == {"manifest", "eight", "eight_edge"}


def test_a_lookup_reads_single_blocks_of_an_index(made: Objects, server: ObjectStore) -> None:
    eight = reader("eight", made)
    eight.facts("123456780", {})
    server.asked.clear()
    eight.facts("152673084", {})
    assert server.asked
    for asked in server.asked:
        assert asked.startswith("GET /puzzles/tables/eight.idx")
        first, last = map(int, asked.rpartition("bytes=")[2].split("-"))
        assert last - first + 1 == 4096


def test_at_the_shell(made: Objects, cli: Cli, server: ObjectStore) -> None:
    said = cli("query", "eight", "378546201", "--outputs", URL, env=server.variables)
    assert (said.code, said.err) == (0, "")
    assert said.out == cli("query", "eight", "378546201").out


def test_pages_are_written_there(
    made: Objects, server: ObjectStore, cli: Cli, outputs: Path, tmp_path: Path
) -> None:
    here = f"--outputs {outputs}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("queries.explorer.writer._page", lambda store: "the page")
        write_explorer(made, made.full("explorer.html"))
    assert made.read("explorer.html") == b"the page"
    assert [row["state"] for row in status(made) if row["table"] == "explorer.html"] == [
        "published"
    ]
    for name in ("eight.parquet", "manifest.json"):
        with pytest.raises(NotWritten, match="it belongs to the tables"):
            write(made.full(name), b"a page")
    drawn = f"query knight b1 --svg {made.full('tour.svg')}"
    assert cli(*drawn.split(), *here.split(), env=server.variables).code == 0
    assert made.read("tour.svg").startswith(b"<svg")
    with pytest.raises(NotWritten, match="only folders and s3:// can be written to"):
        write("memory://x/page.html", b"a page")
    for name in ("explorer.html", "tour.svg"):
        made.remove(name)


def test_rights_to_a_prefix_alone_will_do(place: Objects, server: ObjectStore) -> None:
    own = str(place).removeprefix("s3://puzzles/")

    def only(method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        return ask() if own in unquote(address) else refused("PUT", address, ask)

    server.fault = only
    build(Request(place, TOURS), Recorder())
    assert place.names() == BUILT


def test_pieces_are_made_there(place: Objects) -> None:
    listing = Listing(KNIGHT, TOURS[0][1][0])
    for number in (1, 2):
        make_piece(place, listing, Piece(number, 2), Recorder(), None, 1)
    require_all(place, listing)
    build(Request(place, TOURS), Recorder())
    assert place.names() == BUILT


def test_it_can_be_sent(made: Objects) -> None:
    assert pickle.loads(pickle.dumps(made)).names() == made.names()


def test_an_upload_that_is_not_completed_is_not_there(place: Objects) -> None:
    def write() -> None:
        with place.appearing("a.idx", "b.idx") as (a, b):
            a.write(b"much")
            b.write(b"more")
            raise KeyError

    with pytest.raises(KeyError):
        write()
    assert place.names() == []


def test_two_that_change_a_file_at_once_lose_nothing(place: Objects) -> None:
    def add(letter: bytes) -> None:
        for _ in range(5):
            place.change("manifest.json", lambda before: (before or b"") + letter)

    threads = [threading.Thread(target=add, args=(letter,)) for letter in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(place.read("manifest.json")) == sorted(b"aaaaabbbbb")


def test_two_builders_that_meet_are_both_listed(place: Objects) -> None:
    sides = (3, 4), (4, 3)
    builds = [[(KNIGHT, (listed_table(Board(*board)),))] for board in sides]
    meeting = threading.Barrier(2)

    class Waiting(Recorder):
        def table(self, *told: object) -> None:
            super().table(*told)  # type: ignore[arg-type]
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


def test_a_put_that_fails_publishes_nothing(place: Objects, server: ObjectStore) -> None:
    server.fault = refused
    with pytest.raises(OutputsError, match="access denied"):
        build(Request(place, TOURS), Recorder())
    server.fault = None
    assert place.names() == []
    build(Request(place, TOURS), Recorder())
    assert place.names() == BUILT


@pytest.mark.parametrize("header", ["HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"])
def test_a_store_that_hears_no_conditions_is_refused(
    place: Objects, server: ObjectStore, header: str
) -> None:
    server.unheard.append(header)
    with pytest.raises(OutputsError, match="replaces files that it was told not to replace"):
        build(Request(place, TOURS), Recorder())
    assert place.names() == [".lock"]
    server.unheard.clear()
    build(Request(place, TOURS), Recorder())
    assert place.names() == BUILT


def test_what_a_store_refuses_is_neither_missing_nor_to_be_built(
    made: Objects, server: ObjectStore
) -> None:
    def refused_to_all(method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        status, headers, body = refused("PUT", address, ask)
        return status, headers, body if method != "HEAD" else b""

    server.fault = refused_to_all
    with pytest.raises(TableUnreadable) as caught:
        open_tables(URL)
    why = "cannot be read: HTTP status 403: Forbidden. Check the address, the network and the"
    assert str(caught.value) == f"{URL}/manifest.json {why} credentials."
    with pytest.raises(Unreachable, match="HTTP status 403: Access Denied"):
        made.names()
    with pytest.raises(TableUnreadable, match="403"):
        pieces_of(made)
    with pytest.raises(TableUnreadable, match="403"):
        build(Request(made, [(EIGHT, EIGHT.tables)]), Recorder())
    server.fault = None
    assert Objects(f"{URL}/nothing/there").names() == []
    assert not made.is_read_only()
    assert Objects("memory://x").is_read_only()


def test_a_read_cut_short_is_no_answer(made: Objects, server: ObjectStore) -> None:
    server.fault = cut
    with pytest.raises(TableError), open_tables(URL) as tables:
        tables.eight.probe("378546201")


def test_a_stale_list_loses_nothing(place: Objects, server: ObjectStore) -> None:
    build(Request(place, TOURS), Recorder())
    old: list[object] = []

    def stale(method: str, address: str, ask: object) -> object:
        if "list-type" in address:
            if not old:
                old.append(ask())  # type: ignore[operator]
            return old[0]
        return ask()  # type: ignore[operator]

    server.fault = stale  # type: ignore[assignment]
    place.names()
    build(Request(place, [(KNIGHT, (listed_table(Board(4, 3)),))]), Recorder())
    told = Recorder()
    build(Request(place, TOURS), told)
    server.fault = None
    assert told.finished == []
    assert {*read_manifest(place)} == {"knight_tours_3x4", "knight_tours_4x3"}


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        ("s3://nowhere/x", OutputsError, "the specified bucket does not exist"),
        ("memory://x", OutputsError, "only folders and s3:// can be written to"),
        ("zzz://x", BadRequest, "no place for tables"),
        ("gs://x", BadRequest, r"pip install"),
    ],
)
def test_where_nothing_can_be_built(
    server: ObjectStore, url: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        build(Request(tables_store(url), TOURS), Recorder())


def test_other_places_are_read(outputs: Path) -> None:
    memory = fsspec.filesystem("memory")
    for name in ("eight.idx", "eight.parquet", "eight_edge.idx", "manifest.json"):
        memory.pipe_file(f"/tables/{name}", (outputs / name).read_bytes())
    with open_tables("memory://tables") as tables:
        assert tables.eight.probe("378546201").distance == 27
