"""A second implementation of the 8-puzzle's rules, vectorized over all boards."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pyarrow as pa

from pipeline.verify.claims import Array
from pipeline.verify.goal_proof import Space
from tablebase.puzzle import GoalPuzzle

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""The blank's steps for U, D, L and R, as (rows, columns)."""


def make_eight_space(puzzle: GoalPuzzle) -> Space:
    """Return the space of all 9! boards in notation order.

    To find a board's rank, its text is read as one number of nine digits.
    """
    # permutations of sorted digits come in ascending order, which is notation order
    texts = ["".join(digits) for digits in permutations("012345678")]
    boards = np.frombuffer("".join(texts).encode(), dtype=np.uint8).reshape(-1, 9) - ord("0")
    weights = 10 ** np.arange(8, -1, -1, dtype=np.int32)
    numbers = boards @ weights
    # row t of this is tile t's cell on every board
    cells = np.ascontiguousarray(np.argsort(boards, axis=1).T.astype(np.int8))
    moves = []
    for (letter, (down, right)), cell in product(enumerate(STEPS), range(9)):
        row, column = cell // 3 + down, cell % 3 + right
        if 0 <= row < 3 and 0 <= column < 3:
            sources, other = np.flatnonzero(cells[0] == cell), 3 * row + column
            tile = boards[sources, other].astype(np.int32)
            after = numbers[sources] + tile * (weights[cell] - weights[other])
            targets = np.searchsorted(numbers, after)
            edges = [sources, targets, np.full(len(sources), letter)]
            moves.append(np.stack(edges).astype(np.int32))

    def features(ranks: Array, goal: str) -> dict[str, Array]:
        manhattan, misplaced = np.zeros((2, len(ranks)), dtype=np.int16)
        for tile in range(1, 9):
            home, at = goal.index(str(tile)), cells[tile, ranks]
            manhattan += abs(at // 3 - home // 3) + abs(at % 3 - home % 3)
            misplaced += at != home
        return {
            "blank": cells[0, ranks],
            "manhattan": manhattan,
            "misplaced": misplaced,
            "rank": ranks,
        }

    # whether the number of tile pairs out of order is odd
    pairs = [(low, high) for high in range(1, 9) for low in range(1, high)]
    parity = np.bitwise_xor.reduce([cells[low] > cells[high] for low, high in pairs]).astype(int)
    sources, targets, letters = np.concatenate(moves, axis=1)
    return Space(pa.array(texts), sources, targets, letters, features, parity)
