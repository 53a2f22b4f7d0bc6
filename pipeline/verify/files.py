"""The published files as proofs read them: compared with the manifest, and decoded.

The quick checks read bytes and decode no table. Rows and records are then compared with the
definition of their table, and with what they must be.
"""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from puzzle_tablebase.errors import TableMissing
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.tasks import run_in_threads
from puzzle_tablebase.pipeline.verify.claims import (
    Claim,
    ClaimCheck,
    Listener,
    PublishedTable,
    Rows,
)
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables import INDEX_VERSION, MANIFEST
from puzzle_tablebase.tables.access import format_rebuild_command, make_open_error
from puzzle_tablebase.tables.index_format import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    MAGIC,
    Header,
    compute_checksum,
    count_blocks,
    read_records,
)
from puzzle_tablebase.tables.manifest import (
    Entry,
    File,
    IndexEntry,
    compute_sha256,
    measure_footer,
    read_manifest,
)
from puzzle_tablebase.tables.parquet import (
    ContentHash,
    TableWriter,
    list_sorting_columns,
    make_schema,
)
from puzzle_tablebase.tables.store import Store

Result = TypeVar("Result")
BUILD_KEYS = ("parameters", "made_by", "content")
"""The keys in a file's metadata whose texts stand in the manifest too."""


def list_tables(store: Store, listener: Listener) -> list[PublishedTable]:
    """Return every published table, those of known puzzles first.

    Raise TableMissing if none is published.
    """
    entries = read_manifest(store)
    if not entries:
        raise TableMissing(store.locate(MANIFEST), format_rebuild_command("", store))
    text = "every known table is listed with the files that its definition names"
    claim = Claim("manifest", MANIFEST, text, len(entries), "tables")
    with ClaimCheck(claim, store, format_rebuild_command("", store, force=True), listener) as check:
        published = []
        for puzzle in list_puzzles():
            for table in puzzle.list_published([*entries]):
                entry = entries.pop(table.name, None)
                if entry is None:
                    continue
                check.require_equal(
                    f"rows of {table.name}:", bool(entry.parquet), bool(table.columns)
                )
                check.require_equal(f"index of {table.name}:", bool(entry.index), bool(table.index))
                published.append(PublishedTable(store, table.name, entry, puzzle, table, listener))
    unknown = sorted(entries.items())
    return published + [
        PublishedTable(store, name, entry, None, None, listener) for name, entry in unknown
    ]


def check_files(published: PublishedTable) -> None:
    """Check sizes, SHA-256 and the index's header and blocks, without decoding any row."""
    entry = published.entry
    unknown = "" if published.table else " (no rules for this table here: its rows are not proved)"
    text = f"size and SHA-256 match the manifest{unknown}"
    if entry.parquet:
        with published.begin_claim(text, force=False) as check:
            _check_bytes(check, entry.parquet)
    if entry.index:
        with published.begin_claim(text, index=True, force=False) as check:
            _check_bytes(check, entry.index)
        _check_index(published)


def check_entry(published: PublishedTable) -> None:
    """Compare the manifest's entry of a table without rows with the table's definition.

    For a table with rows, `decode_rows` does this.
    """
    table, entry = published.definition, published.entry
    text = "parameters and number of records match the definition of the table"
    with published.begin_claim(text, index=True) as check:
        check.require_equal("records", entry.rows, published.index.records)
        check.require_equal("parameters", entry.parameters, table.recipe.list_parameters())


def _check_bytes(check: ClaimCheck, entry: File | IndexEntry) -> None:
    store, file = check.store, check.claim.file
    try:
        check.require_equal("bytes", store.get_size(file), entry.bytes)
        check.require_equal("SHA-256", compute_sha256(store, file), entry.sha256)
    except OSError as error:
        raise make_open_error(store.locate(file), error, check.command) from error


def _check_index(published: PublishedTable) -> None:
    entry, store = published.index, published.store
    text = "the header matches the table: version, name, records, content hash"
    with published.begin_claim(text, index=True) as check, store.open(entry.file) as file:
        header = file.read(BLOCK_BYTES)
        if len(header) < BLOCK_BYTES:
            check.refute(f"bytes {len(header)}", f"a header of {BLOCK_BYTES} bytes")
        fields = Header(header)
        # an unknown table's records may have any width that fits a block
        unknown_width = min(max(fields.width, 1), BODY_BYTES)
        width = struct.calcsize(published.table.record_format) if published.table else unknown_width
        check.require_equal("magic", fields.magic, MAGIC)
        check.require_equal("version", fields.version, INDEX_VERSION)
        check.require_equal("zero", fields.zero, 0)
        check.require_equal("width", fields.width, width)
        check.require_equal("block size", fields.block, BLOCK_BYTES)
        check.require_equal("records", fields.count, entry.records)
        check.require_equal("content hash", fields.content.hex(), published.entry.content)
        check.require_equal("name", fields.name, published.name.encode())
        check.require_equal(
            "bytes", store.get_size(entry.file), BLOCK_BYTES * count_blocks(width, entry.records)
        )
    records_per_block = BODY_BYTES // width
    text = "every block has the right checksum, and zeros after its records"
    with published.begin_claim(text, index=True) as check, store.open(entry.file) as file:
        for number in range(count_blocks(width, entry.records)):
            block = file.read(BLOCK_BYTES)
            checksum = CHECKSUM.pack(compute_checksum(fields.content, number, block[:BODY_BYTES]))
            check.require_equal(
                f"block {number}: checksum", block[BODY_BYTES:].hex(), checksum.hex()
            )
            remaining = entry.records - (number - 1) * records_per_block
            used = min(records_per_block, remaining) * width if number else HEADER.size
            zeros = block[used:BODY_BYTES].count(0)
            check.require_equal(
                f"block {number}: zeros after its records", zeros, BODY_BYTES - used
            )


def decode_rows(
    published: PublishedTable, transform: Callable[[Rows], Result]
) -> Iterator[tuple[Rows, Result]]:
    """Yield a table's rows in order, one row group at a time, each with its transformed result.

    As many row groups are decoded in parallel as there are processors. After the last one, the
    content hash and the file's metadata are compared with the manifest.
    """
    table, entry = published.definition, published.entry
    footer, groups = _list_groups(published)
    content, count = ContentHash(table.columns), 0
    text = "every row decodes, and the content hash matches the manifest"
    with published.begin_claim(text) as check:

        def decode_group(number: int, begin: int) -> tuple[Rows, Result]:
            rows = _read_group(check, table, footer, number, begin)
            return rows, transform(rows)

        for rows, result in run_in_threads(decode_group, groups):
            content.update(rows.batch)
            count += len(rows)
            yield rows, result
        check.require_equal("rows", count, entry.rows)
        check.require_equal("content hash", content.hexdigest(), entry.content)
        _check_metadata(check, footer.metadata or {}, entry)


def read_rows(published: PublishedTable) -> Rows:
    """Return all of a table's rows in one batch."""
    empty = pa.RecordBatch.from_pylist([], make_schema(published.definition))
    return Rows(
        pa.concat_batches([empty, *(rows.batch for rows, _ in decode_rows(published, len))])
    )


def _list_groups(published: PublishedTable) -> tuple[pq.FileMetaData, list[tuple[int, int]]]:
    """Compare the footer with the table's definition; return it, and the row groups.

    A row group is its number and that of its first row.
    """
    table, entry = published.definition, published.entry
    groups, begin = list[tuple[int, int]](), 0
    text = "schema, all metadata and number of rows match the definition of the table"
    with published.begin_claim(text) as check:
        source = published.store.get_source(published.file)
        with translate_decode_errors(check), pq.ParquetFile(source) as file:
            schema, footer = file.schema_arrow, file.metadata
            measured = measure_footer(published.store, published.file)
            expected = published.parquet.footer
            check.require_equal("bytes of the footer", measured.bytes, expected.bytes)
            check.require_equal("SHA-256 of the footer", measured.sha256, expected.sha256)
        texts = (
            version.to_string(truncate_metadata=False) for version in (schema, make_schema(table))
        )
        for lines in zip_longest(*map(str.splitlines, texts)):
            check.require_equal("schema:", *lines)
        _check_texts(check, table, footer.metadata or {})
        check.require_equal("rows", footer.num_rows, entry.rows)
        for number in range(footer.num_row_groups):
            if rows := footer.row_group(number).num_rows:
                groups.append((number, begin))
                begin += rows
        check.require_equal("rows", begin, entry.rows)
        check.require_equal("parameters", entry.parameters, table.recipe.list_parameters())
    return footer, groups


def _check_texts(check: ClaimCheck, table: Table, metadata: dict[bytes, bytes]) -> None:
    """Check a footer's texts about the table, which readers without Arrow show."""
    other = (b"ARROW:schema", *(key.encode() for key in BUILD_KEYS))
    found = {key: text for key, text in metadata.items() if key not in other}
    expected = make_schema(table).metadata or {}
    for key in sorted({*found, *expected}):
        texts = (
            (texts[key].decode("utf-8", "replace") if key in texts else None)
            for texts in (found, expected)
        )
        check.require_equal(f"metadata {key.decode('utf-8', 'replace')}:", *texts)


def _check_metadata(check: ClaimCheck, metadata: dict[bytes, bytes], entry: Entry) -> None:
    """Check the metadata about its build in a file."""
    values = json.dumps(entry.parameters, sort_keys=True), entry.made_by, entry.content
    for key, value in zip(BUILD_KEYS, values, strict=True):
        text = metadata.get(key.encode(), b"").decode("utf-8", "replace")
        check.require_equal(f"metadata {key}:", text, value)


def _read_group(
    check: ClaimCheck, definition: Table, footer: pq.FileMetaData, number: int, begin: int
) -> Rows:
    """Return the rows of a row group, once they are as its footer says.

    Readers skip row groups by the footer's statistics, so wrong ones would hide rows.
    """
    group, source = footer.row_group(number), check.store.get_source(check.claim.file)
    with translate_decode_errors(check), pq.ParquetFile(source, metadata=footer) as parquet_file:
        table = parquet_file.read_row_group(number, use_threads=False)
        (rows,) = table.combine_chunks().to_batches()
        rows.validate(full=True)
        check.require_equal("rows in a group", group.num_rows, rows.num_rows)
        check.require_equal(
            "sorting columns", group.sorting_columns, tuple(list_sorting_columns(definition))
        )
        for column, name in enumerate(rows.schema.names):
            chunk, values = group.column(column), rows.column(name)
            plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
            expected = {"path_in_schema": name, "num_values": len(values), "distinct_count": None}
            expected |= {"null_count": values.null_count, **pc.min_max(plain).as_py()}
            actual = chunk.to_dict()
            for what, value in {**(actual["statistics"] or {}), **actual}.items():
                if what in expected and value is not None:
                    check.require_equal(f"{name}: {what}", value, expected[what])
            check.require_equal(
                "indexes of pages", chunk.has_column_index or chunk.has_offset_index, False
            )
    return Rows(rows, begin)


@contextlib.contextmanager
def translate_decode_errors(check: ClaimCheck) -> Iterator[None]:
    """Refute a claim if Arrow cannot decode the file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        check.refute(str(error), "rows that can be decoded")


def check_records(published: PublishedTable, text: str, fields: Mapping[str, Array]) -> None:
    """Prove that each field of an index holds the given values, one for each record.

    The index's header must be checked already.
    """
    with published.begin_claim(text, index=True) as check:
        for expected in fields.values():
            check.require_equal("records", published.index.records, len(expected))
        for begin, records in iter_records(published, check):
            for name, expected in fields.items():
                is_text = expected.dtype.kind == "S"
                found = records[name] if is_text else view_field(records, name)
                differ = found != expected[begin:][: len(records)]
                for row in np.argwhere(differ)[:1, 0].tolist():
                    record = {field: view_field(records, field)[row].tolist() for field in fields}
                    value = expected[begin + row].tolist()
                    check.refute(f"{name} {record[name]}", value, begin + row, record)


def iter_records(published: PublishedTable, check: ClaimCheck) -> Iterator[tuple[int, Array]]:
    """Yield the records of an index in chunks, each with the rank of its first record.

    The index's header must be checked already. After the last chunk, the content hash of a table
    without rows, which is that of its records, is compared with the manifest.
    """
    table, begin = published.definition, 0
    hasher = None if table.columns else TableWriter(None, table)
    with published.store.open(published.index.file) as file:
        for records in read_records(file, table, published.index.records):
            yield begin, records  # first, as a proof says more about a wrong record than its hash
            begin += len(records)
            if hasher:
                hasher.write({name: records[name] for name, _ in table.index})
    if hasher:
        check.require_equal("content hash", hasher.content, published.entry.content)


def view_field(records: Array, name: str) -> Array:
    """Return a field's values; text of a fixed width as single bytes, with zeros at its end."""
    values = np.ascontiguousarray(records[name])
    if values.dtype.kind != "S":
        return values
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize)
