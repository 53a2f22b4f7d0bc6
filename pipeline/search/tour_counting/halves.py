"""A board cut in two: the steps of a sweep through half of it, and what lies between the halves.

Squares are numbered along the short side, column after column, and the board looks the same from
both ends: so one sweep serves as both halves. Each finishes whole columns, so that two are left:
their squares are the *cut*. The edges between these two belong to neither half. Of four columns or
more, each half has laid a piece of path, so that no cycle closes on one side.

An open path is a cycle through one more square, the *virtual* one, beside every other: cut it out,
and its neighbours on the cycle are the ends of the path. So as many paths end at a square as cycles
use its edge to the virtual square. It is the first cell of the frontier.

Where every edge joins a dark square and a light one, a path takes them in turn: its ends are of the
two colours or, where one colour has a square more, of that one. States that cannot come to that are
left out: with both ends laid, what is left to lay needs as much of one colour as of the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.search.tour_counting.expand import Step
from pipeline.search.tour_counting.sweep import Layer, make_first_layer
from tablebase.frontier.keys import Array, list_all_partners
from tablebase.frontier.state import END, FREE


class Halves(NamedTuple):
    """The first layer and the steps of the longer half, with which the shorter one begins."""

    first: Layer
    steps: list[Step]
    shorter: int
    """How many of the steps are the shorter half's."""
    between: Array
    """The edges that neither half lays: two cells, and whether the first is the virtual one."""
    mirror: Array
    """Where the mirror brings each cell of the cut."""
    facing: Array
    """Which cell of the cut each one is to the other half."""
    wanted: int = 0
    """Those of the edges between that all cycles must use, as bits; if any, the first one."""

    def require_edge(self, cell: int) -> Halves:
        """The same, of cycles that use the virtual square's edge to a cell of the cut."""
        is_required = (self.between[:, 0] == 0) & (self.between[:, 1] == cell)
        return self._replace(
            between=self.between[np.argsort(~is_required, kind="stable")], wanted=1
        )


def cut_board(
    later_neighbours: list[list[int]], rows: int, *, paths: bool = False, mirrored: bool = True
) -> Halves:
    """Of a board in columns of so many rows, where `later_neighbours` has a square's neighbours
    after it.

    `mirrored`: whether a state may stand for its mirror image too.
    """
    columns = len(later_neighbours) // rows
    longer, shorter = (columns - 1) // 2, (columns - 2) // 2
    virtual = [0] if paths else []
    first, cells = len(virtual), len(virtual) + 2 * rows + 1
    one, other = (range(first + rows * n, first + rows * (n + 1)) for n in range(2))
    images = [*virtual, *reversed(one), *reversed(other), cells - 1]
    mirror = np.array(images if mirrored else range(cells))
    colour = (
        color_squares(later_neighbours)
        if paths
        else np.zeros(len(later_neighbours), dtype=np.int64)
    )
    ending = colour * colour.sum() >= 0  # squares where a path can end

    def step(square: int) -> Step:
        others = [first + to - square for to in later_neighbours[square]] + virtual * bool(
            ending[square]
        )
        entered = colour[square + 1 : square + cells - first + 1]
        dark, light = (
            sum(END << 2 * cell for cell in np.flatnonzero(entered == of).tolist())
            for of in (1, -1)
        )
        return Step(
            cells,
            first,
            np.array(others, dtype=np.int64),
            mirror[: cells * (mirrored and square % rows == rows - 1)],
            list_all_partners(cells),
            dark << 2 * first,
            light << 2 * first,
            -2 * int(colour[square + cells - first + 1 :].sum()),
        )

    steps = [step(square) for square in range(longer * rows)]
    begin = longer * rows - first
    cut = range(longer * rows, (longer + 2) * rows)
    between = [
        (at - begin, to - begin, 0) for at in cut for to in later_neighbours[at] if to in cut
    ]
    between += [(0, at - begin, 1) for at in cut if paths and ending[at]]
    return Halves(
        make_first_layer([FREE] * cells),
        steps,
        shorter * rows,
        np.array(between, dtype=np.int64).reshape(-1, 3),
        mirror,
        np.array([*virtual, *other, *one, cells - 1]),
    )


def color_squares(later_neighbours: list[list[int]]) -> Array:
    """1 or -1 for each square, if that can be so that every edge joins the two; else all 0."""
    edges = [(one, other) for one, others in enumerate(later_neighbours) for other in others]
    colors = np.zeros(len(later_neighbours), dtype=np.int64)
    for square in range(len(later_neighbours)):
        colors[square] = colors[square] or 1
        waiting = [square]
        while waiting:
            at = waiting.pop()
            for to in {sum(edge) - at for edge in edges if at in edge and not all(colors[[*edge]])}:
                colors[to] = -colors[at]
                waiting.append(to)
    return colors * all(colors[one] != colors[other] for one, other in edges)
