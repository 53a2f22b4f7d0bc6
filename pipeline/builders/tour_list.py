"""Builder of the list of all tours of a board: one task for each opening.

An opening is the first squares of a tour: a single square on boards with few tours.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from pipeline.build_context import BuildContext
from pipeline.builders.tour_columns import Array, make_search_board, make_tour_columns
from pipeline.search.hamiltonian_paths import iter_paths
from pipeline.search.path_estimate import estimate_paths
from pipeline.tasks import (
    Chunks,
    CostSample,
    TableData,
    TaskList,
    TaskRunner,
    make_no_records,
    run_in_threads,
)
from tablebase.puzzle import Puzzle
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import AllTours
from tablebase.schema import Table
from tablebase.tables.checkpoints import Arrays

ESTIMATES = 16
"""Number of estimates of one list; the error is computed from their spread."""


def list_tours_from(files: int, ranks: int, start: int) -> Arrays:
    """Find all tours from a start: for each chunk the texts, the ends, and whether they close."""
    return [
        array
        for chunk in iter_paths(*_make_search_arguments(KnightBoard(files, ranks)), start)
        for array in chunk
    ]


def iter_rows_from(files: int, ranks: int, *opening: int) -> Chunks:
    """Iterate over the tours with an opening, as the columns of a part file, numbered from 0."""
    board, tours = KnightBoard(files, ranks), 0
    for text, finish, closed in iter_paths(*_make_search_arguments(board), *opening):
        yield make_tour_columns(board, opening[0], tours, finish, closed, text)
        tours += len(finish)


def parts(recipe: AllTours) -> TaskList:
    """Return one task for each opening, in the order of the tours."""
    board = recipe.board
    sides = board.files, board.ranks
    if recipe.has_part_files:
        return TaskList(
            iter_rows_from,
            [(*sides, *path) for path in list_openings(board, recipe.opening_length)],
        )
    starts = [(*sides, start) for start in range(board.squares)]
    return TaskList(list_tours_from, starts, lambda arrays: sum(map(len, arrays[1::3])))


def list_openings(board: KnightBoard, length: int) -> list[tuple[int, ...]]:
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


def estimate(
    table: Table, context: BuildContext, items: list[tuple[int, ...]] | None
) -> CostSample:
    """Estimate the cost of the given tasks, or of all."""
    recipe = cast(AllTours, table.recipe)
    if items is None:
        items = parts(recipe).items
    arguments = (*make_search_board(recipe.board), [item[2:] for item in items])
    first = estimate_paths(*arguments, 0)
    seeds = range(1, 1 if first.is_exact else ESTIMATES)
    estimates = [first, *run_in_threads(estimate_paths, ((*arguments, seed) for seed in seeds))]
    half = len(items) // 2
    chunks = (rows for item in (*items[half:], *items[:half]) for rows in iter_rows_from(*item))
    return CostSample(
        len(items), [run.paths for run in estimates], [run.seconds for run in estimates], 0, chunks
    )


def make(recipe: AllTours, puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Return the rows of a board's tours, in ascending order; there is no index."""
    return TableData(_iter_rows(recipe, context.tasks), make_no_records(), 0)


def _iter_rows(recipe: AllTours, runner: TaskRunner) -> Chunks:
    board, (function, starts, _) = recipe.board, parts(recipe)
    tours = 0
    runner.report_progress("0 tours found, starts", 0, board.squares)
    for start, arrays in enumerate(runner.run_tasks(function, starts)):
        first = tours
        for text, finish, closed in zip(arrays[::3], arrays[1::3], arrays[2::3], strict=True):
            yield make_tour_columns(board, start, tours - first, finish, closed, text)
            tours += len(finish)
        runner.report_progress(f"{tours:,} tours found, starts", start + 1, board.squares)


def _make_search_arguments(board: KnightBoard) -> tuple[Array, Array, Array]:
    """Return a board as arrays for the search, and the names of its squares."""
    return *make_search_board(board), np.array(
        [list(name.encode()) for name in board.name_squares()], np.uint8
    )
