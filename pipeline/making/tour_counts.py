"""The number of tours from each square: of two boards that are each other on its side at once."""

from __future__ import annotations

import numpy as np

from pipeline.making.cycles import Counts, counts
from pipeline.work import Made, Stretches, Work, no_records
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight_board import Board
from tablebase.puzzles.tour_counts import TourCounts, counting


def make(recipe: TourCounts, puzzle: Puzzle, table: Table, work: Work) -> Made:
    return _rows(recipe, table, work), no_records(), 0


def _rows(recipe: TourCounts, table: Table, work: Work) -> Stretches:
    found: dict[tuple[int, int], Counts] = {}
    for files, ranks in recipe.boards:
        short, long = sorted((files, ranks))
        closed_only = (files, ranks) in recipe.closed
        if (short, long) not in found or (found[short, long].tours is None and not closed_only):
            if short > 2:
                needed = counting((files, ranks), closed=closed_only).memory
                work.require_memory(f"{table.name} of {files}x{ranks}", needed)
            found[short, long] = counts(Board(short, long), work, paths=not closed_only)
        tours, closed = found[short, long]
        squares = files * ranks
        if tours is None or closed_only:
            tours = np.ma.MaskedArray(np.zeros(squares, dtype=np.int64), np.full(squares, True))
        elif files > ranks:  # they are counted upright
            tours = tours.reshape(files, ranks).T.ravel()
        board = Board(files, ranks)
        yield {
            "board": np.full(squares, str(board).encode()),
            "files": np.full(squares, files),
            "ranks": np.full(squares, ranks),
            "start": np.array(board.places()),
            "tours": tours,
            "closed": np.full(squares, closed),
        }
