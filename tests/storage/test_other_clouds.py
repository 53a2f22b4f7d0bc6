"""Tables in stores of two kinds: built, queried, and changed by several builds at a time.

Amazon's is moto, of which `test_object_store.py` tests more. Google's is moto too, with the numbers
of files that Google's has.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from puzzle_tablebase.errors import StoreError, TableUnreadable
from puzzle_tablebase.pipeline.build import build
from puzzle_tablebase.pipeline.plan import Request
from puzzle_tablebase.puzzles.eight import PUZZLE as EIGHT
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.tables import BACKUP
from puzzle_tablebase.tables.access import open_store
from puzzle_tablebase.tables.object_store import PART_BYTES, ObjectStore
from tests.support.build_recorder import Recorder
from tests.support.object_store import PART, Generations, bucket, require_every_update, write_parts

STATE = "378546201"


@pytest.fixture(scope="module")
def google() -> Iterator[str]:
    with bucket("puzzles") as server, pytest.MonkeyPatch.context() as patch:
        server.fault = Generations()
        patch.setenv("GOOGLE_BASE_URL", server.variables["AWS_ENDPOINT_URL"])
        patch.setenv("GOOGLE_BEARER_TOKEN", "testing")
        yield "gs://puzzles/google"  # moto is one store for all tests of a process


@pytest.fixture(scope="module")
def amazon() -> Iterator[str]:
    with bucket("puzzles"):
        yield "s3://puzzles/amazon"


@pytest.fixture(scope="module", params=["amazon", "google"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def test_tables_are_built_and_queried(url: str, outputs: Path) -> None:
    store = open_store(url)
    table = EIGHT.tables[0]
    build(Request(store, [(EIGHT, (table,))]), Recorder())
    names = ["eight.idx", "eight.parquet"]
    assert store.list_names() == sorted([".lock", BACKUP, *names, "manifest.json"])
    for name in names:
        assert store.read(name) == (outputs / name).read_bytes()
    with open_tables(url) as tables, open_tables(str(outputs)) as expected:
        assert tables.eight.probe(STATE) == expected.eight.probe(STATE)
    reported = Recorder()
    build(Request(store, [(EIGHT, (table,))]), reported)
    assert reported.finished == []


def test_concurrent_updates_lose_nothing(url: str) -> None:
    require_every_update(ObjectStore(f"{url}/updates"))


def test_a_large_file_is_sent_in_parts(url: str) -> None:
    place = ObjectStore(f"{url}/large")
    with pytest.raises(KeyError):
        write_parts(place, 1, KeyError)
    assert place.list_names() == []
    write_parts(place, 1, None)
    file = place.open_random_access("large.idx")
    assert file.read_parts([(10, PART_BYTES - 5), (9, 1)]) == [PART[-5:] + b"end", PART[1:10]]
    place.remove("large.idx")
    place.remove("large.idx")
    assert place.list_names() == []


def test_a_missing_file_and_a_missing_bucket_differ(url: str) -> None:
    place = open_store(f"{url}/nothing")
    assert place.list_names() == []
    with pytest.raises(FileNotFoundError):
        place.read("manifest.json")
    nowhere = url.replace("puzzles", "nowhere")
    with pytest.raises(TableUnreadable, match="the bucket nowhere does not exist"):
        open_tables(nowhere)
    with pytest.raises(StoreError, match="the bucket nowhere does not exist"):
        open_store(nowhere).make_ready()
