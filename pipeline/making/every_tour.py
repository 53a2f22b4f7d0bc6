"""Every tour of a board: a part for each start."""

from __future__ import annotations

import numpy as np

from pipeline.making.boards import columns, graph
from pipeline.search.tours import paths_from
from pipeline.work import Made, Stretches, Work, no_records
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight import AllTours, Board
from tablebase.tables.kept import Arrays


def tours_from(files: int, ranks: int, start: int) -> Arrays:
    """All tours of a start: their texts, ends, and whether they close, so many at a time."""
    board = Board(files, ranks)
    names = np.array([list(name.encode()) for name in board.names()], dtype=np.uint8)
    return [array for found in paths_from(*graph(board), names, start) for array in found]


def make(recipe: AllTours, puzzle: Puzzle, table: Table, work: Work) -> Made:
    return _rows(recipe.board, work), no_records(), 0


def _rows(board: Board, work: Work) -> Stretches:
    starts = [(board.files, board.ranks, start) for start in range(board.squares)]
    tours = 0
    work.told("0 tours found, starts", 0, board.squares)
    for start, found in enumerate(work.each(tours_from, starts)):
        before = tours
        for text, finish, closed in zip(found[::3], found[1::3], found[2::3], strict=True):
            yield columns(board, start, tours - before, finish, closed, text)
            tours += len(finish)
        work.told(f"{tours:,} tours found, starts", start + 1, board.squares)
