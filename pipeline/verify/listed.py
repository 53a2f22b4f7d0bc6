"""What the manifest lists, and whether the files match it.

`listed_in`, `check_files` and `check_pages` are quick: they read bytes and decode no table.
`check_schema` and `read_rows` compare a file with the definition of its table. None of them proves
a value from a puzzle's rules.
"""

from __future__ import annotations

import contextlib
import json
import struct
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.verify.claims import Array, Claim, Fact, Listener, Proof, Rows
from tablebase.errors import TableMissing
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import puzzles
from tablebase.tables import COMMAND, FORMAT_VERSION, MANIFEST
from tablebase.tables.content import ContentHash
from tablebase.tables.index import BLOCK, BODY, CHECKSUM, HEADER, MAGIC, blocks, checksum
from tablebase.tables.manifest import Entry, parse_manifest, read_pages, sha256
from tablebase.tables.mending import mending, unopened
from tablebase.tables.parquet import description, schema, sorting
from tablebase.tables.store import Store


@dataclass(frozen=True, slots=True)
class Listed:
    """A table that the manifest lists; `puzzle` and `table` are None where no rule knows it."""

    store: Store
    name: str
    entry: Entry
    puzzle: Puzzle | None
    table: Table | None
    report: Listener
    proved: list[Claim]

    @property
    def files(self) -> list[tuple[str, Entry]]:
        """The files of its rows in order, and what the manifest says of each."""
        return [(file["file"], file) for file in self.entry["files"]]

    @property
    def file(self) -> str:
        """The file of its rows; where they are several, what all of them are called."""
        files = self.files
        if not files:  # an index alone
            return self.index_file
        return files[0][0] if len(files) == 1 else f"{self.name}.*.parquet"

    @property
    def index_file(self) -> str:
        return f"{self.name}.idx"

    @property
    def known(self) -> Table:
        """The table's own words, for a table that has them."""
        assert self.table is not None
        return self.table

    def claims(self, file: str | None = None, *, force: bool = True) -> Proof:
        """To prove claims about the table's rows, or another file of it.

        A file whose hash is wrong is built again unasked; one that the manifest vouches for only
        by force.
        """
        command = _command(self.store, self.puzzle, self.table, force=force)
        rows = self.entry["index"]["records"] if file == self.index_file else self.entry["rows"]
        file = file or self.file
        return Proof(self.store, self.name, file, rows, command, self.report, self.proved)


def _command(store: Store, puzzle: Puzzle | None, table: Table | None, *, force: bool) -> str:
    """The command that makes a table, or all of them where no puzzle has it."""
    stage = puzzle.stage(table.name) if puzzle and table else puzzle.name if puzzle else ""
    return mending(stage, store, force=force)


def listed_in(store: Store, report: Listener, proved: list[Claim]) -> list[Listed]:
    """Every table listed; TableMissing where one of the puzzles' own is not."""
    path, command = store.full(MANIFEST), _command(store, None, None, force=True)
    try:
        text = store.read(MANIFEST)
    except FileNotFoundError as error:
        raise TableMissing(path, _command(store, None, None, force=False)) from error
    except OSError as error:
        raise unopened(path, error, command) from error
    entries, _ = parse_manifest(text, store)
    proof = Proof(store, "manifest", MANIFEST, len(entries), command, report, proved)
    with proof.claim("every required table is listed under its own name") as fact:
        _check_names(fact, entries)
        listed = []
        for puzzle in puzzles():
            for table in puzzle.among(entries):
                entry = entries.pop(table.name, None)
                if entry is None:
                    command = _command(store, puzzle, table, force=False)
                    raise TableMissing(store.full(table.file), command)
                indexed = ("without an index", "with an index")
                found, expected = (indexed[bool(of)] for of in (entry["index"], table.index))
                fact.same(found, expected, f"{table.name} {{}}")
                listed.append(Listed(store, table.name, entry, puzzle, table, report, proved))
    unknown = sorted(entries.items())
    return listed + [
        Listed(store, name, entry, None, None, report, proved) for name, entry in unknown
    ]


def _check_names(fact: Fact, entries: dict[str, Entry]) -> None:
    """Its text, and the files of rows, are checked as it is parsed; here, the indexes."""
    for name, entry in entries.items():
        index = entry["index"]
        if index is not None:
            fact.same(index["file"], f"{name}.idx")
            if not isinstance(index.get("records"), int):
                fact.refuted(f"records {index.get('records')!r}", "a number of records")


def check_files(listed: Listed) -> None:
    """Sizes, SHA-256 and the index's header: nothing is decoded."""
    entry = listed.entry
    unknown = "" if listed.table else " (no rules for this table here: its rows are not proved)"
    if entry["files"]:
        _check_bytes(listed.claims(force=False), listed.files, unknown)
    if entry["index"]:
        index = listed.index_file
        _check_bytes(listed.claims(index, force=False), [(index, entry["index"])], unknown)
        proof, data = listed.claims(index), listed.store.read(index)
        text = "the header matches the table: version, name, records, content hash"
        with proof.claim(text) as fact:
            _check_header(fact, listed, data)
        text = "every block has the right checksum, and zeros after its records"
        with proof.claim(text) as fact:
            _check_blocks(fact, data)


def check_pages(store: Store, report: Listener, proved: list[Claim]) -> None:
    """The pages that are listed and still there: whether they are what was written."""
    for name, page in read_pages(store).items():
        if name in store.names():
            maker = "pipeline explore" if name == "explorer.html" else "pipeline report"
            command = mending("", store).replace(COMMAND, maker)
            stem = name.rpartition(".")[0]
            _check_bytes(Proof(store, stem, name, 0, command, report, proved), [(name, page)])


def _check_bytes(proof: Proof, files: list[tuple[str, Entry]], unknown: str = "") -> None:
    with proof.claim(f"size and SHA-256 match the manifest{unknown}") as whole:
        for file, said in files:
            fact = whole.of(file)
            try:
                fact.same(proof.store.size(file), said["bytes"], "{:,} bytes")
                fact.same(sha256(proof.store, file), said["sha256"], "SHA-256 {}")
            except IsADirectoryError:
                fact.refuted("no file", "a file")
            except OSError as error:
                raise unopened(proof.store.full(file), error, proof.command) from error


def _check_header(fact: Fact, listed: Listed, data: bytes) -> None:
    entry = listed.entry
    if len(data) < BLOCK:
        fact.refuted(f"{len(data)} bytes", f"a header of {BLOCK} bytes")
    magic, version, zero, width, block, count, content, name = HEADER.unpack_from(data)
    fact.same(magic, MAGIC, "magic {!r}")
    fact.same(version, FORMAT_VERSION, "version {}")
    fact.same(zero, 0, "{} for later use")
    fact.same(name, listed.name.encode()[: len(name)].ljust(len(name), b"\0"), "name {!r}")
    fact.same(content.hex(), entry["content"], "content hash {}")
    fact.same(block, BLOCK, "blocks of {} bytes")
    if listed.table:
        fact.same(width, struct.calcsize(listed.table.record), "records of {} bytes")
    elif not 0 < width <= BODY:
        fact.refuted(f"records of {width} bytes", f"records of 1 to {BODY} bytes")
    fact.same(count, entry["index"]["records"], "{} records")
    fact.same(len(data), BLOCK * blocks(width, count), "{} bytes")


def _check_blocks(fact: Fact, data: bytes) -> None:
    """Every block's checksum, and nothing but zeros where no record is."""
    _, _, _, width, _, count, content, _ = HEADER.unpack_from(data)
    each = BODY // width
    for number in range(blocks(width, count)):
        block = data[number * BLOCK : (number + 1) * BLOCK]
        (said,) = CHECKSUM.unpack(block[BODY:])
        found = checksum(content, number, block[:BODY])
        fact.same(said, found, f"block {number}: checksum {{:08x}}")
        used = min(each, count - (number - 1) * each) * width if number else HEADER.size
        zeros = block[used:BODY].count(0)
        fact.same(zeros, BODY - used, f"block {number}: {{}} zeros after its records")


def check_schema(listed: Listed) -> list[pq.FileMetaData]:
    """What each file says of itself, and what the manifest says of it, without its rows."""
    table, entry = listed.known, listed.entry
    text = "schema, all metadata and number of rows match the definition of the table"
    with listed.claims().claim(text) as fact:
        found = [_check_schema(fact.of(file), listed, file, said) for file, said in listed.files]
        fact.same(entry["parameters"], json.loads(json.dumps(table.recipe.parameters())))
        fact.same(entry.get("description"), description(table), "description {}")
    return found


def _check_schema(fact: Fact, listed: Listed, name: str, said: Entry) -> pq.FileMetaData:
    table = listed.known
    with decoding(fact), pq.ParquetFile(listed.store.source(name)) as file:
        found, metadata = file.schema_arrow, file.metadata
    if not found.equals(schema(table), check_metadata=True):
        for have, want in zip_longest(_lines(found), _lines(schema(table))):
            fact.same(have, want)
        fact.refuted("another schema", "the table's")
    with decoding(fact):
        arrow = b64decode(metadata.metadata.get(b"ARROW:schema", b""))
        fact.same(pa.ipc.read_schema(pa.py_buffer(arrow)), schema(table))
    fact.same(metadata.num_rows, said["rows"], "{:,} rows")
    return metadata


def read_rows(listed: Listed) -> Rows:
    """All of a table's rows, once their content hash is proved."""
    footers, content = check_schema(listed), ContentHash(listed.known.columns)
    with listed.claims().claim(CONTENT) as fact:
        batches = [
            read_group(fact, listed, file, footer, group)
            for (file, _), footer in zip(listed.files, footers, strict=True)
            for group in range(footer.num_row_groups)
        ]
        batch = one_batch(fact, pa.Table.from_batches(batches, schema(listed.known)))
        content.update(batch)
        check_content(fact, listed, batch.num_rows, content)
    return Rows(batch)


def read_group(
    whole: Fact, listed: Listed, file: str, footer: pq.FileMetaData, number: int
) -> pa.RecordBatch:
    """The rows of a row group, which are as the footer says."""
    fact = whole.of(file)
    with decoding(fact), pq.ParquetFile(listed.store.source(file), metadata=footer) as opened:
        batch = one_batch(fact, opened.read_row_group(number, use_threads=False))
        check_group(fact, listed.known, footer.row_group(number), batch)
    return batch


def check_content(fact: Fact, listed: Listed, rows: int, content: ContentHash) -> None:
    """Whether as many rows, and of the same content, were read as the manifest says."""
    fact.same(rows, listed.entry["rows"], "{:,} rows")
    fact.same(content.hexdigest(), listed.entry["content"], "content hash {}")


def one_batch(fact: Fact, table: pa.Table) -> pa.RecordBatch:
    """Rows that were decoded, in one piece; refuted where their text is too long for that."""
    whole = table.combine_chunks()
    whole.validate(full=True)
    batches = whole.to_batches() or [pa.RecordBatch.from_pylist([], whole.schema)]
    fact.same(len(batches), 1, "rows in {} pieces")
    return batches[0]


def check_group(fact: Fact, table: Table, group: pq.RowGroupMetaData, rows: pa.RecordBatch) -> None:
    """What the footer says of a row group, which readers skip by, against its decoded rows."""
    fact.same(rows.num_rows, group.num_rows, "{:,} rows in a group")
    fact.same(group.sorting_columns, tuple(sorting(table)), "sorting columns {}")
    for column, name in enumerate(rows.schema.names):
        chunk, values = group.column(column), rows.column(column)
        fact.same(chunk.path_in_schema, name, "column {}")
        fact.same(chunk.num_values, rows.num_rows, f"{{:,}} values of {name}")
        fact.same(chunk.has_column_index or chunk.has_offset_index, False)
        said = chunk.statistics
        if said is None:
            continue
        if said.has_null_count:
            fact.same(said.null_count, values.null_count, f"{name}: {{}} nulls")
        fact.same(said.has_distinct_count, False, f"{name}: distinct count {{}}")
        if said.has_min_max:
            plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
            found, expected = {"min": said.min, "max": said.max}, pc.min_max(plain).as_py()
            fact.same(found, expected, f"{name}: from {{0[min]!r}} to {{0[max]!r}}")


def _lines(found: pa.Schema) -> list[str]:
    text: str = found.to_string(truncate_metadata=False)
    return text.splitlines()


CONTENT = "every row decodes, and the content hash matches the manifest"


@contextlib.contextmanager
def decoding(fact: Fact) -> Iterator[None]:
    """Refute a claim where Arrow cannot decode."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError) as error:
        fact.refuted(str(error), "rows that can be decoded")


def records(listed: Listed) -> Array:
    """The records of a table's index, whose header is proved."""
    dtype = np.dtype([(name, _numpy(letter)) for name, letter in listed.known.index])
    data = np.frombuffer(listed.store.read(listed.index_file), np.uint8).reshape(-1, BLOCK)[1:]
    used = BODY // dtype.itemsize * dtype.itemsize
    return (
        np.ascontiguousarray(data[:, :used]).view(dtype).ravel()[: listed.entry["index"]["records"]]
    )


def _numpy(letter: str) -> Any:
    # text of a fixed width as single bytes: numpy would drop zeros at its end
    return (np.uint8, int(letter[:-1])) if letter.endswith("s") else f"<{letter}"


def check_records(listed: Listed, text: str, fields: dict[str, Array]) -> None:
    """Prove each field of an index equal to its expected values, one a record."""
    found = records(listed)
    with listed.claims(listed.index_file).claim(text) as fact:
        for name, expected in fields.items():
            fact.same(len(found), len(expected), "{:,} records")
            wrong = np.argwhere(found[name] != expected)
            if len(wrong):
                row = int(wrong[0, 0])
                record = {field: found[field][row].tolist() for field in fields}
                fact.refuted(record[name], expected[row].tolist(), row, record)
