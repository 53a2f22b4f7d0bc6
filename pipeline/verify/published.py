"""What the manifest lists, and whether the files match it.

`published_in`, `check_files` and `check_pages` are quick: they read bytes and decode no table.
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
from functools import singledispatch
from itertools import zip_longest
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.verify.claims import Array, Claim, Fact, Proof, Report, Rows
from pipeline.verify.footer import check_footer
from tablebase.errors import NotationError, TableMissing
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles import puzzles
from tablebase.puzzles.knight import (
    COUNTED,
    LISTABLE,
    Knight,
    counts_table,
    listed_board,
    listed_table,
    parse_board,
)
from tablebase.tables import COMMAND, FORMAT_VERSION, MANIFEST
from tablebase.tables.content import ContentHash
from tablebase.tables.index import BLOCK, BODY, CHECKSUM, HEADER, MAGIC, blocks, checksum
from tablebase.tables.manifest import Entry, parse_manifest, read_pages, sha256
from tablebase.tables.mending import mending, unopened
from tablebase.tables.parquet import description, schema, sorting
from tablebase.tables.store import Store


@dataclass(frozen=True, slots=True)
class Published:
    """A table that the manifest lists; `puzzle` and `table` are None where no rule knows it."""

    store: Store
    name: str
    entry: Entry
    puzzle: Puzzle | None
    table: Table | None
    report: Report
    proved: list[Claim]

    @property
    def files(self) -> list[tuple[str, Entry]]:
        """The files of its rows in order, and what the manifest says of each."""
        return [(file["file"], file) for file in self.entry["files"]]

    @property
    def file(self) -> str:
        """The file of its rows; where they are several, what all of them are called."""
        files = self.files
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
        return Proof(self.store, self.name, file or self.file, command, self.report, self.proved)


def _command(store: Store, puzzle: Puzzle | None, table: Table | None, *, force: bool) -> str:
    """The command that makes a table, or all of them where no puzzle has it."""
    stage = puzzle.stage(table.name) if puzzle and table else puzzle.name if puzzle else ""
    return mending(stage, store, force=force)


@singledispatch
def tables_of(puzzle: Puzzle, entries: dict[str, Entry]) -> tuple[Table, ...]:
    """The puzzle's tables, those among the published ones included that were asked for."""
    return puzzle.tables


@tables_of.register
def _(puzzle: Knight, entries: dict[str, Entry]) -> tuple[Table, ...]:
    own = {table.name for table in puzzle.tables}
    named_so = (listed_board(name) for name in entries if name not in own)
    boards = [board for board in named_so if board and board.squares <= LISTABLE]
    more = [listed_table(board) for board in boards]
    named = entries.get("knight_counts", {}).get("parameters", {}).get("boards", [])
    texts = named if isinstance(named, list) else []
    # a board whose tours are not listed is not proved, so the rules' own are the only others
    listed = {(board.files, board.ranks) for board in boards}
    counted = {*COUNTED, *(sides for text in texts for sides in _sides(text) if sides in listed)}
    return (*puzzle.tables[:-1], *more, counts_table(tuple(sorted(counted))))


def _sides(text: object) -> list[tuple[int, int]]:
    try:
        board = parse_board(str(text))
    except NotationError:
        return []
    return [(board.files, board.ranks)]


def published_in(store: Store, report: Report, proved: list[Claim]) -> list[Published]:
    """Every table listed; TableMissing where one of the puzzles' own is not."""
    path, command = store.full(MANIFEST), _command(store, None, None, force=True)
    try:
        text = store.read(MANIFEST)
    except FileNotFoundError as error:
        raise TableMissing(path, _command(store, None, None, force=False)) from error
    except OSError as error:
        raise unopened(path, error, command) from error
    entries, _ = parse_manifest(text, store)
    proof = Proof(store, "manifest", MANIFEST, command, report, proved)
    with proof.claim("every required table is listed under its own name", len(entries)) as fact:
        _check_names(fact, entries)
        listed = []
        for puzzle in puzzles():
            for table in tables_of(puzzle, entries):
                entry = entries.pop(table.name, None)
                if entry is None:
                    command = _command(store, puzzle, table, force=False)
                    raise TableMissing(store.full(table.file), command)
                indexed = {True: "with an index", False: "without an index"}
                fact.same(
                    f"{table.name} {indexed[entry['index'] is not None]}",
                    f"{table.name} {indexed[bool(table.index)]}",
                )
                listed.append(Published(store, table.name, entry, puzzle, table, report, proved))
    unknown = sorted(entries.items())
    return listed + [
        Published(store, name, entry, None, None, report, proved) for name, entry in unknown
    ]


def _check_names(fact: Fact, entries: dict[str, Entry]) -> None:
    """Its text, and the files of rows, are checked as it is parsed; here, the indexes."""
    for name, entry in entries.items():
        index = entry["index"]
        if index is not None:
            fact.same(index["file"], f"{name}.idx")
            if not isinstance(index.get("records"), int):
                fact.refuted(f"records {index.get('records')!r}", "a number of records")


def check_files(listed: Published) -> None:
    """Sizes, SHA-256 and the index's header: nothing is decoded."""
    entry = listed.entry
    unknown = "" if listed.table else " (no rules for this table here: its rows are not proved)"
    proof = listed.claims(force=False)
    _check_bytes(proof, listed.files, entry["rows"], unknown)
    index = entry["index"]
    if index:
        proof = listed.claims(listed.index_file, force=False)
        _check_bytes(proof, [(listed.index_file, index)], index["records"], unknown)
        proof = listed.claims(listed.index_file)
        data = listed.store.read(listed.index_file)
        claim = "the header matches the table: version, name, records, content hash"
        with proof.claim(claim, index["records"]) as fact:
            _check_header(fact, listed, data)
        with proof.claim(
            "every block has the right checksum, and zeros after its records", index["records"]
        ) as fact:
            _check_blocks(fact, data)


def check_pages(store: Store, report: Report, proved: list[Claim]) -> None:
    """The pages that are listed and still there: whether they are what was written."""
    for name, page in read_pages(store).items():
        if name in store.names():
            maker = "pipeline explore" if name == "explorer.html" else "pipeline report"
            command = mending("", store).replace(COMMAND, maker)
            proof = Proof(store, name.rpartition(".")[0], name, command, report, proved)
            _check_bytes(proof, [(name, page)], 0, "")


def _check_bytes(proof: Proof, files: list[tuple[str, Entry]], rows: int, unknown: str) -> None:
    with proof.claim(f"size and SHA-256 match the manifest{unknown}", rows) as whole:
        for file, said in files:
            fact = whole.of(file)
            try:
                size = proof.store.size(file)
                if size != said["bytes"]:
                    fact.refuted(f"{size:,} bytes", f"{said['bytes']:,} bytes")
                fact.same(f"SHA-256 {sha256(proof.store, file)}", f"SHA-256 {said['sha256']}")
            except IsADirectoryError:
                fact.refuted("no file", "a file")
            except OSError as error:
                raise unopened(proof.store.full(file), error, proof.command) from error


def _check_header(fact: Fact, listed: Published, data: bytes) -> None:
    entry = listed.entry
    if len(data) < BLOCK:
        fact.refuted(f"{len(data)} bytes", f"a header of {BLOCK} bytes")
    magic, version, zero, width, block, count, content, name = HEADER.unpack_from(data)
    fact.same(f"magic {magic!r}", f"magic {MAGIC!r}")
    fact.same(f"version {version}", f"version {FORMAT_VERSION}")
    fact.same(f"{zero} for later use", "0 for later use")
    named = listed.name.encode()[: len(name)].ljust(len(name), b"\0")
    fact.same(f"name {name!r}", f"name {named!r}")
    fact.same(f"content hash {content.hex()}", f"content hash {entry['content']}")
    fact.same(f"blocks of {block} bytes", f"blocks of {BLOCK} bytes")
    if listed.table:
        wanted = struct.calcsize(listed.table.record)
        fact.same(f"records of {width} bytes", f"records of {wanted} bytes")
    elif not 0 < width <= BODY:
        fact.refuted(f"records of {width} bytes", f"records of 1 to {BODY} bytes")
    fact.same(f"{count} records", f"{entry['index']['records']} records")
    fact.same(f"{len(data)} bytes", f"{BLOCK * blocks(width, count)} bytes")


def _check_blocks(fact: Fact, data: bytes) -> None:
    """Every block's checksum, and nothing but zeros where no record is."""
    _, _, _, width, _, count, content, _ = HEADER.unpack_from(data)
    each = BODY // width
    for number in range(blocks(width, count)):
        block = data[number * BLOCK : (number + 1) * BLOCK]
        (said,) = CHECKSUM.unpack(block[BODY:])
        found = checksum(content, number, block[:BODY])
        fact.same(f"block {number}: checksum {said:08x}", f"block {number}: checksum {found:08x}")
        used = min(each, count - (number - 1) * each) * width if number else HEADER.size
        fact.same(
            f"block {number}: {block[used:BODY].count(0)} zeros after its records",
            f"block {number}: {BODY - used} zeros after its records",
        )


def check_schema(listed: Published) -> list[pq.FileMetaData]:
    """What each file says of itself, and what the manifest says of it, without its rows."""
    table, entry = listed.known, listed.entry
    with listed.claims().claim(
        "schema, all metadata and number of rows match the definition of the table", entry["rows"]
    ) as fact:
        found = [_check_schema(fact.of(file), listed, file, said) for file, said in listed.files]
        fact.same(entry["parameters"], json.loads(json.dumps(table.recipe.parameters())))
        fact.same(f"description {entry.get('description')}", f"description {description(table)}")
    return found


def _check_schema(fact: Fact, listed: Published, name: str, said: Entry) -> pq.FileMetaData:
    table = listed.known
    with decoding(fact), pq.ParquetFile(listed.store.source(name)) as file:
        found, metadata = file.schema_arrow, file.metadata
    if not found.equals(schema(table), check_metadata=True):
        for have, want in zip_longest(_lines(found), _lines(schema(table))):
            fact.same(have, want)
        fact.refuted("another schema", "the table's")
    with listed.store.open(name) as raw:
        check_footer(fact, raw, table.columns)
    with decoding(fact):
        arrow = b64decode(metadata.metadata.get(b"ARROW:schema", b""))
        fact.same(pa.ipc.read_schema(pa.py_buffer(arrow)), schema(table))
    fact.same(f"{metadata.num_rows:,} rows", f"{said['rows']:,} rows")
    return metadata


def read_rows(listed: Published) -> Rows:
    """All of a table's rows, once their content hash is proved."""
    check_schema(listed)
    content = ContentHash(listed.known.columns)
    with listed.claims().claim(CONTENT, listed.entry["rows"]) as fact:
        batches = [_read_file(fact.of(file), listed, file) for file, _ in listed.files]
        batch = one_batch(fact, pa.Table.from_batches(batches))
        fact.same(f"{batch.num_rows:,} rows", f"{listed.entry['rows']:,} rows")
        content.update(batch)
        fact.same(f"content hash {content.hexdigest()}", f"content hash {listed.entry['content']}")
    return Rows(batch)


def _read_file(fact: Fact, listed: Published, name: str) -> pa.RecordBatch:
    with decoding(fact), pq.ParquetFile(listed.store.source(name)) as file:
        batch = one_batch(fact, file.read())
        begin = 0
        for number in range(file.metadata.num_row_groups):
            group = file.metadata.row_group(number)
            check_group(fact, listed.known, group, batch.slice(begin, group.num_rows))
            begin += group.num_rows
    return batch


def one_batch(fact: Fact, table: pa.Table) -> pa.RecordBatch:
    """Rows that were decoded, in one piece; refuted where their text is too long for that."""
    whole = table.combine_chunks()
    whole.validate(full=True)
    batches = whole.to_batches() or [pa.RecordBatch.from_pylist([], whole.schema)]
    fact.same(f"rows in {len(batches)} pieces", "rows in 1 pieces")
    return batches[0]


def check_group(fact: Fact, table: Table, group: pq.RowGroupMetaData, rows: pa.RecordBatch) -> None:
    """What the footer says of a row group, which readers skip by, against its decoded rows."""
    fact.same(f"{rows.num_rows:,} rows in a group", f"{group.num_rows:,} rows in a group")
    fact.same(
        f"sorting columns {group.sorting_columns}", f"sorting columns {tuple(sorting(table))}"
    )
    for column, name in enumerate(rows.schema.names):
        chunk, values = group.column(column), rows.column(column)
        fact.same(f"column {chunk.path_in_schema}", f"column {name}")
        fact.same(f"{chunk.num_values:,} values of {name}", f"{rows.num_rows:,} values of {name}")
        fact.same(chunk.has_column_index or chunk.has_offset_index, False)
        said = chunk.statistics
        if said is None:
            continue
        if said.has_null_count:
            fact.same(f"{name}: {said.null_count} nulls", f"{name}: {values.null_count} nulls")
        fact.same(
            f"{name}: distinct count {said.has_distinct_count}", f"{name}: distinct count False"
        )
        if said.has_min_max:
            plain = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
            extremes = pc.min_max(plain).as_py()
            found = f"{name}: from {said.min!r} to {said.max!r}"
            fact.same(found, f"{name}: from {extremes['min']!r} to {extremes['max']!r}")


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


def records(listed: Published) -> Array:
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


def check_records(listed: Published, text: str, fields: dict[str, Array]) -> None:
    """Prove each field of an index equal to its expected values, one a record."""
    found = records(listed)
    with listed.claims(listed.index_file).claim(text, len(found)) as fact:
        for name, expected in fields.items():
            fact.same(f"{len(found):,} records", f"{len(expected):,} records")
            wrong = found[name] != expected
            rows = np.flatnonzero(wrong.any(axis=1) if wrong.ndim > 1 else wrong)
            if len(rows):
                row = int(rows[0])
                record = {field: found[field][row].tolist() for field in fields}
                fact.refuted(record[name], expected[row].tolist(), row, record)
