"""A published table, its files checked whole against the manifest before anything is read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from tablebase.errors import TableDamaged, TableMissing
from tablebase.tables.manifest import Entry, read_manifest, unlike
from tablebase.tables.mending import mending, unopened
from tablebase.tables.store import Store

if TYPE_CHECKING:
    from tablebase.puzzle import Table


def checked(store: Store, stage: str, table: Table) -> Entry:
    """What the manifest says of a table; a TableError where a file of its rows is not so."""
    command = mending(stage, store)
    entry = read_manifest(store).get(table.name)
    if entry is None:
        raise TableMissing(store.full(table.file), command)
    for file in entry.files:
        full = store.full(file.file)
        try:
            problem = unlike(store, file)
        except OSError as error:
            raise unopened(full, error, command) from error
        if problem:
            raise TableDamaged(full, problem, command)
    return entry


def scanned(store: Store, stage: str, table: Table) -> pl.LazyFrame:
    """The rows of a table that is checked."""
    return rows_of(store, table, checked(store, stage, table))


def rows_of(store: Store, table: Table, entry: Entry) -> pl.LazyFrame:
    """The rows that a manifest lists, as if they were in one file."""
    files = [pl.scan_parquet(store.source(file.file)) for file in entry.files]
    for column in table.columns if len(files) > 1 else ():
        if column.within:
            files = _numbered(files, column.name, column.within)
    return pl.concat(files)


def _numbered(files: list[pl.LazyFrame], number: str, within: str) -> list[pl.LazyFrame]:
    """Rows whose numbers go on where the end of a file broke them off."""
    before: Counter[str] = Counter()
    numbered = []
    for file in files:
        group = pl.col(within).cast(pl.String)
        begun = group.replace_strict(dict(before), default=0, return_dtype=pl.Int64)
        numbered.append(file.with_columns(pl.col(number) + begun))
        before.update(dict(file.group_by(within).len().collect().rows()))
    return numbered
