"""`verify` finds what is false beside the rows: in footers, in metadata and in the manifest.

The manifest matches each false file here, and its rows are true.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.formats.parquet import make_schema
from puzzle_tablebase.pipeline.proofs.claims import VerifyFailed
from puzzle_tablebase.pipeline.proofs.files import check_contents
from puzzle_tablebase.pipeline.site.data_set import list_facts, make_card
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.registry import list_puzzles
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores import Folder
from tests.support.tampered import (
    describe_file,
    edit_manifest,
    get_refutation,
    open_one,
    prove_one,
    replace_link,
    rewrite,
    run,
    story,
    vouch,
    write_rows,
)
from tests.support.trust_page import require_rows

FIVE = "knight_tours_5x5"
(TABLE,) = KNIGHT.find_tables(FIVE)


@pytest.mark.slow
@pytest.mark.long
def test_published_tables_are_proved(outputs: Path) -> None:
    verified = verify(Folder(outputs))
    default_names = [table.name for known in list_puzzles() for table in known.tables]
    assert [result.table for result in verified.results] == default_names
    assert (verified.unpublished, verified.troubles) == ([], [])
    require_rows(verified.verdicts, 7)
    assert all(claim["passed"] for claim in verified.claims)
    assert {claim["table"] for claim in verified.claims} == {*default_names}


def require_refutation(folder: Path, pattern: str) -> None:
    """Require that the list of tours of 5x5 is refuted: claim, what is found, what is expected."""
    failure = get_refutation(folder, FIVE)
    text = f"{failure.claim['claim']}: {failure.found} | {failure.expected}"
    assert fnmatchcase(text, pattern), text


# ---- the manifest ---------------------------------------------------------------------------

Edit = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("edit", "file", "message"),
    [
        (lambda entry: entry["parquet"].update(bytes=7), "eight.parquet", "bytes * | 7"),
        (lambda entry: entry["parquet"].update(sha256="0"), "eight.parquet", "SHA-256 * | 0"),
        (lambda entry: entry["index"].update(digest="0"), "eight.idx", "digest 0 | *"),
        (lambda entry: entry["index"].update(records=7), "eight.idx", "bytes 733184 | 8192"),
        (lambda entry: entry["index"].update(bytes=7), "eight.idx", "bytes 733184 | 7"),
    ],
)
def test_quick_detects_a_false_manifest_entry(
    copy: Path, edit: Edit, file: str, message: str
) -> None:
    with edit_manifest(copy) as entries:
        edit(entries["eight"])
    with pytest.raises(VerifyFailed) as caught:
        verify(Folder(copy), quick=True)
    assert caught.value.file == str(copy / file)
    assert fnmatchcase(f"{caught.value.found} | {caught.value.expected}", message)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda entry: entry.update(rows=1729), "rows 1728 | 1729"),
        (lambda entry: entry["parameters"].update(board="5x6"), "metadata parameters: * | {*5x6*}"),
        (lambda entry: entry.update(content="0"), "metadata content: * | 0"),
        (lambda entry: entry["parquet"]["footer"].update(bytes=7), "footer * | *"),
        (lambda entry: entry["parquet"]["footer"].update(sha256="0"), "footer * | *"),
    ],
)
def test_a_false_manifest_entry_is_detected(copy: Path, edit: Edit, message: str) -> None:
    with edit_manifest(copy) as entries:
        edit(entries[FIVE])
    assert verify(Folder(copy), quick=True).claims
    require_refutation(copy, f"*: {message}")


# ---- schema and metadata --------------------------------------------------------------------

LARGE = pa.field("path", pa.large_string(), nullable=False)
NULLABLE = pa.field("path", pa.string())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda rows: rows.cast(rows.schema.set(5, LARGE)),
            "column ('path', 'large_string'* | ('path', 'string'*",
        ),
        (
            lambda rows: rows.cast(rows.schema.set(5, NULLABLE)),
            "column ('path', 'string', True, * | ('path', 'string', False, *",
        ),
        (lambda rows: rows.rename_columns([*"abcdef"]), "column ('a', * | *'board'*"),
        (lambda rows: rows.drop_columns("closed"), "*'path'* | ('closed', 'bool', False*"),
    ],
)
def test_another_schema_is_detected(
    copy: Path, change: Callable[[pa.Table], pa.Table], message: str
) -> None:
    path = replace_link(copy / f"{FIVE}.parquet")
    pq.write_table(change(pq.read_table(path)), path)
    with edit_manifest(copy) as entries:
        entries[FIVE]["parquet"] = describe_file(path)
    require_refutation(copy, f"*: {message}")


def test_descriptions_may_have_other_words(copy: Path) -> None:
    """Write the rows with other descriptions of the table and of a column."""
    path, old = replace_link(copy / f"{FIVE}.parquet"), TABLE
    described = [*old.columns[:-1], Column("path", "string", "[x](y) | <b>", distinct=True)]
    table = Table(FIVE, "Some tours", old.rank, tuple(described), old.recipe)
    write_rows(pq.read_table(path), path, table)
    vouch(copy, FIVE)
    result, entries = prove_one(copy, FIVE), read_manifest(Folder(copy))
    assert result.verdicts[0].verdict == "proved"
    assert "descriptions are ignored" in story(result)
    facts = list_facts(Folder(copy), {FIVE: entries[FIVE]}, result.verdicts)
    card = make_card(facts)  # so none enters a page
    assert "<b>" not in card
    assert TABLE.columns[-1].meaning in card


@pytest.mark.parametrize("is_beside", [True, False])
@pytest.mark.parametrize("key", [b"content", b"parameters", b"made_by", b"rank", b"x", b"x\xff"])
def test_false_file_metadata_is_detected(copy: Path, key: bytes, is_beside: bool) -> None:
    """Write a false text in Arrow's schema, or beside it."""
    path, schema = replace_link(copy / f"{FIVE}.parquet"), make_schema(TABLE)
    with pq.ParquetFile(path) as file:
        rows, known = file.read(), dict(file.metadata.metadata)
    known.pop(b"ARROW:schema")
    if not is_beside:
        schema = schema.with_metadata({**schema.metadata, key: b"no"})
    with pq.ParquetWriter(path, schema) as writer:
        writer.write_table(rows.cast(schema))
        writer.add_key_value_metadata(known | ({key: b"no"} if is_beside else {}))
    vouch(copy, FIVE)
    require_refutation(copy, f"*: metadata {key.decode(errors='backslashreplace')}: no | *")


# ---- footers --------------------------------------------------------------------------------


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
        (b"\x08\x2f\x01\x00\x00", b"\x08\x2e\x01\x00\x00", 1728, "*: number: max 302 | 303"),
        # the file's number of rows, with which the manifest agrees, or not
        (b"\x00\x16\x80\x1b\x19", b"\x00\x16\xfe\x1a\x19", 1727, "schema*: rows 1728 | 1727"),
        (b"\x00\x16\x80\x1b\x19", b"\x00\x16\xfe\x1a\x19", 1728, "schema*: rows 1727 | 1728"),
        # a column's path, by which readers find it
        (b"\x19\x18\x05start", b"\x19\x18\x05stars", 1728, "*: start: path_* stars | start"),
        # a column's path that is not valid UTF-8
        (b"\x05start\x25", b"\x05\xfftart\x25", 1728, "* | rows that can be decoded"),
        (b"\x15\x04\x19\x7c", b"\x15\x04\x19\x8c", 1728, "* | rows that can be decoded"),
    ],
)
def test_a_false_footer_is_detected(
    copy: Path, old: bytes, new: bytes, rows: int, message: str
) -> None:
    change_footer(copy, FIVE, lambda footer: footer.replace(old, new), rows)
    require_refutation(copy, message)


def test_a_false_statistic_of_the_last_row_group_is_detected(copy: Path) -> None:
    rewrite(copy, FIVE, lambda rows: rows, 200)
    metadata = pq.read_metadata(copy / f"{FIVE}.parquet")
    number = [column.name for column in TABLE.columns].index("number")
    greatest = metadata.row_group(8).column(number).statistics.max

    def change(footer: bytes) -> bytes:
        before, true, after = footer.rpartition(struct.pack("<I", greatest))
        assert true
        return before + struct.pack("<I", greatest - 1) + after

    change_footer(copy, FIVE, change, 1728)
    require_refutation(copy, f"*: number: max {greatest - 1} | {greatest}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sorting_columns": [pq.SortingColumn(2)]}, "sorting columns (*column_index=2*),) | ()"),
        ({"write_page_index": True}, "indexes of pages True | False"),
        ({"store_schema": False}, "column ('board', 'string', False, {}) | *"),
    ],
)
def test_other_options_of_the_writer_are_detected(
    copy: Path, options: dict[str, Any], message: str
) -> None:
    path = replace_link(copy / f"{FIVE}.parquet")
    write_rows(pq.read_table(path), path, TABLE, **options)
    vouch(copy, FIVE)
    require_refutation(copy, f"*: {message}")


def test_statistics_of_row_groups_without_nulls_and_with(copy: Path) -> None:
    """Include nulls, texts and booleans, whatever the size of the row groups."""
    rewrite(copy, "senet", lambda rows: rows, 10_000)
    listed = open_one(copy, "senet")
    assert run(listed, check_contents(listed)).claims


@pytest.mark.parametrize(
    "damage", [lambda _: b"nothing", lambda data: data[:200] + bytes(200) + data[400:]]
)
def test_undecodable_parquet_is_detected(copy: Path, damage: Callable[[bytes], bytes]) -> None:
    path = replace_link(copy / f"{FIVE}.parquet")
    path.write_bytes(damage(path.read_bytes()))
    with edit_manifest(copy) as entries:
        entries[FIVE]["parquet"] = describe_file(path)
    require_refutation(copy, "*: * | rows that can be decoded")
