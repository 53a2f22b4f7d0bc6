"""Checks of the files against the manifest and against the definitions of their tables.

`list_tables`, `check_files` and `check_pages` are quick: they read bytes and decode no table.
`decode_rows` and `read_rows` compare a file with the definition of its table. None of them checks a
value against a puzzle's rules.
"""

from __future__ import annotations

import contextlib
import json
import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import Array, Claim, ClaimCheck, Listener, Rows
from pipeline.verify.verdicts import Grade, Outcome, Verdict
from tablebase.errors import TableMissing
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import list_puzzles
from tablebase.tables import COMMAND, INDEX_VERSION, MANIFEST
from tablebase.tables.content_hash import ContentHash, combine_hashes
from tablebase.tables.index_format import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    MAGIC,
    compute_checksum,
    count_blocks,
)
from tablebase.tables.manifest import (
    Entry,
    File,
    IndexEntry,
    Page,
    compute_sha256,
    list_parameters,
    measure_footer,
    read_manifest,
    read_pages,
)
from tablebase.tables.parquet import compute_description, list_sorting_columns, make_schema
from tablebase.tables.repair import format_rebuild_command, list_files, make_open_error
from tablebase.tables.store import Store

Result = TypeVar("Result")

FIELDS = ("magic", "version", "zero", "width", "block size", "records", "content hash", "name")
"""The fields of an index's header, in order."""
NO_RULE = "no rule defines it"
CHUNK_BLOCKS = 1 << 8
"""The number of index blocks in a chunk."""


@dataclass(frozen=True, slots=True)
class ListedTable:
    """A table that the manifest lists; `puzzle` and `table` are None if no puzzle defines it."""

    store: Store
    name: str
    entry: Entry
    puzzle: Puzzle | None
    table: Table | None
    listener: Listener
    gaps: list[str] = field(default_factory=list)
    """The columns and index fields that have no proof."""

    @property
    def file(self) -> str:
        """The file with the rows, or the pattern of the files' names if there are several."""
        files = self.entry.files or self.entry.all_files
        return files[0].file if len(files) == 1 else f"{self.name}.*.parquet"

    @property
    def definition(self) -> Table:
        """The definition of a table that a puzzle defines."""
        assert self.table is not None
        return self.table

    @property
    def index(self) -> IndexEntry:
        """The manifest's entry for the index of a table that has one."""
        assert self.entry.index is not None
        return self.entry.index

    def begin_claim(
        self, text: str, rows: int | None = None, *, index: bool = False, force: bool = True
    ) -> ClaimCheck:
        """Return a check of a claim about all rows, `rows` of them, or the index's records.

        A build replaces a file with a wrong hash by itself. It replaces one with the hash in the
        manifest only with `--force`, so the repair command then needs `force`.
        """
        file = self.index.file if index else self.file
        total = self.index.records if index else self.entry.rows
        stage = self.puzzle.catalogue.format_build_arguments(self.name) if self.puzzle else ""
        command = format_rebuild_command(stage, self.store, force=force)
        claim = Claim(self.name, file, text, total if rows is None else rows)
        return ClaimCheck(claim, self.store, command, self.listener)

    def note_missing_proof(self, names: Iterable[str], why: str, *, index: bool = False) -> None:
        """Report, as a claim and a gap, that columns or index fields have no proof."""
        names = [*names]
        self.gaps.extend(names)
        if names:
            with self.begin_claim(f"{', '.join(names)}: not proved, because {why}", index=index):
                pass

    def note_missing_proofs(self, columns: Collection[str], fields: Collection[str] = ()) -> None:
        """Report every column and index field of the table that is not in the given ones."""
        table = self.definition
        self.note_missing_proof(
            (column.name for column in table.columns if column.name not in columns), NO_RULE
        )
        self.note_missing_proof(
            (name for name, _ in table.index if name not in fields), NO_RULE, index=True
        )

    def make_verdict(self, grade: Grade, how: str, board: str | None = None) -> Verdict:
        """Return a verdict on this table, or on one of its boards."""
        return Verdict(self.name, board, grade, how)

    def make_outcome(self, grade: Grade, how: str, result: object = None) -> Outcome:
        """Return the outcome of a proof with one verdict on the whole table."""
        return Outcome((self.make_verdict(grade, how),), result)


def list_tables(store: Store, listener: Listener) -> list[ListedTable]:
    """Return every listed table, those of known puzzles first.

    Raise TableMissing if none is listed.
    """
    entries = read_manifest(store)
    if not entries:
        raise TableMissing(store.locate(MANIFEST), format_rebuild_command("", store))
    text = "every known table is listed with the files that its definition names"
    claim = Claim("manifest", MANIFEST, text, len(entries))
    with ClaimCheck(claim, store, format_rebuild_command("", store, force=True), listener) as check:
        listed = []
        for puzzle in list_puzzles():
            for table in puzzle.catalogue.list_published_tables(list_parameters(entries)):
                entry = entries.pop(table.name, None)
                if entry is None:
                    continue
                check.require_equal(
                    f"rows of {table.name}:", bool(entry.files), bool(table.columns)
                )
                check.require_equal(f"index of {table.name}:", bool(entry.index), bool(table.index))
                listed.append(ListedTable(store, table.name, entry, puzzle, table, listener))
    unknown = sorted(entries.items())
    return listed + [
        ListedTable(store, name, entry, None, None, listener) for name, entry in unknown
    ]


def check_files(listed: ListedTable) -> None:
    """Check sizes, SHA-256 and the index's header and blocks, without decoding any row."""
    entry = listed.entry
    unknown = "" if listed.table else " (no rules for this table here: its rows are not proved)"
    text = f"size and SHA-256 match the manifest{unknown}"
    if entry.files:
        with listed.begin_claim(text, force=False) as check:
            for file in entry.files:
                _check_bytes(check.for_file(file.file), file)
    if entry.index:
        with listed.begin_claim(text, index=True, force=False) as check:
            _check_bytes(check, entry.index)
        _check_index(listed)


def check_entry(listed: ListedTable) -> None:
    """Compare the manifest's entry of a table without rows with the table's definition.

    For a table with rows, `decode_rows` does this.
    """
    table, entry = listed.definition, listed.entry
    text = "parameters, description and number of rows match the definition of the table"
    with listed.begin_claim(text, index=True) as check:
        check.require_equal("rows", entry.rows, listed.index.records)
        check.require_equal("parameters", entry.parameters, table.recipe.list_parameters())
        check.require_equal("description", entry.description, compute_description(table))


def check_pages(store: Store, listener: Listener) -> None:
    """Check size and SHA-256 of every listed page that exists."""
    for name, page in read_pages(store).items():
        if name in list_files(store):
            program = "pipeline explore" if name == "explorer.html" else "pipeline report"
            command = format_rebuild_command("", store).replace(COMMAND, program)
            text = "size and SHA-256 match the manifest"
            claim = Claim(name.rpartition(".")[0], name, text, 0)
            with ClaimCheck(claim, store, command, listener) as check:
                _check_bytes(check, page)


def _check_bytes(check: ClaimCheck, entry: File | IndexEntry | Page) -> None:
    store, file = check.store, check.claim.file
    try:
        check.require_equal("bytes", store.get_size(file), entry.bytes)
        check.require_equal("SHA-256", compute_sha256(store, file), entry.sha256)
    except OSError as error:
        raise make_open_error(store.locate(file), error, check.command) from error


def _check_footer(check: ClaimCheck, entry: File) -> None:
    footer = measure_footer(check.store, entry.file)
    check.require_equal("bytes of the footer", footer.bytes, entry.footer.bytes)
    check.require_equal("SHA-256 of the footer", footer.sha256, entry.footer.sha256)


def _check_index(listed: ListedTable) -> None:
    entry, store = listed.index, listed.store
    text = "the header matches the table: version, name, records, content hash"
    with listed.begin_claim(text, index=True) as check, store.open(entry.file) as file:
        header = file.read(BLOCK_BYTES)
        if len(header) < BLOCK_BYTES:
            check.refute(f"bytes {len(header)}", f"a header of {BLOCK_BYTES} bytes")
        *header_fields, content, name = HEADER.unpack_from(header)
        # an unknown table's records may have any width that fits a block
        unknown_width = min(max(header_fields[3], 1), BODY_BYTES)
        width = struct.calcsize(listed.table.record_format) if listed.table else unknown_width
        expected = MAGIC, INDEX_VERSION, 0, width, BLOCK_BYTES, entry.records, listed.entry.content
        values = *header_fields, content.hex(), name.rstrip(b"\0")
        for comparison in zip(FIELDS, values, (*expected, listed.name.encode()), strict=True):
            check.require_equal(*comparison)
        check.require_equal(
            "bytes", store.get_size(entry.file), BLOCK_BYTES * count_blocks(width, entry.records)
        )
    records_per_block = BODY_BYTES // width
    text = "every block has the right checksum, and zeros after its records"
    with listed.begin_claim(text, index=True) as check, store.open(entry.file) as file:
        for number in range(count_blocks(width, entry.records)):
            block = file.read(BLOCK_BYTES)
            checksum = CHECKSUM.pack(compute_checksum(content, number, block[:BODY_BYTES]))
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
    listed: ListedTable, transform: Callable[[Rows], Result]
) -> Iterator[tuple[Rows, Result]]:
    """Yield a table's rows in order, one row group at a time, each with its transformed result.

    As many row groups are decoded in parallel as there are processors. After the last one, the
    content hash and the files' metadata are compared with the manifest.
    """
    (groups, metadata), table, files = _list_groups(listed), listed.definition, listed.entry.files
    contents = {file.file: ContentHash(table.columns) for file in files}
    begins: dict[str, dict[str, Any]] = {}
    number_column = table.number_column if len(files) > 1 else None
    rows_before, count = Counter[str](), 0
    with listed.begin_claim(
        "every row decodes, and the content hash matches the manifest"
    ) as check:

        def decode_group(file: str, *group: Any) -> tuple[str, Rows, Result]:
            rows = _read_group(check, table, file, *group)
            return file, rows, transform(rows)

        for file, rows, result in run_in_threads(decode_group, groups):
            contents[file].update(rows.batch)
            count += len(rows)
            yield rows, result
            if number_column:
                values = rows.column(number_column.within)
                value = values[0].as_py()
                begins.setdefault(
                    file, {number_column.within: value, number_column.name: rows_before[value]}
                )
                for tally in pc.value_counts(values).to_pylist():
                    rows_before[tally["values"]] += tally["counts"]
        check.require_equal("rows", count, listed.entry.rows)
        for file_entry in files:
            check.for_file(file_entry.file).require_equal(
                "begins with", file_entry.begins, begins.get(file_entry.file, {})
            )
        content = combine_hashes([content.hexdigest() for content in contents.values()])
        check.require_equal("content hash", content, listed.entry.content)
        for file_entry in files:
            digest = contents[file_entry.file].hexdigest()
            _check_metadata(
                check.for_file(file_entry.file), metadata[file_entry.file], listed.entry, digest
            )


def read_rows(listed: ListedTable) -> Rows:
    """Return all of a table's rows in one batch."""
    empty = pa.RecordBatch.from_pylist([], make_schema(listed.definition))
    return Rows(pa.concat_batches([empty, *(rows.batch for rows, _ in decode_rows(listed, len))]))


Groups = list[tuple[str, pq.FileMetaData, int, int]]
Metadata = dict[bytes, bytes]


def _list_groups(listed: ListedTable) -> tuple[Groups, dict[str, Metadata]]:
    """Compare the footers with the table's definition; return the row groups and the metadata.

    A row group is a file's name, its footer, the group's number and its first row. The metadata is
    that of each file.
    """
    table, entry = listed.definition, listed.entry
    groups, metadata = Groups(), dict[str, Metadata]()
    text = "schema, all metadata and number of rows match the definition of the table"
    with listed.begin_claim(text) as table_check:
        for file_entry in entry.files:
            check = table_check.for_file(file_entry.file)
            source = listed.store.get_source(file_entry.file)
            with translate_decode_errors(check), pq.ParquetFile(source) as file:
                schema, footer = file.schema_arrow, file.metadata
                _check_footer(check, file_entry)
            texts = (
                version.to_string(truncate_metadata=False)
                for version in (schema, make_schema(table))
            )
            for lines in zip_longest(*map(str.splitlines, texts)):
                check.require_equal("schema:", *lines)
            check.require_equal("rows", footer.num_rows, file_entry.rows)
            metadata[file_entry.file] = footer.metadata or {}
            begin = file_entry.first
            for number in range(footer.num_row_groups):
                if rows := footer.row_group(number).num_rows:
                    groups.append((file_entry.file, footer, number, begin))
                    begin += rows
        table_check.require_equal("parameters", entry.parameters, table.recipe.list_parameters())
        table_check.require_equal("description", entry.description, compute_description(table))
    return groups, metadata


def _check_metadata(check: ClaimCheck, metadata: Metadata, entry: Entry, content: str) -> None:
    """Check the metadata about its build in a file, from which a lost manifest is restored."""
    expected = {
        "parameters": json.dumps(entry.parameters, sort_keys=True),
        "made_by": entry.made_by,
        "content": content,
    }
    for key, value in expected.items():
        text = metadata.get(key.encode(), b"").decode("utf-8", "replace")
        check.require_equal(f"metadata {key}:", text, value)


def _read_group(
    table_check: ClaimCheck,
    definition: Table,
    file: str,
    footer: pq.FileMetaData,
    number: int,
    begin: int,
) -> Rows:
    """Return the rows of a row group, once they are as its footer says.

    Readers skip row groups by the footer's statistics, so wrong ones would hide rows.
    """
    check, group = table_check.for_file(file), footer.row_group(number)
    with (
        translate_decode_errors(check),
        pq.ParquetFile(table_check.store.get_source(file), metadata=footer) as parquet_file,
    ):
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


def check_records(listed: ListedTable, text: str, fields: Mapping[str, Array]) -> None:
    """Prove that each field of an index holds the given values, one for each record.

    The index's header must be checked already.
    """
    with listed.begin_claim(text, index=True) as check:
        for expected in fields.values():
            check.require_equal("records", listed.index.records, len(expected))
        for begin, records in iter_records(listed):
            for name, expected in fields.items():
                differ = records[name] != expected[begin:][: len(records)]
                for row in np.argwhere(differ)[:1, 0].tolist():
                    record = {field: records[field][row].tolist() for field in fields}
                    value = expected[begin + row].tolist()
                    check.refute(f"{name} {record[name]}", value, begin + row, record)


def iter_records(listed: ListedTable) -> Iterator[tuple[int, Array]]:
    """Yield the records of an index in chunks, each with the rank of its first record.

    The index's header must be checked already.
    """
    dtype = np.dtype([(name, _make_dtype(letter)) for name, letter in listed.definition.index])
    bytes_used = BODY_BYTES // dtype.itemsize * dtype.itemsize
    count, begin = listed.index.records, 0
    with listed.store.open(listed.index.file) as file:
        file.seek(BLOCK_BYTES)
        while data := file.read(CHUNK_BLOCKS * BLOCK_BYTES):
            used = np.frombuffer(data, np.uint8).reshape(-1, BLOCK_BYTES)[:, :bytes_used]
            records = np.ascontiguousarray(used).view(dtype).ravel()[: count - begin]
            yield begin, records
            begin += len(records)


def _make_dtype(letter: str) -> Any:
    # text of a fixed width is read as single bytes, as numpy would drop zeros at its end
    return (np.uint8, int(letter[:-1])) if letter.endswith("s") else f"<{letter}"
