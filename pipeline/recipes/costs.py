"""What recipes cost: processor seconds, bytes of files, and memory, by a table's parameters alone.

They stand beside the recipes, not in them: a list of tables says what each costs, and needs no
compiler. Measured in 2026-11 on one core of the machine that this was written on. Times are within
a factor of about four: they are meant to tell seconds from hours.
"""

from __future__ import annotations

from math import ceil
from struct import calcsize
from typing import NamedTuple

from puzzle_tablebase.notation.knight import ChessBoard, parse_sides
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tour_sizes import (
    RANKED_TIMES,
    estimate_list_bytes,
    estimate_states,
    estimate_sweep_bytes,
)

BYTES_PER_TEXT, BYTES_PER_NUMBER = 3, 0.4
"""Compressed bytes of Parquet for each value of a column of texts, or of another column."""
COUNTED_LAYERS, RANKED_LAYERS = 4, {False: 14, True: 7}
"""The states of all layers, as a multiple of those of the largest one; of a ranking, for all tours
(False) and for closed ones (True)."""
BYTES_PER_RANKED_STATE = 2.5
MIN_STATES = 20_000
"""States of a sweep that would take as long as the smallest board."""
COUNTING_BYTES = 440_000_000
"""Bytes of a process that compiles all kernels of a count; small layers take no more."""
SECONDS_PER_STATE = 5e-7
"""Processor seconds for each state of a sweep."""


class Cost(NamedTuple):
    """The estimated processor seconds, bytes of all files, and peak memory of the process.

    `shards`: the number that the search is divided into, on a disk; 0: it is in memory. `jobs`: how
    many of them are in memory at a time, `task` the bytes of each. `disk`: the most bytes of the
    folder meanwhile.
    """

    seconds: float
    bytes: int
    memory: int
    shards: int = 0
    jobs: int = 0
    task: int = 0
    disk: int = 0


def make_cost(table: Table, seconds: float, memory: float, *, more: float = 0) -> Cost:
    """Make the cost of a table; rows whose number is unknown cost nothing.

    `more`: bytes of records beside those of its rows.
    """
    texts = sum(column.kind == "string" for column in table.columns)
    row = BYTES_PER_TEXT * texts + BYTES_PER_NUMBER * (len(table.columns) - texts)
    size = (row + calcsize(table.record_format)) * (table.rows or 0) + more
    return Cost(seconds, ceil(size), ceil(memory))


def estimate_graph(table: Table) -> Cost:
    """Estimate a breadth-first search whose puzzle fills the columns."""
    return make_cost(table, 3e-6 * table.states, PROCESS_BYTES + 390 * table.states)


def estimate_sliding_rows(table: Table) -> Cost:
    """Estimate the same search of a small sliding board."""
    return make_cost(table, 2.3e-6 * table.states, PROCESS_BYTES + 200 * table.states)


def estimate_sliding_bits(table: Table) -> Cost:
    """Estimate a search in words of bits: two for each state, in words of 60."""
    return make_cost(table, 1e-8 * table.states, PROCESS_BYTES + 0.27 * table.states)


def estimate_pattern(table: Table) -> Cost:
    """Estimate a search of all placements of a pattern."""
    return make_cost(table, 4e-8 * table.states, PROCESS_BYTES + 2 * table.states)


# ---- knight's tours ---------------------------------------------------------------------------


def estimate_tour_list(table: Table) -> Cost:
    """Estimate a search for every tour."""
    memory = PROCESS_BYTES + estimate_list_bytes(table.rows or 0)
    return make_cost(table, 7e-7 * table.states, memory)


def estimate_tour_pairs(table: Table) -> Cost:
    """Estimate a search for one tour for each pair of squares."""
    return make_cost(table, 2e-4 * table.states, PROCESS_BYTES)


def estimate_tour_ranking(table: Table) -> Cost:
    """Estimate a sweep whose layers are kept."""
    board, closed = _read_board(table), table.recipe.parameters["closed"]
    states = _sum_states(board, RANKED_LAYERS[closed], closed=closed)
    memory = estimate_sweep_bytes(board, closed=closed, times=RANKED_TIMES[closed])
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
    images = 1 + min(board.files, board.ranks) % 2
    states = 2 * images * _sum_states(board, COUNTED_LAYERS, closed=False)
    memory = estimate_sweep_bytes(board, closed=False, times=images)
    return make_cost(table, SECONDS_PER_STATE * states, memory)


def _read_board(table: Table) -> ChessBoard:
    return ChessBoard(*parse_sides(table.recipe.parameters["board"]))


def _sum_states(board: ChessBoard, layers: int, *, closed: bool) -> int:
    """Estimate the states of all layers of a sweep."""
    return MIN_STATES + layers * estimate_states(board, closed=closed)
