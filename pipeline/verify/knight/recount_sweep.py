"""A second count of tours by a sweep over the board, for boards with too many paths to follow."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from pipeline.verify.claims import Array
from pipeline.verify.knight.recount import list_jumps
from tablebase.puzzles.knight.board import KnightBoard

SWEPT_AGAIN = "the tours and closed tours are as many as in a sweep over the whole board"
USED = 255
"""The mark of a square that needs no further edge."""
COUNT_BITS = 64
"""The width of one square's count in an integer that holds the counts of all squares."""


def recount_by_sweep(board: KnightBoard, *, by_files: bool) -> dict[str, Array]:
    """Count the tours and the closed tours from each square, file after file or rank after rank."""
    squares = np.arange(board.squares).reshape(board.ranks, board.files)
    order: list[int] = (squares.T if by_files else squares).ravel().tolist()
    near = [[to for to in order if beside >> to & 1] for beside in list_jumps(board).tolist()]
    _, ends = _count_cycles(order, near, virtual=True)
    cycles, _ = _count_cycles(order, near, virtual=False)
    tours = [
        ends >> COUNT_BITS * square & ((1 << COUNT_BITS) - 1) for square in range(board.squares)
    ]
    return {"tours": np.array(tours), "closed": np.array([2 * cycles] * board.squares)}


def _count_cycles(order: list[int], near: list[list[int]], *, virtual: bool) -> tuple[int, int]:
    """Count the cycles through all squares, and those through each square's edge to a virtual one.

    With `virtual`, a virtual square joined to all others is part of each cycle, so that a cycle is
    a tour and its two edges to that square mark the tour's ends. The second number holds the counts
    of all squares, COUNT_BITS bits each.

    A state has one byte for each square: the square itself if no edge meets it, the other end of
    its path if it is the end of one, and otherwise USED.
    """
    squares = len(order)
    begin = bytes([*range(squares), squares if virtual else USED])
    layer, complete = {begin: (1, 0)}, bytes([USED] * (squares + 1))
    cycles = ends = 0
    for step, here in enumerate(order):
        others = [*(to for to in near[here] if to in order[step + 1 :]), squares]
        after: dict[bytes, tuple[int, int]] = {}
        for state, (ways, by_end) in layer.items():
            missing = 2 if state[here] == here else state[here] != USED
            for chosen in combinations(others, missing):
                next_squares = bytearray(state)
                if not all(_add_edge(next_squares, here, to) for to in chosen):
                    continue
                next_state = bytes(next_squares)
                before = after.get(next_state, (0, 0))
                through = ways << COUNT_BITS * here if squares in chosen else 0
                after[next_state] = before[0] + ways, before[1] + by_end + through
        ways, by_end = after.pop(complete, (0, 0))
        cycles, ends, layer = cycles + ways, ends + by_end, after
    return cycles, ends


def _add_edge(state: bytearray, here: int, to: int) -> bool:
    """Add an edge to a state and return whether that is allowed.

    An edge may close a cycle only if the cycle has all squares.
    """
    one, other = state[here], state[to]
    if USED in (one, other):
        return False
    state[here] = state[to] = USED
    if one == to:
        return set(state) == {USED}
    state[one], state[other] = other, one
    return True
