"""The answer for a state of the 15-puzzle: a solution, and how it was found."""

from __future__ import annotations

from queries.answer import Answer, align_rows, format_count, format_steps
from tablebase.puzzle import format_board, format_slide
from tablebase.puzzles.fifteen import BOARD


class FifteenHint(Answer):
    """The next move of a shortest solution; "" at the goal."""

    _states: list[str]
    state: str
    goal: str
    hint: str
    hint_tile: str

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        if not self.hint:
            return "none: this is the goal\n"
        return f"{format_slide(self.hint, self.hint_tile)}\n"

    def to_svg(self) -> str:
        """Draw the state; the tile to move is coloured."""
        title = f"The next move from {self.state} to {self.goal}"
        return _draw(title, self._states, self.hint, self.hint_tile)


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
        """Format the answer as `pipeline query` prints it."""
        if self._has_boards:
            pictures = (format_board(state, BOARD.width) for state in self._states)
            return format_steps(map(format_slide, self.solution, self.tiles), pictures)
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
        return f"{format_board(self.state, BOARD.width)}\n{align_rows(rows)}"

    def to_svg(self) -> str:
        """Draw every state of the solution; the tile that moved is coloured."""
        moves = format_count(len(self.solution), "move")
        title = f"{self.state} to {self.goal} in {moves}"
        return _draw(title, self._states, self.solution, self.tiles)


def _draw(title: str, states: list[str], letters: str, tiles: str) -> str:
    from queries.board_svg import draw_slides

    return draw_slides(title, states, letters, tiles, width=BOARD.width)
