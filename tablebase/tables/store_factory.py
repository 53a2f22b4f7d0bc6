"""Factory of stores: folders, static hosts and object stores, the latter two by their URLs."""

from __future__ import annotations

import os

from tablebase.errors import BadRequest, quote
from tablebase.tables.store import DEFAULT_FOLDER, Folder, Store


def open_store(location: object) -> Store:
    """Open the store of a path or URL; by default `PIPELINE_OUTPUTS`, or else `outputs`.

    A store is returned as it is; BadRequest for a text that names no place.
    """
    if isinstance(location, Store):
        return location
    given = os.environ.get("PIPELINE_OUTPUTS") or DEFAULT_FOLDER if location is None else location
    text = str(given)
    if not text or "\0" in text:
        raise BadRequest(f"Tables are in a folder or at a URL, not in {quote(text)}")
    if ":" not in text and not text.startswith("~"):
        return Folder(text)
    from tablebase.paths import expand_path  # most folders need no expansion

    path = expand_path(text)
    if "://" not in path:
        return Folder(path)
    if path.lower().startswith(("http://", "https://")):
        from tablebase.tables.http_store import HttpStore

        return HttpStore(path)
    from tablebase.tables.object_store import ObjectStore

    return ObjectStore(path)
