"""The answer for a state of the 15-puzzle: a solution, and how it was found."""

from __future__ import annotations

from queries.answer import Answer, align_rows, format_count
from tablebase.puzzles.fifteen.tables import BOARD


class FifteenHint(Answer):
    """The next move of a shortest solution; "" at the goal."""

    _states: list[str]
    state: str
    goal: str
    hint: str
    hint_tile: str

    def to_text(self) -> str:
        return f"{_format_move(self.hint, self.hint_tile)}\n"

    def to_svg(self) -> str:
        title = f"The next move from {self.state} to {self.goal}"
        return _draw_moves(title, self._states, self.hint, self.hint_tile)


class FifteenSolution(Answer):
    """A solution of a state.

    `distance` is there for a shortest solution only, `length` for any other. `bound` is the lower
    bound that the search began with, `positions` the number of positions that it searched.
    """

    _states: list[str]
    _has_boards: bool
    state: str
    goal: str
    distance: int | None = None
    length: int | None = None
    bound: int
    positions: int | None = None
    solution: str
    tiles: str
    path: list[str] | None = None

    def to_text(self) -> str:
        if self._has_boards:
            moves = map(_format_move, self.solution, self.tiles)
            heads = ["0", *(f"{number}  {move}" for number, move in enumerate(moves, 1))]
            return "\n".join(
                f"{head}\n{_draw_state(state)}"
                for head, state in zip(heads, self._states, strict=True)
            )
        if self.path:
            return "".join(f"{state}\n" for state in self.path)
        rows = [("goal", self.goal)]
        if self.distance is not None:
            rows.append(("distance", format_count(self.distance, "move")))
        if self.length is not None:
            least = f"no solution is shorter than {self.bound}"
            rows.append(("length", f"{format_count(self.length, 'move')}; {least}"))
        if self.solution:
            rows += [("solution", self.solution), ("tiles slid", self.tiles)]
        rows.append(("bound", f"{self.bound} at the start"))
        if self.positions is not None:
            rows.append(("positions", f"{self.positions:,} searched"))
        return f"{_draw_state(self.state)}\n{align_rows(rows)}"

    def to_svg(self) -> str:
        moves = format_count(len(self.solution), "move")
        title = f"{self.state} to {self.goal} in {moves}"
        return _draw_moves(title, self._states, self.solution, self.tiles)


def _draw_moves(title: str, states: list[str], letters: str, tiles: str) -> str:
    from queries.board_svg import draw_boards

    heads = ["start", *(f"{number}  {letter}" for number, letter in enumerate(letters, 1))]
    return draw_boards(title, states[: len(heads)], heads, ["", *tiles], width=BOARD.width)


def list_moved_tiles(states: list[str]) -> str:
    """Return the tile that each move slides: after the move it is on the cell of the blank."""
    return "".join(map(_find_moved_tile, states, states[1:]))


def _find_moved_tile(state: str, next_state: str) -> str:
    return next_state[state.index("0")]


def _format_move(letter: str, tile: str) -> str:
    return f"{letter} (tile {tile})" if letter else "none: this is the goal"


def _draw_state(state: str) -> str:
    cells = state.replace("0", ".")
    rows = range(0, len(cells), BOARD.width)
    return "".join(f" {' '.join(cells[row : row + BOARD.width])}\n" for row in rows)
