"""Tours counted again by a plain sweep over the whole board: for boards with too many to walk."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from pipeline.verify.claims import Array
from pipeline.verify.knight.recount import list_jumps
from tablebase.puzzles.knight.board import KnightBoard

SWEPT_AGAIN = "the tours and closed tours are as many as in a sweep over the whole board"
USED = 255
COUNT_BITS = 64
"""As wide as is one square's count in a number that has them all."""


def recount_by_sweep(board: KnightBoard, *, by_files: bool) -> dict[str, Array]:
    """The tours from each square, and the closed ones, file after file or rank after rank."""
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
    """Cycles through all squares, and how many use each square's edge to a virtual one.

    A state has for each square itself if no edge is laid there, the other end of the piece if it
    is an end, and else USED.
    """
    squares = len(order)
    begin = bytes([*range(squares), squares if virtual else USED])
    layer, done = {begin: (1, 0)}, bytes([USED] * (squares + 1))
    cycles = ends = 0
    for step, here in enumerate(order):
        others = [*(to for to in near[here] if to in order[step + 1 :]), squares]
        after: dict[bytes, tuple[int, int]] = {}
        for state, (ways, by_end) in layer.items():
            missing = 2 if state[here] == here else state[here] != USED
            for chosen in combinations(others, missing):
                laid = bytearray(state)
                if not all(_lay_edge(laid, here, to) for to in chosen):
                    continue
                next_state = bytes(laid)
                before = after.get(next_state, (0, 0))
                through = ways << COUNT_BITS * here if squares in chosen else 0
                after[next_state] = before[0] + ways, before[1] + by_end + through
        ways, by_end = after.pop(done, (0, 0))
        cycles, ends, layer = cycles + ways, ends + by_end, after
    return cycles, ends


def _lay_edge(state: bytearray, here: int, to: int) -> bool:
    """Lay an edge, if that can be: a cycle is closed only where no square is left over."""
    one, other = state[here], state[to]
    if USED in (one, other):
        return False
    state[here] = state[to] = USED
    if one == to:
        return set(state) == {USED}
    state[one], state[other] = other, one
    return True
