"""Ranks of many states of a sliding board at a time, and the states of ranks.

Ranks are those of the table that has a goal, seen as `SymmetryView` describes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.queries.bit_walks import list_weights, read_digits
from puzzle_tablebase.queries.board_columns import list_names

if TYPE_CHECKING:
    from puzzle_tablebase.puzzles.sliding import SlidingBoard, SymmetryView
    from puzzle_tablebase.queries.answer_frames import Bytes

Ranks = npt.NDArray[np.int64]
NO_STATE = 255
"""The tiles of an invalid rank."""
MARKS = np.frombuffer(CHARACTERS.encode(), np.uint8)


class BoardRanks:
    """The ranks of a board's states for a goal that it has a view of."""

    def __init__(self, board: SlidingBoard, view: SymmetryView) -> None:
        self._cells = [view.cells[cell] for cell in board.wide.cell_at]
        self._names = list_names(view)
        self._odd, self._weights = list_weights(board, view)

    def rank(self, tiles: Bytes) -> Ranks:
        """Return the rank of each column of tiles; -1 where the goal is unreachable."""
        places = np.ascontiguousarray(self._names[tiles[self._cells]].T)
        ranks = np.empty(len(places), np.int64)
        rank_states(places, self._odd, self._weights, ranks)
        return ranks

    def unrank(self, ranks: Ranks) -> Bytes:
        """Return the tiles of the state of each rank in a row; all 255 for an invalid rank."""
        places = np.empty((len(ranks), len(self._cells)), np.uint8)
        unrank_states(ranks, self._odd, self._weights, places)
        names = np.full(256, NO_STATE, np.uint8)
        names[self._names] = np.arange(len(self._names))
        tiles = np.empty_like(places)
        tiles[:, self._cells] = names[places]
        return tiles

    def write_states(self, ranks: Ranks) -> pl.Series:
        """Return the state of each rank as a text; all ranks must be valid."""
        marks = MARKS[self.unrank(ranks)].view(f"S{len(self._cells)}").ravel()
        return pl.Series("state", marks).cast(pl.String)


@compiled
def rank_states(places: Array, odd: Array, weights: Array, ranks: Array) -> None:
    """Fill the ranks of states; the arrays are those of `walk_states`."""
    orders = weights[0] * len(weights)
    digits = np.zeros(len(weights), np.int64)
    for state in range(len(places)):
        blank, number, inversions = read_digits(places[state], weights, digits)
        ranks[state] = blank * orders + number if inversions % 2 == odd[blank] else -1


@compiled
def unrank_states(ranks: Array, odd: Array, weights: Array, places: Array) -> None:
    """Fill the tiles by place of the states of ranks, 255 for invalid ranks.

    The weights of the last two digits are 0: the last but one follows from the parity.
    """
    count = len(weights)
    orders = weights[0] * count
    free = np.empty(count, np.uint8)
    for state in range(len(ranks)):
        places[state] = 255
        if not 0 <= ranks[state] < orders * (count + 1):
            continue
        blank, number = ranks[state] // orders, ranks[state] % orders
        free[:] = np.arange(1, count + 1)
        inversions, place = 0, 0
        for at in range(count):
            if place == blank:
                place += 1
            digit = 0
            if weights[at]:
                digit = number // weights[at]
                number -= digit * weights[at]
            elif at == count - 2:
                digit = (inversions + odd[blank]) % 2
            inversions += digit
            places[state, place] = free[digit]
            for later in range(digit, count - 1 - at):
                free[later] = free[later + 1]
            place += 1
        places[state, blank] = 0
