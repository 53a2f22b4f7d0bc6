"""A second count of tours, path by path, by another method than the search's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import Array
from tablebase.jit import compiled
from tablebase.puzzles.knight.board import KnightBoard

COUNTED_AGAIN = "counts match an independent recount, path by path"


def recount_tours(board: KnightBoard) -> dict[str, Array]:
    """Count the tours and the closed tours from each square.

    Of squares that are mirror images of each other, only one is counted.
    """
    least = [min(board.find_images(square)) for square in range(board.squares)]
    squares, image_of = np.unique(least, return_inverse=True)
    near = list_jumps(board)
    counts = np.array(
        [*run_in_threads(count_tours_from, [(near, square) for square in squares.tolist()])]
    )
    return dict(zip(("tours", "closed"), counts[image_of].T, strict=True))


def list_jumps(board: KnightBoard) -> npt.NDArray[np.int64]:
    """Return, for each square, the squares that a knight can jump to, as bits."""
    squares = np.arange(board.squares)
    ranks, files = np.divmod(squares, board.files)
    far = np.subtract.outer(files, files) * np.subtract.outer(ranks, ranks)
    near: npt.NDArray[np.int64] = (abs(far) == 2) @ (1 << squares)
    return near


def count_tours_from(near: npt.NDArray[np.int64], start: int) -> tuple[int, int]:
    """Count the tours and the closed tours from a square by following every path.

    Row s of `near` has a bit for each square that a knight can jump to from s.
    """
    free = (1 << len(near)) - 1 - (1 << start)
    lonely = 0
    for square, beside in enumerate((near & free).tolist()):
        lonely |= (beside & (beside - 1) == 0) << square
    return _count_onward(near, start, start, free, lonely)


@compiled
def _count_onward(
    near: npt.NDArray[np.int64], start: int, here: int, free: int, lonely: int
) -> tuple[int, int]:
    """Count the ways to continue a path from its last square over all free squares.

    `lonely` has the free squares with at most one free neighbour. A path is abandoned if a free
    square that is not its next one has no free neighbour, or if two such squares have only one:
    a square like that can only be the tour's end.
    """
    if not free:
        return 1, near[here] >> start & 1
    tours = closed = 0
    ways = near[here] & free
    for square in range(len(near)):
        if not ways >> square & 1:
            continue
        remaining = free ^ (1 << square)
        # only neighbours of the square that the path leaves have lost a free neighbour
        next_lonely, has_stranded = lonely & remaining, False
        for other in range(len(near)):
            if ways & remaining & (1 << other):
                beside = near[other] & remaining
                if not beside & (beside - 1):
                    next_lonely |= 1 << other
                has_stranded |= not beside
        ends = next_lonely & ~near[square]
        if not remaining or (not has_stranded and not ends & (ends - 1)):
            new_tours, new_closed = _count_onward(near, start, square, remaining, next_lonely)
            tours, closed = tours + new_tours, closed + new_closed
    return tours, closed
