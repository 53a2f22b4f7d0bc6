"""Tables in buckets: copied there by one writer at a time, and queried; keys.

Amazon's store is moto. Google's is moto too, with the numbers of files that Google's has.
"""

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import polars as pl
import pytest

from puzzle_tablebase import copy_tables
from puzzle_tablebase.errors import StoreError, TableMissing, TableUnreadable
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.queries.published import count_states
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import BACKUP, MANIFEST, Folder, open_store
from puzzle_tablebase.stores.bucket import CLAIM, PART_BYTES, Bucket
from puzzle_tablebase.stores.remote import RemoteStore, make_client
from tests import first
from tests.support.object_store import Answer, Generations, LoopbackStore, bucket, reject_put
from tests.support.shell import Cli

STATE = "378546201"
PART = bytes(range(256)) * (PART_BYTES >> 8)
"""As many bytes as are sent to a store at a time."""


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
def url(server: LoopbackStore, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return a prefix for this test only: moto is one store for all tests of a process."""
    yield f"{server.scheme}://puzzles/{abs(hash(request.node.name))}"
    server.fault = server.usual
    server.ignored_headers.clear()


@pytest.fixture
def target(url: str) -> Bucket:
    return Bucket(open_store(url))


def test_a_copied_bucket_is_queried_and_verified_like_a_folder(
    url: str, server: LoopbackStore, outputs: Path
) -> None:
    names = ["eight", "eight_edge"]
    assert copy_tables(outputs, url, ["eight"]) == names
    store = open_store(url)
    for name in ("eight.idx", "eight.parquet"):
        assert pickle.loads(pickle.dumps(store)).read(name) == (outputs / name).read_bytes()
    with open_tables(url) as tables, open_tables(str(outputs)) as here:
        server.requests.clear()
        assert tables.eight.probe(STATE) == here.eight.probe(STATE)
        assert len(server.requests) <= 3
        with pytest.raises(TableMissing):
            tables.knight.probe("b1")
        frame = pl.DataFrame({"state": [STATE, "867254301", "nothing"]})
        assert tables.eight.annotate(frame).equals(here.eight.annotate(frame))
    assert count_states("eight", store).equals(count_states("eight", Folder(outputs)))
    server.requests.clear()
    assert copy_tables(outputs, url, ["eight"]) == []
    changed = [each for each in server.requests if not each.startswith(("GET", "HEAD"))]
    assert all("/.claim" in each or each.startswith("POST /puzzles?delete") for each in changed)
    assert {claim["table"] for claim in verify(store, names[1:]).claims} == {"eight_edge"}
    assert store.list_names() == sorted(
        [BACKUP, MANIFEST, *(f"{name}.{end}" for name in names for end in ("idx", "parquet"))]
    )


def test_a_file_appears_once_all_of_it_was_sent(target: Bucket, server: LoopbackStore) -> None:
    text = PART + b"end"

    def iter_pieces(*, is_whole: bool) -> Iterator[bytes]:
        yield from (text[at : at + 5_000_000] for at in range(0, len(text), 5_000_000))
        if not is_whole:
            raise TableMissing(target, "large.idx", None)

    with target.claim():
        with pytest.raises(TableMissing):
            target.send("large.idx", iter_pieces(is_whole=False), len(text))
        assert target.list_names() == [CLAIM]  # and no part is left
        assert any(each.startswith("DELETE ") and "uploadId" in each for each in server.requests)
        target.send("large.idx", iter_pieces(is_whole=True), len(text))
        target.send("small.idx", iter([b"sm", b"all"]), 5)
        opened = target.open_random_access("large.idx")
        assert opened.read_parts([(10, PART_BYTES - 5), (9, 1)]) == [PART[-5:] + b"end", PART[1:10]]
        assert opened.read(opened.size, 0) == text
        assert target.read("small.idx") == b"small"
        for name in ("large.idx", "small.idx", "small.idx"):
            target.remove(name)
    assert target.list_names() == []
    assert sum("partNumber=" in request for request in server.requests) >= 2


def test_a_claimed_bucket_has_one_writer(url: str, outputs: Path, cli: Cli) -> None:
    one, other = Bucket(open_store(url)), Bucket(open_store(url))
    with one.claim():
        one.update("file", lambda old: (old or b"") + b"a")
        for command in ("copy", "copy --quiet"):
            completed = cli(*command.split(), str(outputs), url, "eight", env=os.environ)
            assert (completed.code, completed.out) == (3, "")
            assert f"process {os.getpid()} is copying to it" in completed.err
            assert "--take-over" in completed.err
        assert one.list_names() == [CLAIM, "file"]
        with other.claim(is_taken_over=True):
            with pytest.raises(StoreError, match="has taken it over"):
                one.write("file", b"b")
            with pytest.raises(StoreError, match="has taken it over"):
                one.update("file", lambda old: b"b")
            with pytest.raises(StoreError, match="has taken it over"):
                one.send("file", iter([b"b"]), 1)
            with pytest.raises(StoreError, match="has taken it over"):
                one.remove("file")
            other.update("file", lambda old: (old or b"") + b"c")
        with pytest.raises(StoreError, match="was removed"):
            one.write("file", b"b")
    assert one.list_names() == ["file"]
    assert one.read("file") == b"ac"


def test_a_claim_that_nobody_can_read_is_one(url: str, target: Bucket, outputs: Path) -> None:
    with target.claim():
        target.write("x", b"")
    for text in (b"", b"[]", b'{"writer": 1}', b"\xff"):
        with server_put(url, CLAIM, text), pytest.raises(StoreError, match="another program"):
            copy_tables(outputs, url, ["eight"])


@contextmanager
def server_put(url: str, name: str, text: bytes) -> Iterator[None]:
    """Put a file into a bucket as another program does."""
    scheme, _, path = url.partition("://")
    bucket, _, prefix = path.partition("/")
    client = make_client(f"{scheme}://{bucket}", "", "write")
    client.put(f"{prefix}/{name}", text)
    yield
    client.delete(f"{prefix}/{name}")


def test_a_file_that_is_gone_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the store say that it is, as Google's and Azure's do."""

    def delete(key: str) -> None:
        removed.append(key)
        raise FileNotFoundError(key)

    removed, gone = list[str](), Bucket(open_store("gs://puzzles/new"))
    monkeypatch.setattr(Bucket, "require_claim", lambda _: None)
    monkeypatch.setattr(Bucket, "open_client", lambda *_: SimpleNamespace(delete=delete))
    gone.remove("eight.idx")
    assert removed == ["new/eight.idx"]


@pytest.mark.parametrize("header", ["", "HTTP_IF_NONE_MATCH", "HTTP_IF_MATCH"])
def test_nothing_is_copied_without_conditional_writes(
    header: str, url: str, target: Bucket, server: LoopbackStore, outputs: Path
) -> None:
    if server.scheme == "gs":
        pytest.skip("moto's conditions are Amazon's")
    prefix = url.removeprefix("s3://puzzles/")

    def only_here(method: str, address: str, respond: Callable[[], Answer]) -> Answer:
        return respond() if prefix in unquote(address) else reject_put("PUT", address, respond)

    server.fault = reject_put if not header else None
    server.ignored_headers = [header] * bool(header)
    with pytest.raises(StoreError):
        copy_tables(outputs, url, ["eight"])
    assert target.list_names() == []
    server.ignored_headers.clear()
    server.fault = only_here  # rights to a prefix suffice
    copy_tables(outputs, url, ["eight"])
    assert {*read_manifest(target)} == {"eight", "eight_edge"}


def test_nothing_is_copied_to_a_missing_bucket(server: LoopbackStore, outputs: Path) -> None:
    nowhere = f"{server.scheme}://nowhere/x"
    with pytest.raises(TableMissing):
        open_tables(nowhere)
    with pytest.raises(StoreError):
        copy_tables(outputs, nowhere)


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
def test_missing_keys_are_told(
    url: str, tmp_path: Path, no_keys: pytest.MonkeyPatch, outputs: Path
) -> None:
    no_keys.setenv("AWS_EC2_METADATA_DISABLED", "true")
    no_keys.setenv("GOOGLE_SERVICE_ACCOUNT", str(tmp_path / "none.json"))
    with pytest.raises(TableUnreadable):
        open_tables(url)
    with pytest.raises((StoreError, TableUnreadable)):
        copy_tables(outputs, url)
