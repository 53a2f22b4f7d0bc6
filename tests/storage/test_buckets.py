"""Tables in buckets: built, queried, and changed by several builds at a time; keys.

Amazon's store is moto. Google's is moto too, with the numbers of files that Google's has.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from urllib.parse import unquote

import polars as pl
import pytest

from puzzle_tablebase.errors import OutputError, StoreError, TableMissing, TableUnreadable
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.output import write_output
from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import MODULES
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.published import count_states
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.access import open_store
from puzzle_tablebase.stores.folder import Folder
from puzzle_tablebase.stores.remote import PART_BYTES, RemoteStore, make_client
from tests import first
from tests.support.build_recorder import Recorder, build_all
from tests.support.object_store import Answer, Generations, LoopbackStore, bucket, reject_put
from tests.support.shell import Cli

STATE = "378546201"
PART = bytes(range(256)) * (PART_BYTES >> 8)
"""As many bytes as are sent to a store at a time."""


def choose_tours(files: int = 3, ranks: int = 4) -> list[tuple[Puzzle, tuple[Table, ...]]]:
    return [(KNIGHT, (make_tour_table(KnightBoard(files, ranks)),))]


@pytest.fixture(scope="module", params=first(1, ["s3", "gs"]))
def server(request: pytest.FixtureRequest) -> Iterator[LoopbackStore]:
    with bucket("puzzles") as server, pytest.MonkeyPatch.context() as patch:
        if request.param == "gs":
            patch.setenv("GOOGLE_BASE_URL", server.variables["AWS_ENDPOINT_URL"])
            patch.setenv("GOOGLE_BEARER_TOKEN", "testing")
        server.scheme = request.param
        server.usual = server.fault = Generations() if request.param == "gs" else None
        yield server


@pytest.fixture
def place(server: LoopbackStore, request: pytest.FixtureRequest) -> Iterator[RemoteStore]:
    """Return a prefix for this test only: moto is one store for all tests of a process."""
    yield RemoteStore(f"{server.scheme}://puzzles/{abs(hash(request.node.name))}")
    server.fault = server.usual
    server.ignored_headers.clear()


def test_a_bucket_is_built_queried_and_verified_like_a_folder(
    place: RemoteStore, server: LoopbackStore, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = str(place)
    build_all(place, [(EIGHT, EIGHT.tables)])
    for name in ("eight.idx", "eight.parquet"):
        assert pickle.loads(pickle.dumps(place)).read(name) == (outputs / name).read_bytes()
    with open_tables(url) as tables, open_tables(str(outputs)) as here:
        server.requests.clear()
        assert tables.eight.probe(STATE) == here.eight.probe(STATE)
        assert len(server.requests) <= 3
        with pytest.raises(TableMissing):
            tables.knight.probe("b1")
        frame = pl.DataFrame({"state": [STATE, "867254301", "nothing"]})
        assert tables.eight.annotate(frame).equals(here.eight.annotate(frame))
    assert count_states("eight", place).equals(count_states("eight", Folder(outputs)))
    assert build_all(place, [(EIGHT, EIGHT.tables)]).finished == []
    for name in ("knight", "senet"):
        monkeypatch.delitem(MODULES, name)
    assert {claim["table"] for claim in verify(place).claims} == {"eight", "eight_edge"}


def test_files_appear_when_they_are_published(place: RemoteStore, server: LoopbackStore) -> None:
    texts = [PART + b"end", b"small"]
    with place.write_files("large.idx", "small.idx") as files:
        for number, text in enumerate(texts):
            files[number].write(text)
        measured = files.finish()
        assert place.list_names() == []
        files.publish()
    assert measured == [(len(text), hashlib.sha256(text).hexdigest()) for text in texts]
    opened = place.open_random_access("large.idx")
    assert opened.read_parts([(10, PART_BYTES - 5), (9, 1)]) == [PART[-5:] + b"end", PART[1:10]]
    assert opened.read(opened.size, 0) == texts[0]
    assert sum("partNumber=" in request for request in server.requests) >= 2
    for name in ("large.idx", "small.idx", "small.idx"):
        place.remove(name)
    with place.write_files("large.idx", "small.idx") as files:
        files[0].write(texts[0])
        files[1].write(texts[1])
    assert place.list_names() == []
    place.write("page.html", b"a page")
    assert place.get_size("page.html") == 6


def test_updates_of_one_file_are_all_in_it(place: RemoteStore) -> None:
    def add(letter: bytes) -> None:
        for _ in range(5):
            place.update("manifest.json", lambda before: (before or b"") + letter)

    with ThreadPoolExecutor() as pool:
        assert [*pool.map(add, (b"a", b"b"))] == [None, None]
    assert sorted(place.read("manifest.json")) == sorted(b"aaaaabbbbb")


def test_concurrent_builds_are_both_listed(place: RemoteStore) -> None:
    meeting = Barrier(2)

    class Waiting(Recorder):
        def say(self, line: str) -> None:
            super().say(line)
            if line.startswith("building "):
                meeting.wait(30)

    def build(board: tuple[int, int]) -> None:
        build_all(place, choose_tours(*board), Waiting())

    with ThreadPoolExecutor() as pool:
        assert [*pool.map(build, ((3, 4), (4, 3)))] == [None, None]
    assert {*read_manifest(place)} == {"knight_tours_3x4", "knight_tours_4x3"}


@pytest.mark.parametrize("header", ["", "HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"])
def test_nothing_is_published_without_conditional_writes(
    header: str, place: RemoteStore, server: LoopbackStore
) -> None:
    if server.scheme == "gs":
        pytest.skip("moto's conditions are Amazon's")
    prefix = str(place).removeprefix("s3://puzzles/")

    def only_here(method: str, address: str, ask: Callable[[], Answer]) -> Answer:
        return ask() if prefix in unquote(address) else reject_put("PUT", address, ask)

    server.fault = reject_put if not header else None
    server.ignored_headers = [header] * bool(header)
    with pytest.raises(StoreError):
        build_all(place, choose_tours())
    assert place.list_names() == [".lock"] * bool(header)
    server.ignored_headers.clear()
    server.fault = only_here  # rights to a prefix suffice
    build_all(place, choose_tours())
    assert {*read_manifest(place)} == {"knight_tours_3x4"}


def test_nothing_is_built_in_a_missing_bucket(place: RemoteStore, server: LoopbackStore) -> None:
    assert place.list_names() == []
    nowhere = open_store(f"{server.scheme}://nowhere/x")
    with pytest.raises(TableMissing):
        open_tables(nowhere)
    with pytest.raises((StoreError, TableUnreadable)):
        build_all(nowhere, choose_tours())


def test_pages_are_written_to_a_bucket(place: RemoteStore, cli: Cli, outputs: Path) -> None:
    drawn = f"query knight b1 --svg {place.locate('tour.svg')} --outputs {outputs}"
    assert cli(*drawn.split(), env=os.environ).code == 0
    assert place.read("tour.svg").startswith(b"<svg")
    with pytest.raises(OutputError):
        write_output("http://127.0.0.1:9/page.html", b"a page")


# ---- keys ----------------------------------------------------------------------------------------

PROFILES = """\
[default]
aws_access_key_id = one%
aws_secret_access_key = secret
[other]
aws_access_key_id = two
aws_secret_access_key = secret
aws_session_token = passing
"""


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    for name in [*os.environ]:
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    make_client.cache_clear()
    yield monkeypatch
    make_client.cache_clear()


@pytest.mark.parametrize(
    ("profile", "seen"),
    [("default", ("one%/", "/eu-west-1/")), ("other", ("two/", "x-amz-security-token"))],
)
def test_keys_come_from_profiles(
    profile: str, seen: tuple[str, ...], tmp_path: Path, no_keys: pytest.MonkeyPatch
) -> None:
    requests = list[str]()
    with LoopbackStore().serve() as server:
        no_keys.setenv("AWS_ENDPOINT_URL", server.variables["AWS_ENDPOINT_URL"])
        server.watch = lambda environ: requests.append(environ.get("HTTP_AUTHORIZATION", ""))
        (tmp_path / "credentials").write_text(PROFILES)
        (tmp_path / "config").write_text("[default]\nregion = eu-west-1\n")
        no_keys.setenv("AWS_PROFILE", profile)
        with pytest.raises(FileNotFoundError):
            RemoteStore("s3://absent/tables").read("manifest.json")
    for text in seen:
        assert text in requests[0]


@pytest.mark.parametrize("url", ["s3://puzzles/x", "az://puzzles/x", "gs://puzzles/x"])
def test_missing_keys_are_told(url: str, tmp_path: Path, no_keys: pytest.MonkeyPatch) -> None:
    no_keys.setenv("AWS_EC2_METADATA_DISABLED", "true")
    no_keys.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "none.json"))
    with pytest.raises(TableUnreadable):
        open_tables(url)
    with pytest.raises(OutputError):
        write_output(f"{url}/answers.csv", b"")
