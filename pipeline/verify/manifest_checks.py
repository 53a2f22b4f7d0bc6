"""What the manifest lists, and whether the files match it.

`listed_in`, `check_files` and `check_pages` are quick: they read bytes and decode no table.
`decoded` and `read_rows` compare a file with the definition of its table. None of them proves a
value from a puzzle's rules.
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

from pipeline.tasks import in_threads
from pipeline.verify.claims import Array, Claim, Fact, Listener, Rows
from pipeline.verify.verdicts import Grade, Outcome, Verdict
from tablebase.errors import TableMissing
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import puzzles
from tablebase.tables import COMMAND, INDEX_VERSION, MANIFEST
from tablebase.tables.content_hash import ContentHash, together
from tablebase.tables.index_format import BLOCK, BODY, CHECKSUM, HEADER, MAGIC, blocks, checksum
from tablebase.tables.manifest import (
    Entry,
    File,
    Index,
    Page,
    measure_footer,
    parameters_of,
    read_manifest,
    read_pages,
    sha256,
)
from tablebase.tables.parquet import description, schema, sorting
from tablebase.tables.repair import listed_names, mending, unopened
from tablebase.tables.store import Store

Result = TypeVar("Result")

FIELDS = ("magic", "version", "zero", "width", "block size", "records", "content hash", "name")
"""Of an index's header, in order."""
NO_RULE = "no rule defines it"
STRETCH = 1 << 8
"""Blocks of an index that are read at once."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A table that the manifest lists; `puzzle` and `table` are None where no rule knows it."""

    store: Store
    name: str
    entry: Entry
    puzzle: Puzzle | None
    table: Table | None
    report: Listener
    gaps: list[str] = field(default_factory=list)
    """Columns and index fields that were found to have no proof."""

    @property
    def file(self) -> str:
        """The file of its rows; where they are several, what all of them are called."""
        files = self.entry.files or self.entry.every_file
        return files[0].file if len(files) == 1 else f"{self.name}.*.parquet"

    @property
    def known(self) -> Table:
        """The table's own words, for a table that has them."""
        assert self.table is not None
        return self.table

    @property
    def index(self) -> Index:
        """What is said of its index, for a table that has one."""
        assert self.entry.index is not None
        return self.entry.index

    def claim(
        self, text: str, rows: int | None = None, *, index: bool = False, force: bool = True
    ) -> Fact:
        """Begin to prove a claim about all rows or so many, or about the records of the index.

        A file whose hash is wrong is built again unasked; one that the manifest vouches for only
        by force.
        """
        file = self.index.file if index else self.file
        every = self.index.records if index else self.entry.rows
        stage = self.puzzle.stage(self.name) if self.puzzle else ""
        command = mending(stage, self.store, force=force)
        claim = Claim(self.name, file, text, every if rows is None else rows)
        return Fact(claim, self.store, command, self.report)

    def unproved(self, names: Iterable[str], why: str, *, index: bool = False) -> None:
        """Say of columns or of an index's fields that nothing proves them."""
        names = [*names]
        self.gaps.extend(names)
        if names:
            with self.claim(f"{', '.join(names)}: not proved, because {why}", index=index):
                pass

    def name_unproved(self, columns: Collection[str], fields: Collection[str] = ()) -> None:
        """Say that nothing proves the table's columns and index fields other than these."""
        table = self.known
        self.unproved((of.name for of in table.columns if of.name not in columns), NO_RULE)
        self.unproved((name for name, _ in table.index if name not in fields), NO_RULE, index=True)

    def verdict(self, grade: Grade, how: str, board: str | None = None) -> Verdict:
        """Return a verdict on this table, or on one of its boards."""
        return Verdict(self.name, board, grade, how)

    def outcome(self, grade: Grade, how: str, result: object = None) -> Outcome:
        """Return the outcome of a proof with one verdict on the whole table."""
        return Outcome((self.verdict(grade, how),), result)


def listed_in(store: Store, report: Listener) -> list[Listed]:
    """Every table listed, the puzzles' own first; TableMissing where there is none."""
    entries = read_manifest(store)
    if not entries:
        raise TableMissing(store.full(MANIFEST), mending("", store))
    text = "every known table is listed with the files that its definition names"
    claim = Claim("manifest", MANIFEST, text, len(entries))
    with Fact(claim, store, mending("", store, force=True), report) as fact:
        listed = []
        for puzzle in puzzles():
            for table in puzzle.among(parameters_of(entries)):
                entry = entries.pop(table.name, None)
                if entry is None:
                    continue
                fact.same(f"rows of {table.name}:", bool(entry.files), bool(table.columns))
                fact.same(f"index of {table.name}:", bool(entry.index), bool(table.index))
                listed.append(Listed(store, table.name, entry, puzzle, table, report))
    unknown = sorted(entries.items())
    return listed + [Listed(store, name, entry, None, None, report) for name, entry in unknown]


def check_files(listed: Listed) -> None:
    """Sizes, SHA-256 and the index's header and blocks: nothing is decoded."""
    entry = listed.entry
    unknown = "" if listed.table else " (no rules for this table here: its rows are not proved)"
    text = f"size and SHA-256 match the manifest{unknown}"
    if entry.files:
        with listed.claim(text, force=False) as fact:
            for file in entry.files:
                _check_bytes(fact.of(file.file), file)
    if entry.index:
        with listed.claim(text, index=True, force=False) as fact:
            _check_bytes(fact, entry.index)
        _check_index(listed)


def check_entry(listed: Listed) -> None:
    """What the manifest says of an index alone; of rows, `decoded` compares it with their files."""
    table, entry = listed.known, listed.entry
    text = "parameters, description and number of rows match the definition of the table"
    with listed.claim(text, index=True) as fact:
        fact.same("rows", entry.rows, listed.index.records)
        fact.same("parameters", entry.parameters, table.recipe.parameters())
        fact.same("description", entry.description, description(table))


def check_pages(store: Store, report: Listener) -> None:
    """The pages that are listed and still there: whether they are what was written."""
    for name, page in read_pages(store).items():
        if name in listed_names(store):
            maker = "pipeline explore" if name == "explorer.html" else "pipeline report"
            command = mending("", store).replace(COMMAND, maker)
            text = "size and SHA-256 match the manifest"
            claim = Claim(name.rpartition(".")[0], name, text, 0)
            with Fact(claim, store, command, report) as fact:
                _check_bytes(fact, page)


def _check_bytes(fact: Fact, said: File | Index | Page) -> None:
    store, file = fact.store, fact.claim.file
    try:
        fact.same("bytes", store.size(file), said.bytes)
        fact.same("SHA-256", sha256(store, file), said.sha256)
    except OSError as error:
        raise unopened(store.full(file), error, fact.command) from error


def _check_footer(fact: Fact, said: File) -> None:
    footer = measure_footer(fact.store, said.file)
    fact.same("bytes of the footer", footer.bytes, said.footer.bytes)
    fact.same("SHA-256 of the footer", footer.sha256, said.footer.sha256)


def _check_index(listed: Listed) -> None:
    said, store = listed.index, listed.store
    text = "the header matches the table: version, name, records, content hash"
    with listed.claim(text, index=True) as fact, store.open(said.file) as file:
        header = file.read(BLOCK)
        if len(header) < BLOCK:
            fact.refuted(f"bytes {len(header)}", f"a header of {BLOCK} bytes")
        *found, content, name = HEADER.unpack_from(header)
        # of a table that no rule knows, any records that fit a block
        most = min(max(found[3], 1), BODY)
        width = struct.calcsize(listed.table.record) if listed.table else most
        wanted = MAGIC, INDEX_VERSION, 0, width, BLOCK, said.records, listed.entry.content
        have = *found, content.hex(), name.rstrip(b"\0")
        for words in zip(FIELDS, have, (*wanted, listed.name.encode()), strict=True):
            fact.same(*words)
        fact.same("bytes", store.size(said.file), BLOCK * blocks(width, said.records))
    each, text = BODY // width, "every block has the right checksum, and zeros after its records"
    with listed.claim(text, index=True) as fact, store.open(said.file) as file:
        for number in range(blocks(width, said.records)):
            block = file.read(BLOCK)
            sealed = CHECKSUM.pack(checksum(content, number, block[:BODY]))
            fact.same(f"block {number}: checksum", block[BODY:].hex(), sealed.hex())
            used = min(each, said.records - (number - 1) * each) * width if number else HEADER.size
            zeros = block[used:BODY].count(0)
            fact.same(f"block {number}: zeros after its records", zeros, BODY - used)


def decoded(listed: Listed, made: Callable[[Rows], Result]) -> Iterator[tuple[Rows, Result]]:
    """A table's rows in order, a row group at a time, and what was made of each, as many at once
    as there are processors. After the last, they are proved to be the rows that are listed.
    """
    (groups, metadata), table, files = _groups(listed), listed.known, listed.entry.files
    contents = {file.file: ContentHash(table.columns) for file in files}
    begins: dict[str, dict[str, Any]] = {}
    within, before, count = table.numbered if len(files) > 1 else None, Counter[str](), 0
    with listed.claim("every row decodes, and the content hash matches the manifest") as fact:

        def part(file: str, *group: Any) -> tuple[str, Rows, Result]:
            rows = _read_group(fact, table, file, *group)
            return file, rows, made(rows)

        for file, rows, result in in_threads(part, groups):
            contents[file].update(rows.batch)
            count += len(rows)
            yield rows, result
            if within:
                values = rows.column(within.within)
                value = values[0].as_py()
                begins.setdefault(file, {within.within: value, within.name: before[value]})
                for tally in pc.value_counts(values).to_pylist():
                    before[tally["values"]] += tally["counts"]
        fact.same("rows", count, listed.entry.rows)
        for said in files:
            fact.of(said.file).same("begins with", said.begins, begins.get(said.file, {}))
        content = together([content.hexdigest() for content in contents.values()])
        fact.same("content hash", content, listed.entry.content)
        for said in files:
            own = contents[said.file].hexdigest()
            _check_metadata(fact.of(said.file), metadata[said.file], listed.entry, own)


def read_rows(listed: Listed) -> Rows:
    """All of a table's rows at once."""
    none = pa.RecordBatch.from_pylist([], schema(listed.known))
    return Rows(pa.concat_batches([none, *(rows.batch for rows, _ in decoded(listed, len))]))


Groups = list[tuple[str, pq.FileMetaData, int, int]]
Metadata = dict[bytes, bytes]


def _groups(listed: Listed) -> tuple[Groups, dict[str, Metadata]]:
    """The row groups by file, footer, number and first row, once the footers are as defined; and
    the metadata of each file.
    """
    table, entry, groups, metadata = listed.known, listed.entry, Groups(), dict[str, Metadata]()
    text = "schema, all metadata and number of rows match the definition of the table"
    with listed.claim(text) as whole:
        for said in entry.files:
            fact, source = whole.of(said.file), listed.store.source(said.file)
            with decoding(fact), pq.ParquetFile(source) as file:
                found, footer = file.schema_arrow, file.metadata
                _check_footer(fact, said)
            texts = (of.to_string(truncate_metadata=False) for of in (found, schema(table)))
            for lines in zip_longest(*map(str.splitlines, texts)):
                fact.same("schema:", *lines)
            fact.same("rows", footer.num_rows, said.rows)
            metadata[said.file] = footer.metadata or {}
            begin = said.first
            for number in range(footer.num_row_groups):
                if rows := footer.row_group(number).num_rows:
                    groups.append((said.file, footer, number, begin))
                    begin += rows
        whole.same("parameters", entry.parameters, table.recipe.parameters())
        whole.same("description", entry.description, description(table))
    return groups, metadata


def _check_metadata(fact: Fact, metadata: Metadata, entry: Entry, content: str) -> None:
    """Check what a file says of its making: where a manifest is lost, it is listed by that."""
    expected = {
        "parameters": json.dumps(entry.parameters, sort_keys=True),
        "made_by": entry.made_by,
        "content": content,
    }
    for key, value in expected.items():
        found = metadata.get(key.encode(), b"").decode("utf-8", "replace")
        fact.same(f"metadata {key}:", found, value)


def _read_group(
    whole: Fact, known: Table, file: str, footer: pq.FileMetaData, number: int, begin: int
) -> Rows:
    """The rows of a row group, which are as the footer says: readers skip by that."""
    fact, said = whole.of(file), footer.row_group(number)
    with decoding(fact), pq.ParquetFile(whole.store.source(file), metadata=footer) as opened:
        table = opened.read_row_group(number, use_threads=False)
        (rows,) = table.combine_chunks().to_batches()
        rows.validate(full=True)
        fact.same("rows in a group", said.num_rows, rows.num_rows)
        fact.same("sorting columns", said.sorting_columns, tuple(sorting(known)))
        for column, name in enumerate(rows.schema.names):
            chunk, values = said.column(column), rows.column(name)
            plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
            expected = {"path_in_schema": name, "num_values": len(values), "distinct_count": None}
            expected |= {"null_count": values.null_count, **pc.min_max(plain).as_py()}
            found = chunk.to_dict()
            for what, value in {**(found["statistics"] or {}), **found}.items():
                if what in expected and value is not None:
                    fact.same(f"{name}: {what}", value, expected[what])
            fact.same("indexes of pages", chunk.has_column_index or chunk.has_offset_index, False)
    return Rows(rows, begin)


@contextlib.contextmanager
def decoding(fact: Fact) -> Iterator[None]:
    """Refute a claim where Arrow cannot decode."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        fact.refuted(str(error), "rows that can be decoded")


def check_records(listed: Listed, text: str, fields: Mapping[str, Array]) -> None:
    """Prove each field of an index, whose header is proved, equal to its values, one a record."""
    with listed.claim(text, index=True) as fact:
        for expected in fields.values():
            fact.same("records", listed.index.records, len(expected))
        for begin, found in records(listed):
            for name, of in fields.items():
                for row in np.argwhere(found[name] != of[begin:][: len(found)])[:1, 0].tolist():
                    record = {field: found[field][row].tolist() for field in fields}
                    wanted = of[begin + row].tolist()
                    fact.refuted(f"{name} {record[name]}", wanted, begin + row, record)


def records(listed: Listed) -> Iterator[tuple[int, Array]]:
    """The records of an index, whose header is proved, some at a time, by the first one's rank."""
    dtype = np.dtype([(name, _numpy(letter)) for name, letter in listed.known.index])
    each, count, begin = BODY // dtype.itemsize, listed.index.records, 0
    with listed.store.open(listed.index.file) as file:
        file.seek(BLOCK)
        while data := file.read(STRETCH * BLOCK):
            used = np.frombuffer(data, np.uint8).reshape(-1, BLOCK)[:, : each * dtype.itemsize]
            found = np.ascontiguousarray(used).view(dtype).ravel()[: count - begin]
            yield begin, found
            begin += len(found)


def _numpy(letter: str) -> Any:
    # text of a fixed width as single bytes: numpy would drop zeros at its end
    return (np.uint8, int(letter[:-1])) if letter.endswith("s") else f"<{letter}"
