"""The answer to a question of how many tours there are."""

from __future__ import annotations

from queries.facts import Facts, align_rows
from queries.query_options import OptionValues
from tablebase.errors import BadRequest
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import explain_no_tour


class CountFacts(Facts):
    """The number of tours from a square or from all squares, and of the closed ones among them.

    Without `tours` only the closed ones were counted, and with `is_closed` only they are printed.
    """

    __slots__ = ("_is_closed", "_on", "board", "start", "tours", "closed")

    def __init__(
        self,
        board: KnightBoard,
        start: int | None,
        tours: int | None,
        closed: int,
        *,
        is_closed: bool = False,
    ) -> None:
        self._on, self._is_closed = board, is_closed
        self.board = str(board)
        if start is not None:
            self.start = board.name_square(start)
        if not is_closed:
            self.tours = tours
        self.closed = closed

    def to_text(self, options: OptionValues) -> str:
        start, rows = getattr(self, "start", None), [("closed", f"{self.closed:,}")]
        begun = start or "all squares"
        if self._is_closed:
            return f"{self.board} from {begun}, directed closed tours\n\n{align_rows(rows)}"
        tours = "not counted, only closed ones" if self.tours is None else f"{self.tours:,}"
        rows.insert(0, ("tours", tours))
        if self.tours == 0:
            square = None if start is None else self._on.parse_square(start)
            rows.append(("why", explain_no_tour(self._on, square)))
        return f"{self.board} from {begun}, directed open tours\n\n{align_rows(rows)}"

    def to_svg(self) -> str:
        raise BadRequest("--svg cannot be used with --count", "Leave out --count or --svg")
