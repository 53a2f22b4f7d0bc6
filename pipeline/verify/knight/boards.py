"""A knight's board: its squares as written, as bits, and which a jump joins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.verify.claims import Array
from tablebase.puzzles.knight import Board

NO_SQUARE = 255


class Geometry:
    """A board's squares as written, as bits, and their neighbours; tables to look them up in."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.names = board.names()
        # a name's two characters as one number
        self.written = np.full(1 << 16, NO_SQUARE, dtype=np.uint8)
        self.bits = np.zeros(256, dtype=np.uint64)
        self.near = np.zeros(256, dtype=np.uint64)
        for square, name in enumerate(self.names):
            self.written[ord(name[0]) | ord(name[1]) << 8] = square
            self.bits[square] = 1 << square
            self.near[square] = sum(
                1 << other for other in range(board.squares) if self._is_jump(square, other)
            )
        self.all_squares = np.uint64((1 << board.squares) - 1)

    def _is_jump(self, square: int, other: int) -> bool:
        files = abs(square % self.board.files - other % self.board.files)
        ranks = abs(square // self.board.files - other // self.board.files)
        return {files, ranks} == {1, 2}

    def joined(self, squares: Array, others: Array) -> npt.NDArray[np.bool_]:
        """Whether a knight can jump between each two squares."""
        found: npt.NDArray[np.bool_] = self.near[squares] & self.bits[others] != 0
        return found
