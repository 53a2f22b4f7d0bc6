"""Scans of published tables; each file is checked against the manifest before it is read."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from puzzle_tablebase.errors import TableDamaged, TableMissing
from puzzle_tablebase.formats.manifest import Entry, File, read_manifest, read_versions
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


def list_row_files(store: Store, table: Table) -> list[File]:
    """Return the listed versions of a table's file of rows; TableMissing if there are none."""
    versions = read_versions(store).get(table.name, [])
    files = [entry.parquet for entry in versions if entry.parquet]
    if not files:
        raise TableMissing(store.locate(table.file), format_rebuild_command(table.name, store))
    return files


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
    versions, path = list_row_files(store, table), store.locate(table.file)
    command = format_rebuild_command(table.name, store)
    try:
        source = store.open(table.file)
        if not isinstance(getattr(source, "raw", None), io.FileIO):
            with source:  # polars would read all of it too, but abort the process where that fails
                source = io.BytesIO(source.read())
        size, begin = source.seek(0, io.SEEK_END), source.seek(0)
        digest = hashlib.file_digest(source, "sha256").hexdigest()  # type: ignore[arg-type]
        source.seek(begin)
    except OSError as error:
        raise make_open_error(path, error, command) from error
    problem = f"it has {size:,} bytes, the manifest says {versions[-1].bytes:,}"
    if size in [file.bytes for file in versions]:
        problem = "its SHA-256 differs from the manifest"
    if digest not in [file.sha256 for file in versions]:
        source.close()
        raise TableDamaged(path, problem, command)
    import polars as pl

    with source:  # polars has a descriptor, or the bytes, of its own
        return pl.scan_parquet(source, glob=False)


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
    except OSError as error:  # the file is gone since its scan was made
        command = format_rebuild_command(table, store)
        raise make_open_error(store.locate(f"{table}.parquet"), error, command) from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise make_damage_error(store, table, "its rows cannot be decoded") from error
