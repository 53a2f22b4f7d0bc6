"""A published Parquet file, checked whole against the manifest before anything is read from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.errors import TableDamaged, TableMissing
from pipeline.tables.manifest import read_manifest
from pipeline.tables.mending import mending
from pipeline.tables.publish import sha256

if TYPE_CHECKING:
    from pipeline.puzzle import Table


def published(folder: str, stage: str, table: Table) -> Path:
    """The table's file; TableMissing or TableDamaged where it is not as the manifest says."""
    path = Path(folder) / table.file
    command = mending(stage, folder)
    entry = read_manifest(Path(folder)).get(table.name)
    if entry is None or not path.is_file():
        raise TableMissing(str(path), command)
    if path.stat().st_size != entry["bytes"]:
        problem = f"it has {path.stat().st_size:,} bytes, the manifest says {entry['bytes']:,}"
        raise TableDamaged(str(path), problem, command)
    if sha256(path) != entry["sha256"]:
        raise TableDamaged(str(path), "its SHA-256 is not the manifest's", command)
    return path
