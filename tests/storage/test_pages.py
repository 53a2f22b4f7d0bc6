"""Pages made from tables: the manifest lists their sources, and `status` reports outdated ones."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table, make_tour_table
from puzzle_tablebase.queries.explorer.writer import write_explorer
from puzzle_tablebase.queries.status import list_status
from puzzle_tablebase.tables import manifest
from puzzle_tablebase.tables.manifest import (
    Page,
    measure_file,
    read_manifest,
    read_pages,
    record_page,
)
from puzzle_tablebase.tables.store import Folder, Store
from tests.support.build_recorder import build_tables
from tests.support.shell import Cli
from tests.support.tampered import write_manifest

TOURS, COUNTS = make_tour_table(KnightBoard(3, 4)), make_count_table(((3, 4),))


def state(folder: Path, name: str) -> str | None:
    return next((row["state"] for row in list_status(Folder(folder)) if row["table"] == name), None)


def test_pages_become_outdated_with_their_tables(tmp_path: Path) -> None:
    build_tables(tmp_path, KNIGHT, TOURS, COUNTS)
    page = tmp_path / "Übersicht 2.html"
    assert state(tmp_path, page.name) is None
    page.write_text("a page")
    counts = read_manifest(Folder(tmp_path))[COUNTS.name]
    record_page(Folder(tmp_path), str(page), "report", {COUNTS.name: counts})
    contents = {COUNTS.name: counts.content}
    hashed = hashlib.sha256(b"a page").hexdigest()
    assert read_pages(Folder(tmp_path)) == {page.name: Page(6, hashed, contents, "report")}
    assert state(tmp_path, page.name) == "published"
    build_tables(tmp_path, KNIGHT, TOURS, force=True)
    assert state(tmp_path, page.name) == "published", "a build keeps the list of pages"
    build_tables(tmp_path, KNIGHT, make_count_table(((3, 4), (3, 3))))
    assert state(tmp_path, page.name) == "out of date"
    page.unlink()
    assert state(tmp_path, page.name) is None


def test_pages_outside_the_store_are_not_listed(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    build_tables(folder, KNIGHT, TOURS)
    page = tmp_path / "page.html"
    page.write_text("a page")
    record_page(Folder(folder), str(page), "report", read_manifest(Folder(folder)))
    assert read_pages(Folder(folder)) == {}


NAMES = ".page.html", "a:b.html", "a\\b.html", "a\nb", "eight.2.idx", ""


@pytest.mark.parametrize(
    ("command", "name"), [*(("report", name) for name in NAMES), ("explore", ".page.html")]
)
def test_a_page_that_no_manifest_can_list_is_refused(
    command: str, name: str, cli_in_process: Cli, copy: Path
) -> None:
    before = {path.name: path.read_bytes() for path in copy.iterdir() if path.is_file()}
    run = cli_in_process(command, "--output", f"{copy}/{name}", "--outputs", str(copy))
    assert run.code == 2, run.err
    assert not name or " is not a name for a page beside the tables. Choose" in run.err
    assert {path.name: path.read_bytes() for path in copy.iterdir() if path.is_file()} == before


def test_pages_list_the_tables_that_were_read(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """List what the manifest said when the tables were read."""
    store = Folder(copy)
    before = read_manifest(store)

    def facts_later(store: Store, name: str) -> dict[str, Any]:
        write_manifest(store, before | {"eight": replace(before["eight"], content="another")})
        return measure_file(store, name)

    monkeypatch.setattr("puzzle_tablebase.queries.explorer.writer._make_page", lambda store: "")
    monkeypatch.setattr(manifest, "measure_file", facts_later)
    write_explorer(store, str(copy / "page.html"))
    listed = read_pages(store)["page.html"].made_from
    assert listed.items() <= {name: entry.content for name, entry in before.items()}.items()
    assert state(copy, "page.html") == "out of date"
