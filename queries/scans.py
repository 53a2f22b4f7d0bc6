"""Scans of published tables, and single rows of them; files are checked against the manifest."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from puzzle_tablebase.errors import TableDamaged, TableMissing
from puzzle_tablebase.formats.manifest import (
    Entry,
    File,
    hash_stream,
    read_manifest,
    read_versions,
)
from puzzle_tablebase.stores.access import (
    format_rebuild_command,
    make_damage_error,
    make_open_error,
)
from puzzle_tablebase.stores.folder import ATTEMPTS, Store

if TYPE_CHECKING:
    import polars as pl

    from puzzle_tablebase.schema import Table

Result = TypeVar("Result")


def require_published(store: Store, table: Table) -> Entry:
    """Return the manifest's entry of a table; a TableError if it is not published."""
    entry = read_manifest(store).get(table.name)
    if entry is None:
        command = format_rebuild_command(table.name, store)
        raise TableMissing(store.locate(table.file), command)
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
    from puzzle_tablebase.formats.parquet import scan_rows

    with translate_scan_errors(store, table.name):
        opened = store.open_random_access(table.file)
        versions = _list_versions(store, table, opened.size)
        opened.load()
        with opened.open_stream() as stream:
            digest = hash_stream(stream)
        if digest not in [file.sha256 for file in versions]:
            raise _make_error(store, table, "its SHA-256 differs from the manifest")
        return scan_rows(opened)


def _list_versions(store: Store, table: Table, size: int) -> list[File]:
    """Return the listed versions of a table's file of rows that have so many bytes."""
    versions = read_versions(store).get(table.name, [])
    files = [entry.parquet for entry in versions if entry.parquet]
    if not files:
        raise TableMissing(store.locate(table.file), format_rebuild_command(table.name, store))
    if not (found := [file for file in files if file.bytes == size]):
        problem = f"it has {size:,} bytes, the manifest says {files[-1].bytes:,}"
        raise _make_error(store, table, problem)
    return found


def _make_error(store: Store, table: Table, problem: str) -> TableDamaged:
    """Make the error for a file that is not as published: a build finds that out itself."""
    command = format_rebuild_command(table.name, store)
    return TableDamaged(store.locate(table.file), problem, command)


def collect_rows(store: Store, table: str, rows: pl.LazyFrame) -> pl.DataFrame:
    """Collect rows of a published table; TableDamaged if they cannot be decoded."""
    with translate_scan_errors(store, table):
        return rows.collect()


@contextmanager
def translate_scan_errors(store: Store, table: str) -> Iterator[None]:
    """Turn errors of reading a table's rows in the block into a TableError."""
    import polars as pl

    try:
        yield
    except (OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # Arrow's errors of decoding are plain OSErrors without a number, or ValueErrors
        if isinstance(error, OSError) and (error.errno or type(error) is not OSError):
            command = format_rebuild_command(table, store)
            raise make_open_error(store.locate(f"{table}.parquet"), error, command) from error
        raise make_damage_error(store, table, "its rows cannot be decoded") from error


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

        def read(groups: list[int], names: Sequence[str]) -> pl.DataFrame:
            return pl.DataFrame(rows.read_row_groups(groups, [*names], use_threads=False))

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
    chunks, names = rows.metadata.row_group(group), rows.schema_arrow.names
    ranges = [chunks.column(names.index(name)).statistics for name in values]
    return all(
        each is None or not each.has_min_max or each.min <= value <= each.max
        for each, value in zip(ranges, values.values(), strict=True)
    )
