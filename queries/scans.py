"""A published table, its files checked whole against the manifest before anything is read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import polars as pl

from tablebase.errors import TableDamaged, TableMissing
from tablebase.tables.manifest import read_manifest, unlike
from tablebase.tables.mending import mending, unopened
from tablebase.tables.store import Store

if TYPE_CHECKING:
    from tablebase.puzzle import Table


def checked_files(store: Store, stage: str, table: Table) -> list[str]:
    """The table's files in order; a TableError where one is not as the manifest says."""
    command = mending(stage, store)
    entry = read_manifest(store).get(table.name)
    if entry is None:
        raise TableMissing(store.full(table.file), command)
    for file in entry["files"]:
        full = store.full(file["file"])
        try:
            problem = unlike(store, file)
        except OSError as error:
            raise unopened(full, error, command) from error
        if problem:
            raise TableDamaged(full, problem, command)
    return [file["file"] for file in entry["files"]]


def scanned(store: Store, stage: str, table: Table) -> pl.LazyFrame:
    """The table's rows as if they were in one file."""
    files = [pl.scan_parquet(store.source(name)) for name in checked_files(store, stage, table)]
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
