"""Closed tours by number, from the table of a board's sweep."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from itertools import pairwise

from queries.reader import Reader
from tablebase.errors import NoSuchTour, NotationError, required_text
from tablebase.puzzles.closed_tours import Contradiction, Layers, Numbers
from tablebase.puzzles.knight import cycles_table
from tablebase.puzzles.knight_board import Board

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Cycles:
    """The closed tours of a board, whichever reader has the table."""

    def __init__(self, reader: Reader, board: Board) -> None:
        self._reader = reader
        self.board = board
        self.table = cycles_table(board)
        self.index = reader.index_of(self.table)
        self.layers = Layers(self.index.record, self.index.count)
        with self.sound():
            self.numbers = Numbers(board, self.layers)

    def squares(self, number: int, start: int) -> list[int]:
        """The closed tour with a number, from a square towards the lower of its neighbours."""
        board, total = str(self.board), self.numbers.total
        if number >= total:
            why = f"{board} has {total:,} closed tours, numbered 0 to {total - 1:,}."
            raise NoSuchTour(board, why)
        with self.sound():
            squares = self.numbers.squares(number, start)
        if problem := not_closed(self.board, squares):
            raise self._reader.damaged(
                self.table.name, f"closed tour {number:,} is none: {problem}"
            )
        return squares

    def number(self, squares: list[int]) -> int:
        """The number of a closed tour."""
        with self.sound():
            return self.numbers.number(squares)

    @contextmanager
    def sound(self) -> Iterator[None]:
        """Tell of layers that contradict each other as of a damaged file."""
        try:
            yield
        except Contradiction as error:
            raise self._reader.damaged(self.table.name, str(error)) from error


def parse_cycle(board: Board, text: str) -> list[int]:
    """The squares of a closed tour as written: with spaces or commas between them, or nothing."""
    what, example = f"a closed tour of {board}", "a1 c2 e1 ... (every square once)"
    words = required_text(text, what, example).replace(",", " ").split()
    if len(words) == 1:
        words = [words[0][at : at + 2] for at in range(0, len(words[0]), 2)]
    squares = [board.number(word) for word in words]
    if problem := not_closed(board, squares):
        raise NotationError(what, text, problem, example)
    return squares


def not_closed(board: Board, squares: list[int]) -> str:
    """Why these are no closed tour; "" where they are one."""
    times = Counter(squares)
    for square in range(board.squares):
        if times[square] > 1:
            return f"{board.name(square)} stands {times[square]} times"
        if not times[square]:
            return f"{board.name(square)} is missing"
    for one, two in pairwise([*squares, squares[0]]):
        if two not in board.neighbours(one):
            return f"no jump leads from {board.name(one)} to {board.name(two)}"
    return ""
