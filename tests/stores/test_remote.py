"""Faults of hosts and buckets: the right answer, or one sentence and exit 3, within the limit."""

import json
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import socket

import polars as pl
import pytest

from puzzle_tablebase import errors
from puzzle_tablebase.errors import TableUnreadable, Unreachable
from puzzle_tablebase.formats.index import BLOCK_BYTES
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.terminal import format_error, format_repair
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.stores import MANIFEST, MAX_WHOLE_BYTES, Address, Folder, open_store, remote
from puzzle_tablebase.stores.remote import RemoteFile, RemoteStore, make_client
from tests import first
from tests.support import hosts
from tests.support.faults import FAULTS, PASSING, fail, fail_after, make_fault, send_whole, spoil
from tests.support.hosts import Answer, Request, answer_connections, serve
from tests.support.reader_programs import tool
from tests.support.shell import ROOT, SCRIPT, Cli, environment, run
from tests.support.tampered import rewrite, rewrite_index, write_manifest

STATE, POSITION = "378546201", "ABAAABBB.B...A."
MOST_SECONDS = 10.0
"""The longest time of a question here, where requests have half a second: 60 s for 15 s each."""

QUESTIONS = {"eight.idx": f"query eight {STATE}", "senet.idx": f"query senet {POSITION}"}
"""Questions by the file that they read: one whole, the other by ranges."""
REFUSED = {"compressed files", "headers hidden"}
"""Faults with which JavaScript and the page answer, and Python does not."""
HARMLESS = {("large", "eight.idx"), ("large", "senet.idx"), ("flipped", "eight.idx")}
"""Faults that leave an answer: the file is sent whole, or another block is wrong."""


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [*os.environ]:
        if name.lower().endswith("_proxy") or name.startswith(("AWS_", "SSL_")):
            monkeypatch.delenv(name)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setattr(remote, "REQUEST_TIMEOUT", 0.5)
    monkeypatch.setattr(remote, "RETRY_DELAY", 0.01)
    make_client.cache_clear()
    yield
    make_client.cache_clear()


@pytest.fixture(params=["host", "bucket"])
def locate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return what makes the URL of a store of either kind of a server's address."""

    def locate_bucket(address: str) -> str:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        make_client.cache_clear()
        return "s3://puzzles/tables"

    return locate_bucket if request.param == "bucket" else lambda address: f"{address}/tables"


def require_answer_or_sentence(
    question: str, url: str, outputs: Path, cli: Cli, *, is_answered: bool
) -> None:
    """Query; fail unless the answer is right, or one sentence says why there is none."""
    expected = cli(*question.split(), "--outputs", str(outputs)).out
    begin = time.monotonic()
    code, text, errors = cli(*question.split(), "--outputs", url, env=os.environ)
    assert time.monotonic() - begin < MOST_SECONDS
    if is_answered:
        assert (code, text) == (0, expected)
        assert not errors or errors.endswith("is read whole\n")
        return
    assert (code, text, errors.count("\n")) == (3, "", 1)


CASES = [
    (name, file)
    for name in FAULTS
    for file in QUESTIONS
    if name not in ("redirect", "loop") or file == "eight.idx"  # these lead to that file
]


@pytest.mark.parametrize(("name", "file"), CASES)
def test_faults(
    name: str, file: str, locate: Callable[[str], str], outputs: Path, cli: Cli
) -> None:
    spoiled = file if FAULTS[name].file == "eight.idx" else None
    with serve(outputs, make_fault(name, spoiled)) as host:
        is_answered = name in {*PASSING} - REFUSED or (name, file) in HARMLESS
        url = locate(host.url)
        require_answer_or_sentence(QUESTIONS[file], url, outputs, cli, is_answered=is_answered)


def repeat(begin: bytes, piece: bytes, pause: float = 0.0) -> Callable[[socket], None]:
    """Return what sends a beginning, and then a piece for as long as the client reads."""

    def send(connection: socket) -> None:
        connection.sendall(begin)
        while True:
            connection.sendall(piece)
            time.sleep(pause)

    return send


HEAD = b'HTTP/1.1 200 OK\r\nETag: "1"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n'
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
REFUSED_HEAD = b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nnone\r\n0\r\n"
ATTACKS: dict[str, Callable[[socket], object] | bytes] = {
    "trailers": repeat(CHUNKED + b"1\r\n{\r\n0\r\n", b"A: b\r\n" * 1000),
    "trailers of a refusal": repeat(REFUSED_HEAD, b"A: b\r\n" * 1000),
    "a trailer a byte a second": repeat(REFUSED_HEAD + b"A: ", b"b", 0.2),
    "chunk extensions": repeat(CHUNKED + b"1;", b"a=b;" * 1000),
    "chunk extensions of a refusal": repeat(REFUSED_HEAD[:-3] + b"0;", b"a=b;" * 1000),
    "100 Continue": repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "headers": repeat(HEAD, b"A: b\r\n" * 1000),
    "a header a byte a second": repeat(HEAD + b"A: ", b"b", 0.2),
    "a body a byte a second": repeat(HEAD + b"Content-Length: 99\r\n\r\n", b" ", 0.2),
    "an endless body": repeat(CHUNKED, b"1000\r\n" + bytes(4096) + b"\r\n"),
    "an endless body of a refusal": repeat(
        REFUSED_HEAD[:-3], b"1000\r\n" + bytes(4096) + b"\r\n", 0.001
    ),
    "a large body": HEAD + b"Content-Length: 99999999999\r\n\r\n",
    "silence": lambda connection: connection.recv(1),
    "nothing": b"",
    "another protocol": b"SSH-2.0-OpenSSH\r\n\r\n",
}
"""What a host does with each connection."""


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(name: str, locate: Callable[[str], str], outputs: Path, cli: Cli) -> None:
    with answer_connections(ATTACKS[name]) as address:
        question, url = QUESTIONS["eight.idx"], locate(address)
        require_answer_or_sentence(question, url, outputs, cli, is_answered=False)


QUERIES = ("histogram senet", "status", "verify --quick", "explore", "site web")


@pytest.mark.parametrize("question", QUERIES[1:])
def test_no_command_waits_for_a_dead_host(question: str, outputs: Path, cli: Cli) -> None:
    """Let a host answer for the manifest alone: a store that was lost gets no other request."""

    def die(request: Request, answer: Answer) -> None:
        if request.name != MANIFEST:
            answer.delay = 1.5

    with serve(outputs, die) as host:
        begin = time.monotonic()
        code, _, errors = cli(*question.split(), "--outputs", host.url)
        assert time.monotonic() - begin < MOST_SECONDS
    assert code == 3
    assert "(TimedOut)" in errors or "7 unreadable" in errors


@pytest.mark.parametrize(("text", "seconds"), [("7", 7), ("", 0.5), ("0", 0.5), ("1.5", 0.5)])
def test_a_variable_sets_the_time_of_a_request(
    text: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(remote.TIMEOUT_VARIABLE, text)
    assert remote.read_timeout() == seconds


def test_a_refused_connection_is_told(cli: Cli) -> None:
    with hosts.reserve_port() as port:
        url = f"http://127.0.0.1:{port}/tables"
        for question in (f"query eight {STATE}", *QUERIES):
            completed = cli(*question.split(), "--outputs", url)
            assert (completed.code, "Connection refused" in completed.err) == (3, True)
        assert RemoteStore(url).list_names() == []


@pytest.mark.parametrize("question", ["query knight a1 --board 5x5 --to c3", "verify --quick"])
def test_a_host_may_fail_at_any_request(question: str, copy: Path, cli: Cli) -> None:
    names = ("knight_tours_5x5", "eight")  # few, since verify reads whole files
    listed = read_manifest(Folder(copy))
    write_manifest(Folder(copy), {name: listed[name] for name in names})
    for answers in range(20):
        with serve(copy, fail_after(answers)) as host:
            completed = cli(*question.split(), "--outputs", host.url)
        if completed.code == 0:
            break
        assert (completed.code, "HTTP status 403" in completed.err) == (3, True)
    assert (completed.code, answers > 1) == (0, True)


# ---- the requests -------------------------------------------------------------------------------


def test_an_8_puzzle_query_takes_three_requests(outputs: Path, cli: Cli) -> None:
    words = ("query", "eight", STATE, "--path", "--outputs")
    with serve(outputs) as host:
        assert cli(*words, host.url) == cli(*words, str(outputs))
        assert [request.name for request in host.requests] == [MANIFEST, "eight.idx", "eight.idx"]
        assert {request.headers["accept-encoding"] for request in host.requests} == {"identity"}


ASKED = {
    "the 8-puzzle, to any goal": "eight 378546201",
    "a tour of 8x8": "knight b1 --to a3",
    "Senet, a line of 2 plies": f"senet {POSITION}",
    "one tour of 6x6 by its number": "knight c3 --board 6x6 --number 12345",
    "3x4, a state 42 moves from the goal": "sliding 3a1b87254960 --board 3x4",
}


def test_the_page_says_what_a_question_costs(
    outputs: Path, large_boards: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "hosting.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| [^|]+ \| (\d+) kB \|$", page, re.MULTILINE)
    assert [question for question, _ in rows] == [*ASKED]
    for question, kilobytes in rows:
        with serve(large_boards if question.startswith("3x4") else outputs) as host:
            assert cli("query", *ASKED[question].split(), "--outputs", host.url).code == 0
            assert host.sent / 1000 == pytest.approx(int(kilobytes), rel=0.05), question
    blocks, pread = set[int](), os.pread

    def count(file: int, size: int, at: int) -> bytes:
        blocks.add(at // BLOCK_BYTES)
        return pread(file, size, at)

    monkeypatch.setattr(os, "pread", count)
    assert cli("query", "eight", "378546201", "--outputs", str(outputs)).code == 0
    assert f"would take {len(blocks - {0})} blocks of 4 KiB" in page


def test_a_tour_of_a_large_list_takes_few_bytes(outputs: Path) -> None:
    rows = pl.scan_parquet(outputs / "knight_tours_6x6.parquet").select("start", "number", "path")
    chosen = random.Random(31).sample(range(6_637_920), 4)
    for at in chosen:
        ((start, number, path),) = rows.slice(at, 1).cast({"start": pl.String}).collect().rows()
        with serve(outputs) as host, open_tables(host.url) as tables:
            assert tables.knight.probe(start, board="6x6", number=number).path == path
            assert host.sent < 600_000
            # by its statistics, which compare text, a group of several starts may have any
            assert len(host.requests) <= 24


def test_a_host_is_asked_once_for_each_move(
    large_boards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds, read = list[int](), RemoteFile.read_parts
    with open_tables(str(large_boards)) as tables:
        states = tables.sliding("3x4").sample(10, seed=31)["state"]
        expected = {state: tables.sliding("3x4").path(state) for state in states}

    def count_rounds(file: RemoteFile, parts: list[tuple[int, int]]) -> list[bytes]:
        rounds.append(len(parts))
        return read(file, parts)

    monkeypatch.setattr(RemoteFile, "read_parts", count_rounds)
    with serve(large_boards) as host, open_tables(host.url) as tables:
        for state, path in expected.items():
            rounds.clear()
            assert tables.sliding("3x4").distance(state) == len(path) - 1
            assert tables.sliding("3x4").path(state) == path
            assert len(rounds) <= len(path)  # one more: the first also opens the index
        assert all(request.span for request in host.requests[1:])


def test_a_host_without_ranges_sends_a_file_once(outputs: Path) -> None:
    with hosts.run_python_server(outputs) as url:
        completed = run([SCRIPT, "query", "senet", POSITION, "--outputs", url])
        note = f"note: the host ignores ranges: {url}/senet.idx is read whole\n"
        assert (completed.code, completed.err) == (0, note)
    with serve(outputs, send_whole) as host, open_tables(host.url) as tables:
        assert tables.senet.probe(POSITION).plies == tables.senet.probe(POSITION).plies == 2
        sent = [request.span for request in host.requests if request.name == "senet.idx"]
        assert [span is None for span in sent].count(True) == 1


def test_a_large_file_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_WHOLE_BYTES + 1)
    with serve(tmp_path, send_whole) as host, pytest.raises(Unreachable, match="67,108,865"):
        RemoteFile(RemoteStore(host.url), "large")


# ---- files that change ---------------------------------------------------------------------------


def test_an_answer_is_from_one_version(locate: Callable[[str], str], tmp_path: Path) -> None:
    """Change a file between two requests: its size, or its `ETag` alone."""

    def name_another(request: Request, answer: Answer) -> None:
        answer.headers["ETag"] = '"another"'

    file, size = tmp_path / "list", 3 << 20
    with serve(tmp_path) as host:
        for change in ("size", "version"):
            file.write_bytes(bytes(size))
            host.fault = None
            store = open_store(locate(host.url))
            opened = store.open_random_access("list")
            assert opened.read_parts([(4, 0), (4, 2 << 20)]) == [bytes(4)] * 2
            if change == "size":
                file.write_bytes(b"few")
            host.fault = name_another if change == "version" else None
            with pytest.raises(errors.FileChanged):
                opened.read_parts([(4, 1 << 20), (4, 0)])


def test_caches_are_bypassed_once_after_a_refresh(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(bytes(3 << 20))
    with serve(tmp_path) as host:
        store = RemoteStore(host.url)
        RemoteFile(store, "list")
        store.refresh()
        for _ in range(2):
            RemoteFile(store, "list")
        is_fresh = ["cache-control" in request.headers for request in host.requests]
    assert is_fresh == [False, True, False]


def test_a_weak_etag_is_no_condition_of_a_request(tmp_path: Path) -> None:
    """Let a host refuse it, as the standard says: no file matches a weak one."""
    (tmp_path / "list").write_bytes(bytes(3 << 20))

    def name_weakly(request: Request, answer: Answer) -> None:
        answer.headers["ETag"] = 'W/"1"'
        if "if-match" in request.headers:
            answer.status = 412
            answer.replace_body(b"")

    with serve(tmp_path, name_weakly) as host:
        opened = RemoteFile(RemoteStore(host.url), "list")
        assert opened.read(4, 0) + opened.read(4, 1 << 20) == bytes(8)


def test_a_stale_part_in_a_cache_is_asked_for_again(tmp_path: Path) -> None:
    """Let a cache on the way have another version, until it must revalidate it."""
    (tmp_path / "list").write_bytes(bytes(3 << 20))

    def answer_from_cache(request: Request, answer: Answer) -> None:
        if request.span and request.span[0] and "cache-control" not in request.headers:
            answer.headers["ETag"] = '"old"'
            answer.body = b"x" * len(answer.body)

    with serve(tmp_path, answer_from_cache) as host:
        opened = RemoteFile(RemoteStore(host.url), "list")
        assert opened.read(4, 0) + opened.read(4, 1 << 20) == bytes(8)


def test_tables_published_anew_are_reopened_once(copy: Path) -> None:
    listed = read_manifest(Folder(copy))
    write_manifest(Folder(copy), {name: listed[name] for name in listed if name != "eight"})
    with serve(copy) as host, open_tables(host.url) as tables:
        with pytest.raises(errors.TableMissing):
            tables.eight.probe(STATE)
        write_manifest(Folder(copy), listed)
        assert tables.eight.probe(STATE).distance == 27
        assert tables.senet.probe("ABABABABAB.....").plies == 0
        # another build: other bytes behind the same name, and a manifest that lists them
        rewrite_index(copy)
        host.requests.clear()
        assert tables.senet.probe(POSITION).plies == 2
        uncached = [request.name for request in host.requests if "cache-control" in request.headers]
        assert uncached.count(MANIFEST) == 1
        host.requests.clear()
        tables.senet.probe("AA.AABBB.BBA...")
        assert host.requests
        assert not any("cache-control" in request.headers for request in host.requests)
        rewrite(copy, "knight_tours_5x5", lambda rows: rows, 100)
        assert tables.knight.probe("c3", board="5x5", number=3).path


def test_a_read_only_store_has_no_repair_commands(copy: Path, cli: Cli) -> None:
    (copy / "eight.idx").unlink()
    (copy / "eight.idx").write_bytes(b"damaged")
    with serve(copy) as host, open_tables(host.url) as tables:
        with pytest.raises(errors.TableDamaged) as caught:
            tables.eight.probe("123456780")
        assert format_repair(caught.value) == ""
        assert str(caught.value) == caught.value.args[0], "no call helps either"
        assert "The store is read-only" in format_error(caught.value)
        rows = json.loads(cli("status", "--json", "--outputs", host.url).out)
        assert {row.get("command", "") for row in rows} == {""}


def test_a_host_is_asked_through_the_proxy(outputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(outputs) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        with open_tables("http://tables.invalid/made") as tables:
            assert tables.eight.probe(STATE).distance == 27
        assert {request.headers["host"] for request in proxy.requests} == {"tables.invalid"}


# ---- passwords -----------------------------------------------------------------------------------


def test_a_password_stays_with_its_host(outputs: Path, cli: Cli) -> None:
    expected = "Basic " + "bWU6c2UgY3JldA=="
    with serve(outputs) as other, serve(outputs) as host:
        url = host.url.replace("//", "//me:se%20cret@") + "/tables/?sig=abc%2Fd"
        store = pickle.loads(pickle.dumps(open_store(url)))
        assert str(store) == f"{host.url}/tables"
        for target in (host, other):
            host.requests.clear()
            host.fault = spoil(1, fail(301, Location=f"{target.url}/b/eight.idx"))
            with open_tables(store) as tables:
                assert tables.eight.probe(STATE).distance == 27
            sent = [request.headers.get("authorization") for request in host.requests]
            assert sent == [expected] * len(sent)
        assert [request.headers.get("authorization") for request in other.requests] == [None]
        host.fault = fail(403)
        results = [cli("query", "eight", STATE, "--outputs", url), cli("status", "--outputs", url)]
    results.append(cli("query", "eight", STATE, "--outputs", url))  # the host is gone
    for completed in results:
        assert (completed.code, completed.err.count("cannot be read")) == (3, 1)
        assert not any(
            word in completed.out + completed.err for word in ("cret", "abc", "me:", "bWU6")
        )


@pytest.mark.parametrize(
    "words",
    [
        "status https://{}h",
        "query https://{}h x",
        "status --outputs https:/{}h/x",
        "status --outputs https//{}h",
        "status --outputs {}h/x",
        "status --outputs ftp://{}h/x?sig=S3cret",
        "status --outputs https://u:S3/cret@h",
        "status --outputs https://u:x@S3cret@h",
        "status --outputs https://u:S3cret/x",
        "diff https://{}127.0.0.1:9 outputs",
        "query eight 123456780 --svg http:/{}h/x.svg",
        "query eight 123456780 --svg http://{}h/x.svg",
        "query eight 123456780 --goal https://{}h",
        "query eight --input https://{}h/x.csv",
        "sample eight --size 3 --output {}h/x.csv",
        "explore --output s3://{}h",
        "site https://{}h",
        "site https:/{}h/new",
        "site {}h/new",
        "query eight x --outputs s3://{}h",
        "query eight 123456780 --outputs az://{}h/x",
        "copy gs://{}h/x new",
        "site new --url https://{}h",
        "site new --url https://h?sig=S3cret",
        "verify https://{}h",
        "precompute --scheduler tcp://{}127.0.0.1:9 eight --force",
    ],
)
def test_no_message_has_a_password(words: str, cli: Cli, workspace: Path) -> None:
    completed = cli(*words.format("u:S3cret@").split(), cwd=workspace)
    assert completed.code in (2, 3)
    assert not any(word in completed.out + completed.err for word in ("u:", "S3", "cret"))
    assert not (workspace / "new").exists()


@pytest.mark.parametrize(
    "address", ["https://host/gh/a:b@1", "run:1/x", "a@b", "/data/x/a:b@c", "http://[::1]:80/x@1"]
)
def test_what_is_no_password_is_shown(address: str) -> None:
    assert str(Address(address)) == address
    for secret in ("?sig=1#a", "#token"):
        assert repr(Address(f"https://u:S3cret@h/x{secret}")) == "Address('https://h/x')"


@pytest.mark.parametrize("scheme", ["http", "s3"])
def test_no_other_host_learns_a_signature_or_a_session_token(
    scheme: str, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(outputs) as other, serve(outputs) as host:
        if scheme == "s3":
            secrets = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
            for name, text in (secrets | {"AWS_SESSION_TOKEN": "token"}).items():
                monkeypatch.setenv(name, text)
            monkeypatch.setenv("AWS_ENDPOINT_URL", host.url)
        store = open_store(f"{host.url}/?sig=abc" if scheme == "http" else "s3://bucket")
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        host.fault = fail(302, Location=f"{elsewhere}/eight.idx")
        with pytest.raises(Unreachable, match="it leads to another host"):
            store.open_random_access("eight.idx")
        host.fault = None
        with open_tables(f"{host.url}/?sig=abc") as tables:
            assert tables.eight.probe(STATE).distance == 27
        assert host.requests
        assert other.requests == []


SIGN = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost"
NAMES = "-addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE"


def test_an_https_host_is_trusted_by_its_certificate_and_leads_to_no_other(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = tmp_path / "certificate.pem"
    files = ("-keyout", certificate, "-out", certificate)
    assert run([tool("openssl"), *SIGN.split(), *NAMES.split(), *files]).code == 0
    with serve(outputs, certificate=certificate) as host:
        with pytest.raises(TableUnreadable, match="UnknownIssuer"):
            open_tables(host.url).eight.probe(STATE)
        assert host.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        make_client.cache_clear()
        assert open_tables(host.url).eight.probe(STATE).distance == 27
        host.fault = fail(302, Location="http://127.0.0.1:9/manifest.json")
        with pytest.raises(TableUnreadable, match="BadScheme"):
            open_tables(host.url)


@pytest.mark.skipif(hosts.NGINX is None, reason="nginx is not installed")
def test_nginx_serves_tables(outputs: Path, tmp_path: Path) -> None:
    options = "gzip on; gzip_min_length 1; gzip_types *;"
    with hosts.run_nginx(outputs, tmp_path, options) as url, open_tables(url) as tables:
        assert tables.eight.probe(STATE).distance == 27
        assert tables.senet.probe(POSITION).plies == 2
        assert tables.knight.probe("a1", board="6x6", number=100).path


# ---- processes -----------------------------------------------------------------------------------


ENDLESS = "silence", "100 Continue", "a body a byte a second"


@pytest.mark.parametrize(
    ("words", "name"),
    first(4, [(words, name) for words in ("query eight 378546201", "status") for name in ENDLESS]),
)
def test_an_interrupt_ends_a_read(words: str, name: str) -> None:
    with answer_connections(ATTACKS[name]) as url:
        command = [str(SCRIPT), *words.split(), "--outputs", url]
        with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE) as process:
            time.sleep(0.7)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
        assert time.monotonic() - begin < 1
        assert (process.returncode in (130, -signal.SIGINT), errors) == (True, b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_is_told_to_be_spawned(outputs: Path) -> None:
    with serve(outputs) as host:
        store = RemoteStore(host.url)
        store.read(MANIFEST)
        process = os.fork()
        if not process:
            try:
                store.fetch(MANIFEST)
            except Unreachable as error:
                os._exit(7 if "start it by spawn" in str(error) else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7


def test_a_url_needs_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(errors.PackageMissing, match=r"obstore\. Run: pip install"):
        RemoteStore("http://127.0.0.1:9/tables").read(MANIFEST)
