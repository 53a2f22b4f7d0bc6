"""Tests of a bucket's notes: what they spare a build and `status`, and what they never hide."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.plan import Request, plan_build
from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.eight import PUZZLE as EIGHT
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.queries.status import list_status
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables.hash_notes import NOTES
from puzzle_tablebase.tables.manifest import FOOTER_END, File, read_manifest
from puzzle_tablebase.tables.remote import MAX_SMALL_BYTES, RemoteStore
from tests.support.build_recorder import Recorder
from tests.support.object_store import Answer, LoopbackStore, bucket, reject_put
from tests.support.shell import Cli

TOURS: list[tuple[Puzzle, tuple[Table, ...]]] = [
    (KNIGHT, (make_tour_table(KnightBoard(3, 4)), make_tour_table(KnightBoard(4, 3))))
]
FILE = "knight_tours_3x4.parquet"
DEFAULTS = [(puzzle, puzzle.tables) for puzzle in list_puzzles()]


class Traffic:
    """The bytes of tables that a store sends, by file, and the number of all its requests."""

    def __init__(self) -> None:
        self.sent: dict[str, int] = {}
        self.requests = 0

    def __call__(self, method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        answer = ask()
        self.requests += 1
        table = re.search(r"/(\w+\.(?:parquet|idx))\?", address)
        if method == "GET" and table and answer[0][0] == "2":
            self.sent[table[1]] = self.sent.get(table[1], 0) + len(answer[2])
        return answer


@pytest.fixture(scope="module")
def served_store() -> Iterator[LoopbackStore]:
    with bucket("notes") as store:
        yield store


@pytest.fixture
def traffic(served_store: LoopbackStore) -> Iterator[Traffic]:
    served_store.fault = Traffic()
    yield served_store.fault
    served_store.fault = None


@pytest.fixture
def place(served_store: LoopbackStore, request: pytest.FixtureRequest) -> RemoteStore:
    """Return a prefix for this test only, with two small tables."""
    store = RemoteStore(f"s3://notes/{request.node.name}")
    build(Request(store, TOURS), Recorder())
    return store


def write(store: RemoteStore, name: str, data: bytes) -> None:
    with store.write_atomically(name) as (file,):
        file.write(data)


def list_rebuilt(store: RemoteStore) -> list[str]:
    """Build what is out of date, and return the names of the files."""
    built = Recorder()
    build(Request(store, TOURS), built)
    return [f"{name}.parquet" for name in built.finished]


def list_rows(store: RemoteStore) -> Iterator[tuple[str, File]]:
    """Yield each table's file of rows."""
    for entry in read_manifest(store).values():
        assert entry.parquet
        yield entry.parquet.file, entry.parquet


def test_a_whole_default_store_is_downloaded_once(
    served_store: LoopbackStore, traffic: Traffic, outputs: Path, cli: Cli
) -> None:
    store = RemoteStore("s3://notes/defaults")
    sizes = dict[str, int]()
    for file in [*outputs.glob("*.parquet"), *outputs.glob("*.idx"), outputs / "manifest.json"]:
        write(store, file.name, file.read_bytes())
    for entry in read_manifest(store).values():
        sizes |= {file.file: file.bytes for file in entry.all_files}
    request = Request(RemoteStore(str(store)), DEFAULTS)
    plan_build(request)
    assert traffic.sent == sizes
    assert NOTES not in store.list_names()  # a dry run writes nothing
    traffic.sent.clear()
    build(request, Recorder())
    assert traffic.sent == sizes
    traffic.sent.clear()
    traffic.requests = 0
    reported = Recorder()
    build(request, reported)
    assert traffic.sent == {}
    assert traffic.requests <= len(sizes) + 2 * sum(len(tables) for _, tables in DEFAULTS) + 5
    assert reported.finished == []
    assert {row["state"] for row in list_status(store)} == {"published"}
    assert traffic.sent == {}
    words = ("precompute", "--outputs", str(store))
    assert cli(*words, env=served_store.variables).code == 0
    assert traffic.sent == {}


def test_a_build_reads_back_the_footer_alone(served_store: LoopbackStore, traffic: Traffic) -> None:
    store = RemoteStore("s3://notes/eight")
    request = Request(store, [(EIGHT, EIGHT.tables[:1])])
    build(request, Recorder())
    ((name, rows),) = list_rows(store)
    assert rows.bytes > MAX_SMALL_BYTES > rows.footer.bytes
    assert traffic.sent == {name: FOOTER_END.size + rows.footer.bytes}
    traffic.sent.clear()
    build(request, Recorder())
    assert traffic.sent == {}


def test_other_bytes_of_the_same_length_are_noticed(place: RemoteStore) -> None:
    data = place.read(FILE)
    write(place, FILE, data[:100] + b"?" + data[101:])
    states = {row["table"]: row["state"] for row in list_status(place)}
    assert (states["knight_tours_3x4"], states["knight_tours_4x3"]) == ("damaged", "published")
    assert list_rebuilt(place) == [FILE]
    assert place.read(FILE) == data
    assert list_rebuilt(place) == []


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "undecodable": lambda data: b"\xff" + data,
    "cut": lambda data: data[:-9],
    "deep": lambda data: b"[" * 100_000,
    "invalid": lambda data: b'{"knight_tours_3x4.parquet": 7}',
    "large": lambda data: re.sub(rb"\[\d+", b"[1" + b"0" * 30, data),
    "other hash": lambda data: re.sub(rb'"[0-9a-f]{64}"', b'"%064d"' % 0, data),
    "other version": lambda data: re.sub(rb',"[^,]*",', b',"other",', data),
}


def test_damaged_notes_cost_a_download(place: RemoteStore, traffic: Traffic) -> None:
    good = place.read(NOTES)
    sizes = {name: file.bytes for name, file in list_rows(place)}
    for what in ("missing", *DAMAGES):
        place.remove(NOTES)
        if what in DAMAGES:
            notes = DAMAGES[what](good)
            assert notes != good
            write(place, NOTES, notes)
        traffic.sent.clear()
        assert list_rebuilt(place) == []
        assert traffic.sent == sizes, what
        assert list_rebuilt(place) == []
        assert traffic.sent == sizes, what
        assert {*json.loads(place.read(NOTES))} == {*sizes}


def test_notes_that_cannot_be_written_are_done_without(
    place: RemoteStore, served_store: LoopbackStore
) -> None:
    place.remove(NOTES)
    served_store.fault = reject_put
    try:
        assert list_rebuilt(place) == []
    finally:
        served_store.fault = None
    assert NOTES not in place.list_names()


def test_proofs_read_every_byte(place: RemoteStore, traffic: Traffic) -> None:
    verify(place)
    assert {name: size >= place.get_size(name) for name, size in traffic.sent.items()} == {
        name: True for name, _ in list_rows(place)
    }
