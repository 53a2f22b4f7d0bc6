"""The claims that all proofs share: the files are as listed, and hold what their table defines.

They are run first, so that a proof reads rows and records with any library, and says only what the
rules say of them.
"""

from __future__ import annotations

import errno
import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from puzzle_tablebase.errors import NotAFile, Unreachable
from puzzle_tablebase.formats import INDEX_VERSION
from puzzle_tablebase.formats.index import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    MAGIC,
    Header,
    compute_checksum,
    count_blocks,
)
from puzzle_tablebase.formats.manifest import (
    Depth,
    Entry,
    File,
    IndexEntry,
    compute_sha256,
    measure_footer,
)
from puzzle_tablebase.formats.parquet import (
    ContentHash,
    TableWriter,
    list_sorting_columns,
    make_schema,
)
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Claims,
    Difference,
    ListedTable,
    require_equal,
)
from puzzle_tablebase.pipeline.proofs.verdicts import Proved
from puzzle_tablebase.pipeline.tasks import run_in_threads
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import MANIFEST

BUILD_KEYS = ("parameters", "made_by", "content")
"""The keys in a file's metadata whose texts stand in the manifest too."""
NO_RULE = "no rule defines it"


# ---- the files, byte by byte ------------------------------------------------------------------


def check_files(listed: ListedTable) -> Claims[None]:
    """Claim that sizes, SHA-256 and the index's header and blocks are right; decode no row."""
    entry = listed.entry
    unknown = "" if listed.table else " (no rules for this table here: its rows are not proved)"
    text = f"size and SHA-256 match the manifest{unknown}"
    for file in entry.all_files:
        yield Claim(text, _compare_bytes(listed, file), file.file, needs_force=False)
    if entry.index:
        text = "the header matches the table: version, name, records, content hash"
        yield listed.claim_records(text, _compare_header(listed))
        text = "every block has the right checksum, and zeros after its records"
        yield listed.claim_records(text, _compare_blocks(listed))


def _compare_bytes(listed: ListedTable, entry: File | IndexEntry) -> Iterator[Difference]:
    store, file = listed.store, entry.file
    yield from require_equal("bytes", store.get_size(file), entry.bytes)
    yield from require_equal("SHA-256", compute_sha256(store, file), entry.sha256)


def _get_width(listed: ListedTable, header: Header) -> int:
    """Return the bytes of a record; an unknown table's may have any width that fits a block."""
    if listed.table:
        return struct.calcsize(listed.table.record_format)
    return min(max(int(header.width), 1), BODY_BYTES)


def _compare_header(listed: ListedTable) -> Iterator[Difference]:
    entry, store = listed.index, listed.store
    with store.open(entry.file) as file:
        block = file.read(BLOCK_BYTES)
    if len(block) < BLOCK_BYTES:
        yield Difference(f"bytes {len(block)}", f"a header of {BLOCK_BYTES} bytes")
    header = Header(block)
    width = _get_width(listed, header)
    size = BLOCK_BYTES * count_blocks(width, entry.records)
    yield from require_equal("magic", header.magic, MAGIC)
    yield from require_equal("version", header.version, INDEX_VERSION)
    yield from require_equal("zero", header.zero, 0)
    yield from require_equal("width", header.width, width)
    yield from require_equal("block size", header.block, BLOCK_BYTES)
    yield from require_equal("records", header.count, entry.records)
    yield from require_equal("content hash", header.content.hex(), listed.entry.content)
    yield from require_equal("name", header.name, listed.name.encode())
    yield from require_equal("bytes", store.get_size(entry.file), size)


def _compare_blocks(listed: ListedTable) -> Iterator[Difference]:
    entry = listed.index
    with listed.store.open(entry.file) as file:
        header = Header(file.read(BLOCK_BYTES))
        file.seek(0)
        width = _get_width(listed, header)
        records_per_block = BODY_BYTES // width
        for number in range(count_blocks(width, entry.records)):
            block = file.read(BLOCK_BYTES)
            body = block[:BODY_BYTES]
            checksum = CHECKSUM.pack(compute_checksum(header.content, number, body))
            what = f"block {number}: checksum"
            yield from require_equal(what, block[BODY_BYTES:].hex(), checksum.hex())
            remaining = entry.records - (number - 1) * records_per_block
            used = min(records_per_block, remaining) * width if number else HEADER.size
            what = f"block {number}: zeros after its records"
            yield from require_equal(what, body[used:].count(0), BODY_BYTES - used)


# ---- their contents against the definition of the table ---------------------------------------


def check_contents(listed: ListedTable) -> Claims[None]:
    """Claim that files and manifest say of a known table what its definition says."""
    if not listed.definition.columns:
        text = "parameters and number of records match the definition of the table"
        yield listed.claim_records(text, _compare_entry(listed))
        text = "the content hash of the records matches the manifest"
        yield listed.claim_records(text, _compare_record_hash(listed))
        return
    text = "schema, all metadata and number of rows match the definition of the table"
    yield Claim(text, refute_bad_files(_compare_footer(listed)))
    text = "every row decodes, and the content hash matches the manifest"
    yield Claim(text, refute_bad_files(_compare_rows(listed)))


def refute_bad_files(differences: Iterator[Difference | int]) -> Iterator[Difference | int]:
    """Yield differences, and one more if Arrow cannot decode the file."""
    try:
        yield from differences
    except (pa.ArrowException, OSError, ValueError) as error:
        if is_trouble(error):
            raise
        yield Difference(str(error), "rows that can be decoded")


def is_trouble(error: Exception) -> bool:
    """Return whether a file could not be read: this says nothing about its content.

    Arrow raises OSError for content too, but then it has no number of the system's.
    """
    if isinstance(error, Unreachable | NotAFile):
        return True
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def _compare_entry(listed: ListedTable) -> Iterator[Difference]:
    table, entry = listed.definition, listed.entry
    if entry.index and not entry.parquet:
        yield from require_equal("records", entry.rows, entry.index.records)
    yield from require_equal("parameters", entry.parameters, table.recipe.parameters)


def _compare_record_hash(listed: ListedTable) -> Iterator[Difference]:
    table = listed.definition
    hasher = TableWriter(None, table)
    for _, records in listed.iter_records():
        hasher.write({name: records[name] for name, _ in table.index})
    yield from require_equal("content hash", hasher.content, listed.entry.content)


def _open_parquet(listed: ListedTable, footer: pq.FileMetaData | None = None) -> pq.ParquetFile:
    return pq.ParquetFile(listed.store.get_source(listed.parquet.file), metadata=footer)


def _compare_footer(listed: ListedTable) -> Iterator[Difference]:
    table, entry = listed.definition, listed.entry
    with _open_parquet(listed) as file:
        schema, footer = file.schema_arrow, file.metadata
    measured = measure_footer(listed.store, listed.parquet.file)
    expected = listed.parquet.footer
    yield from require_equal("bytes of the footer", measured.bytes, expected.bytes)
    yield from require_equal("SHA-256 of the footer", measured.sha256, expected.sha256)
    texts = (version.to_string(truncate_metadata=False) for version in (schema, make_schema(table)))
    for found, wanted in zip_longest(*map(str.splitlines, texts)):
        yield from require_equal("schema:", found, wanted)
    yield from _compare_texts(table, footer.metadata or {})
    yield from require_equal("rows", footer.num_rows, entry.rows)
    rows = sum(footer.row_group(number).num_rows for number in range(footer.num_row_groups))
    yield from require_equal("rows", rows, entry.rows)
    yield from _compare_entry(listed)


def _compare_texts(table: Table, metadata: dict[bytes, bytes]) -> Iterator[Difference]:
    """Compare a footer's texts about the table, which readers without Arrow show."""
    other = (b"ARROW:schema", *(key.encode() for key in BUILD_KEYS))
    found = {key: text for key, text in metadata.items() if key not in other}
    expected = make_schema(table).metadata or {}
    for key in sorted({*found, *expected}):
        texts = (
            texts[key].decode("utf-8", "replace") if key in texts else None
            for texts in (found, expected)
        )
        yield from require_equal(f"metadata {key.decode('utf-8', 'replace')}:", *texts)


def _compare_build(entry: Entry, metadata: dict[bytes, bytes]) -> Iterator[Difference]:
    """Compare what a footer says about its build with the manifest."""
    values = json.dumps(entry.parameters, sort_keys=True), entry.made_by, entry.content
    for key, value in zip(BUILD_KEYS, values, strict=True):
        text = metadata.get(key.encode(), b"").decode("utf-8", "replace")
        yield from require_equal(f"metadata {key}:", text, value)


class _Group(NamedTuple):
    """A decoded row group, and the differences between it and the footer."""

    rows: pa.RecordBatch
    differences: list[Difference]


def _compare_rows(listed: ListedTable) -> Iterator[Difference | int]:
    """Decode all row groups, as many at once as there are processors, and hash them in order."""
    table, entry, done = listed.definition, listed.entry, 0
    content = ContentHash(table.columns)
    with _open_parquet(listed) as file:
        footer = file.metadata

    def decode(number: int) -> _Group:
        with _open_parquet(listed, footer) as file:
            group = file.read_row_group(number, use_threads=False)
        (rows,) = group.combine_chunks().to_batches()
        rows.validate(full=True)
        return _Group(rows, [*_compare_statistics(table, footer.row_group(number), rows)])

    groups = range(footer.num_row_groups)
    filled = [(number,) for number in groups if footer.row_group(number).num_rows]
    for rows, differences in run_in_threads(decode, filled):
        yield from differences
        content.update(rows)
        done += rows.num_rows
        yield done
    yield from require_equal("rows", done, entry.rows)
    yield from require_equal("content hash", content.hexdigest(), entry.content)
    yield from _compare_build(entry, footer.metadata or {})


def _compare_statistics(
    table: Table, group: pq.RowGroupMetaData, rows: pa.RecordBatch
) -> Iterator[Difference]:
    """Compare a row group with what the footer says of it: readers skip rows by that."""
    yield from require_equal("rows in a group", group.num_rows, rows.num_rows)
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

    Return the names of what has no proof, each of which is named by a claim.
    """
    table = listed.definition
    columns = [each.name for each in table.columns if each.name not in proved.columns]
    fields = [name for name, _ in table.index if name not in proved.fields]
    for names, file in ((columns, listed.file), (fields, table.index_file)):
        if names:
            yield Claim(f"{', '.join(names)}: not proved, because {NO_RULE}", (), file)
    gaps = [*columns, *fields]
    if not listed.entry.counts:
        return gaps
    found = {(goal, depth): states for goal, depth, states in listed.entry.list_depths()}
    expected = proved.depths or _count_rows(listed)
    if not expected:
        what = "states at each distance"
        yield Claim(f"{what}: not proved, because its proof counts no states", ())
        return [*gaps, what]
    text = "as many states are at each distance as the proof counted"
    yield Claim(text, _compare_counts(listed, found, expected), MANIFEST)
    return gaps


def _compare_counts(
    listed: ListedTable, found: Mapping[Depth, int], expected: Mapping[Depth, int]
) -> Iterable[Difference]:
    for goal, depth in dict.fromkeys([*found, *expected]):
        what = f"states of {listed.name}{f', {goal}' if goal else ''} at distance {depth}:"
        numbers = (counts.get((goal, depth), 0) for counts in (found, expected))
        yield from require_equal(what, *numbers)


def _count_rows(listed: ListedTable) -> dict[Depth, int]:
    """Count the rows of each goal at each distance; none of a table without distances."""
    names = {column.name for column in listed.definition.columns}
    depth = listed.puzzle.depth if listed.puzzle else ""
    if depth not in names:
        return {}
    keys = [name for name in ("goal", depth) if name in names]
    counts = listed.read_rows(*keys).group_by(keys).len()
    goals = counts["goal"].to_list() if "goal" in names else [None] * len(counts)
    return dict(zip(zip(goals, counts[depth], strict=True), counts["len"], strict=True))
