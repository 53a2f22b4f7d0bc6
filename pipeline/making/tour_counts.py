"""The number of tours from each square: of boards that are each other on their side at once."""

from __future__ import annotations

import numpy as np

from pipeline.making.cycles import counts
from pipeline.work import Made, Stretches, Work
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight import Board, TourCounts


def make(recipe: TourCounts, puzzle: Puzzle, table: Table, work: Work) -> Made:
    return _rows(recipe, work), iter(()), 0


def _rows(recipe: TourCounts, work: Work) -> Stretches:
    found = {}
    for files, ranks in recipe.boards:
        board, upright = Board(files, ranks), Board(*sorted((files, ranks)))
        if str(upright) not in found:
            found[str(upright)] = counts(upright, work, paths=str(board) not in recipe.cycles)
        tours, closed = found[str(upright)]
        if tours is not None and files > ranks:
            tours = tours.reshape(files, ranks).T.ravel()
        yield {
            "board": np.full(board.squares, str(board).encode()),
            "files": np.full(board.squares, board.files),
            "ranks": np.full(board.squares, board.ranks),
            "start": np.array(board.places()),
            "tours": tours,
            "closed": np.full(board.squares, closed),
        }
