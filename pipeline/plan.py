"""What a list, or a piece of one, will take: parts, rows, bytes and hours, before anything is made.

Rows are those of a table of counts where one has them; else some branches of the search are gone
through, again and again, and the estimates' differences tell the error. Times are this machine's.
"""

from __future__ import annotations

import io
import time
from itertools import islice
from math import sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from pipeline.making import parts, probe
from pipeline.pieces import Listing
from pipeline.work import Stretches
from queries.answers import reader
from tablebase.puzzle import Table
from tablebase.tables.kept import Piece
from tablebase.tables.parquet import TableWriter
from tablebase.tables.store import Store

STRETCHES = 12
"""How much of a list is written to see how long that takes."""


class Plan(NamedTuple):
    """`error`: the standard error of rows, as a share of them; `seconds`: of one processor."""

    parts: int
    rows: float
    error: float
    bytes: float
    seconds: float


def planned(store: Store, listing: Listing, piece: Piece | None) -> Plan:
    """What is to be expected of a list, or of a piece of it."""
    table, items = listing.table, parts(listing.table).items
    own = items if piece is None else items[piece.number - 1 :: piece.of]
    if not own:
        return Plan(0, 0, 0, 0, 0)
    known = reader(listing.puzzle.name, store).listed_rows(table) if own is items else None
    found = probe(table, own)
    rows, searching = fmean(found.rows), sum(found.seconds) / max(1, sum(found.rows))
    error = stdev(found.rows) / sqrt(len(found.rows)) / max(1, rows) if len(found.rows) > 1 else 0
    if known is not None:
        rows, error = known, 0
    size, writing = _written(table, found.some)
    return Plan(len(own), rows, error, rows * size, rows * (searching + writing))


def _written(table: Table, some: Stretches) -> tuple[float, float]:
    """Bytes and processor seconds a row, as written here."""
    stretches = [*islice(some, STRETCHES)]
    rows, begun = 0, 0.0
    for few in (stretches[:1], stretches):  # the first time more is done than later
        begun, file = time.thread_time(), io.BytesIO()
        with TableWriter(file, table) as writer:
            for columns in few:
                writer.write(columns)
        rows = max(1, writer.rows)
    return len(file.getvalue()) / rows, (time.thread_time() - begun) / rows
