"""`verify` finds false values beside the rows: in footers, in further counts, in the manifest.

The manifest matches each false file here, and its rows are true.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.formats.parquet import list_sorting_columns, make_schema
from puzzle_tablebase.pipeline.proofs.files import check_contents
from tests.support.tampered import (
    TABLES,
    describe_file,
    edit_manifest,
    get_refutation,
    open_one,
    replace_link,
    rewrite,
    run,
    vouch,
    write_rows,
)

FIVE = "knight_tours_5x5"
COUNTS = "knight_counts"


def change_footer(folder: Path, name: str, change: Callable[[bytes], bytes], rows: int) -> None:
    path = replace_link(folder / f"{name}.parquet")
    data = path.read_bytes()
    size = struct.unpack("<I", data[-8:-4])[0]
    footer = change(data[-8 - size : -8])
    assert footer != data[-8 - size : -8]
    path.write_bytes(data[: -8 - size] + footer + struct.pack("<I4s", len(footer), b"PAR1"))
    with edit_manifest(folder) as entries:
        entries[name] |= {"rows": rows, "parquet": describe_file(path)}


@pytest.mark.parametrize(
    ("old", "new", "rows", "message"),
    [
        # the greatest number of a tour, according to the statistics
        (
            b"\x08\x2f\x01\x00\x00",
            b"\x08\x2e\x01\x00\x00",
            1728,
            "*: number: max 302 | 303",
        ),
        # the file's number of rows, with which the manifest agrees
        (b"\x00\x16\x80\x1b\x19", b"\x00\x16\xfe\x1a\x19", 1727, "columns*: rows 1728 | 1727"),
        # a column's path, by which readers find it
        (
            b"\x19\x18\x05start",
            b"\x19\x18\x05stars",
            1728,
            "*: start: path_* stars | start",
        ),
        # a column's path that is not valid UTF-8
        (b"\x05start\x25", b"\x05\xfftart\x25", 1728, "* | rows that can be decoded"),
        (b"\x15\x04\x19\x7c", b"\x15\x04\x19\x8c", 1728, "* | rows that can be decoded"),
    ],
)
def test_a_false_footer_is_detected(
    copy: Path, old: bytes, new: bytes, rows: int, message: str
) -> None:
    change_footer(copy, FIVE, lambda footer: footer.replace(old, new), rows)
    failure = get_refutation(copy, FIVE)
    text = f"{failure.claim['claim']}: {failure.found} | {failure.expected}"
    assert fnmatchcase(text, message)


def test_a_false_statistic_of_the_last_row_group_is_detected(copy: Path) -> None:
    rewrite(copy, FIVE, lambda rows: rows, 200)
    (copy / f"{FIVE}.parquet").rename(tmp := copy / "rows")
    (copy / f"{FIVE}.parquet").symlink_to(tmp)
    metadata = pq.read_metadata(tmp)
    assert metadata.num_row_groups == 9
    number = [column.name for column in TABLES[FIVE].columns].index("number")
    greatest = metadata.row_group(8).column(number).statistics.max

    def change(footer: bytes) -> bytes:
        before, true, after = footer.rpartition(struct.pack("<I", greatest))
        assert true
        return before + struct.pack("<I", greatest - 1) + after

    change_footer(copy, FIVE, change, 1728)
    failure = get_refutation(copy, FIVE)
    assert f"max {greatest - 1}" in str(failure.found)
    assert str(failure.expected) == str(greatest)


def test_a_false_sort_order_is_detected(copy: Path) -> None:
    path, table = replace_link(copy / f"{FIVE}.parquet"), TABLES[FIVE]
    rows = pq.read_table(path)
    write_rows(rows, path, table, sorted_by=[pq.SortingColumn(2)])
    vouch(copy, FIVE)
    failure = get_refutation(copy, FIVE)
    assert failure.found == f"sorting columns {(pq.SortingColumn(2),)}"
    assert failure.expected == tuple(list_sorting_columns(table))


def test_a_missing_arrow_schema_is_detected(copy: Path) -> None:
    rows = pq.read_table(copy / f"{COUNTS}.parquet").cast(make_schema(TABLES[COUNTS]))
    pq.write_table(rows, replace_link(copy / f"{COUNTS}.parquet"), store_schema=False)
    vouch(copy, COUNTS)
    failure = get_refutation(copy, COUNTS)
    assert str(failure.found).startswith("column ('start', 'string'")
    assert str(failure.expected).startswith("('start', 'dictionary")


def test_statistics_of_row_groups_without_nulls_and_with(copy: Path) -> None:
    """Include nulls, texts and booleans, whatever the size of the row groups."""
    rewrite(copy, "senet", lambda rows: rows, 10_000)
    listed = open_one(copy, "senet")
    assert run(listed, check_contents(listed)).claims


@pytest.mark.parametrize("value", ["bytes", "sha256"])
def test_a_footer_differing_from_the_manifest_is_detected(copy: Path, value: str) -> None:
    with edit_manifest(copy) as entries:
        footer = entries[FIVE]["parquet"]["footer"]
        footer[value] = footer[value] * 2
    assert str(get_refutation(copy, FIVE).found).startswith("footer ")


@pytest.mark.parametrize("key", ["content", "parameters", "made_by", "rank", "x"])
def test_false_file_metadata_is_detected(copy: Path, key: str) -> None:
    path = replace_link(copy / f"{FIVE}.parquet")
    with pq.ParquetFile(path) as file:
        rows, text = file.read(), dict(file.metadata.metadata)
    rows = rows.cast(make_schema(TABLES[FIVE]))
    text = {name: text[name] for name in (b"content", b"parameters", b"made_by")}
    # the texts beside Arrow's schema, in which they stay as they were
    text[key.encode()] = b"something else"
    with pq.ParquetWriter(
        path, rows.schema, sorting_columns=list_sorting_columns(TABLES[FIVE])
    ) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata(text)
    vouch(copy, FIVE)
    assert get_refutation(copy, FIVE).found == f"metadata {key}: something else"
