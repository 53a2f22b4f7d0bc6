"""The facts of sliding boards: a goal puzzle's, with the tile that each move slides."""

from __future__ import annotations

from queries.facts import format_count
from queries.goal_reader import GoalFacts, GoalReader
from queries.query_options import OptionValues


class BoardFacts(GoalFacts):
    """The answer for a state of a sliding board; `width` is its number of columns."""

    __slots__ = ("_width", "best_tiles", "tiles")

    def __init__(self, reader: GoalReader, key: str, options: OptionValues, width: int) -> None:
        super().__init__(reader, key, options)
        self._width = width
        self.best_tiles = "".join(self._find_tile(self.state, letter) for letter in self.best_moves)
        self.tiles = "".join(map(_find_moved_tile, self._states, self._states[1:]))

    def _find_tile(self, state: str, letter: str) -> str:
        return _find_moved_tile(state, dict(self._puzzle.moves(state))[letter])

    def draw_state(self, state: str) -> str:
        cells = state.replace("0", ".")
        rows = range(0, len(cells), self._width)
        return "".join(f" {' '.join(cells[row : row + self._width])}\n" for row in rows)

    def format_move(self, state: str, letter: str) -> str:
        return f"{letter} (tile {self._find_tile(state, letter)})"

    def list_more_rows(self) -> list[tuple[str, str]]:
        return [("tiles slid", self.tiles)]

    def to_svg(self) -> str:
        from queries.board_svg import draw_boards

        title = f"{self.state} to {self.goal} in {format_count(len(self.solution), 'move')}"
        heads = ["start", *(f"{n}  {letter}" for n, letter in enumerate(self.solution, start=1))]
        return draw_boards(title, self._states, heads, ["", *self.tiles], width=self._width)


def _find_moved_tile(state: str, next_state: str) -> str:
    """Return the tile that a move slides: after the move it is on the cell of the blank."""
    return next_state[state.index("0")]
