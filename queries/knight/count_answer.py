"""The answer to a question of how many tours there are."""

from __future__ import annotations

from typing import NoReturn

from queries.answer import Answer, align_rows
from tablebase.errors import BadRequest
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import explain_no_tour


class CountAnswer(Answer):
    """The number of directed tours from a square, and of the closed ones among them.

    `start` is None for the tours from all squares, and `tours` where only closed ones are counted.
    """

    _board: KnightBoard
    _is_closed: bool
    board: str
    start: str | None = None
    tours: int | None = None
    closed: int

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        rows = [("closed", f"{self.closed:,}")]
        begun = self.start or "all squares"
        if self._is_closed:
            return f"{self.board} from {begun}, directed closed tours\n\n{align_rows(rows)}"
        tours = "not counted, only closed ones" if self.tours is None else f"{self.tours:,}"
        rows.insert(0, ("tours", tours))
        if self.tours == 0:
            square = None if self.start is None else self._board.parse_square(self.start)
            rows.append(("why", explain_no_tour(self._board, square)))
        return f"{self.board} from {begun}, directed open tours\n\n{align_rows(rows)}"

    def to_svg(self) -> NoReturn:
        """Raise BadRequest: a number has no picture."""
        raise BadRequest("--svg cannot be used with --count", "Leave out --count or --svg")
