"""Builder of the list of all tours of a board: one task for each prefix.

A prefix is the first squares of a tour: a single square on boards with few tours.
"""

from __future__ import annotations

import numpy as np

from pipeline.build_context import BuildContext
from pipeline.builders.tour_columns import Array, make_search_board, make_tour_columns
from pipeline.search.hamiltonian_paths import iter_paths
from pipeline.tasks import Chunks, TableData, TaskRunner, make_no_records
from tablebase.puzzle import Puzzle
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import AllTours
from tablebase.schema import Table
from tablebase.tables.checkpoints import Arrays

MAX_UNDIVIDED_SQUARES = 36
"""Squares of the largest boards with one task for each start."""
PREFIX_SQUARES = 3
"""Squares of a prefix on larger boards: the tours of a task then take less than 50 MB."""


def make(recipe: AllTours, puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Return the rows of a board's tours, in ascending order; there is no index."""
    return TableData(_iter_rows(recipe.board, context.tasks), make_no_records(), 0)


def _iter_rows(board: KnightBoard, runner: TaskRunner) -> Chunks:
    prefixes = list_prefixes(board, 1 if board.squares <= MAX_UNDIVIDED_SQUARES else PREFIX_SQUARES)
    tours, first, start = 0, 0, -1
    runner.report_progress("0 tours found, prefixes", 0, len(prefixes))
    results = runner.run_tasks(
        list_tours_from, ((board.files, board.ranks, *prefix) for prefix in prefixes)
    )
    for done, (prefix, arrays) in enumerate(zip(prefixes, results, strict=True), 1):
        if prefix[0] != start:
            start, first = prefix[0], tours
        for text, finish, closed in zip(arrays[::3], arrays[1::3], arrays[2::3], strict=True):
            yield make_tour_columns(board, start, tours - first, finish, closed, text)
            tours += len(finish)
        runner.report_progress(f"{tours:,} tours found, prefixes", done, len(prefixes))


def list_tours_from(files: int, ranks: int, *prefix: int) -> Arrays:
    """Find all tours with a prefix: for each chunk the texts, the ends, and whether they close."""
    board = KnightBoard(files, ranks)
    chunks = iter_paths(*make_search_board(board), _list_names(board), *prefix)
    return [array for chunk in chunks for array in chunk]


def list_prefixes(board: KnightBoard, length: int) -> list[tuple[int, ...]]:
    """Return all paths of `length` squares that begin where a tour can begin, ascending."""
    odd = board.squares % 2
    paths: list[tuple[int, ...]] = [
        (square,) for square in range(board.squares) if not (odd and board.is_light(square))
    ]
    for _ in range(length - 1):
        paths = [
            (*path, square)
            for path in paths
            for square in board.list_neighbours(path[-1])
            if square not in path
        ]
    return paths


def _list_names(board: KnightBoard) -> Array:
    """Return the names of a board's squares as bytes, a row each."""
    return np.array([list(name.encode()) for name in board.name_squares()], np.uint8)
