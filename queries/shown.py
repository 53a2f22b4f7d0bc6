"""How opened tables are shown at a prompt: their place, and what is published there."""

from __future__ import annotations

from queries.answers import Reader
from tablebase.errors import TablebaseError


class Shown:
    """Tables of a store; of one puzzle where a reader answers for it."""

    def __repr__(self) -> str:
        from tablebase.tables.manifest import read_manifest

        reader: Reader | None = vars(self).get("_reader")
        store = reader.store if reader else vars(self)["store"]
        try:
            listed = read_manifest(store)
            names = [name for name in listed if reader is None or reader.owns(name)]
        except TablebaseError as error:
            names = [str(error)]
        return f"<{type(self).__name__} in {store}: {', '.join(names) or 'none published'}>"
