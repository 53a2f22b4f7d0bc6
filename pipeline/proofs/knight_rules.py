"""The rules of the knight's tour a second time: jumps, colours and images of all squares at once.

A board is a grid of square numbers, with a row for each rank. The builds' rules go from one square
to the next by the list of the eight jumps; here, two squares are a jump apart if the product of
their distances in files and in ranks is 2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Squares = npt.NDArray[np.int64]


def number_squares(files: int, ranks: int) -> Squares:
    """Return the grid of square numbers: along the first rank, then the next ones."""
    return np.arange(files * ranks).reshape(ranks, files)


def find_jumps(files: int, ranks: int) -> npt.NDArray[np.bool_]:
    """Return for each two squares whether a knight can jump from one to the other."""
    rank, file = (each.ravel() for each in np.indices((ranks, files)))
    product = np.subtract.outer(file, file) * np.subtract.outer(rank, rank)
    is_jump: npt.NDArray[np.bool_] = abs(product) == 2
    return is_jump


def list_jumps(files: int, ranks: int) -> Squares:
    """Return, for each square, the squares that a knight can jump to, as bits."""
    near: Squares = find_jumps(files, ranks) @ (1 << np.arange(files * ranks))
    return near


def find_light(files: int, ranks: int) -> npt.NDArray[np.bool_]:
    """Return whether each square is light; a1 is dark, and neighbours in a rank or file differ."""
    is_light: npt.NDArray[np.bool_] = np.indices((ranks, files)).sum(axis=0).ravel() % 2 == 1
    return is_light


def find_ends(files: int, ranks: int) -> npt.NDArray[np.bool_]:
    """Return for each two squares whether the colours, which alternate, allow a tour between them.

    A tour of an odd number of squares begins and ends on the colour with more of them: a1's.
    """
    light = find_light(files, ranks)
    joins = ~np.logical_or.outer(light, light) if len(light) % 2 else light[:, None] != light
    np.fill_diagonal(joins, False)
    return joins


def list_images(files: int, ranks: int) -> Squares:
    """Return the squares' images: a row for each way to turn and mirror the board onto itself."""
    grid = number_squares(files, ranks)
    grids = [grid, grid.T] if files == ranks else [grid]
    turns = ((down, right) for down in (1, -1) for right in (1, -1))
    return np.array([each[::down, ::right].ravel() for down, right in turns for each in grids])
