"""Senet positions as two sets of squares, a side each: bit 0 is square 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.verify.claims import Array
from tablebase.puzzles.senet import OPENING, SQUARES

BOARD = (1 << SQUARES) - 1


class Positions:
    """Every position, row by row, and the row of any two sets."""

    def __init__(self, cells: npt.NDArray[np.uint8]) -> None:
        self.sets = np.zeros((2, len(cells)), dtype=np.int32)
        for square in range(SQUARES):
            for side, piece in enumerate("AB"):
                stands = cells[:, square] == ord(piece)
                self.sets[side] |= stands.astype(np.int32) << square
        # a position as a number of base 3, `.` < `A` < `B`, its first square the highest digit
        bits = np.arange(1 << SQUARES, dtype=np.int32)
        self._base_3 = np.zeros(1 << SQUARES, dtype=np.int32)
        for square in range(SQUARES):
            self._base_3 += (bits >> square & 1) * 3 ** (SQUARES - 1 - square)
        self.numbers = self._number(*self.sets)
        """Ascending in notation order."""
        self._row_of = np.full(3**SQUARES, -1, dtype=np.int32)
        self._row_of[self.numbers] = np.arange(len(cells), dtype=np.int32)

    @property
    def opening(self) -> int:
        """The row of the position where every line begins."""
        a, b = ([piece == side for piece in OPENING] for side in "AB")
        bits = 1 << np.arange(SQUARES)
        return int(self.row(a @ bits, b @ bits))

    def _number(self, a: Array, b: Array) -> Array:
        found: Array = self._base_3[a] + 2 * self._base_3[b]
        return found

    def row(self, a: Array, b: Array) -> Array:
        """The rows of positions given by the squares of A and of B."""
        found: Array = self._row_of[self._number(a, b)]
        return found


def landings(mover: Array, other: Array) -> Array:
    """Squares where a piece may land: empty, or an opponent's piece with no fellow beside it."""
    unguarded = other & ~(other << 1) & ~(other >> 1)
    found: Array = (~(mover | other) | unguarded) & BOARD
    return found


def moved(mover: Array, other: Array, start: Array | int, goal: Array | int) -> tuple[Array, Array]:
    """Both sides' squares after a move between two squares, as bits; a piece on the goal swaps."""
    both = start | goal
    return mover ^ both, np.where(other & goal, other ^ both, other)
