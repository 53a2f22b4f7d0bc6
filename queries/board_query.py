"""Queries of sliding boards: a goal puzzle's, with the tile that each move slides."""

from __future__ import annotations

from queries.answer import format_count
from queries.goal_reader import GoalAnswer, GoalQuery, GoalSolution
from tablebase.tile_boards import format_board, format_slide, list_moved_tiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class BoardAnswer(GoalAnswer):
    """The answer for a state of a sliding board: a goal puzzle's, with a picture of the state."""

    _width: int

    def to_svg(self) -> str:
        """Draw the state; the tiles of the best moves are coloured."""
        from queries.board_svg import draw_boards

        title = f"{self.state} to {self.goal} in {format_count(self.distance, 'move')}"
        head = f"best: {' '.join(self.best_moves)}" if self.best_moves else "the goal"
        blank = self.state.index("0")
        steps = {"U": -self._width, "D": self._width, "L": -1, "R": 1}
        tiles = "".join(self.state[blank + steps[letter]] for letter in self.best_moves)
        return draw_boards(title, [self.state], [head], [tiles], width=self._width)


class BoardSolution(GoalSolution):
    """The whole answer for a state of a sliding board."""

    _query: BoardQuery
    best_tiles: str
    tiles: str

    def to_svg(self) -> str:
        """Draw every state of the solution; the tile that moved is coloured."""
        from queries.board_svg import draw_slides

        title = f"{self.state} to {self.goal} in {format_count(len(self.solution), 'move')}"
        return draw_slides(title, self._states, self.solution, self.tiles, width=self._query.width)


class BoardQuery(GoalQuery):
    """A query of a sliding board; `width` is its number of columns."""

    width: int

    def make_answer(self, **facts: Any) -> BoardAnswer:
        return BoardAnswer(_width=self.width, **facts)

    def answer(self, key: str) -> BoardSolution:
        facts = self.find_facts(key)
        state, states = facts["state"], facts["_states"]
        return BoardSolution(
            **facts,
            best_tiles="".join(self._find_tile(state, letter) for letter in facts["best_moves"]),
            tiles=list_moved_tiles(states),
        )

    def _find_tile(self, state: str, letter: str) -> str:
        return list_moved_tiles([state, dict(self.reader.puzzle.moves(state))[letter]])

    def draw_state(self, state: str) -> str:
        return format_board(state, self.width)

    def format_move(self, state: str, letter: str) -> str:
        return format_slide(letter, self._find_tile(state, letter))

    def list_more_rows(self, solution: GoalSolution) -> list[tuple[str, str]]:
        return [("tiles slid", solution.tiles)] if isinstance(solution, BoardSolution) else []
