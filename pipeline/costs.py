"""The memory and the states of searches, as estimated from a table's parameters alone.

They were measured in 2026-11, on the machine that this was written on.
"""

from __future__ import annotations

from typing import NamedTuple

from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import LONGEST_SIDES, MAX_LISTED_SQUARES
from puzzle_tablebase.schema import BITS_INDEX, Table

PROCESS_BYTES = 340_000_000
"""Bytes of a process that builds any table: the most that was measured, and some more."""
WORD_BYTES_PER_STATE = 0.27
"""Bytes of memory for each state of a search in words: two bits, in words of 60 states."""
BYTES_PER_TOUR, MAX_TOUR_BYTES = 60, 230_000_000
"""Memory for each tour of a list, and for those of the tasks that are done at the same time."""

LAYER_STATES = {
    False: {3: 364, 4: 5_262, 5: 228_936, 6: 6_774_595, 7: 14_736_773, 8: 335_484_807},
    True: {3: 65, 4: 533, 5: 39_100, 6: 1_017_017, 7: 12_345_976, 8: 16_759_503},
}
"""For all tours (False) and for closed ones (True), by a board's shorter side: the states of the
largest layer of the largest board that is counted, as measured."""
GROWTH = {False: 1.45, True: 2.2}
"""How many times more states the largest layer has on a board with one more square in its longer
side: for all tours (False) and for closed ones (True)."""
MAX_SMALL_STATES = 100_000
"""Most states of a layer of a board whose tours can be listed: 6x6 has 97,824."""
SWEEP_BYTES = 360_000_000
"""Bytes of a process that sweeps over the smallest board."""
BYTES_PER_STATE = 40
"""Memory for each state of the largest layer, approximately, as measured."""
DENSE_STATES, DENSE_BYTES = 20_000_000, 20
"""The first so many states need so many more bytes each."""
COUNTED_LAYERS, RANKED_LAYERS = 4, {False: 14, True: 7}
"""The states of all layers, as a multiple of those of the largest one."""
MIN_STATES = 20_000
"""States of a sweep that would take as long as the smallest board."""
ENCODED = {False: 2.2, True: 2}
"""How many times more memory a ranking takes than a count: all encoded layers stay in memory, and
no state stands for its mirror image. Open tours have more layers."""


class Cost(NamedTuple):
    """The estimated processor seconds, bytes of all files, and peak memory."""

    seconds: float
    bytes: int
    memory: int


def estimate_words(table: Table) -> float:
    """Estimate the bytes for a search in words; small boards have a byte for each state too."""
    return PROCESS_BYTES + (WORD_BYTES_PER_STATE + (table.index != BITS_INDEX)) * table.states


def estimate_list(table: Table) -> float:
    """Estimate the bytes for a list of every tour."""
    return PROCESS_BYTES + min(BYTES_PER_TOUR * (table.rows or 0), MAX_TOUR_BYTES)


# ---- sweeps -----------------------------------------------------------------------------------


def list_counted_boards(table: Table) -> list[tuple[KnightBoard, bool]]:
    """List the boards of a table of counts, each with whether only its closed tours are counted."""
    boards, closed = (table.recipe.parameters[name] for name in ("boards", "closed"))
    return [(parse_board(name), name in closed) for name in boards]


def count_swept_states(table: Table) -> float:
    """Estimate the states of the sweeps over all boards of a table of counts."""
    boards = list_counted_boards(table)
    return sum(MIN_STATES + COUNTED_LAYERS * _estimate_layer(*board) for board in boards)


def count_ranked_states(table: Table) -> float:
    """Estimate the states of the layers of a ranking."""
    board, closed = _get_ranked_board(table)
    return MIN_STATES + RANKED_LAYERS[closed] * _estimate_layer(board, closed)


def _get_ranked_board(table: Table) -> tuple[KnightBoard, bool]:
    return parse_board(table.recipe.parameters["board"]), "closed" in table.recipe.search


def _estimate_layer(board: KnightBoard, closed: bool) -> float:
    """Estimate the number of states of a board's largest layer."""
    short, long = sorted((board.files, board.ranks))
    longest = LONGEST_SIDES[closed].get(short, 0)
    return LAYER_STATES[closed].get(short, 0) * GROWTH[closed] ** min(0, long - longest)


def estimate_counts(table: Table) -> float:
    """Estimate the bytes for the largest board of a table of counts."""
    sizes = (estimate_count(*board) for board in list_counted_boards(table))
    return max(sizes, default=PROCESS_BYTES)


def estimate_count(board: KnightBoard, closed: bool) -> int:
    """Estimate the bytes for counting the tours of a board, or its closed tours alone."""
    short = min(board.files, board.ranks)
    if short < 3:
        return PROCESS_BYTES
    states = LAYER_STATES[closed].get(short, 0)
    if board.squares <= MAX_LISTED_SQUARES:
        states = min(states, MAX_SMALL_STATES)
    return SWEEP_BYTES + BYTES_PER_STATE * states + DENSE_BYTES * min(states, DENSE_STATES)


def estimate_ranking(table: Table) -> float:
    """Estimate the bytes for ranking the tours of a board."""
    board, closed = _get_ranked_board(table)
    return SWEEP_BYTES + ENCODED[closed] * (estimate_count(board, closed) - SWEEP_BYTES)
