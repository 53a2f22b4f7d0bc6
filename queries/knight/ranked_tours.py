"""Ranked tours, from the table of a board's sweep: closed ones, or open ones of each start."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise

from puzzle_tablebase.errors import NoAnswer, NotationError, require_text
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import explain_no_tour, make_ranking_table
from puzzle_tablebase.puzzles.knight.tour_ranker import TourRanker
from puzzle_tablebase.tour_frontier.layers import InconsistentLayers, LayerReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class RankedTours:
    """The ranked tours of a board: the closed ones, or the open ones of each start.

    `prober` is a `KnightProber`, whose module imports this one.
    """

    def __init__(self, prober: Any, board: KnightBoard, *, closed: bool) -> None:
        self._reader = prober
        self.board = board
        self.closed = closed
        self.table = make_ranking_table(board, closed=closed)
        self.index = prober.files.open_index(self.table)
        self.layers = LayerReader(self.index.read_record, self.index.count)
        self.ranker = TourRanker(board, self.layers, paths=not closed)

    def list_counts(self) -> list[int]:
        """List the numbers of tours from each square, or only that of the closed ones."""
        starts = range(1 if self.closed else self.board.squares)
        with self._translate_layer_errors():
            return [self.ranker.count_tours(start) for start in starts]

    def unrank(self, number: int, start: int) -> list[int]:
        """Return the tour of a number from a square; a closed one begins to the lower neighbour."""
        board = self.board
        with self._translate_layer_errors():
            total = self.ranker.count_tours(start)
            squares = self.ranker.unrank(number, start) if number < total else []
        if number >= total:
            what = "closed tours" if self.closed else f"tours from {board.name_square(start)}"
            why = f"{board} has {total:,} {what}, numbered 0 to {total - 1:,}."
            raise NoAnswer(why if total else explain_no_tour(board, start))
        problem = f"{'closed ' * self.closed}tour {number:,} is invalid"
        self._reader.walk_tour(board, start, squares, self.table.name, problem)
        if self.closed and squares[-1] not in board.list_neighbours(start):
            raise self._reader.files.make_error(self.table.name, problem)
        return squares

    def rank(self, squares: list[int]) -> int:
        """Return the number of a tour."""
        with self._translate_layer_errors():
            return self.ranker.rank(squares)

    @contextmanager
    def _translate_layer_errors(self) -> Iterator[None]:
        """Turn the error of layers that contradict each other into that of a damaged file."""
        try:
            yield
        except InconsistentLayers as error:
            raise self._reader.files.make_error(self.table.name, str(error)) from error


def parse_tour(board: KnightBoard, text: str, *, closed: bool) -> list[int]:
    """Parse a tour's squares, with spaces, commas or nothing between them.

    Raise NotationError if they are not a tour, or not a closed one.
    """
    what, example = f"a {'closed ' * closed}tour of {board}", "a1 c2 e1 ... (every square once)"
    words = require_text(text, what, example).replace(",", " ").split()
    if len(words) == 1:
        words = [words[0][at : at + 2] for at in range(0, len(words[0]), 2)]
    squares = [board.parse_square(word) for word in words]
    if problem := find_tour_problem(board, squares, closed=closed):
        raise NotationError(what, text, problem, example)
    return squares


def find_tour_problem(board: KnightBoard, squares: list[int], *, closed: bool) -> str:
    """Return the reason why squares are not a tour, or not a closed one; "" if they are."""
    for square in range(board.squares):
        if (times := squares.count(square)) != 1:
            problem = f"appears {times} times" if times else "is missing"
            return f"{board.name_square(square)} {problem}"
    for one, two in pairwise(squares + squares[:1] * closed):
        if two not in board.list_neighbours(one):
            return f"no jump leads from {board.name_square(one)} to {board.name_square(two)}"
    return ""
