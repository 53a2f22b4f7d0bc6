"""Boards with tiles: states and moves as text, and goals that a symmetry turns into another."""

from __future__ import annotations

from tablebase.puzzle import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MANHATTAN = (
    "sum of each tile's steps to its place in the goal, across and down; never more than distance"
)
"""The meaning of the column `manhattan`."""


def list_moved_tiles(states: list[str]) -> str:
    """Return the tile that each move slides: after the move it is on the cell of the blank."""
    blanks = [state.index("0") for state in states[:-1]]
    return "".join([state[blank] for state, blank in zip(states[1:], blanks, strict=True)])


def format_slide(letter: str, tile: str) -> str:
    """Format a move with the tile that it slides."""
    return f"{letter} (tile {tile})"


def format_board(state: str, width: int) -> str:
    """Draw a state of a board of `width` columns as lines of text."""
    cells = state.replace("0", ".")
    rows = range(0, len(cells), width)
    return "".join(f" {' '.join(cells[row : row + width])}\n" for row in rows)


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
