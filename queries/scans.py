"""Scans of published tables, and single rows of them; files are checked against the manifest."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from puzzle_tablebase.errors import TableDamaged, TableMissing, explain_library_error
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    hash_stream,
    read_manifest,
    read_versions,
)
from puzzle_tablebase.stores import ATTEMPTS, Store, make_damage_error, make_open_error

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.parquet as pq

    from puzzle_tablebase.schema import Column, Table

Result = TypeVar("Result")
MAX_GROUP_BYTES = 1 << 30
"""The most bytes that the texts of a row group may take when they are read."""


def require_published(store: Store, table: Table) -> Entry:
    """Return the manifest's entry of a table; a TableError if it is not published."""
    entry = read_manifest(store).get(table.name)
    if entry is None:
        raise TableMissing(store, table.file, table.name)
    return entry


def retry_changed(store: Store, read: Callable[[], Result]) -> Result:
    """Read the manifest and a file that it lists; if they do not match, read both again.

    The table may have been replaced meanwhile.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return read()
        except (TableDamaged, TableMissing):
            store.refresh()
    return read()


def scan_table(store: Store, table: Table) -> pl.LazyFrame:
    """Check a table's file, and return its rows, which are read from that open file."""
    return retry_changed(store, partial(_scan_listed, store, table))


def _scan_listed(store: Store, table: Table) -> pl.LazyFrame:
    import polars as pl

    from puzzle_tablebase.formats.parquet import scan_rows
    from puzzle_tablebase.formats.row_groups import open_rows

    with translate_scan_errors(store, table.name):
        opened = store.open_random_access(table.file)
        versions = _list_versions(store, table, opened.size)
        opened.load()
        with opened.open_stream() as stream:
            digest = hash_stream(stream)
        if digest not in [file.sha256 for file in versions]:
            raise _make_error(store, table, "its SHA-256 differs from the manifest")
        with opened.open_stream() as stream:
            _require_definition(store, table, open_rows(stream), table.columns)
        rows, types = (
            scan_rows(opened),
            {column.name: pl.Enum(column.values) for column in table.columns if column.values},
        )
        if {name: rows.collect_schema()[name] for name in types} != types:
            raise make_damage_error(store, table.name, "its enum values differ")
        return rows


def _require_definition(
    store: Store, table: Table, rows: pq.ParquetFile, columns: Iterable[Column]
) -> None:
    """Raise TableDamaged unless a file has the table's columns, and at most its number of rows.

    Code that reads the rows relies on this, as the file may be forged.
    """
    from puzzle_tablebase.formats.row_groups import find_problem

    if problem := find_problem(rows, columns, table.rows):
        raise make_damage_error(store, table.name, problem)


def _list_versions(store: Store, table: Table, size: int) -> list[File]:
    """Return the listed versions of a table's Parquet file that have this size."""
    versions = read_versions(store).get(table.name, [])
    files = [entry.parquet for entry in versions if entry.parquet]
    if not files:
        raise TableMissing(store, table.file, table.name)
    if not (found := [file for file in files if file.bytes == size]):
        problem = f"it has {size:,} bytes, the manifest says {files[-1].bytes:,}"
        raise _make_error(store, table, problem)
    return found


def _make_error(store: Store, table: Table, problem: str) -> TableDamaged:
    """Make the error for a file that is not as published, which a build detects itself."""
    return TableDamaged(store, table.file, problem, table.name)


def _require_room(
    store: Store, table: Table, footer: pq.FileMetaData, columns: Iterable[Column]
) -> None:
    """Raise TableDamaged if dictionary-encoded texts could fill the memory when expanded."""
    from puzzle_tablebase.formats.row_groups import find_chunk

    for group in map(footer.row_group, range(footer.num_row_groups)):
        for column in columns:
            chunk = find_chunk(group, column.name)
            size = chunk.total_uncompressed_size * group.num_rows
            if column.type == "string" and chunk.has_dictionary_page and size > MAX_GROUP_BYTES:
                problem = f"texts of its column {column.name} are too long for a dictionary"
                raise make_damage_error(store, table.name, problem)


def collect_rows(store: Store, table: str, rows: pl.LazyFrame) -> pl.DataFrame:
    """Collect rows of a published table; raise TableDamaged if they cannot be decoded."""
    with translate_scan_errors(store, table):
        return rows.collect()


@contextmanager
def translate_scan_errors(store: Store, table: str) -> Iterator[None]:
    """Turn errors of reading a table's rows in the block into a TableError."""
    try:
        yield
    except BaseException as error:  # polars raises a BaseException when it panics
        # a ValueError: of pyarrow's own Python, or of a column that is not there
        if isinstance(error, ValueError) or explain_library_error(error):
            raise make_damage_error(store, table, "its rows cannot be decoded") from error
        if not isinstance(error, OSError):
            raise
        raise make_open_error(store, f"{table}.parquet", error, table) from error


def find_rows(
    store: Store,
    table: Table,
    values: Mapping[str, Any],
    columns: Sequence[str],
    most: int | None = None,
) -> list[tuple[Any, ...]]:
    """Return the first rows of a table that have these values, with these columns, in order.

    The footer is checked against the manifest, and each page of the possible row groups against its
    checksum. The rest of the file is not read.
    """
    from puzzle_tablebase.formats.row_groups import find_rows

    needed = {*values, *columns}

    def read(rows: pq.ParquetFile) -> list[tuple[Any, ...]]:
        return [*islice(find_rows(rows, values, columns), most)]

    return retry_changed(store, partial(_read_listed, store, table, needed, read))


def count_rows(store: Store, table: Table, name: str, value: object) -> int:
    """Count the rows of a table that have a value in a column, as `find_rows` reads them."""
    from puzzle_tablebase.formats.row_groups import count_rows

    read = partial(count_rows, name=name, value=value)
    return retry_changed(store, partial(_read_listed, store, table, {name}, read))


def _read_listed(
    store: Store, table: Table, needed: Collection[str], read: Callable[[pq.ParquetFile], Result]
) -> Result:
    """Read from a table's Parquet file, whose footer is checked against the manifest."""
    from puzzle_tablebase.formats.row_groups import open_rows, read_footer

    with translate_scan_errors(store, table.name):
        opened = store.open_random_access(table.file)
        for file in _list_versions(store, table, opened.size):
            footer = opened.read(file.footer.bytes, max(0, file.bytes - file.footer.bytes))
            if hashlib.sha256(footer).hexdigest() == file.footer.sha256:
                break
        else:
            raise _make_error(store, table, "its footer differs from the manifest")
        rows = open_rows(
            opened.open_stream(buffer=0),  # of a remote file each read is a request
            metadata=read_footer(io.BytesIO(footer)),
            page_checksum_verification=True,
            pre_buffer=True,
        )
        columns = [column for column in table.columns if column.name in needed]
        _require_definition(store, table, rows, columns)
        _require_room(store, table, rows.metadata, columns)
        return read(rows)
