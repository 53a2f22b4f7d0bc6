"""The read side: published tables, opened and asked.

>>> from queries import open_tables
>>> tables = open_tables("outputs")
>>> tables.eight.probe("378546201").distance
27
>>> tables.senet.probe("ABAAABBB.B...A.").dice
'53'
>>> tables.knight.probe("b1", to="a3").closed
True

`probe` raises a TablebaseError on trouble; `get` returns a default instead. Only the standard
library is imported for a lone lookup.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries.api import Tables
    from tablebase.tables.store import Store

__all__ = ["open_tables"]


def open_tables(location: str | Store | None = None) -> Tables:
    """The tables in a folder or store: the one given, or `PIPELINE_OUTPUTS`, or `outputs`.

    TableMissing if nothing is published there. Files open when they are first asked.
    """
    from queries.api import Tables

    return Tables(location)
