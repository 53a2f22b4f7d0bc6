"""Rows of Parquet files as a scan reads them, their status and their counts; and damage."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.errors import TableDamaged, TableMissing
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.knight.tables import make_tour_table
from puzzle_tablebase.puzzles.sliding import EIGHT
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.queries.published import count_states
from puzzle_tablebase.queries.scans import collect_rows, count_rows, find_rows, scan_table
from puzzle_tablebase.queries.tables import Tables, open_tables
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.shell import Cli
from tests.support.tampered import (
    describe_file,
    edit_manifest,
    flip_byte,
    rename_entry,
    replace_link,
    rewrite,
    write_manifest,
)

SMALL = make_tour_table(parse_board("5x5"))


def read_tours(folder: Path, **values: object) -> list[tuple[Any, ...]]:
    return find_rows(Folder(folder), SMALL, {"start": "c3", **values}, ("number", "path"))


def list_file(folder: Path, path: Path, table: Table) -> None:
    """Let the manifest list a file as it is."""
    with edit_manifest(folder) as entries:
        entries[table.name]["parquet"] = describe_file(path)


@pytest.mark.parametrize("conditions", [{}, {"closed": True}, {"closed": False}])
@pytest.mark.parametrize("row_group", [1 << 16, 200])
def test_rows_are_those_of_a_scan(row_group: int, conditions: dict[str, bool], copy: Path) -> None:
    rewrite(copy, SMALL.name, lambda rows: rows, row_group)
    assert pq.read_metadata(copy / SMALL.file).num_row_groups == (1 if row_group > 2000 else 9)
    rows = pl.read_parquet(copy / SMALL.file)
    for start in ("a1", "c3", "b1", "e5"):
        for finish in (None, "e1", "c3", "a1"):
            values = {"start": start, **conditions} | ({"finish": finish} if finish else {})
            expected = rows.filter(**values).select("number", "path").rows()
            assert read_tours(copy, **values) == expected
            first = find_rows(Folder(copy), SMALL, values, ("number", "path"), 1)
            assert first == expected[:1]
        count = len(rows.filter(start=start))
        assert count_rows(Folder(copy), SMALL, "start", start) == count


def test_damage_in_a_page_that_is_read_is_noticed(copy: Path) -> None:
    path, right, noticed = replace_link(copy / SMALL.file), read_tours(copy), 0
    data = path.read_bytes()
    file = read_manifest(Folder(copy))[SMALL.name].parquet
    assert file
    offsets = range(4, len(data) - file.footer.bytes, 61)
    for at in offsets:
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            assert read_tours(copy) == right
        except TableDamaged:  # some damage is in columns that are not read
            noticed += 1
    assert noticed > len(offsets) // 2


@pytest.mark.parametrize("at", [-1, -9, -2000])
def test_a_changed_footer_is_noticed(at: int, copy: Path) -> None:
    path = copy / SMALL.file
    flip_byte(path, at)
    with pytest.raises(TableDamaged, match="footer"):
        read_tours(copy)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(TableDamaged, match="bytes"):
        read_tours(copy)


def test_a_footer_of_other_rows_is_noticed(copy: Path) -> None:
    """Put under a file's rows the footer of other rows, first unlisted and then listed."""
    path = replace_link(copy / SMALL.file)
    own = path.read_bytes()
    rewrite(copy, SMALL.name, lambda rows: rows[::-1], 200)
    other = path.read_bytes()
    file = read_manifest(Folder(copy))[SMALL.name].parquet
    assert file
    at = file.bytes - file.footer.bytes
    for data in other[:at] + own[-file.footer.bytes :], own[:at].ljust(at, b"\0") + other[at:]:
        path.write_bytes(data)
        with pytest.raises(TableDamaged):
            read_tours(copy)


def test_a_column_that_the_footer_lacks_is_damage(copy: Path) -> None:
    """Forge a footer that the manifest lists: then its hash is right."""
    path = replace_link(copy / SMALL.file)
    rows = pq.read_table(path)
    for name in ("start", "path"):
        pq.write_table(rows.rename_columns({name: "other"}), path)
        list_file(copy, path, SMALL)
        with pytest.raises(TableDamaged):
            read_tours(copy)


def test_rows_that_cannot_be_decoded_are_damage(copy: Path) -> None:
    """Spoil all pages of the rows, and let the manifest list the file as it is then."""
    path, (_, table) = replace_link(copy / "eight_edge.parquet"), EIGHT.tables
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path.write_bytes(data[:4] + bytes(footer - 4) + data[footer:])
    list_file(copy, path, table)
    with pytest.raises(TableDamaged):
        collect_rows(Folder(copy), table.name, scan_table(Folder(copy), table))


@pytest.fixture
def store(copy: Path) -> Folder:
    return Folder(copy)


def test_status_of_optional_and_unknown_tables(store: Folder, cli: Cli) -> None:
    entries = read_manifest(store)
    names = ("hanoi", "knight_tours_3x4", "towers")
    further = {name: rename_entry(entries["senet"], name) for name in names}
    write_manifest(store, {**entries, **further})
    rows = json.loads(cli("status", "--json", "--outputs", str(store)).out)
    commands = {row["table"]: row["command"].split()[1] for row in rows[-3:]}
    assert commands == {"hanoi": "remove", "knight_tours_3x4": "precompute", "towers": "remove"}


def test_unusable_tables_are_counted_with_one_repair_command(store: Folder, cli: Cli) -> None:
    entries = read_manifest(store)
    del entries["eight"], entries["senet"]
    Path(store.locate("knight_counts.parquet")).unlink()
    write_manifest(store, {**entries, "hanoi": rename_entry(entries["knight_counts"], "hanoi")})
    completed = cli("status", "--outputs", str(store))
    command = f"pipeline precompute --outputs {store} && pipeline remove hanoi --outputs {store}"
    problem = "4 of 8 tables cannot be used (2 missing, 2 damaged)."
    assert (completed.code, completed.err) == (3, f"pipeline: {problem} Run: {command}\n")


def test_histogram_covers_every_published_goal(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    with pytest.raises(TableMissing):
        count_states("sliding", store, "2x3")
    one, *others = SLIDING.find_tables("sliding_2x3_all")
    build_tables(tmp_path, SLIDING, *others)
    assert count_states("sliding", store, "2x3")["goal"].unique().to_list() == ["123405"]
    build_tables(tmp_path, SLIDING, one)
    for board in ("2x3", "3x2"):
        counts = count_states("sliding", store, board)
        totals = counts.group_by("goal").agg(pl.col("states").sum()).rows()
        assert dict(totals) == {"123405": 360, "123450": 360}


def test_a_reader_has_the_histogram_of_its_puzzle(tables: Tables, small_boards: Path) -> None:
    for reader in (tables.eight, tables.senet):
        assert reader.histogram().equals(count_states(reader.puzzle.name, tables.store))
    board = open_tables(str(small_boards)).sliding("2x3")
    counts = board.histogram()
    assert counts.filter(pl.col("goal") == board.puzzle.example)["states"].sum() == 360
    assert not hasattr(tables.knight, "histogram")
