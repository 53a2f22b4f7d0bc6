"""Stores that do not answer, or refuse to: errors name the cause and the address; no build."""

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.run import run_command
from queries import open_tables
from queries.status import list_status, make_unusable_error
from tablebase.table_errors import TableDamaged, TableMissing, TableUnreadable
from tablebase.tables import http_client
from tablebase.tables.http_store import HttpStore
from tablebase.tables.manifest import read_manifest
from tablebase.tables.repair import format_rebuild_command, format_remove_command
from tablebase.tables.store import Folder
from tests.support.shell import Cli
from tests.support.tampered import write_manifest

CHECK = "Check the address, the network and the credentials."


class Handler(http.server.BaseHTTPRequestHandler):
    """Handler that serves a folder with ranges but no listings, except for what is to fail."""

    folder: Path
    statuses: dict[str, int]
    """The status of files of these names; of all files, by an empty name."""
    answers: list[None]
    """One item for each request that is answered before all fail."""

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        code = self.statuses.get(name) or self.statuses.get("", 200)
        code = code if self.answers else 500
        del self.answers[:1]
        file = self.folder / name
        if code == 200 and not file.is_file():
            code = 404
        if code != 200:
            self.send_response(code)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data, size = file.read_bytes(), file.stat().st_size
        range_header = self.headers.get("Range", "")
        if range_header:
            first, last = map(int, range_header.removeprefix("bytes=").split("-"))
            data = data[first : last + 1]
        self.send_response(206 if range_header else 200)
        self.send_header("Content-Length", str(len(data)))
        if range_header:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve_folder(folder: Path, statuses: dict[str, int], answers: int = 1000) -> Iterator[str]:
    facts = {"folder": folder, "statuses": statuses, "answers": [None] * answers}
    kind = type("Served", (Handler,), facts)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/tables"
        server.shutdown()
        thread.join()


@contextmanager
def close_connections() -> Iterator[str]:
    """Yield the address of a server that closes each connection before it answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection = server.accept()[0]
                except OSError:
                    return
                connection.recv(1 << 16)  # unread bytes would make the close a reset
                connection.close()

        threading.Thread(target=answer, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/tables"
        server.shutdown(socket.SHUT_RDWR)


@contextmanager
def refuse_connections() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield f"http://127.0.0.1:{port}/tables"


QUESTIONS = (
    "query eight 123456780",
    "query knight a1 --board 6x6",
    "histogram senet",
    "status",
    "verify --quick",
    "precompute eight",
    "explore",
)
FAILURES = {
    404: "HTTP status 404: Not Found",
    403: "HTTP status 403: Forbidden",
    500: "HTTP status 500: Internal Server Error",
}


@pytest.fixture(autouse=True)
def _retry_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "RETRY_DELAYS", (0.0, 0.0))


@pytest.mark.parametrize("code", FAILURES)
def test_http_errors_are_reported_without_a_build_command(
    code: int, outputs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serve_folder(outputs, {"": code}) as url:
        for words in QUESTIONS:
            assert run_command([*words.split(), "--outputs", url]) == 3
            text = capfd.readouterr()
            problem = f"{url}/manifest.json cannot be read: {FAILURES[code]}. {CHECK}"
            assert (text.out, text.err) == ("", f"pipeline: {problem}\n")


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (refuse_connections, "connection refused"),
        (close_connections, "it closes the connection before it answers"),
    ],
)
def test_an_unreachable_server_is_reported(place: type, why: str) -> None:
    with place() as url:
        with pytest.raises(TableUnreadable) as caught:
            open_tables(url)
        assert str(caught.value) == f"{url}/manifest.json cannot be read: {why}. {CHECK}"
        assert (caught.value.command, caught.value.exit_code) == ("", 3)


@pytest.mark.parametrize(
    ("file", "question"),
    [
        ("eight.idx", "query eight 123456780"),
        ("knight_tours_5x5.parquet", "query knight a1 --board 5x5"),
    ],
)
def test_an_unserved_listed_file_is_unreadable(
    file: str, question: str, copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store, table = Folder(copy), file.partition(".")[0]
    write_manifest(store, {table: read_manifest(store)[table]})
    with serve_folder(copy, {file: 404}) as url:
        assert run_command([*question.split(), "--outputs", url]) == 3
        problem = f"{url}/{file} cannot be read: {FAILURES[404]}. {CHECK}"
        assert capfd.readouterr().err == f"pipeline: {problem}\n"
        rows = {row["table"]: row for row in list_status(HttpStore(url))}
        assert rows[table]["state"] == "unreadable"


def test_a_server_failing_between_reads_is_reported(outputs: Path) -> None:
    statuses: dict[str, int] = {}
    with serve_folder(outputs, statuses) as url, open_tables(url) as tables:
        assert tables.senet.probe("ABABABABAB.....").plies == 0
        statuses[""] = 500
        with pytest.raises(TableUnreadable, match=FAILURES[500]):
            tables.senet.probe("ABAAABBB.B...A.")


@pytest.mark.parametrize("question", ["query knight a1 --board 5x5 --to c3", "verify --quick"])
def test_a_server_failing_at_any_request_is_reported(
    question: str, copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    listed = read_manifest(Folder(copy))
    if "verify" not in question:  # verify reads every table
        listed = {"knight_tours_5x5": listed["knight_tours_5x5"]}
    write_manifest(Folder(copy), listed)
    for answers in range(20):
        with serve_folder(copy, {}, answers) as url:
            code = run_command([*question.split(), "--outputs", url])
        text = capfd.readouterr().err
        if code == 0:
            assert answers > 1
            break
        assert code == 3
        assert text.startswith((f"pipeline: {url}/", "pipeline: The store of the tables "))
        assert text.endswith(f" cannot be read: {FAILURES[500]}. {CHECK}\n")


def test_a_read_only_store_has_no_repair_commands(copy: Path) -> None:
    store = HttpStore("http://127.0.0.1:9/tables")
    assert store.is_read_only()
    assert (format_rebuild_command("eight", store), format_remove_command("eight", store)) == (
        "",
        "",
    )
    (copy / "eight.idx").unlink()
    (copy / "eight.idx").write_bytes(b"damaged")
    write_manifest(Folder(copy), {"eight": read_manifest(Folder(copy))["eight"]})
    with serve_folder(copy, {}) as url, open_tables(url) as tables:
        with pytest.raises(TableMissing) as missing:
            tables.senet.probe("ABABABABAB.....")
        with pytest.raises(TableDamaged) as damaged:
            tables.eight.probe("123456780")
        refused = make_unusable_error(list_status(tables.store), tables.store)
    otherwise = " The store is read-only: choose another one with --outputs."
    assert str(missing.value) == f"{url}/senet.idx is not published.{otherwise}"
    assert refused
    for error in (damaged.value, refused):
        assert str(error).endswith(otherwise)
        assert "Run" not in str(error)


def test_a_host_without_listings_has_no_unfinished_tables() -> None:
    with refuse_connections() as url:
        assert HttpStore(url).list_names() == []


def test_missing_credentials_are_reported(tmp_path: Path, cli: Cli) -> None:
    none = str(tmp_path / "none")
    env = {"AWS_CONFIG_FILE": none, "AWS_SHARED_CREDENTIALS_FILE": none}
    env["AWS_EC2_METADATA_DISABLED"] = "true"
    text = cli("query", "eight", "123456780", "--outputs", "s3://puzzles/x", env=env)
    problem = "s3://puzzles/x/manifest.json cannot be read: no credentials were found."
    assert text == (3, "", f"pipeline: {problem} {CHECK}\n")
