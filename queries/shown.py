"""How opened tables are shown at a prompt: their folder, and what is published there."""

from __future__ import annotations

from pathlib import Path

from queries.reader import Reader
from tablebase.errors import TablebaseError


class Shown:
    """Tables of a folder; of one puzzle where a reader answers for it."""

    def __repr__(self) -> str:
        from tablebase.tables.manifest import read_manifest

        reader: Reader | None = vars(self).get("_reader")
        folder = reader.folder if reader else vars(self)["folder"]
        try:
            listed = read_manifest(Path(folder))
            names = [name for name in listed if reader is None or reader.owns(name)]
        except TablebaseError as error:
            names = [str(error)]
        return f"<{type(self).__name__} in {folder}: {', '.join(names) or 'none published'}>"
