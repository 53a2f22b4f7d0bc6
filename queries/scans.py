"""Scans of published tables, and single rows of them; files are checked against the manifest."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
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
    """Read the manifest and a file that it lists, and both again if they do not match.

    The table may have been published anew meanwhile.
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

    from puzzle_tablebase.formats.parquet import open_rows, scan_rows

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
        rows, kinds = (
            scan_rows(opened),
            {column.name: pl.Enum(column.values) for column in table.columns if column.values},
        )
        if {name: rows.collect_schema()[name] for name in kinds} != kinds:
            raise make_damage_error(store, table.name, "its words are others")
        return rows


def _require_definition(
    store: Store, table: Table, rows: pq.ParquetFile, columns: Iterable[Column]
) -> None:
    """Raise TableDamaged unless a file has the columns, and no more rows, that the table must have.

    What reads the rows then relies on that, whoever wrote them.
    """
    from puzzle_tablebase.formats.parquet import make_schema

    found, defined, footer = rows.schema_arrow, make_schema(table), rows.metadata
    for column in columns:
        fields = [found.field(at) for at in found.get_all_field_indices(column.name)]
        if fields != [defined.field(column.name)]:
            problem = f"its column {column.name} is not as the table's definition says"
            raise make_damage_error(store, table.name, problem)
    counts = [footer.row_group(at).num_rows for at in range(footer.num_row_groups)]
    if min(counts, default=0) < 0 or footer.num_rows != sum(counts):
        raise make_damage_error(store, table.name, "its row groups contradict its number of rows")
    if table.rows not in (None, footer.num_rows):
        problem = f"it has {footer.num_rows:,} rows, not {table.rows:,}"
        raise make_damage_error(store, table.name, problem)


def _list_versions(store: Store, table: Table, size: int) -> list[File]:
    """Return the listed versions of a table's file of rows that have so many bytes."""
    versions = read_versions(store).get(table.name, [])
    files = [entry.parquet for entry in versions if entry.parquet]
    if not files:
        raise TableMissing(store, table.file, table.name)
    if not (found := [file for file in files if file.bytes == size]):
        problem = f"it has {size:,} bytes, the manifest says {files[-1].bytes:,}"
        raise _make_error(store, table, problem)
    return found


def _make_error(store: Store, table: Table, problem: str) -> TableDamaged:
    """Make the error for a file that is not as published: a build finds that out itself."""
    return TableDamaged(store, table.file, problem, table.name)


def _require_room(
    store: Store, table: Table, footer: pq.FileMetaData, columns: Iterable[Column]
) -> None:
    """Raise TableDamaged if texts that are stored once may take too much memory in all rows."""
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for column in columns:
            chunk = _find_chunk(group, column.name)
            size = chunk.total_uncompressed_size * group.num_rows
            if column.kind == "string" and chunk.has_dictionary_page and size > MAX_GROUP_BYTES:
                problem = f"texts of its column {column.name} are too long for a dictionary"
                raise make_damage_error(store, table.name, problem)


def _find_chunk(group: pq.RowGroupMetaData, name: str) -> pq.ColumnChunkMetaData:
    """Return a column's part of a row group: others may stand before it, in several parts each."""
    chunks = map(group.column, range(group.num_columns))
    return next(chunk for chunk in chunks if chunk.path_in_schema == name)


def collect_rows(store: Store, table: str, rows: pl.LazyFrame) -> pl.DataFrame:
    """Collect rows of a published table; TableDamaged if they cannot be decoded."""
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
    store: Store, table: Table, values: Mapping[str, Any], columns: Sequence[str]
) -> pl.DataFrame:
    """Return the rows of a table that have these values, with these columns, in order.

    The footer is checked against the manifest, and each page of the row groups that may have them
    against its checksum: the rest of the file is neither read nor needed.
    """
    return retry_changed(store, partial(_find_listed, store, table, values, columns))


def _find_listed(
    store: Store, table: Table, values: Mapping[str, Any], columns: Sequence[str]
) -> pl.DataFrame:
    import polars as pl
    import pyarrow.parquet as pq

    from puzzle_tablebase.formats.parquet import open_rows

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
            metadata=pq.read_metadata(io.BytesIO(footer)),
            page_checksum_verification=True,
            pre_buffer=True,
        )

        needed = [column for column in table.columns if column.name in (*values, *columns)]
        _require_definition(store, table, rows, needed)
        _require_room(store, table, rows.metadata, needed)

        def read(groups: list[int], names: Sequence[str]) -> pl.DataFrame:
            part = rows.read_row_groups(groups, [*names], use_threads=False)
            part.validate(full=True)  # polars would take any bytes for text
            return pl.DataFrame(part)

        # the statistics of texts allow more groups than have one, so the first column is read
        # alone; where several have it, their other values take few bytes beside the columns
        groups = [at for at in range(rows.num_row_groups) if _may_have(rows, at, values)]
        (name, value), *_ = values.items()
        groups = [at for at in groups if value in read([at], [name])[name]]
        if len(groups) > 1:
            groups = [at for at in groups if len(read([at], [*values]).filter(**values))]
        return read(groups, [*values, *columns]).filter(**values).select(columns)


def _may_have(rows: Any, group: int, values: Mapping[str, Any]) -> bool:
    """Return whether the statistics of a row group allow some values."""
    chunks = rows.metadata.row_group(group)
    ranges = [_find_chunk(chunks, name).statistics for name in values]
    return all(
        each is None or not each.has_min_max or each.min <= value <= each.max
        for each, value in zip(ranges, values.values(), strict=True)
    )
