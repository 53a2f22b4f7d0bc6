"""The package that opens published tables and answers queries from them.

>>> from puzzle_tablebase.queries import open_tables
>>> tables = open_tables("outputs")
>>> tables.eight.probe("378546201").distance
27
>>> tables.senet.probe("ABAAABBB.B...A.").dice
'53'
>>> tables.knight.probe("b1", to="a3").closed
True

`probe` raises a TablebaseError where it has no answer; `get` returns a default instead. A single
lookup imports only the standard library.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.queries.api import Tables
    from puzzle_tablebase.stores.folder import Store

__all__ = ["open_tables"]


def open_tables(location: str | Store | None = None) -> Tables:
    """Open the tables in a folder or store.

    The default location is that of `PIPELINE_OUTPUTS`, else `outputs`. Raises TableMissing if
    nothing is published there. Files are opened when they are first needed.
    """
    from puzzle_tablebase.queries.api import Tables
    from puzzle_tablebase.stores import MANIFEST
    from puzzle_tablebase.stores.access import format_rebuild_command, make_open_error, open_store

    store = open_store(location)
    try:
        store.get_size(MANIFEST)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        command = format_rebuild_command("", store) if is_missing else ""
        raise make_open_error(store.locate(MANIFEST), error, command) from error
    return Tables(store)
