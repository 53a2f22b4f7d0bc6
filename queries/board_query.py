"""Queries of sliding boards: a goal puzzle's, with the tile that each move slides."""

from __future__ import annotations

from queries.answer import format_count
from queries.goal_reader import GoalAnswer, GoalQuery
from tablebase.puzzle import format_board, format_slide, list_moved_tiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class BoardAnswer(GoalAnswer):
    """The answer for a state of a sliding board: a goal puzzle's, with tiles and pictures."""

    _width: int
    best_tiles: str | None = None
    tiles: str | None = None
    if TYPE_CHECKING:  # the features of a solution's start

        @property
        def blank(self) -> int: ...
        @property
        def manhattan(self) -> int: ...
        @property
        def misplaced(self) -> int: ...

    def to_svg(self) -> str:
        """Draw every state of the solution, or the state alone; tiles that move are coloured."""
        from queries.board_svg import draw_boards, draw_slides

        if self._states and self.solution is not None and self.tiles is not None:
            title = f"{self.state} to {self.goal} in {format_count(len(self.solution), 'move')}"
            return draw_slides(title, self._states, self.solution, self.tiles, width=self._width)
        title = f"{self.state} to {self.goal} in {format_count(self.distance, 'move')}"
        head = f"best: {' '.join(self.best_moves)}" if self.best_moves else "the goal"
        tiles = "".join(self._find_tile(self.state, letter) for letter in self.best_moves)
        return draw_boards(title, [self.state], [head], [tiles], width=self._width)

    def _list_more_rows(self) -> list[tuple[str, str]]:
        return [("tiles slid", self.tiles or "")]

    def _find_tile(self, state: str, letter: str) -> str:
        return find_moved_tile(state, letter, self._width)

    def _draw_state(self, state: str) -> str:
        return format_board(state, self._width)

    def _format_move(self, state: str, letter: str) -> str:
        return format_slide(letter, self._find_tile(state, letter))


def find_moved_tile(state: str, letter: str, width: int) -> str:
    """Return the tile that slides when the blank goes in a move's direction.

    >>> find_moved_tile("123456780", "U", 3)
    '6'
    """
    return state[state.index("0") + {"U": -width, "D": width, "L": -1, "R": 1}[letter]]


class BoardQuery(GoalQuery):
    """A query of a sliding board; `width` is its number of columns."""

    width: int

    def make_answer(self, **facts: Any) -> BoardAnswer:
        state, states, width = facts["state"], facts.get("_states"), self.width
        if states:
            facts["tiles"] = list_moved_tiles(states)
            facts["best_tiles"] = "".join(
                find_moved_tile(state, letter, width) for letter in facts["best_moves"]
            )
        return BoardAnswer(_width=width, **facts)
