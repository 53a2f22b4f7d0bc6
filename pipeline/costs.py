"""What recipes cost: processor seconds, bytes of files, and memory, by a table's parameters alone.

`puzzle_tablebase.pipeline.kinds` says which kind costs what. It imports no recipe,
so that a list of tables with their costs needs no compiler. The figures were measured in 2026-11 on
one core. Times are within a factor of about four: they are meant to tell seconds from hours.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from struct import calcsize
from typing import NamedTuple

from puzzle_tablebase.notation.knight import ChessBoard, parse_sides
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tour_sizes import (
    RANKING_FACTORS,
    estimate_list_bytes,
    estimate_states,
    estimate_sweep_bytes,
)

BYTES_PER_TEXT, BYTES_PER_NUMBER = 3, 0.4
"""Compressed bytes of Parquet for each value of a column of texts, or of another column."""
COUNTED_LAYERS, RANKED_LAYERS = 4, {False: 14, True: 7}
"""The states of all layers, as a multiple of those of the largest one. For a ranking: of all tours
(False), and of closed ones (True)."""
BYTES_PER_RANKED_STATE = 2.5
MIN_STATES = 20_000
"""States that are added to every sweep: those that would take as long as the smallest board."""
COUNTING_BYTES = 440_000_000
"""Bytes of a process that compiles all kernels of a count; small layers take no more."""
SECONDS_PER_STATE = 5e-7
"""Processor seconds for each state of a sweep."""


class Shards(NamedTuple):
    """What a search is divided into, on a disk; by default it is in memory.

    `jobs`: how many shards are in memory at a time, `memory`: the bytes of each. `disk`: the most
    bytes of the folder meanwhile, the finished files included.
    """

    total: int = 0
    jobs: int = 0
    memory: int = 0
    disk: int = 0


IN_MEMORY = Shards()
"""The shards of a search in memory: none."""


class Cost(NamedTuple):
    """The estimated processor seconds, bytes of all files, and peak memory of the process."""

    seconds: float
    bytes: int
    memory: int
    shards: Shards = IN_MEMORY


def make_cost(table: Table, seconds: float, memory: float, *, more: float = 0) -> Cost:
    """Make the cost of a table; rows whose number is unknown cost nothing.

    `more`: bytes of records beside those of its rows.
    """
    texts = sum(column.type == "string" for column in table.columns)
    row = BYTES_PER_TEXT * texts + BYTES_PER_NUMBER * (len(table.columns) - texts)
    size = (row + calcsize(table.record_format)) * (table.rows or 0) + more
    return Cost(seconds, ceil(size), ceil(memory))


def make_estimate(seconds: float, memory: float = 0) -> Callable[[Table], Cost]:
    """Make the estimate of a search that takes so many seconds and bytes for each state."""

    def estimate(table: Table) -> Cost:
        states = table.states
        return make_cost(table, seconds * states, PROCESS_BYTES + memory * states)

    return estimate


# ---- knight's tours ---------------------------------------------------------------------------


def estimate_tour_list(table: Table) -> Cost:
    """Estimate a search for every tour."""
    memory = PROCESS_BYTES + estimate_list_bytes(table.rows or 0)
    return make_cost(table, 7e-7 * table.states, memory)


def estimate_tour_ranking(table: Table) -> Cost:
    """Estimate a sweep whose layers are kept."""
    board, closed = _read_board(table), table.recipe.parameters["closed"]
    states = _sum_states(board, RANKED_LAYERS[closed], closed=closed)
    memory = estimate_sweep_bytes(board, closed=closed, factor=RANKING_FACTORS[closed])
    more = BYTES_PER_RANKED_STATE * states
    return make_cost(table, SECONDS_PER_STATE * states, memory, more=more)


def estimate_tour_counts(table: Table) -> Cost:
    """Estimate a sweep for each board."""
    parameters = table.recipe.parameters
    boards = [
        (ChessBoard(*parse_sides(name)), name in parameters["closed"])
        for name in parameters["boards"]
    ]
    states = sum(_sum_states(board, COUNTED_LAYERS, closed=closed) for board, closed in boards)
    sweeps = (estimate_sweep_bytes(board, closed=closed) for board, closed in boards)
    return make_cost(table, SECONDS_PER_STATE * states, max([COUNTING_BYTES, *sweeps]))


def estimate_tour_pair_counts(table: Table) -> Cost:
    """Estimate a sweep by both ends: on some boards, no state of it stands for its mirror image."""
    board = _read_board(table)
    images = 1 + board.sorted_sides[0] % 2
    states = 2 * images * _sum_states(board, COUNTED_LAYERS, closed=False)
    memory = estimate_sweep_bytes(board, closed=False, factor=images)
    return make_cost(table, SECONDS_PER_STATE * states, memory)


def _read_board(table: Table) -> ChessBoard:
    return ChessBoard(*parse_sides(table.recipe.parameters["board"]))


def _sum_states(board: ChessBoard, layers: int, *, closed: bool) -> int:
    """Estimate the states of all layers of a sweep."""
    return MIN_STATES + layers * estimate_states(board, closed=closed)
