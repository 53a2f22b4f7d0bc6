"""Scans of published tables; each file is checked against the manifest before it is read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from puzzle_tablebase.errors import TableDamaged, TableMissing
from puzzle_tablebase.tables.access import (
    format_rebuild_command,
    make_damage_error,
    make_open_error,
)
from puzzle_tablebase.tables.manifest import Entry, find_mismatch, read_manifest
from puzzle_tablebase.tables.store import Store

if TYPE_CHECKING:
    import polars as pl

    from puzzle_tablebase.schema import Table


def require_published(store: Store, table: Table) -> Entry:
    """Return the manifest's entry of a table; a TableError if it is not published."""
    entry = read_manifest(store).get(table.name)
    if entry is None:
        command = format_rebuild_command(table.name, store)
        raise TableMissing(store.locate(table.file), command)
    return entry


def require_intact(store: Store, table: Table) -> Entry:
    """Return the manifest's entry of a table; a TableError if its rows do not match it."""
    entry, path = require_published(store, table), store.locate(table.file)
    command = format_rebuild_command(table.name, store)
    if entry.parquet is None:
        raise TableMissing(path, command)
    try:
        problem = find_mismatch(store, entry.parquet)
    except OSError as error:
        raise make_open_error(path, error, command) from error
    if problem:
        raise TableDamaged(path, problem, command)
    return entry


def scan_table(store: Store, table: Table) -> pl.LazyFrame:
    """Check a table's files and return its rows."""
    entry = require_intact(store, table)
    import polars as pl

    rows = scan_rows(store, entry)
    count = collect_rows(store, table.name, rows.select(pl.len())).item()
    if count != entry.rows:
        raise make_damage_error(store, table.name, f"it has {count:,} rows, not {entry.rows:,}")
    return rows


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


def scan_rows(store: Store, entry: Entry) -> pl.LazyFrame:
    """Return the rows of a manifest's entry, unchecked."""
    import polars as pl

    assert entry.parquet
    name = entry.parquet.file
    try:
        source = store.get_source(name)
        if not isinstance(source, str):
            with source:  # polars would read all of it too, but abort the process where that fails
                source = io.BytesIO(source.read())
    except OSError as error:
        raise make_open_error(store.locate(name), error, "") from error
    return pl.scan_parquet(source, glob=False)
