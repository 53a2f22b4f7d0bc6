"""Tours counted again, by another walk than the search's and with nothing listed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.compiled import compiled
from pipeline.verify.knight.boards import Geometry
from pipeline.work import in_threads
from tablebase.puzzles.knight import Board

COUNTED_AGAIN = "the tours and closed tours are as many as in a second count, path by path"


def recounted(board: Board) -> list[tuple[int, int]]:
    """From each square: tours, and those that are closed. Mirrored squares are counted once."""
    near = jumps(board)
    least = [min(board.turned(square)) for square in range(board.squares)]
    squares = sorted({*least})
    found = in_threads(count_from, [(near, square) for square in squares])
    counted = dict(zip(squares, found, strict=True))
    return [counted[square] for square in least]


def jumps(board: Board) -> npt.NDArray[np.int64]:
    """The squares that a knight can jump to from each, as bits."""
    return Geometry(board).near[: board.squares].astype(np.int64)


@compiled
def count_from(near: npt.NDArray[np.int64], start: int) -> tuple[int, int]:
    """Tours from a square and those that are closed, by walking every path.

    Row s of `near` has a bit for each square that a knight can jump to from s. A path is left when
    a free square that is not its next has no free square beside it, or two of them have only one:
    such a square can only be the tour's end.
    """
    squares = len(near)
    if squares == 1:
        return 1, 0
    # at each step of the path: its square, the free ones, those still to be tried next, and those
    # that have at most one free square beside them
    path, free, ways, lonely = np.zeros((4, squares), dtype=np.int64)
    path[0] = start
    free[0] = (1 << squares) - 1 - (1 << start)
    ways[0] = near[start]
    for square in range(squares):
        beside = near[square] & free[0]
        if not beside & (beside - 1):
            lonely[0] |= 1 << square
    tours = closed = step = 0
    while step >= 0:
        bit = ways[step] & -ways[step]
        if not bit:
            step -= 1
            continue
        ways[step] ^= bit
        left = free[step] ^ bit
        here = 0
        while bit >> here > 1:
            here += 1
        if not left:
            tours += 1
            if near[here] >> start & 1:
                closed += 1
            continue
        # only squares beside the one that is left behind have lost a way to be reached
        alone, stranded = lonely[step] & left, False
        touched = near[path[step]] & left
        for square in range(squares):
            if touched >> square & 1:
                beside = near[square] & left
                if not beside & (beside - 1):
                    alone |= 1 << square
                stranded |= not beside
        ends = alone & ~near[here]
        if not stranded and not ends & (ends - 1):
            step += 1
            path[step] = here
            free[step] = left
            ways[step] = near[here] & left
            lonely[step] = alone
    return tours, closed
