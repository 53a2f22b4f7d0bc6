"""Boards with tiles: goals that a symmetry of the board turns into one another."""

from __future__ import annotations

from tablebase.puzzle import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MANHATTAN = (
    "sum of each tile's steps to its place in the goal, across and down; never more than distance"
)
"""The meaning of the column `manhattan`."""


class SymmetryView(View):
    """View of a goal as a layout, by a symmetry of the board and other names of the tiles.

    This maps every state that reaches the goal to a state that reaches the layout, move for move.
    """

    __slots__ = ("_names", "_old_names", "cells")

    def __init__(self, layout: str, state: str, goal: str, cells: Sequence[int]) -> None:
        super().__init__(layout)
        self.cells = cells
        """For each cell of the layout's `state`, the cell of the goal whose tile it gets."""
        marks = "".join([goal[cell] for cell in cells])
        self._names = str.maketrans(marks, state)
        self._old_names = str.maketrans(state, marks)

    def map_state(self, state: str) -> str:
        return "".join([state[cell] for cell in self.cells]).translate(self._names)

    def restore_state(self, state: str) -> str:
        """Return the state that `map_state` maps to this one."""
        marks = dict(zip(self.cells, state.translate(self._old_names), strict=True))
        return "".join([marks[cell] for cell in range(len(marks))])
