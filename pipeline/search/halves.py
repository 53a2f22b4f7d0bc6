"""A board cut in two: the steps of a half of a sweep that lays cycles through all its squares.

Squares are numbered along the short side, and the board looks the same from both ends: turned by
half, square i of n becomes square n-1-i. So one sweep serves as two, and each edge i-j belongs to
one of them: to the left one if i + j < `middle`, about n. A half finishes the squares of its end, as
long as all their edges belong to it. Those that are left to both halves are the *cut*, the cells of
the frontier; their edges among themselves are laid last, and the squares stay.

An open path is a cycle through one more square, the *virtual* one, beside every other: cut it out,
and its neighbours on the cycle are the ends of the path. So as many paths end at a square as cycles
use its edge to the virtual square. It is the last cell of the frontier, and of the cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.search.frontier import FREE, Step
from pipeline.search.sweep import Array, Layer, first_layer


class Half(NamedTuple):
    """The first layer of a half and its steps; the cells of the cut in order."""

    first: Layer
    steps: list[Step]
    ends: list[list[int]]
    """For each of a step's others the square whose edge to the virtual one is laid, or -1."""
    cut: Array
    turned: Array
    """The cells of the cut, as they are called in the other half."""


def half(later: list[list[int]], *, left: bool, paths: bool) -> Half:
    """A half of a board of whose squares `later` has the neighbours with higher numbers.

    With `paths`, there is a virtual square.
    """
    squares = len(later)
    width = max(to - square for square, near in enumerate(later) for to in near)
    # if an odd number of squares is left to be finished, the left half has one more, and more edges
    odd = (squares - width) % 2
    middle = squares + 2 * odd
    finished = (squares - width + odd) // 2
    if not left:
        middle = 2 * squares - 1 - middle
        finished -= odd
    fresh, virtual = width, width + 1
    also = [virtual] if paths else []
    cells = np.array([*range(width), *also])
    after = np.array([*range(1, width + 1), *also])

    steps, ends = [], []

    def joined(place: int, others: list[int], laid: list[int], *, done: bool) -> None:
        if others:
            order, new = (after, fresh) if done else (cells, -1)
            steps.append(Step(cells, order, new, place, np.array(others), done))
            ends.append(laid)

    for square in range(finished):
        others = [to - square for to in later[square]]
        joined(0, others + also, [-1] * len(others) + [square], done=True)
    cut = range(finished, finished + width)
    for square in cut:
        others = [to - finished for to in later[square] if to in cut and square + to < middle]
        joined(square - finished, others, [-1] * len(others), done=False)
    if paths:
        near = [square for square in cut if 2 * square < (squares if left else squares - 1)]
        joined(virtual, [square - finished for square in near], near, done=False)
    turned = np.array([*reversed(range(width)), *also])
    return Half(first_layer([FREE] * len(cells)), steps, ends, cells, turned)
