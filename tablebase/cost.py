"""The cost of a table, as estimated from its recipe alone: rows, time, bytes and memory.

The rates were measured on one core of the machine that this was written on. They are meant to tell
seconds from hours: times within a factor of about four.
"""

from __future__ import annotations

from math import ceil
from struct import calcsize
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS_PER_STATE = 3e-6
"""Processor seconds for each state of a graph: making it, searching it, and writing its row."""
SECONDS_PER_WORD_STATE, SECONDS_PER_ROW = 1e-8, 1.5e-6
"""Processor seconds for each state of a search in words, and for writing a row of its states."""
WORD_BYTES_PER_STATE = 0.27
"""Bytes of memory for each state of a search in words: two bits, in words of 60 states."""
SECONDS_PER_PLACEMENT = 4e-8
"""Processor seconds for each placement of a pattern, with its record."""
SECONDS_PER_BOUND = 6e-8
"""Processor seconds for a state's bound by a partition of the tiles."""
DEPTHS = 50
"""The depths of a usual table."""
BYTES_PER_TEXT, BYTES_PER_NUMBER = 3, 0.4
"""Compressed bytes of Parquet for each value of a column of texts, or of another column."""
PROCESS_BYTES = 300_000_000
"""Bytes of a process that builds any table."""
GRAPH_BYTES_PER_STATE = 150
"""Bytes for each state of a graph: its moves, the results of the search, and the columns."""


class Cost(NamedTuple):
    """The estimated rows, processor seconds, bytes of all files, and peak memory of the process."""

    rows: int
    seconds: float
    bytes: int
    memory: int


def estimate_row_bytes(kinds: Sequence[str], record_format: str) -> float:
    """Estimate the bytes of a row, from its columns' kinds, and of its record in the index."""
    texts = sum(kind == "string" for kind in kinds)
    numbers = len(kinds) - texts
    return texts * BYTES_PER_TEXT + numbers * BYTES_PER_NUMBER + calcsize(record_format)


def estimate_graph_search(rows: int, row_bytes: float) -> Cost:
    """Estimate the cost of a search of a whole graph."""
    memory = PROCESS_BYTES + GRAPH_BYTES_PER_STATE * rows
    return Cost(rows, SECONDS_PER_STATE * rows, ceil(rows * row_bytes), memory)


def estimate_word_search(rows: int, states: int, kinds: Sequence[str], *, has_bits: bool) -> Cost:
    """Estimate the cost of a search in words, and of a table of its states or an index alone.

    `has_bits`: the index has a bit for each state, else a byte.
    """
    seconds = SECONDS_PER_WORD_STATE * states + SECONDS_PER_ROW * rows * bool(kinds)
    size = estimate_row_bytes(kinds, "") * rows * bool(kinds) + (states / 8 if has_bits else states)
    has_bytes = bool(kinds) or not has_bits
    memory = PROCESS_BYTES + ceil(WORD_BYTES_PER_STATE * states) + states * has_bytes
    return Cost(rows, seconds, ceil(size), memory)


def estimate_pattern_search(rows: int, row_bytes: float, *, has_columns: bool) -> Cost:
    """Estimate the cost of a search of a pattern's placements: about two bytes for each."""
    seconds_per_row = SECONDS_PER_PLACEMENT + SECONDS_PER_ROW * has_columns
    return Cost(rows, seconds_per_row * rows, ceil(rows * row_bytes), PROCESS_BYTES + 2 * rows)


def estimate_bounds(states: int, partitions: int) -> Cost:
    """Estimate the cost of counting a board's states by the bounds of some partitions."""
    seconds = (SECONDS_PER_WORD_STATE + SECONDS_PER_BOUND * partitions) * states
    rows = DEPTHS * DEPTHS // 2 * partitions
    memory = PROCESS_BYTES + ceil((WORD_BYTES_PER_STATE + 1) * states)
    return Cost(rows, seconds, 2 * rows, memory)
