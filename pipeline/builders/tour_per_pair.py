"""Builder of one tour for each pair of squares that a tour can join: one task for each start."""

from __future__ import annotations

import numpy as np

from pipeline.build_context import BuildContext
from pipeline.builders.tour_columns import Array, make_tour_columns
from pipeline.search.path_per_pair import find_paths
from pipeline.tasks import Chunks, TableData, TaskRunner
from tablebase.errors import SearchError
from tablebase.puzzle import Puzzle
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import TourPerPair
from tablebase.schema import Table
from tablebase.tables.checkpoints import Arrays


def find_tours_to_each(files: int, ranks: int, start: int) -> Arrays:
    """Find a tour from a start to each possible end, in the order of the ends.

    A tour is a row of squares.
    """
    board = KnightBoard(files, ranks)
    neighbours = [board.list_neighbours(square) for square in range(board.squares)]
    width = max(map(len, neighbours))
    padded = np.array([row + [-1] * (width - len(row)) for row in neighbours], dtype=np.int64)
    ends = [end for end in range(board.squares) if start != end and board.can_join(start, end)]
    pairs = np.array([(start, end) for end in ends], dtype=np.int64).reshape(-1, 2)
    tours = find_paths(padded, pairs)
    for end, tour in zip(ends, tours, strict=True):
        if tour[0] != start or tour[-1] != end:
            pair = f"{board.name_square(start)} to {board.name_square(end)}"
            raise SearchError(f"No tour of {board} from {pair} was found.")
    return [tours]


def make(recipe: TourPerPair, puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Return the rows and the records of a board's tours, one for each pair.

    The tours stay in memory, because the records are written after all rows.
    """
    board, tours_by_start = recipe.board, list[Array]()
    pairs = 2 * sum(board.can_join(a, b) for a in range(board.squares) for b in range(a))
    return TableData(
        _iter_rows(board, context.tasks, pairs, tours_by_start),
        _iter_records(board, tours_by_start),
        pairs,
    )


def _iter_rows(
    board: KnightBoard, runner: TaskRunner, pairs: int, tours_by_start: list[Array]
) -> Chunks:
    starts = ((board.files, board.ranks, start) for start in range(board.squares))
    names = np.array([name.encode() for name in board.name_squares()])
    done = 0
    runner.report_progress("pairs", 0, pairs)
    for start, (tours,) in enumerate(runner.run_tasks(find_tours_to_each, starts)):
        tours_by_start.append(tours)
        finish = tours[:, -1]
        done += len(tours)
        closed = np.isin(finish, board.list_neighbours(start))
        yield make_tour_columns(board, start, 0, finish, closed, names[tours])
        runner.report_progress("pairs", done, pairs)


def _iter_records(board: KnightBoard, tours_by_start: list[Array]) -> Chunks:
    for tours in tours_by_start:
        yield {"squares": tours.view(f"S{board.squares}").ravel()}
