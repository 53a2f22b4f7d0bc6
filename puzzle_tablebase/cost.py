"""The cost of a table, as estimated from its recipe alone: rows, time, bytes and memory.

The rates were measured in 2026-11, on one core of the machine that this was written on. They are
meant to tell seconds from hours: times within a factor of about four.
"""

from __future__ import annotations

from math import ceil
from struct import calcsize
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Table


class Rate(NamedTuple):
    """Processor seconds and bytes of memory for each state that a search visits.

    `row_seconds`: processor seconds for each row, where rows take longer than the search; `bytes`:
    bytes of the files for each state, where the number of rows is not known beforehand.
    """

    seconds: float
    memory: float = 0
    row_seconds: float = 0
    bytes: float = 0


RATES = {
    "breadth first": Rate(3e-6, memory=390),
    "breadth first in blocks": Rate(1e-8, row_seconds=1.5e-6),
    "every tour": Rate(7e-7),
    "one tour a pair": Rate(2e-4),
    "placements of a pattern": Rate(4e-8, memory=2),
    "ranked closed tours": Rate(1e-6, bytes=2.55),
    "ranked tours": Rate(1e-6, bytes=2.44),
    "tour counts": Rate(1e-6),
}
"""The rates of each kind of search."""
WORD_BYTES_PER_STATE = 0.27
"""Bytes of memory for each state of a search in words: two bits, in words of 60 states."""
BYTES_PER_TEXT, BYTES_PER_NUMBER = 3, 0.4
"""Compressed bytes of Parquet for each value of a column of texts, or of another column."""
PROCESS_BYTES = 340_000_000
"""Bytes of a process that builds any table: the most that was measured, and some more."""


class Cost(NamedTuple):
    """The rows, and the estimated processor seconds, bytes of all files, and peak memory.

    `rows` is None where their number is not known before the search.
    """

    rows: int | None
    seconds: float
    bytes: int
    memory: int


def estimate_cost(table: Table) -> Cost | None:
    """Estimate the cost of a table; None if nothing is known of its search."""
    rate, states = RATES.get(table.recipe.search), table.recipe.count_states(table)
    if rate is None or states is None:
        return None
    rows = table.rows or 0
    texts = sum(column.kind == "string" for column in table.columns)
    row_bytes = BYTES_PER_TEXT * texts + BYTES_PER_NUMBER * (len(table.columns) - texts)
    row_bytes += calcsize(table.record_format)
    return Cost(
        table.rows,
        rate.seconds * states + rate.row_seconds * rows * bool(table.columns),
        ceil(row_bytes * rows + rate.bytes * states),
        table.recipe.estimate_memory(table) or PROCESS_BYTES + ceil(rate.memory * states),
    )
