"""Which store is meant: a folder, or a place that has a URL."""

from __future__ import annotations

import os

from tablebase.paths import expand_path
from tablebase.tables.store import DEFAULT_FOLDER, Folder, Store


def tables_store(asked: object) -> Store:
    """Where the tables are: as asked, or `PIPELINE_OUTPUTS`, or `outputs`; a URL is no folder."""
    if isinstance(asked, Store):
        return asked
    place = expand_path(str(asked or os.environ.get("PIPELINE_OUTPUTS") or DEFAULT_FOLDER))
    if "://" not in place:
        return Folder(place)
    from tablebase.tables.object_store import Objects

    return Objects(place)
