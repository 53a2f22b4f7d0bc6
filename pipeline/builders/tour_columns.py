"""A board as the searches of tours see it, and their tours as a table's columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.search.hamiltonian_paths import neighbour_sets
from tablebase.puzzles.knight.board import Board

Array = npt.NDArray[Any]


def graph(board: Board) -> tuple[Array, Array]:
    """The squares a jump away from each, as sets; and each one's colour."""
    sets = neighbour_sets([board.neighbours(square) for square in range(board.squares)])
    return sets, np.array([board.light(square) for square in range(board.squares)], dtype=np.uint8)


def columns(
    board: Board, start: int, first: int, finish: Array, closed: Array, paths: Array
) -> dict[str, Array]:
    """Tours from a start, the first of them with that number, each path a row of letters."""
    places = np.array(board.places(), dtype=np.uint8)
    return {
        "board": np.full(len(finish), str(board).encode()),
        "start": np.full(len(finish), places[start]),
        "finish": places[finish],
        "number": np.arange(first, first + len(finish)),
        "closed": closed,
        "path": paths.view(f"S{2 * board.squares}").ravel(),
    }
