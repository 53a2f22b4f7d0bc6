"""Tables taken back where the manifest is damaged or lost: what their files hold is proof enough.

The manifest's copy lists most of them. A table that it does not list as it is says itself what it
is: a Parquet file's metadata has the parameters and the content hash, an index's header has the
hash. A table is taken back only if everything in its files agrees.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from pipeline.part_files import describe
from tablebase.puzzle import Table
from tablebase.puzzles import list_puzzles
from tablebase.tables import INDEX_VERSION
from tablebase.tables.content_hash import ContentHash
from tablebase.tables.index_format import (
    BLOCK_BYTES,
    BODY_BYTES,
    CHECKSUM,
    HEADER,
    MAGIC,
    compute_checksum,
    count_blocks,
    make_record_type,
)
from tablebase.tables.manifest import (
    Entry,
    File,
    IndexEntry,
    Page,
    facts_of_rows,
    measure_file,
    read_backup,
)
from tablebase.tables.parquet import TableWriter, make_schema
from tablebase.tables.repair import list_files
from tablebase.tables.store import Store

BLOCKS = 1 << 8
"""Blocks of an index that are read together."""
UNKNOWN = "unknown"
"""What built an index that no Parquet file and no manifest tells of."""


class Recovery(NamedTuple):
    """What was taken back, and why files of other tables were not: those stay where they are."""

    tables: dict[str, Entry]
    pages: dict[str, Page]
    left_out: dict[str, str]


class NotWhole(Exception):
    """A file that does not hold what it says, or is not this program's."""


def recover(store: Store) -> Recovery:
    """Find all tables and pages in a store that are whole, without its manifest."""
    backup, pages = read_backup(store)
    tables = {name: entry for name, entry in backup.items() if _is_intact(store, entry)}
    names = [name for name in _list_names(store) if name not in tables]
    parameters, left_out = dict[str, dict[str, Any]](), dict[str, str]()
    for name in names:
        try:
            parameters[name] = _read_parameters(store, name)
        except (NotWhole, OSError) as error:
            left_out[name] = str(error)
    known = {name: entry.parameters for name, entry in tables.items()} | parameters
    for puzzle in list_puzzles():
        for table in puzzle.list_published_tables(known):
            made_of = parameters.pop(table.name, None)
            if made_of is not None:
                try:
                    tables[table.name] = _read_entry(store, table, made_of)
                except (NotWhole, OSError) as error:
                    left_out[table.name] = str(error)
    left_out |= dict.fromkeys(parameters, "no puzzle here has such a table")
    shown = {name: page for name, page in pages.items() if _is_as_listed(store, name, page)}
    return Recovery(tables, shown, left_out)


def _is_intact(store: Store, entry: Entry) -> bool:
    """Return whether a table's files are as listed; of a table in many files, some of them.

    A build makes the other files again, each alone.
    """
    whole = [_is_as_listed(store, file.file, file) for file in entry.all_files]
    return all(whole) or (len(entry.files) > 1 and any(whole))


def _is_as_listed(store: Store, name: str, listed: File | IndexEntry | Page) -> bool:
    try:
        return measure_file(store, name) == {"bytes": listed.bytes, "sha256": listed.sha256}
    except OSError:
        return False


def _list_names(store: Store) -> list[str]:
    """List the tables that files are named after, but for those in many files."""
    matches = (re.fullmatch(r"([^.]+)\.(parquet|idx)", name) for name in list_files(store))
    return sorted({match[1] for match in matches if match and match[1].isidentifier()})


def _read_parameters(store: Store, name: str) -> dict[str, Any]:
    """Read what a table was made of; nothing where it is an index alone."""
    if f"{name}.parquet" not in list_files(store, name):
        return {}
    found = _read_metadata(store, name).get("parameters")
    try:
        parameters = json.loads(found or "null")
    except ValueError:
        parameters = None
    if not isinstance(parameters, dict):
        raise NotWhole(f"{name}.parquet does not say what it was made of")
    return parameters


def _read_metadata(store: Store, name: str) -> dict[str, str]:
    try:
        with pq.ParquetFile(store.get_source(f"{name}.parquet")) as file:
            found = file.metadata.metadata or {}
    except (pa.ArrowException, OSError) as error:
        raise NotWhole(f"{name}.parquet cannot be read") from error
    return {
        key.decode("utf-8", "replace"): value.decode("utf-8", "replace")
        for key, value in found.items()
    }


def _read_entry(store: Store, table: Table, parameters: dict[str, Any]) -> Entry:
    """Read all of a table's files; returns what a manifest lists if they agree."""
    files, content, made_by, rows, index = list[File](), "", UNKNOWN, 0, None
    if table.columns:
        metadata = _read_metadata(store, table.name)
        content, rows = _read_rows(store, table)
        if content != metadata.get("content"):
            raise NotWhole(f"the rows of {table.file} are not those that it says")
        made_by = metadata.get("made_by", UNKNOWN)
        files = [File(file=table.file, rows=rows, first=0, **facts_of_rows(store, table.file))]
    if table.index:
        content, count = _read_index(store, table, content)
        rows = rows if files else count
        index = IndexEntry(table.index_file, count, **measure_file(store, table.index_file))
    if table.rows not in (None, rows):
        raise NotWhole(f"{table.name} has {rows:,} rows, not {table.rows:,}")
    entry = describe(table, files, rows, content, index)
    return replace(entry, made_by=made_by, parameters=parameters or entry.parameters)


def _read_rows(store: Store, table: Table) -> tuple[str, int]:
    """Decode all rows; returns their content hash and their number."""
    hashed, rows = ContentHash(table.columns), 0
    try:
        with pq.ParquetFile(store.get_source(table.file), page_checksum_verification=True) as file:
            if not file.schema_arrow.equals(make_schema(table), check_metadata=True):
                raise NotWhole(f"{table.file} is of another version of its table")
            for batch in file.iter_batches(1 << 16):
                hashed.update(batch)
                rows += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise NotWhole(f"{table.file} cannot be read") from error
    return hashed.hexdigest(), rows


def _read_index(store: Store, table: Table, content: str) -> tuple[str, int]:
    """Read all records; returns the content hash in the header, and their number.

    `content` is that of the rows, where there are any; else the records themselves have it.
    """
    name = table.index_file
    try:
        with store.open(name) as file:
            header = file.read(BLOCK_BYTES)
    except OSError as error:
        raise NotWhole(f"{name} cannot be read") from error
    if len(header) < BLOCK_BYTES:
        raise NotWhole(f"{name} has no whole header")
    magic, version, zero, width, block, count, hashed, title = HEADER.unpack_from(header)
    expected = (
        MAGIC,
        INDEX_VERSION,
        0,
        struct.calcsize(table.record_format),
        BLOCK_BYTES,
        table.name.encode(),
    )
    if (magic, version, zero, width, block, title.rstrip(b"\0")) != expected:
        raise NotWhole(f"{name} is of another table, or of another version")
    if store.get_size(name) != BLOCK_BYTES * count_blocks(width, count):
        raise NotWhole(f"{name} has another size than its {count:,} records")
    own = TableWriter(None, table)
    for records in _iter_records(store, table, hashed, count):
        if not table.columns:
            own.write({column: records[column] for column in records.dtype.names or ()})
    if hashed.hex() != (content or own.content):
        raise NotWhole(f"{name} does not belong to the rows of its table")
    return hashed.hex(), count


def _iter_records(store: Store, table: Table, content: bytes, count: int) -> Iterator[Any]:
    """Read the records of an index, whose every block has to have the right checksum."""
    form = make_record_type(table)
    each, number = BODY_BYTES // form.itemsize, 0
    with store.open(table.index_file) as file:
        while data := file.read(BLOCKS * BLOCK_BYTES):
            for at in range(0, len(data), BLOCK_BYTES):
                body, seal = data[at : at + BODY_BYTES], data[at + BODY_BYTES : at + BLOCK_BYTES]
                if seal != CHECKSUM.pack(compute_checksum(content, number, body)):
                    raise NotWhole(f"{table.index_file} is damaged in block {number:,}")
                if number:
                    used = min(each, count - (number - 1) * each)
                    yield np.frombuffer(body, form, used)
                number += 1
