"""Stores that do not answer, or refuse to: errors name the cause and the address; no build."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from puzzle_tablebase.errors import TableDamaged, TableMissing, TableUnreadable
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.status import list_status, make_unusable_error
from puzzle_tablebase.tables.access import format_rebuild_command, format_repair_command
from puzzle_tablebase.tables.http_store import HttpStore
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.store import Folder
from tests.support.faults import fail_after, make_fault
from tests.support.hosts import RETRIED_AT_ONCE, answer_connections, reserve_port, serve
from tests.support.shell import Cli
from tests.support.tampered import write_manifest

CHECK = "Check the address, the network and the credentials."


@contextmanager
def refuse_connections() -> Iterator[str]:
    with reserve_port() as port:
        yield f"http://127.0.0.1:{port}/tables"


QUESTIONS = (
    "query eight 123456780",
    "query knight a1 --board 6x6",
    "histogram senet",
    "status",
    "verify --quick",
    "precompute eight",
    "explore",
    "site website",
)
FAILURES = {
    "all absent": "HTTP status 404: Not Found",
    "all denied": "HTTP status 403: Forbidden",
}


@pytest.mark.parametrize("name", FAILURES)
def test_http_errors_are_reported_without_a_build_command(
    name: str, outputs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serve(outputs, make_fault(name)) as host:
        url = f"{host.url}/tables"
        for words in QUESTIONS:
            assert run_command([*words.split(), "--outputs", url]) == 3
            text = capfd.readouterr()
            problem = f"{url}/manifest.json cannot be read: {FAILURES[name]}. {CHECK}"
            assert (text.out, text.err) == ("", f"pipeline: {problem}\n")


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (refuse_connections, "connection refused"),
        (answer_connections, "it closes the connection before it answers"),
    ],
)
def test_an_unreachable_server_is_reported(place: type, why: str) -> None:
    with place() as url:
        with pytest.raises(TableUnreadable) as caught:
            open_tables(HttpStore(url, RETRIED_AT_ONCE))
        assert str(caught.value) == f"{url}/manifest.json cannot be read: {why}. {CHECK}"
        assert (caught.value.command, caught.value.exit_code) == ("", 3)


def test_an_unserved_listed_file_is_unreadable(
    copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store, table = Folder(copy), "knight_tours_5x5"
    write_manifest(store, {table: read_manifest(store)[table]})
    with serve(copy, make_fault("absent", f"{table}.parquet")) as host:
        url = f"{host.url}/tables"
        assert run_command([*["query", "knight", "a1", "--board", "5x5", "--outputs"], url]) == 3
        problem = f"{url}/{table}.parquet cannot be read: {FAILURES['all absent']}. {CHECK}"
        assert capfd.readouterr().err == f"pipeline: {problem}\n"
        rows = {row["table"]: row for row in list_status(HttpStore(url))}
        assert rows[table]["state"] == "unreadable"


@pytest.mark.parametrize("question", ["query knight a1 --board 5x5 --to c3", "verify --quick"])
def test_a_server_failing_at_any_request_is_reported(
    question: str, copy: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = ("knight_tours_5x5", "eight")  # few, since verify reads whole files
    listed = read_manifest(Folder(copy))
    write_manifest(Folder(copy), {name: listed[name] for name in names})
    for answers in range(20):
        with serve(copy, fail_after(answers)) as host:
            url = host.url
            code = run_command([*question.split(), "--outputs", url])
        text = capfd.readouterr().err
        if code == 0:
            assert answers > 1
            break
        assert code == 3
        *notes, last = text.splitlines()
        assert all(note.startswith("note: not published") for note in notes)
        assert last.startswith((f"pipeline: {url}/", "pipeline: The store of the tables "))
        assert text.endswith(f" cannot be read: {FAILURES['all denied']}. {CHECK}\n")
    else:
        pytest.fail("the command needs more answers than were ever given")


def test_a_read_only_store_has_no_repair_commands(copy: Path) -> None:
    store = HttpStore("http://127.0.0.1:9/tables")
    assert store.is_read_only
    assert format_rebuild_command("eight", store) == format_repair_command("foreign", store) == ""
    (copy / "eight.idx").unlink()
    (copy / "eight.idx").write_bytes(b"damaged")
    write_manifest(Folder(copy), {"eight": read_manifest(Folder(copy))["eight"]})
    with serve(copy) as host, open_tables(host.url) as tables:
        with pytest.raises(TableMissing) as missing:
            tables.senet.probe("ABABABABAB.....")
        with pytest.raises(TableDamaged) as damaged:
            tables.eight.probe("123456780")
        refused = make_unusable_error(list_status(tables.store), tables.store)
    otherwise = " The store is read-only: choose another one with --outputs."
    assert str(missing.value) == f"{host.url}/senet.idx is not published.{otherwise}"
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
