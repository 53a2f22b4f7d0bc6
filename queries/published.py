"""A published Parquet file, checked whole against the manifest before anything is read from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import TableDamaged, TableMissing
from pipeline.tables.manifest import read_manifest, unlike
from pipeline.tables.mending import mending, unopened

if TYPE_CHECKING:
    from pipeline.puzzle import Table


def published(folder: str, stage: str, table: Table) -> Path:
    """The table's file; a TableError where it is not as the manifest says."""
    path = Path(folder) / table.file
    command = mending(stage, folder)
    entry = read_manifest(Path(folder)).get(table.name)
    if entry is None:
        raise TableMissing(str(path), command)
    try:
        problem = unlike(path, entry)
    except OSError as error:
        raise unopened(str(path), error, command) from error
    if problem:
        raise TableDamaged(str(path), problem, command)
    return path
