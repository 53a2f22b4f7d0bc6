"""Cycles through all squares of a board that looks the same from both ends, in two halves.

Squares are numbered so that turning the board by half takes square i to square n-1-i. Each edge lies
nearer to one of the ends: edge i-j belongs to the left half if i + j < n-1 and to the right one if
i + j > n-1; the few in the middle are given to the left. A half is a sweep from its end: its squares
are joined to later ones and finished, as far as all their edges belong to it. What is left is the
*cut*, the cells of the frontier. They keep both halves' edges: the squares of the cut take those
among themselves that belong to this half, and stay. The right half is the left one turned, without
the edges in the middle.

An open path is a cycle through one more square, the *virtual* one, which is joined to every square:
cutting it out leaves the path, and its neighbours are the path's ends. So the paths that end at a
square are as many as the cycles that use its edge to the virtual square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.search.frontier import FREE, Step
from pipeline.search.join import Array
from pipeline.search.sweep import Layer, first_layer


class Half(NamedTuple):
    """The steps of a half, each with the squares whose edges to the virtual one it may lay.

    Such a list has one place for each of the step's others, -1 where the edge is another.
    """

    first: Layer
    steps: list[tuple[Step, list[int]]]
    order: Array


def half(later: list[list[int]], *, paths: bool, left: bool) -> Half:
    """A half for a board, of whose squares `later` has the neighbours with higher numbers."""
    squares = len(later)
    cut = max((to - square for square, near in enumerate(later) for to in near), default=0)
    between = squares - cut  # squares finished in one of the halves
    finished = (between + 1) // 2 if left else between // 2
    virtual, fresh = cut + 1, cut
    also = [virtual] if paths else []
    cells = np.array([*range(cut), *also])
    after = np.array([*range(1, cut + 1), *also])
    whole = squares if left else squares - 1  # edges i-j of this half have i + j < whole

    steps = []
    for square in range(finished):
        others = [to - square for to in later[square]] + also
        step = Step(cells, after, fresh, 0, np.array(others), True)
        steps.append((step, [square if other in also else -1 for other in others]))
    for square in range(finished, finished + cut):
        others = [to - finished for to in later[square] if square + to < whole]
        if others:
            step = Step(cells, cells, -1, square - finished, np.array(others), False)
            steps.append((step, [-1] * len(others)))
    ends = [square for square in range(finished, finished + cut) if 2 * square < whole]
    if paths:
        step = Step(cells, cells, -1, virtual, np.array(ends) - finished, False)
        steps.append((step, ends))
    return Half(first_layer([FREE] * len(cells)), steps, cells)
