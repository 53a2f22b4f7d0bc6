"""A board cut in two: the steps of a sweep through half of it, and the edges between the halves.

Squares are numbered along the short side, column after column, and the board looks the same from
both ends: so one sweep serves as both halves. Each half finishes whole columns, until two columns
remain between them: their squares are the *cut*. The edges between these squares belong to neither
half. On boards of four columns or more each half has placed part of every cycle, so that no cycle
closes on one side.

An open path is a cycle through one more square, the *virtual* square, which is adjacent to every
other: without it, its neighbours on the cycle are the ends of the path. So the number of paths that
end at a square is the number of cycles that use its edge to the virtual square. The virtual square
is the first cell of the frontier.

Where every edge joins a dark square and a light one, a path alternates between the colours: its
ends have different colours or, where one colour has a square more, that colour. States that cannot
lead to this are left out: once both ends are placed, the remaining edges need both colours equally.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.search.tour_counting.edge_sets import Step
from pipeline.search.tour_counting.sweep import Layer, make_first_layer
from tablebase.frontier.compiled import Array, list_all_partners
from tablebase.frontier.state import END, FREE


class Halves(NamedTuple):
    """The first layer and the steps of the longer half; the shorter half has the first of these."""

    first: Layer
    steps: list[Step]
    shorter: int
    """The number of steps of the shorter half."""
    between: Array
    """The edges that neither half places: two cells, and whether the first is the virtual one."""
    mirror: Array
    """The mirror image of each cell of the cut."""
    facing: Array
    """For each cell of the cut, its number in the other half."""
    wanted: int = 0
    """The edges of `between` that all cycles must use, as bits: none, or the first one."""

    def require_edge(self, cell: int) -> Halves:
        """Return the halves for cycles that use the virtual square's edge to a cell of the cut."""
        is_required = (self.between[:, 0] == 0) & (self.between[:, 1] == cell)
        return self._replace(
            between=self.between[np.argsort(~is_required, kind="stable")], wanted=1
        )


def cut_board(
    later_neighbours: list[list[int]], rows: int, *, paths: bool = False, mirrored: bool = True
) -> Halves:
    """Cut a board with columns of `rows` squares into halves.

    `later_neighbours` has for each square its neighbours with higher numbers. `mirrored`: whether a
    state may represent its mirror image too.
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
    can_end = colour * colour.sum() >= 0  # squares where a path can end

    def make_step(square: int) -> Step:
        others = [
            first + neighbour - square for neighbour in later_neighbours[square]
        ] + virtual * bool(can_end[square])
        cell_colours = colour[square + 1 : square + cells - first + 1]
        dark, light = (
            sum(END << 2 * cell for cell in np.flatnonzero(cell_colours == value).tolist())
            for value in (1, -1)
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

    steps = [make_step(square) for square in range(longer * rows)]
    begin = longer * rows - first
    cut = range(longer * rows, (longer + 2) * rows)
    between = [
        (square - begin, neighbour - begin, 0)
        for square in cut
        for neighbour in later_neighbours[square]
        if neighbour in cut
    ]
    between += [(0, square - begin, 1) for square in cut if paths and can_end[square]]
    return Halves(
        make_first_layer([FREE] * cells),
        steps,
        shorter * rows,
        np.array(between, dtype=np.int64).reshape(-1, 3),
        mirror,
        np.array([*virtual, *other, *one, cells - 1]),
    )


def color_squares(later_neighbours: list[list[int]]) -> Array:
    """Colour each square 1 or -1 so that every edge joins the two; if impossible, all are 0."""
    edges = [(one, other) for one, others in enumerate(later_neighbours) for other in others]
    colors = np.zeros(len(later_neighbours), dtype=np.int64)
    for square in range(len(later_neighbours)):
        colors[square] = colors[square] or 1
        waiting = [square]
        while waiting:
            current = waiting.pop()
            for neighbour in {
                sum(edge) - current
                for edge in edges
                if current in edge and not all(colors[[*edge]])
            }:
                colors[neighbour] = -colors[current]
                waiting.append(neighbour)
    return colors * all(colors[one] != colors[other] for one, other in edges)
