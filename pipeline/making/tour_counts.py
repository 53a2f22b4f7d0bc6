"""The number of tours from each square: a part for all that a board's symmetry makes alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pipeline.making.boards import graph
from pipeline.search.tours import count_from
from pipeline.work import Work
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight import Board, TourCounts
from tablebase.tables.kept import Arrays

if TYPE_CHECKING:
    from tablebase.puzzle import Columns, Made


def counted(files: int, ranks: int, start: int) -> Arrays:
    """How many tours begin at a start, and how many of them are closed."""
    return [np.array(count_from(*graph(Board(files, ranks)), start))]


def make(recipe: TourCounts, puzzle: Puzzle, table: Table, work: Work) -> Made:
    return _rows(recipe, work), iter(()), 0


def _rows(recipe: TourCounts, work: Work) -> Iterator[Columns]:
    boards = [Board(*sides) for sides in recipe.boards]
    searches = [
        [square for square in range(board.squares) if square == min(board.turned(square))]
        for board in boards
    ]
    results = work.each(
        counted,
        (
            (board.files, board.ranks, square)
            for board, squares in zip(boards, searches, strict=True)
            for square in squares
        ),
    )
    done, total = 0, sum(map(len, searches))
    for board, squares in zip(boards, searches, strict=True):
        found = np.zeros((board.squares, 2), dtype=np.int64)
        for square in squares:
            (counts,) = next(results)
            found[list(board.turned(square))] = counts
            done += 1
            work.told("squares counted", done, total)
        yield {
            "board": np.full(board.squares, str(board).encode()),
            "files": np.full(board.squares, board.files),
            "ranks": np.full(board.squares, board.ranks),
            "start": np.array(board.places()),
            "tours": found[:, 0],
            "closed": found[:, 1],
        }
