"""Builder of the number of tours from each square of some boards.

A board and the board turned by 90 degrees are counted together. Counts that are published already
are not computed again.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.build_context import BuildContext
from pipeline.builders.sweep_driver import TourTotals, count_tours
from pipeline.tasks import Chunks, TableData, make_no_records
from tablebase.puzzle import Puzzle
from tablebase.puzzles.knight.board import KnightBoard, parse_board
from tablebase.puzzles.knight.count_recipe import TourCounts
from tablebase.puzzles.knight.memory import estimate_count_cost
from tablebase.schema import Table


def make(recipe: TourCounts, puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Return the rows of the recipe's boards; each board is counted when its rows are consumed."""
    return TableData(_iter_rows(recipe, table, context), make_no_records(), 0)


def _iter_rows(recipe: TourCounts, table: Table, context: BuildContext) -> Chunks:
    totals = _read_published(context.read_previous_rows())
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


def _read_published(rows: pa.Table | None) -> dict[tuple[int, int], TourTotals]:
    """Return the counts of published rows by board, each turned so that files <= ranks.

    Where a board has counts both of all tours and of closed ones alone, those of all are returned.
    """
    totals: dict[tuple[int, int], TourTotals] = {}
    if rows is None:
        return totals
    for name in rows["board"].unique().to_pylist():
        board = parse_board(name)
        board_rows = rows.filter(pc.equal(rows["board"], name))
        tours = board_rows["tours"].to_numpy().reshape(board.ranks, board.files)
        upright = tours.T if board.files > board.ranks else tours
        known = TourTotals(
            None if board_rows["tours"].null_count else upright.ravel(),
            board_rows["closed"][0].as_py(),
        )
        sides = min(board.files, board.ranks), max(board.files, board.ranks)
        if sides not in totals or known.tours is not None:
            totals[sides] = known
    return totals
