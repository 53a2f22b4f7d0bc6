"""A published table, its files checked whole against the manifest before anything is read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from tablebase.errors import TableDamaged, TableMissing
from tablebase.tables.manifest import read_manifest, unlike
from tablebase.tables.mending import mending, unopened

if TYPE_CHECKING:
    from tablebase.puzzle import Table


def published(folder: str, stage: str, table: Table) -> list[Path]:
    """The table's files in order; a TableError where one is not as the manifest says."""
    command = mending(stage, folder)
    entry = read_manifest(Path(folder)).get(table.name)
    if entry is None:
        raise TableMissing(str(Path(folder) / table.file), command)
    paths = []
    for file in entry["files"]:
        path = Path(folder) / file["file"]
        try:
            problem = unlike(path, file)
        except OSError as error:
            raise unopened(str(path), error, command) from error
        if problem:
            raise TableDamaged(str(path), problem, command)
        paths.append(path)
    return paths


def scanned(folder: str, stage: str, table: Table) -> pl.LazyFrame:
    """The table's rows as if they were in one file."""
    files = [pl.scan_parquet(path) for path in published(folder, stage, table)]
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
