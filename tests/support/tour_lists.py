"""Every tour of a small board by the oracle, which searches once for symmetric squares."""

from functools import cache

import numpy as np

from tests.support import oracles

Tour = tuple[int, ...]


def list_mirrors(files: int, ranks: int) -> list[list[int]]:
    """Return the images of all squares under each symmetry; the first symmetry is the identity."""
    board = np.arange(files * ranks).reshape(ranks, files)
    boards = (board, board.T) if files == ranks else (board,)
    ways = [(across, up, turned) for across in (1, -1) for up in (1, -1) for turned in boards]
    return [turned[::up, ::across].ravel().tolist() for across, up, turned in ways]


@cache
def all_tours(files: int, ranks: int) -> list[list[Tour]]:
    """Return every tour from each square, in ascending order."""
    result: dict[int, list[Tour]] = {}
    for start in range(files * ranks):
        if start in result:
            continue
        tours = oracles.knight_tours(files, ranks, start)
        for turned in list_mirrors(files, ranks):
            result.setdefault(
                turned[start], sorted(tuple(turned[square] for square in tour) for tour in tours)
            )
    return [result[start] for start in range(files * ranks)]
