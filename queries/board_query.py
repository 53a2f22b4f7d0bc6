"""Queries of sliding boards: a goal puzzle's, with the tile that each move slides."""

from __future__ import annotations

from queries.answer import format_count
from queries.goal_reader import GoalQuery, GoalSolution


class BoardSolution(GoalSolution):
    """The whole answer for a state of a sliding board."""

    _query: BoardQuery
    best_tiles: str
    tiles: str

    def to_svg(self) -> str:
        from queries.board_svg import draw_boards

        title = f"{self.state} to {self.goal} in {format_count(len(self.solution), 'move')}"
        heads = ["start", *(f"{n}  {letter}" for n, letter in enumerate(self.solution, start=1))]
        width = self._query.width
        return draw_boards(title, self._states, heads, ["", *self.tiles], width=width)


class BoardQuery(GoalQuery):
    """A query of a sliding board; `width` is its number of columns."""

    width: int

    def answer(self, key: str) -> BoardSolution:
        facts = self.find_facts(key)
        state, states = facts["state"], facts["_states"]
        return BoardSolution(
            **facts,
            best_tiles="".join(self._find_tile(state, letter) for letter in facts["best_moves"]),
            tiles="".join(map(_find_moved_tile, states, states[1:])),
        )

    def _find_tile(self, state: str, letter: str) -> str:
        return _find_moved_tile(state, dict(self.reader.puzzle.moves(state))[letter])

    def draw_state(self, state: str) -> str:
        cells = state.replace("0", ".")
        rows = range(0, len(cells), self.width)
        return "".join(f" {' '.join(cells[row : row + self.width])}\n" for row in rows)

    def format_move(self, state: str, letter: str) -> str:
        return f"{letter} (tile {self._find_tile(state, letter)})"

    def list_more_rows(self, solution: GoalSolution) -> list[tuple[str, str]]:
        return [("tiles slid", solution.tiles)] if isinstance(solution, BoardSolution) else []


def _find_moved_tile(state: str, next_state: str) -> str:
    """Return the tile that a move slides: after the move it is on the cell of the blank."""
    return next_state[state.index("0")]
