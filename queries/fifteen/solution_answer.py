"""The answer for a state of the 15-puzzle: a solution, and how it was found."""

from __future__ import annotations

from queries.answer import Answer, format_count
from queries.board_query import BoardAnswer
from tablebase.puzzle import format_slide
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
        from queries.board_svg import draw_slides

        title = f"The next move from {self.state} to {self.goal}"
        return draw_slides(title, self._states, self.hint, self.hint_tile, width=BOARD.width)


class FifteenSolution(BoardAnswer):
    """A solution of a state: a board's answer without all best moves, which a search does not find.

    `distance` is there for a shortest solution only, `length` for any other. `bound` is the lower
    bound that the search began with, `positions` the number of positions that it searched.
    """

    best_moves: str | None = None  # type: ignore[assignment]  # never there
    distance: int | None = None  # type: ignore[assignment]  # as above
    length: int | None = None
    bound: int
    positions: int | None = None
    solution: str
    tiles: str
    path: list[str] | None = None

    def _list_rows(self) -> list[tuple[str, str]]:
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
        return rows
