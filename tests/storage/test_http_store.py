"""Tables on static hosts: requests and bytes of an answer, and hosts that misbehave."""

import gzip
import json
import os
import pickle
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from puzzle_tablebase.errors import (
    BadRequest,
    StoreError,
    TableDamaged,
    TableError,
    TableUnreadable,
    Unreachable,
)
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.status import list_status
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.access import open_store
from puzzle_tablebase.tables.http_client import SECONDS_VARIABLE, HttpLimits
from puzzle_tablebase.tables.http_store import HttpStore
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.store import Folder
from tests.support.faults import PASSING, delay, fail, make_fault, send_whole, spoil
from tests.support.hosts import (
    NGINX,
    RETRIED_AT_ONCE,
    Answer,
    Request,
    answer_connections,
    run_nginx,
    run_python_server,
    serve,
)
from tests.support.shell import ROOT
from tests.support.tampered import change_header, rewrite, write_manifest
from tests.support.terminal import run_on_terminal

STATE = "378546201"
POSITION = "ABAAABBB.B...A."


def require_right_answers(url: str, outputs: Path, limits: HttpLimits = RETRIED_AT_ONCE) -> None:
    with open_tables(HttpStore(url, limits)) as tables, open_tables(str(outputs)) as expected:
        assert tables.eight.probe(STATE) == expected.eight.probe(STATE)
        assert tables.senet.probe(POSITION) == expected.senet.probe(POSITION)


@pytest.mark.parametrize(
    "options", ["", "--path", "--solutions", "--goal 876543210", "--goal edge"]
)
def test_an_8_puzzle_query_takes_two_requests(
    options: str, outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["query", "eight", STATE, *options.split()]
    index = "eight.idx"
    if "edge" in options:
        words[2], index = "378546021", "eight_edge.idx"
    code = run_command([*words, "--outputs", str(outputs)])
    expected = capsys.readouterr()
    with serve(outputs) as host:
        assert run_command([*words, "--outputs", host.url]) == code
        assert capsys.readouterr() == expected
        assert [request.name for request in host.requests] == [MANIFEST, index]
        assert host.connections == 1
        for request in host.requests:
            assert request.headers["Accept-Encoding"] == "identity"


def test_large_files_are_read_in_blocks(outputs: Path) -> None:
    with serve(outputs) as host:
        with open_tables(host.url) as tables:
            answer = tables.senet.probe(POSITION)
            requests = len(host.requests)
            assert tables.senet.probe(POSITION) == answer
        assert len(host.requests) == requests <= 3 + (answer.plies or 0)
        assert host.sent < 30_000
        assert host.connections == 1


@pytest.mark.parametrize("name", PASSING)
def test_passing_faults_change_no_answer(name: str, outputs: Path) -> None:
    limits = RETRIED_AT_ONCE._replace(wait_seconds=0.5) if name == "slow once" else RETRIED_AT_ONCE
    with serve(outputs, make_fault(name)) as host:
        require_right_answers(f"{host.url}/tables", outputs, limits)
        assert host.requests[0].headers["Accept-Encoding"] == "identity"


def test_a_host_whose_etag_differs_from_request_to_request_is_read(outputs: Path) -> None:
    numbers = count()

    def fault(request: Request, answer: Answer) -> None:
        answer.headers["ETag"] = f'"{next(numbers)}"'

    with serve(outputs, fault) as host:
        require_right_answers(f"{host.url}/tables", outputs)
        tour = open_tables(host.url).knight.probe("a1", board="6x6", number=100)
        assert tour == open_tables(str(outputs)).knight.probe("a1", board="6x6", number=100)


DENIED = "HTTP status 403: Forbidden"
LASTING = {
    "expired": f"{DENIED} (Request has expired)",
    "denied": DENIED,
    "absent": "HTTP status 404: Not Found",
    "failing": "HTTP status 500: Internal Server Error",
    "busy": "HTTP status 503: Service Unavailable",
    "cut": "366,592 bytes came instead of 733,184",
    "slow": "it does not answer, or too slowly",
    "brotli": "the host compresses parts of files (Content-Encoding: br), so they cannot be read",
    "another part": "the host sends another part than byte 0 and after",
    "loop": "it redirects more than 5 times",
    "ftp": "it redirects to 'ftp://127.0.0.1/x'",
    "teapot": "HTTP status 418: I'm a Teapot",
}


@pytest.mark.parametrize("name", LASTING)
def test_lasting_faults_are_told_with_url_and_status(name: str, outputs: Path) -> None:
    limits = RETRIED_AT_ONCE._replace(wait_seconds=0.3) if name == "slow" else RETRIED_AT_ONCE
    with serve(outputs) as host:
        with open_tables(HttpStore(host.url, limits)) as tables:
            host.fault = make_fault(name)
            with pytest.raises(TableUnreadable) as caught:
                tables.eight.probe(STATE)
        check = "Check the address, the network and the credentials."
        message = f"{host.url}/eight.idx cannot be read: {LASTING[name]}. {check}"
        assert str(caught.value) == message


def test_damage_on_the_host_suggests_no_build(outputs: Path) -> None:
    for name, problem in (
        ("flipped", "eight.idx is damaged: the checksum of block"),
        ("ends early", "eight.idx is damaged: it ends before byte 0"),
    ):
        with serve(outputs, make_fault(name)) as host, open_tables(host.url) as tables:
            with pytest.raises(TableDamaged, match=problem) as caught:
                tables.eight.probe(STATE)
            assert caught.value.command == ""
            assert str(caught.value).endswith(" is read-only: choose another one with --outputs.")


def test_a_large_file_without_ranges_is_refused(outputs: Path) -> None:
    limits = HttpLimits(whole_bytes=2_000_000)
    size = f"{(outputs / 'senet.idx').stat().st_size:,}"
    with serve(outputs, send_whole) as host, open_tables(HttpStore(host.url, limits)) as tables:
        with pytest.raises(TableUnreadable) as caught:
            tables.senet.probe("BBBBB.....AAAAA")
        reason = f"this host ignores ranges; the file has {size} bytes, and at most 2,000,000"
        assert f"{host.url}/senet.idx cannot be read: {reason} are read whole." in str(caught.value)
        # the beginning of a large file is cut from the whole
        assert tables.store.open_random_access("senet.idx").read(4, 0) == b"PTIX"


def test_tables_published_anew_are_reopened_once(copy: Path, outputs: Path) -> None:
    listed = read_manifest(Folder(copy))
    other = {name: entry for name, entry in listed.items() if name != "eight"}
    write_manifest(Folder(copy), other)
    with serve(copy) as host, open_tables(host.url) as tables:
        with pytest.raises(TableError, match=r"eight\.idx is not published"):
            tables.eight.probe(STATE)
        write_manifest(Folder(copy), listed)
        assert tables.eight.probe(STATE).distance == 27
        assert tables.senet.probe("ABABABABAB.....").plies == 0
        # another build: other bytes behind the same name, and a manifest that lists them
        rewrite_index(copy)
        host.requests.clear()
        assert tables.senet.probe(POSITION).plies == 2
        assert [request.name for request in host.requests].count(MANIFEST) == 1
        assert "no-cache" in host.requests[-1].headers["Cache-Control"]


def test_a_list_published_anew_is_reopened_once(copy: Path) -> None:
    with serve(copy) as host, open_tables(host.url) as tables:
        expected = tables.knight.probe("c3", board="5x5", number=3)
    with serve(copy) as host, open_tables(host.url) as tables:
        assert tables.eight.probe(STATE).distance == 27  # which reads the manifest
        rewrite(copy, "knight_tours_5x5", lambda rows: rows, 100)
        assert tables.knight.probe("c3", board="5x5", number=3) == expected
        names = [request.name for request in host.requests]
        assert names.count(MANIFEST) == 2
        (copy / "knight_tours_6x6.parquet").unlink()
        with pytest.raises(TableUnreadable, match="HTTP status 404"):
            tables.knight.probe("a1", board="6x6")


def rewrite_index(folder: Path) -> None:
    """Give Senet's table another content hash, as another build of other rows would."""
    listed, content, index = read_manifest(Folder(folder)), bytes(32), folder / "senet.idx"
    data = change_header(index.read_bytes(), content=content)
    index.unlink()  # it may be a link to the shared tables
    index.write_bytes(data)
    listed["senet"] = replace(listed["senet"], content=content.hex())
    write_manifest(Folder(folder), listed)


def test_a_signature_and_a_password_are_sent_and_not_shown(outputs: Path) -> None:
    with serve(outputs) as host:
        url = host.url.replace("//", "//me:se%20cret@") + "/tables/?sig=abc"
        store = open_store(url)
        assert str(store) == f"{host.url}/tables"
        with open_tables(pickle.loads(pickle.dumps(store))) as tables:
            assert tables.eight.probe(STATE).distance == 27
        assert host.requests[0].headers["Authorization"] == "Basic bWU6c2UgY3JldA=="
        with pytest.raises(Unreachable) as caught:
            store.get_size("none")
        assert "abc" not in str(caught.value)


def test_a_password_is_not_sent_to_another_host(outputs: Path) -> None:
    with serve(outputs) as other, serve(outputs) as host:
        host.fault = spoil(1, fail(301, Location=f"{other.url}/eight.idx"))
        with open_tables(host.url.replace("//", "//me:secret@")) as tables:
            assert tables.eight.probe(STATE).distance == 27
        assert "Authorization" in host.requests[-1].headers
        assert "Authorization" not in other.requests[-1].headers


def test_an_answer_that_is_not_http_is_told() -> None:
    with (
        answer_connections(b"SSH-2.0-OpenSSH\r\n\r\n") as url,
        pytest.raises(TableUnreadable, match="the answer is not HTTP"),
    ):
        open_tables(url)


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\n\r\n"], ids=["head", "body"])
def test_a_trickle_ends_at_the_deadline(begin: bytes) -> None:
    """Let each byte come in time, of an answer that does not say how long it is."""
    is_over = threading.Event()

    def trickle(connection: socket.socket) -> None:
        connection.sendall(begin)
        for letter in b"HTTP/1.1 200 OK\r\n" * 100:
            connection.sendall(bytes([letter]))
            if is_over.wait(0.02):
                break

    with answer_connections(trickle) as url:
        with pytest.raises(TableUnreadable, match="it does not answer, or too slowly"):
            open_tables(HttpStore(url, HttpLimits(question_seconds=0.3)))
        is_over.set()


def test_all_requests_of_a_question_have_one_deadline(outputs: Path) -> None:
    """Let each of a lookup's requests come in time, and all of them not."""
    deep = "BBBBB.A...A.AAA"
    with serve(outputs) as host, open_tables(host.url) as tables:
        plies = tables.senet.probe(deep).plies
    limits = HttpLimits(question_seconds=0.5)
    with serve(outputs) as host, open_tables(HttpStore(host.url, limits)) as tables:
        host.fault = delay(0.4)
        for question in range(2):  # the second one has a time of its own
            host.requests.clear()
            with pytest.raises(TableUnreadable, match="it does not answer, or too slowly"):
                tables.senet.probe(deep)
            assert 1 <= len(host.requests) < (plies or 0) / 2, question


def test_the_bytes_of_a_download_lengthen_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large").write_bytes(bytes(12_000))  # which allow 0.6 s
    with serve(tmp_path, delay(0.2)) as host:
        store = HttpStore(host.url, HttpLimits(question_seconds=0.9))
        with store.ask_one_question():
            for _ in range(6):
                assert len(store.fetch("large").data) == 12_000
    monkeypatch.setenv(SECONDS_VARIABLE, "1")
    (tmp_path / "small").write_bytes(b"small")
    with serve(tmp_path, delay(0.3)) as host, (store := HttpStore(host.url)).ask_one_question():
        store.fetch("small")
        with pytest.raises(Unreachable, match="it does not answer, or too slowly"):
            _ = [store.fetch("small") for _ in range(4)]


def test_a_large_compressed_answer_is_refused_at_once() -> None:
    answers = list[str]()

    def send(connection: socket.socket) -> None:
        answers.append("answered")
        head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3000000\r\n\r\n"
        connection.sendall(head.encode() + gzip.compress(os.urandom(3_000_000))[:3_000_000])

    with (
        answer_connections(send) as url,
        pytest.raises(Unreachable, match="it has over 1,048,576 bytes"),
    ):
        HttpStore(url, HttpLimits(whole_bytes=1 << 20)).fetch("large")
    assert answers == ["answered"]


def test_an_endless_answer_is_refused() -> None:
    """Send for as long as the client reads."""

    def send(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            connection.sendall(bytes(1 << 16))

    with (
        answer_connections(send) as url,
        pytest.raises(Unreachable, match="it has over 1,048,576 bytes"),
    ):
        HttpStore(url, HttpLimits(whole_bytes=1 << 20)).fetch("endless")


def test_addresses_of_a_host_share_the_time_for_a_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Let no address of a host answer: each is tried in each of three attempts."""
    tried = list[tuple[str, float]]()

    def connect(address: tuple[str, int], timeout: float, *_: object) -> socket.socket:
        tried.append((address[0], timeout))
        raise TimeoutError

    places = [(0, 0, 0, "", (name, 80)) for name in ("192.0.2.1", "192.0.2.2")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(TableUnreadable, match="it does not answer, or too slowly"):
        open_tables(HttpStore("http://host.example", RETRIED_AT_ONCE))
    assert [name for name, _ in tried] == ["192.0.2.1", "192.0.2.2"] * 3
    assert max(timeout for _, timeout in tried[::2]) <= RETRIED_AT_ONCE.wait_seconds / 2


def test_a_terminal_shows_that_a_host_is_waited_for(outputs: Path) -> None:
    """Answer only once the note is on the screen."""
    is_told = threading.Event()

    def hesitate(request: Request, answer: Answer) -> None:
        assert is_told.wait(60)

    def watch(screen: str) -> None:
        if "waiting" in screen:
            is_told.set()

    with serve(outputs, hesitate) as host:
        words = ["query", "eight", STATE, "--json", "--outputs", host.url]
        said = run_on_terminal(words, shares_stdout=False, on_output=watch)
        assert json.loads(said.out)["distance"] == 27
        note = f"pipeline: waiting for {host.url} (at most 60 s)\r\n"
        assert (said.code, said.err) == (0, note)


def test_a_host_that_does_not_answer_is_asked_three_times(outputs: Path) -> None:
    with serve(outputs, fail(503)) as host:
        with pytest.raises(TableUnreadable, match="HTTP status 503"):
            open_tables(HttpStore(host.url, RETRIED_AT_ONCE))
        assert len(host.requests) == 3


@pytest.mark.parametrize("url", ["http://", "https:///tables", "http://[::1", "s3://[::1"])
def test_a_url_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(BadRequest, match=r"names no host|not a supported store"):
        open_store(url)


def test_nothing_is_built_on_a_host(outputs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serve(outputs) as host:
        store = HttpStore(host.url)
        for change in (store.make_ready, store.lock, lambda: store.remove("eight.idx")):
            with pytest.raises(StoreError, match="only folders and object stores can be written"):
                change()
        assert run_command(["precompute", "eight", "--force", "--outputs", host.url]) == 3
        assert "only folders and object stores can be written to" in capfd.readouterr().err


def test_near_spans_are_joined_and_far_ones_fetched_together(outputs: Path) -> None:
    with serve(outputs) as host:
        store = HttpStore(host.url)
        file = store.open_random_access("senet.idx")
        expected = (outputs / "senet.idx").read_bytes()
        parts = [(10, 5), (10, 5000), (4096, 3_000_000), (100, len(expected) - 50), (5, 9 << 20)]
        assert file.read_parts(parts) == [expected[at : at + size] for size, at in parts]
        assert len(host.requests) == 1 + 3


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


NGINX_OPTIONS = {
    "plain": "",
    "gzip": "gzip on; gzip_types *; gzip_min_length 1; gzip_http_version 1.0;",
    "no ranges": "max_ranges 0;",
    "no keep-alive": "keepalive_timeout 0;",
}


@pytest.mark.nightly
@pytest.mark.skipif(not NGINX, reason="nginx is missing")
@pytest.mark.parametrize("name", NGINX_OPTIONS)
def test_nginx(name: str, work: Path, outputs: Path) -> None:
    with run_nginx(outputs, work, NGINX_OPTIONS[name]) as url:
        require_right_answers(url, outputs)
        requests = (work / "requests").read_text().splitlines()
        assert all('"GET ' in line for line in requests)
        assert len(requests) == (3 if name == "no ranges" else 5)


def test_pythons_own_server(outputs: Path) -> None:
    with run_python_server(outputs) as url:
        require_right_answers(url, outputs)


def test_verify_passes_over_http(copy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    listed = read_manifest(Folder(copy))
    write_manifest(Folder(copy), {name: listed[name] for name in ("eight", "knight_tours_5x5")})
    with serve(copy) as host:
        assert run_command(["verify", "--outputs", host.url]) == 0
        assert "proved" in capfd.readouterr().out


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is missing")
def test_tables_copied_by_the_commands_of_the_page_are_the_same(
    outputs: Path, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "hosting.md").read_text("utf-8")
    script = page.split("```sh\n")[1].split("```")[0].rpartition("pipeline verify")[0]
    with serve(outputs) as host:
        script = script.replace("https://example.org/tables", host.url)
        subprocess.run(["sh", "-ec", script], cwd=tmp_path, check=True)
    rows = list_status(Folder(tmp_path / "tables"))
    assert {row["state"] for row in rows} == {"published"}
    listed = read_manifest(Folder(outputs))
    files = {file.file for entry in listed.values() for file in entry.all_files}
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {MANIFEST, *files}
