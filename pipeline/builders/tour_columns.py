"""Conversion for the tour searches: a board into arrays, and tours into a table's columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.search.hamiltonian_paths import make_neighbour_sets
from tablebase.puzzles.knight.board import KnightBoard

Array = npt.NDArray[Any]


def make_search_board(board: KnightBoard) -> tuple[Array, Array]:
    """Return for each square the set of squares a jump away, as 64 bits, and the colour."""
    sets = make_neighbour_sets([board.list_neighbours(square) for square in range(board.squares)])
    return sets, np.array(
        [board.is_light(square) for square in range(board.squares)], dtype=np.uint8
    )


def make_tour_columns(
    board: KnightBoard, start: int, first: int, finish: Array, closed: Array, paths: Array
) -> dict[str, Array]:
    """Return the columns of tours from one start, numbered from `first`.

    `paths` has one row of letters for each tour.
    """
    enum_places = np.array(board.find_enum_places(), dtype=np.uint8)
    return {
        "board": np.full(len(finish), str(board).encode()),
        "start": np.full(len(finish), enum_places[start]),
        "finish": enum_places[finish],
        "number": np.arange(first, first + len(finish)),
        "closed": closed,
        "path": paths.view(f"S{2 * board.squares}").ravel(),
    }
