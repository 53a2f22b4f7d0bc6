"""Builder of the number of tours from each square of some boards.

A board and the board turned by 90 degrees are counted together.
"""

from __future__ import annotations

import numpy as np

from pipeline.build_context import BuildContext
from pipeline.builders.sweep_driver import TourTotals, count_tours
from pipeline.tasks import Chunks, TableData, make_no_records
from tablebase.puzzle import Puzzle
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.count_recipe import TourCounts
from tablebase.puzzles.knight.memory import estimate_count_cost
from tablebase.schema import Table


def make(recipe: TourCounts, puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Return the rows of the recipe's boards; each board is counted when its rows are consumed."""
    return TableData(_iter_rows(recipe, table, context), make_no_records(), 0)


def _iter_rows(recipe: TourCounts, table: Table, context: BuildContext) -> Chunks:
    totals = dict[tuple[int, int], TourTotals]()
    for files, ranks in recipe.boards:
        short, long = sorted((files, ranks))
        closed_only = (files, ranks) in recipe.closed
        if (short, long) not in totals or (totals[short, long].tours is None and not closed_only):
            if short > 2:
                needed = estimate_count_cost((files, ranks), closed=closed_only)
                context.reserve_memory(table, needed, f" of {files}x{ranks}")
            totals[short, long] = count_tours(
                KnightBoard(short, long), context.tasks, paths=not closed_only
            )
        tours, closed = totals[short, long]
        squares = files * ranks
        if tours is None or closed_only:
            tours = np.ma.MaskedArray(np.zeros(squares, dtype=np.int64), np.full(squares, True))
        elif files > ranks:  # boards are counted with files <= ranks
            tours = tours.reshape(files, ranks).T.ravel()
        board = KnightBoard(files, ranks)
        yield {
            "board": np.full(squares, str(board).encode()),
            "files": np.full(squares, files),
            "ranks": np.full(squares, ranks),
            "start": np.array(board.find_enum_places()),
            "tours": tours,
            "closed": np.full(squares, closed),
        }
