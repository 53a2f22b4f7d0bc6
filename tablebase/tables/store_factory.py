"""Which store is meant: a folder, or a place that has a URL."""

from __future__ import annotations

import os

from tablebase.paths import expand_path
from tablebase.tables.store import DEFAULT_FOLDER, Folder, Store


def open_store(location: object) -> Store:
    """Where the tables are: as asked, or `PIPELINE_OUTPUTS`, or `outputs`; a URL is no folder."""
    if isinstance(location, Store):
        return location
    path = expand_path(str(location or os.environ.get("PIPELINE_OUTPUTS") or DEFAULT_FOLDER))
    if "://" not in path:
        return Folder(path)
    from tablebase.tables.object_store import ObjectStore

    return ObjectStore(path)
