"""A board as the searches of tours see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.search.tours import neighbour_sets
from tablebase.puzzles.knight import Board


def graph(board: Board) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The squares a jump away from each, as sets; and each one's colour."""
    squares = range(board.squares)
    sets = neighbour_sets([board.neighbours(square) for square in squares])
    return sets, np.array([board.light(square) for square in squares], dtype=np.uint8)
