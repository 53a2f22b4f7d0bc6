"""The answers of one tour, with its squares, jumps and board, and of how many tours there are."""

from __future__ import annotations

from queries.answer import Answer, align_rows, make_bold
from tablebase.errors import BadRequest
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import explain_no_tour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class KnightAnswer(Answer):
    """A tour. `number` is that in its list, or else `rank` that among all closed ones or all open
    ones from its start.

    `jumps` are 1 to 8, one fewer than the squares of `path`. `order` has the ranks of the board
    from above, with each square's place in the tour.
    """

    _board: KnightBoard
    board: str
    start: str
    finish: str
    number: int | None = None
    rank: int | None = None
    closed: bool
    path: str
    jumps: tuple[int, ...]
    order: tuple[tuple[int, ...], ...]

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        numbered_as = f"rank {self.rank}" if self.number is None else f"number {self.number}"
        rows = [
            ("tour", f"{self.board} from {self.start} to {self.finish}, {numbered_as}"),
            ("closed", "yes" if self.closed else "no"),
            ("squares", " ".join(self.path[at : at + 2] for at in range(0, len(self.path), 2))),
            ("jumps", " ".join(map(str, self.jumps))),
        ]
        # the board from above, rank by rank: each square shows its place in the tour
        board = self._board
        lines = [
            f"{make_bold(str(board.ranks - row))}{''.join(f'{place:4}' for place in places)}\n"
            for row, places in enumerate(self.order)
        ]
        files = "".join(f"{board.name_square(file)[0]:>4}" for file in range(board.files))
        return f"{''.join(lines)} {make_bold(files)}\n\n{align_rows(rows)}"

    def to_svg(self) -> str:
        """Draw the tour on its board."""
        from queries.svg import draw_tour

        return draw_tour(self._board, self.path)


def make_tour_answer(
    board: KnightBoard, squares: list[int], *, number: int | None = None, rank: int | None = None
) -> KnightAnswer:
    """Make the answer of a tour with its number or its rank."""
    at = {square: move for move, square in enumerate(squares, start=1)}
    return KnightAnswer(
        _board=board,
        board=str(board),
        start=board.name_square(squares[0]),
        finish=board.name_square(squares[-1]),
        number=number,
        rank=rank,
        closed=board.is_jump(squares[0], squares[-1]),
        path="".join(board.name_square(square) for square in squares),
        jumps=tuple(map(board.find_jump, squares, squares[1:])),
        order=tuple(
            tuple(at[file + board.files * rank] for file in range(board.files))
            for rank in reversed(range(board.ranks))
        ),
    )


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
