"""Closed tours by number, from the table of a board's sweep."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from queries.reader import Reader
from tablebase.errors import NoSuchTour, NotationError, required_text
from tablebase.puzzles.closed_tours import Contradiction, Layers, Numbers
from tablebase.puzzles.knight import cycles_table
from tablebase.puzzles.knight_board import Board


class Cycles:
    """The closed tours of a board, whichever reader has the table."""

    def __init__(self, reader: Reader, board: Board) -> None:
        self._reader = reader
        self._board = board
        self._table = cycles_table(board)
        index = reader.index_of(self._table)
        self._numbers = Numbers(board, Layers(index.record, index.count))

    @property
    def total(self) -> int:
        """How many there are."""
        return self._numbers.total

    def squares(self, number: int, start: int) -> list[int]:
        """The closed tour with a number, from a square towards the lower of its neighbours."""
        if number >= self.total:
            said = (
                f"{self._board} has {self.total:,} closed tours, numbered 0 to {self.total - 1:,}."
            )
            raise NoSuchTour(str(self._board), said)
        try:
            squares = self._numbers.squares(number, start)
        except Contradiction as error:
            raise self._reader.damaged(self._table.name, str(error)) from error
        if problem := not_closed(self._board, squares):
            raise self._reader.damaged(
                self._table.name, f"closed tour {number:,} is none: {problem}"
            )
        return squares

    def number(self, squares: list[int]) -> int:
        """The number of a closed tour."""
        try:
            return self._numbers.number(squares)
        except Contradiction as error:
            raise self._reader.damaged(self._table.name, str(error)) from error


def parse_cycle(board: Board, text: str) -> list[int]:
    """The squares of a closed tour as written: with spaces or commas between them, or nothing."""
    what, example = f"a closed tour of {board}", "a1 b3 c5 ... (every square once)"
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
