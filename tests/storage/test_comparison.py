"""Tests of `pipeline diff`: tables that differ in rows, in content, in bytes, and damaged ones."""

import json
import os
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzle_tablebase.errors import TableMissing, TableVersionError
from puzzle_tablebase.pipeline.comparison import (
    Comparison,
    RowCounts,
    compare_rows,
    compare_stores,
    count_differences,
)
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.manifest import read_manifest, seal
from puzzle_tablebase.tables.store import Folder
from tests.support.build_recorder import COUNTS, TOURS, build_tables
from tests.support.shell import Cli
from tests.support.tampered import (
    cell,
    edit_manifest,
    records,
    replace_link,
    reseal,
    rewrite,
    sha256,
)


def find_differences(a: Path, b: Path) -> dict[str, Comparison]:
    """Return the comparisons of the tables that are not the same."""
    comparisons = compare_stores(Folder(a), Folder(b))
    return {each.table: each for each in comparisons if each.difference != "same"}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a folder with two small tables of the knight."""
    build_tables(tmp_path / "small", KNIGHT, TOURS, COUNTS)
    return tmp_path / "small"


def test_rows_are_counted(copy: Path, outputs: Path) -> None:
    rewrite(copy, "eight_edge", lambda rows: cell("state", 7, "x" * 9)(rows.slice(10)))
    rewrite(copy, "knight_counts", cell("tours", 5, 3))
    rewrite(copy, "knight_tours_5x5", lambda rows: pa.concat_tables([rows, rows.slice(0, 2)]))
    counts = {"eight_edge": (1, 11), "knight_counts": (1, 1), "knight_tours_5x5": (2, 0)}
    differences = find_differences(outputs, copy)
    assert {each.difference for each in differences.values()} == {"rows"}
    assert {name: each.counts for name, each in differences.items()} == counts
    backwards = {name: each.counts for name, each in find_differences(copy, outputs).items()}
    assert backwards == {name: (removed, added) for name, (added, removed) in counts.items()}


def test_the_content_hash_of_rows_is_computed_from_them(copy: Path, outputs: Path) -> None:
    rewrite(copy, "eight_edge", cell("distance", 7, 1))
    published = read_manifest(Folder(outputs))["eight_edge"]
    with edit_manifest(copy) as entries:  # as if the rows were the same
        entries["eight_edge"]["content"] = published.content
    (comparison,) = find_differences(outputs, copy).values()
    assert (comparison.difference, comparison.counts) == ("rows", RowCounts(1, 1))


def test_the_order_of_rows_is_content(copy: Path, outputs: Path) -> None:
    rewrite(copy, "knight_counts", lambda rows: pa.concat_tables([rows.slice(9), rows.slice(0, 9)]))
    (comparison,) = find_differences(outputs, copy).values()
    assert (comparison.difference, comparison.details) == ("content", ["order of rows"])


def test_other_files_of_the_same_rows_differ_in_bytes(
    copy: Path, outputs: Path, cli_in_process: Cli
) -> None:
    rewrite(copy, "eight_edge", lambda rows: rows, 1_000)
    rewrite(copy, "knight_tours_5x5", lambda rows: rows, 100)
    differences = find_differences(outputs, copy)
    assert {*differences} == {"eight_edge", "knight_tours_5x5"}
    assert {each.difference for each in differences.values()} == {"bytes"}
    text = cli_in_process("diff", str(outputs), str(copy))
    assert (text.code, text.err) == (0, "")


def test_other_records_differ_in_content(copy: Path, outputs: Path) -> None:
    index = replace_link(copy / "eight.idx")
    data = bytearray(index.read_bytes())
    assert records(data) == 362_880
    data[5_000] ^= 1
    index.write_bytes(reseal(data))
    with edit_manifest(copy) as entries:
        entries["eight"]["index"] |= {"sha256": sha256(index)}
    (comparison,) = find_differences(outputs, copy).values()
    assert (comparison.difference, comparison.details) == ("content", ["records"])


def test_tables_of_one_store_only_and_other_parameters(
    cli_in_process: Cli, small: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    build_tables(other, KNIGHT, make_count_table(((3, 4), (2, 2), (4, 3))))
    text = cli_in_process("diff", str(small), str(other), "--json")
    counts, tours = json.loads(text.out)
    assert counts == {
        "table": "knight_counts",
        "difference": "rows",
        "rows_a": 16,
        "rows_b": 28,
        "added": 12,
        "removed": 0,
        "details": [counts["details"][0]],
    }
    assert counts["details"][0].startswith("parameters (")
    assert (tours["table"], tours["difference"]) == (TOURS.name, "only in A")
    assert tours["rows_b"] is None
    assert text.code == 1
    assert text.err == f"pipeline: 2 of 2 tables differ: knight_counts, {TOURS.name}.\n"


def test_a_damaged_file_is_told_with_its_command(
    cli_in_process: Cli, small: Path, tmp_path: Path
) -> None:
    build_tables(tmp_path / "whole", KNIGHT, TOURS, COUNTS)
    (small / TOURS.file).unlink()
    os.mkfifo(small / TOURS.file)
    text = cli_in_process("diff", str(small), str(tmp_path / "whole"), timeout=20)
    assert text.code == 3
    assert text.err.endswith(f"Run: pipeline precompute knight_tours_3x4 --outputs {small}\n")


def test_a_store_without_a_usable_manifest_is_an_error(small: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for missing in (tmp_path / "empty", tmp_path / "none"):
        for stores in ((missing, small), (small, missing)):
            with pytest.raises(TableMissing, match=missing.name):
                find_differences(*stores)
    assert not (tmp_path / "none").exists()
    manifest = json.loads((small / MANIFEST).read_text())
    del manifest["checksum"]
    other = tmp_path / "other"
    other.mkdir()
    (other / MANIFEST).write_text(seal(manifest | {"format_version": 99}))
    with pytest.raises(TableVersionError, match=str(other)):
        find_differences(small, other)


ROWS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["a", "b", None])), max_size=20)


@settings(max_examples=60)
@given(ROWS, ROWS, st.integers(1, 4))
def test_counts_are_those_of_sets_of_rows(
    a: list[tuple[int, str | None]], b: list[tuple[int, str | None]], shares: int
) -> None:
    schema = {"key": pl.Int64, "value": pl.String}
    old, new = (pl.LazyFrame(rows, schema, orient="row") for rows in (a, b))
    every = {*a, *b}
    assert count_differences(old, new, shares) == RowCounts(
        sum(max(0, b.count(row) - a.count(row)) for row in every),
        sum(max(0, a.count(row) - b.count(row)) for row in every),
    )


def test_large_tables_are_compared_in_shares(copy: Path, outputs: Path) -> None:
    rewrite(copy, "eight_edge", cell("distance", 7, 1))
    stores = Folder(outputs), Folder(copy)
    entries = read_manifest(stores[0])["eight_edge"], read_manifest(stores[1])["eight_edge"]
    for share_rows in (20_000, 1 << 20):
        counts, problem = compare_rows(stores, entries, share_rows=share_rows)
        assert (counts, problem) == ((1, 1), "")
    counts, problem = compare_rows(stores, entries, max_rows=1_000)
    assert (counts, problem) == (None, "rows not compared one by one: more than 1,000")
