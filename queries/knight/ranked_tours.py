"""Tours by number, from the table of a board's sweep: closed ones, or open ones of each start."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from itertools import pairwise

from queries.reader import Reader
from tablebase.errors import NoSuchTour, NotationError, required_text
from tablebase.frontier.layer_reader import Contradiction, Layers
from tablebase.puzzles.knight.board import Board
from tablebase.puzzles.knight.definition import cycles_table, no_tour, numbers_table
from tablebase.puzzles.knight.tour_ranker import Numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class NumberedTours:
    """The numbered tours of a board, whichever reader has the table."""

    def __init__(self, reader: Reader, board: Board, *, closed: bool) -> None:
        self._reader = reader
        self.board = board
        self.closed = closed
        self.table = cycles_table(board) if closed else numbers_table(board)
        self.index = reader.index_of(self.table)
        self.layers = Layers(self.index.record, self.index.count)
        self.numbers = Numbers(board, self.layers, paths=not closed)

    def total(self, start: int) -> int:
        """How many there are: of open ones, from a square."""
        with self.sound():
            return self.numbers.total(start)

    def totals(self) -> list[int]:
        """How many there are from each square, of closed ones in all."""
        starts = range(1 if self.closed else self.board.squares)
        return [self.total(start) for start in starts]

    def squares(self, number: int, start: int) -> list[int]:
        """The tour with a number from a square; a closed one towards the lower neighbour."""
        board, total = self.board, self.total(start)
        if number >= total:
            kind = "closed tours" if self.closed else f"tours from {board.name(start)}"
            why = f"{board} has {total:,} {kind}, numbered 0 to {total - 1:,}."
            raise NoSuchTour(str(board), why if total else no_tour(board, start))
        with self.sound():
            squares = self.numbers.squares(number, start)
        if problem := no_tour_of(board, squares, closed=self.closed):
            kind = "closed " * self.closed
            raise self._reader.damaged(self.table.name, f"{kind}tour {number:,} is none: {problem}")
        return squares

    def number(self, squares: list[int]) -> int:
        """The number of a tour."""
        with self.sound():
            return self.numbers.number(squares)

    @contextmanager
    def sound(self) -> Iterator[None]:
        """Tell of layers that contradict each other as of a damaged file."""
        try:
            yield
        except Contradiction as error:
            raise self._reader.damaged(self.table.name, str(error)) from error


def parse_tour(board: Board, text: str, *, closed: bool) -> list[int]:
    """The squares of a tour as written: with spaces or commas between them, or nothing."""
    what, example = f"a {'closed ' * closed}tour of {board}", "a1 c2 e1 ... (every square once)"
    words = required_text(text, what, example).replace(",", " ").split()
    if len(words) == 1:
        words = [words[0][at : at + 2] for at in range(0, len(words[0]), 2)]
    squares = [board.number(word) for word in words]
    if problem := no_tour_of(board, squares, closed=closed):
        raise NotationError(what, text, problem, example)
    return squares


def no_tour_of(board: Board, squares: list[int], *, closed: bool) -> str:
    """Why these are no tour, or no closed one; "" where they are one."""
    times = Counter(squares)
    for square in range(board.squares):
        if times[square] > 1:
            return f"{board.name(square)} stands {times[square]} times"
        if not times[square]:
            return f"{board.name(square)} is missing"
    for one, two in pairwise(squares + squares[:1] * closed):
        if two not in board.neighbours(one):
            return f"no jump leads from {board.name(one)} to {board.name(two)}"
    return ""
