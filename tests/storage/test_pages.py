"""Pages made from tables: the manifest lists their sources, and `status` reports outdated ones."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec.structs import replace

from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table, make_tour_table
from puzzle_tablebase.queries.explorer.writer import write_explorer
from puzzle_tablebase.queries.figure import Figure, Sources
from puzzle_tablebase.queries.report import write_report
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
from tests.support.tampered import describe_file, edit_manifest, write_manifest

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


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the report's queries and drawings, so that it only looks its tables up; and what is
    in the explorer.
    """

    def answer(options: Sources, figure: Figure) -> pl.DataFrame:
        for name in figure.sources:
            options.load(name)
        return pl.DataFrame()

    monkeypatch.setattr(Sources, "answer", answer)
    monkeypatch.setattr("puzzle_tablebase.queries.explorer.writer._make_page", lambda store: "")
    monkeypatch.setattr(
        "puzzle_tablebase.queries.report._render_picture", lambda options, figure: "<svg></svg>"
    )
    monkeypatch.setattr(
        "puzzle_tablebase.queries.report.page._format_figure",
        lambda sources, figure: str(sources.answer(figure)),
    )


def test_report_lists_its_page(undrawn: None, copy: Path) -> None:
    """List only the tables that the report shows, without other published ones."""
    drawn = {table.name for puzzle in list_puzzles() for table in puzzle.tables}
    listed = describe_file(copy / "knight_tours_5x5.parquet")
    file = {**listed, "file": "knight_tours_3x4.parquet"}
    with edit_manifest(copy) as entries:
        entries["knight_tours_3x4"] = {**entries["knight_tours_5x5"], "parquet": file}
    assert write_report(Folder(copy), copy / "report.html") == [f"{copy}/report.html"]
    assert state(copy, "report.html") == "published"
    assert {*read_pages(Folder(copy))["report.html"].made_from} == drawn


def test_pictures_alone_are_not_listed(undrawn: None, copy: Path, tmp_path: Path) -> None:
    target, listed = tmp_path / "pictures", read_pages(Folder(copy))
    written = write_report(Folder(copy), target, "svg")
    assert sorted(written) == sorted(str(path) for path in target.iterdir())
    assert {path.suffix for path in target.iterdir()} == {".svg"}
    assert read_pages(Folder(copy)) == listed


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("write", [write_report, write_explorer])
def test_pages_list_the_tables_that_were_read(
    copy: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Store, str], object]
) -> None:
    """List what the manifest said when the tables were read."""
    store = Folder(copy)
    before = read_manifest(store)

    def facts_later(store: Store, name: str) -> dict[str, Any]:
        write_manifest(store, before | {"eight": replace(before["eight"], content="another")})
        return measure_file(store, name)

    monkeypatch.setattr(manifest, "measure_file", facts_later)
    write(store, str(copy / "page.html"))
    listed = read_pages(store)["page.html"].made_from
    assert listed.items() <= {name: entry.content for name, entry in before.items()}.items()
    assert state(copy, "page.html") == "out of date"
