"""A board cut in two: the steps of a half of a sweep that lays cycles through all its squares.

Squares are numbered along the short side, and the board looks the same from both ends: turned by
half, square i of n becomes square n-1-i. So one sweep serves as two, and each edge i-j belongs to
one of them: to the left one if i + j < `middle`, about n. A half finishes the squares at its end,
as long as all their edges belong to it. Those that are left to both halves are the *cut*, the cells
of the frontier; their edges among themselves are laid last, and the squares stay.

An open path is a cycle through one more square, the *virtual* one, beside every other: cut it out,
and its neighbours on the cycle are the ends of the path. So as many paths end at a square as cycles
use its edge to the virtual square. It is the first cell of the frontier.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.search.frontier import FREE, Step, all_partners
from pipeline.search.sweep import Layer, first_layer


class Half(NamedTuple):
    """The first layer of a half and its steps."""

    first: Layer
    steps: list[Step]
    ends: list[list[int]]
    """For each of a step's others the square whose edge to the virtual one is laid, or -1."""
    finished: int
    """How many of the steps finish a square; the others join those of the cut."""


def half(later: list[list[int]], *, left: bool, paths: bool) -> Half:
    """A half of a board of whose squares `later` has the neighbours with higher numbers.

    With `paths` there is a virtual square: cell 0.
    """
    squares = len(later)
    width = max(to - square for square, near in enumerate(later) for to in near)
    # the left half is taken through the cut some states at a time: it has more of the edges, and
    # one square more if their number is odd
    odd = (squares - width) % 2
    middle = squares + 2
    finished = (squares - width + odd) // 2
    if not left:
        middle = 2 * squares - 1 - middle
        finished -= odd
    virtual = [0] if paths else []
    cells = len(virtual) + width
    partners = all_partners(cells // 2)
    steps, ends = [], []

    def joined(here: int, others: list[int], laid: list[int], *, done: bool) -> None:
        if others or done:
            steps.append(Step(cells, here, np.array(others, dtype=np.int64), done, partners))
            ends.append(laid)

    for square in range(finished):
        others = [len(virtual) + to - square for to in later[square]]
        laid = [-1] * len(others) + [square]
        joined(len(virtual), others + virtual, laid, done=True)
    cut = range(finished, finished + width)
    cell = {square: number for number, square in enumerate(cut, start=len(virtual))}
    for square in cut:
        others = [cell[to] for to in later[square] if to in cut and square + to < middle]
        joined(cell[square], others, [-1] * len(others), done=False)
    if paths:
        near = [square for square in cut if 2 * square < (squares if left else squares - 1)]
        joined(0, [cell[square] for square in near], near, done=False)
    return Half(first_layer([FREE] * cells), steps, ends, finished)
