"""The number of tours from each square: of two boards that are each other on its side at once.

Boards that are published are not counted again.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.builders.sweep_driver import Counts, counts
from pipeline.tasks import Made, Stretches, Work, no_records
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight.board import Board, parse_board
from tablebase.puzzles.knight.count_recipe import TourCounts, counting


def make(recipe: TourCounts, puzzle: Puzzle, table: Table, work: Work) -> Made:
    return _rows(recipe, table, work), no_records(), 0


def _rows(recipe: TourCounts, table: Table, work: Work) -> Stretches:
    found = _published(work.before())
    for files, ranks in recipe.boards:
        short, long = sorted((files, ranks))
        closed_only = (files, ranks) in recipe.closed
        if (short, long) not in found or (found[short, long].tours is None and not closed_only):
            if short > 2:
                needed = counting((files, ranks), closed=closed_only)
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


def _published(rows: pa.Table | None) -> dict[tuple[int, int], Counts]:
    """What is known of the boards of these rows, upright; all tours rather than closed ones."""
    found: dict[tuple[int, int], Counts] = {}
    if rows is None:
        return found
    for name in rows["board"].unique().to_pylist():
        board = parse_board(name)
        own = rows.filter(pc.equal(rows["board"], name))
        tours = own["tours"].to_numpy().reshape(board.ranks, board.files)
        upright = tours.T if board.files > board.ranks else tours
        known = Counts(
            None if own["tours"].null_count else upright.ravel(), own["closed"][0].as_py()
        )
        sides = min(board.files, board.ranks), max(board.files, board.ranks)
        if sides not in found or known.tours is not None:
            found[sides] = known
    return found
