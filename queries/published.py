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


def published(store: Store, stage: str, table: Table) -> list[str]:
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
    files = [pl.scan_parquet(store.source(name)) for name in published(store, stage, table)]
    if len(files) > 1 and any(column.name == "number" for column in table.columns):
        files = _numbered(files)
    return pl.concat(files)


def _numbered(files: list[pl.LazyFrame]) -> list[pl.LazyFrame]:
    """Tours whose numbers go on where a start's were broken off by the end of a file."""
    before: Counter[str] = Counter()
    numbered = []
    for file in files:
        start = pl.col("start").cast(pl.String)
        begun = start.replace_strict(dict(before), default=0, return_dtype=pl.Int64)
        numbered.append(file.with_columns(pl.col("number") + begun))
        before.update(dict(file.group_by("start").len().collect().rows()))
    return numbered
