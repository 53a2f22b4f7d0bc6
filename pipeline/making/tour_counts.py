"""The number of tours from each square: a part for all that a board's symmetry makes alike."""

from __future__ import annotations

import numpy as np

from pipeline.making.boards import graph
from pipeline.search.tours import count_from
from pipeline.work import Made, Stretches, Work, no_records
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight import Board, TourCounts
from tablebase.tables.kept import Arrays


def counted(files: int, ranks: int, start: int) -> Arrays:
    """How many tours begin at a start, and how many of them are closed."""
    return [np.array(count_from(*graph(Board(files, ranks)), start))]


def make(recipe: TourCounts, puzzle: Puzzle, table: Table, work: Work) -> Made:
    return _rows(recipe, work), no_records(), 0


def _rows(recipe: TourCounts, work: Work) -> Stretches:
    boards = [Board(*sides) for sides in recipe.boards]
    firsts = [
        (board, square)
        for board in boards
        for square in range(board.squares)
        if square == min(board.turned(square))
    ]
    parts = work.each(counted, ((board.files, board.ranks, square) for board, square in firsts))
    found = {str(board): np.zeros((board.squares, 2), dtype=np.int64) for board in boards}
    for done, ((board, square), (counts,)) in enumerate(zip(firsts, parts, strict=True), start=1):
        found[str(board)][list(board.turned(square))] = counts
        work.told("squares counted", done, len(firsts))
    for board in boards:
        tours, closed = found[str(board)].T
        yield {
            "board": np.full(board.squares, str(board).encode()),
            "files": np.full(board.squares, board.files),
            "ranks": np.full(board.squares, board.ranks),
            "start": np.array(board.places()),
            "tours": tours,
            "closed": closed,
        }
