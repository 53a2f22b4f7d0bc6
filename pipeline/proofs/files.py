"""The claims that all proofs share: the files are as listed and match the table's definition.

They are run first, so a proof can read rows and records with any library, and only needs to compare
them with the rules.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from puzzle_tablebase.formats.counts import Depth
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    compute_index_bytes,
)
from puzzle_tablebase.formats.index_writer import BlockEncoder
from puzzle_tablebase.formats.manifest import (
    File,
    IndexEntry,
    hash_stream,
    measure_footer,
)
from puzzle_tablebase.formats.parquet import (
    COMMENT,
    ContentHash,
    list_sorting_columns,
    make_schema,
)
from puzzle_tablebase.formats.row_groups import open_rows
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Claims,
    Difference,
    ListedTable,
    require_equal,
)
from puzzle_tablebase.pipeline.proofs.verdicts import Proved
from puzzle_tablebase.schema import TYPE_LETTERS, Table
from puzzle_tablebase.stores import MANIFEST

MAX_GROUP_BYTES = 1 << 30
"""The most bytes of the texts of a row group, as the longest would make them."""

# ---- the files, byte by byte ------------------------------------------------------------------


def check_files(listed: ListedTable) -> Claims[None]:
    """Claim that the files are as listed, and that the index has the right form."""
    table, entry = listed.table, listed.entry
    if table:
        text = "the table is listed with the files that its definition names"
        defined = [table.file] * bool(table.columns) + [table.index_file] * bool(table.index)
        files = [file.file for file in entry.all_files]
        yield Claim(text, require_equal("files", files, defined), MANIFEST)
    unknown = "" if table else " (no rules for this table here: its rows are not proved)"
    for file in entry.all_files:
        text = f"size and SHA-256 match the manifest{unknown}"
        yield Claim(text, _compare_bytes(listed, file), file.file)
    if table and entry.index:
        text = "header, checksums and zeros are those of an index of the table with these records"
        yield listed.claim_records(text, _compare_index(listed))


def _compare_bytes(listed: ListedTable, entry: File | IndexEntry) -> Iterator[Difference]:
    file = listed.open(entry.file)
    yield from require_equal("bytes", file.size, entry.bytes)
    with file.open_stream() as stream:
        yield from require_equal("SHA-256", hash_stream(stream), entry.sha256)


def _compare_index(listed: ListedTable) -> Iterator[Difference]:
    """Compare an index with the blocks that its records make, and its header; then its digest."""
    entry, table = listed.index, listed.definition
    yield from require_equal("bytes", entry.bytes, compute_index_bytes(table, entry.records))
    encoder, digest, number = BlockEncoder(table, entry.records), hashlib.sha256(), 0
    for _, records in listed.iter_records():
        blocks, checksums = encoder.encode_blocks(number, records.tobytes())
        yield from _compare_blocks(listed, 1 + number, blocks)
        digest.update(checksums.tobytes())
        number += len(checksums)
    yield from _compare_blocks(listed, 0, encoder.encode_header(digest.digest()))
    yield from require_equal("digest", entry.digest, digest.hexdigest())


def _compare_blocks(listed: ListedTable, first: int, expected: bytes) -> Iterator[Difference]:
    """Yield the first block, from number `first` on, whose bytes are not as expected."""
    found = listed.open(listed.index.file).read(len(expected), first * BLOCK_BYTES)
    if found != expected:
        offsets = range(0, len(expected), BLOCK_BYTES)
        is_same = [found[at:][:BLOCK_BYTES] == expected[at:][:BLOCK_BYTES] for at in offsets]
        number = first + is_same.index(False)
        what = "the header" if number == 0 else f"block {number:,}"
        text = "those of an index of the table with these records"
        yield Difference(f"other bytes in {what}", text)


# ---- their contents against the definition of the table ---------------------------------------


def check_contents(listed: ListedTable) -> Claims[None]:
    """Claim that files and manifest match the definition of a known table."""
    if not listed.definition.columns:
        text = "parameters, number of records and content hash match the definition of the table"
        yield listed.claim_records(text, _compare_records(listed))
        return
    text = (
        "schema, row count and metadata match the table's definition and the manifest; "
        "descriptions are ignored"
    )
    yield Claim(text, _compare_footer(listed))
    text = "every row decodes, and the content hash matches the manifest"
    yield Claim(text, _compare_rows(listed))


def _compare_records(listed: ListedTable) -> Iterator[Difference]:
    """Compare the manifest's entry of an index alone with the records."""
    entry, table = listed.entry, listed.definition
    yield from require_equal("records", entry.rows, listed.index.records)
    yield from require_equal("parameters", entry.parameters, table.recipe.parameters)
    yield from require_equal("content hash", entry.content, listed.index.sha256)


def _compare_footer(listed: ListedTable) -> Iterator[Difference]:
    table, entry = listed.definition, listed.entry
    with listed.open(listed.file).open_stream() as stream:
        file = open_rows(stream)
        schema, footer = file.schema_arrow, file.metadata
        measured = measure_footer(stream)
    yield from require_equal("footer", measured, entry.parquet and entry.parquet.footer)
    defined = make_schema(table)
    for column, expected in zip_longest(_list_columns(schema), _list_columns(defined)):
        yield from require_equal("column", column, expected)
    parameters = json.dumps(entry.parameters, sort_keys=True)
    build = {"content": entry.content, "made_by": entry.made_by, "parameters": parameters}
    texts = {**_list_texts(defined.metadata), **build}
    # in Arrow's own schema, and in the footer's plain metadata, which readers without Arrow show
    for found in ({**build, **_list_texts(schema.metadata)}, _list_texts(footer.metadata)):
        for key in sorted({*found, *texts}):
            yield from require_equal(f"metadata {key}:", found.get(key), texts.get(key))
    rows = sum(footer.row_group(number).num_rows for number in range(footer.num_row_groups))
    for count in (footer.num_rows, rows):
        yield from require_equal("rows", count, entry.rows)
    if table.rows is not None and rows > table.rows:  # proofs say which are missing
        yield from require_equal("rows", rows, table.rows)
    yield from require_equal("parameters", entry.parameters, table.recipe.parameters)


def _list_columns(schema: pa.Schema) -> list[tuple[object, ...]]:
    """List name, type and metadata of each column."""
    return [
        (field.name, str(field.type), field.nullable, _list_texts(field.metadata))
        for field in schema
    ]


def _list_texts(metadata: Mapping[bytes, bytes] | None) -> dict[str, str]:
    """List the texts of metadata by their keys; those of descriptions are left empty."""
    texts = {
        key.decode(errors="backslashreplace"): text.decode(errors="backslashreplace")
        for key, text in (metadata or {}).items()
        if key != b"ARROW:schema"
    }
    described = [key for key in texts if key in ("meaning", COMMENT) or key.startswith("column.")]
    return {**texts, **dict.fromkeys(described, "")}


def _compare_rows(listed: ListedTable) -> Iterator[Difference | int]:
    """Decode all row groups, as many at once as there are processors, and hash them in order."""
    table, entry, done = listed.definition, listed.entry, 0
    content = ContentHash(table.columns)
    opened = listed.open(listed.file)
    with opened.open_stream() as stream:
        footer = open_rows(stream).metadata

    def decode(number: int) -> tuple[pa.RecordBatch, list[Difference]]:
        with opened.open_stream() as stream:
            group = open_rows(stream, metadata=footer).read_row_group(number, use_threads=False)
        (rows,) = group.combine_chunks().to_batches()
        rows.validate(full=True)
        return rows, [*_compare_statistics(table, footer.row_group(number), rows)]

    yield from _require_room(listed, footer)
    groups = range(footer.num_row_groups)
    filled = [(number,) for number in groups if footer.row_group(number).num_rows]
    for rows, differences in run_in_threads(decode, filled):
        yield from differences
        content.update(rows)
        done += rows.num_rows
        yield done
    yield from require_equal("content hash", content.hexdigest(), entry.content)


def _require_room(listed: ListedTable, footer: pq.FileMetaData) -> Iterator[Difference]:
    """Yield a difference if the texts of a row group would not fit the memory, before decoding it.

    A text that is stored once may be in any number of rows; polars does not copy it for each.
    """
    names = [column.name for column in listed.definition.columns if column.type == "string"]
    rows = max((footer.row_group(at).num_rows for at in range(footer.num_row_groups)), default=0)
    if names:
        longest = listed.scan_rows(*names).select(pl.col(names).str.len_bytes().max()).collect()
        size = rows * sum(each or 0 for each in longest.row(0))
        if size > MAX_GROUP_BYTES:
            yield Difference(f"texts of {size:,} bytes in {rows:,} rows", "texts that fit")


def _compare_statistics(
    table: Table, group: pq.RowGroupMetaData, rows: pa.RecordBatch
) -> Iterator[Difference]:
    """Compare a row group with its statistics in the footer, by which readers skip rows."""
    order = tuple(list_sorting_columns(table))
    yield from require_equal("sorting columns", group.sorting_columns, order)
    for column, name in enumerate(rows.schema.names):
        chunk, values = group.column(column), rows.column(name)
        plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
        expected = {"path_in_schema": name, "num_values": len(values), "distinct_count": None}
        expected |= {"null_count": values.null_count, **pc.min_max(plain).as_py()}
        found = chunk.to_dict()
        for what, value in {**(found["statistics"] or {}), **found}.items():
            if what in expected and value is not None:
                yield from require_equal(f"{name}: {what}", value, expected[what])
        has_pages = chunk.has_column_index or chunk.has_offset_index
        yield from require_equal("indexes of pages", has_pages, False)


# ---- what no proof compared, and the manifest's counts ----------------------------------------


def check_counts(listed: ListedTable, proved: Proved) -> Claims[list[str]]:
    """Claim that the manifest's counts are those of the proof, or of the rows.

    Return the names of columns and fields that no rule defines: nothing is claimed about them.
    """
    table = listed.definition
    found = {(goal, depth): states for goal, depth, states in listed.entry.list_depths()}
    expected = proved.depths or _count_rows(listed)
    columns = [each.name for each in table.columns if each.name not in proved.columns]
    fields = [name for name, _ in table.index if name not in proved.fields]
    counts = ["states at each distance"] if found and not expected else []
    if expected:
        text = "as many states are at each distance as the proof counted"
        yield Claim(text, _compare_counts(listed, found, expected), MANIFEST)
    return [*columns, *fields, *counts]


def _compare_counts(
    listed: ListedTable, found: Mapping[Depth, int], expected: Mapping[Depth, int]
) -> Iterator[Difference]:
    for goal, depth in dict.fromkeys([*found, *expected]):
        what = f"states of {listed.name}{f', {goal}' if goal else ''} at distance {depth}:"
        numbers = (counts.get((goal, depth), 0) for counts in (found, expected))
        yield from require_equal(what, *numbers)


def _count_rows(listed: ListedTable) -> dict[Depth, int]:
    """Count the rows of each goal at each distance; return none for a table without distances."""
    types, depth = {each.name: each.type for each in listed.definition.columns}, listed.depth
    if types.get(depth) not in TYPE_LETTERS:
        return {}
    keys = [name for name in ("goal", depth) if name in types]
    counts = listed.scan_rows(*keys).collect().group_by(keys).len()
    counts = counts.sort(*reversed(keys), nulls_last=True)
    goals = counts["goal"].to_list() if "goal" in types else [None] * len(counts)
    return dict(zip(zip(goals, counts[depth], strict=True), counts["len"], strict=True))
