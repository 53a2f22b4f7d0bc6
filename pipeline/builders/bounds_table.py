"""Builder of the numbers of a board's states by distance and by the bounds of patterns."""

from __future__ import annotations

from concurrent.futures import as_completed
from itertools import combinations, pairwise, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.build_context import BuildContext
from pipeline.builders.block_search import search_space
from pipeline.builders.pattern_depths import search_depths
from pipeline.search.pattern_bounds import PatternTables, States, count_bounds
from pipeline.search.word_bfs import estimate_search_bytes
from pipeline.tasks import Chunks, TableData, TaskRunner, TimedThreadPool, make_no_records
from tablebase.build_errors import SearchError
from tablebase.puzzle import Puzzle
from tablebase.puzzles.fifteen.bounds import PatternBounds
from tablebase.puzzles.fifteen.pattern import Pattern, rank_set
from tablebase.puzzles.fifteen.pattern_moves import make_moves
from tablebase.puzzles.fifteen.tables import Partition
from tablebase.puzzles.sliding.board import SlidingBoard
from tablebase.schema import Table

Array = npt.NDArray[Any]
CHUNKS = 64
"""Chunks of a count, for its progress and for an interrupt."""


def make(recipe: PatternBounds, puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Search the board and its patterns, and count the states; a partition after the other."""
    board = recipe.board
    context.memory.require(table.name, estimate_search_bytes(board.size) + board.size)
    return TableData(_iter_rows(recipe, context.tasks), make_no_records(), 0)


def _iter_rows(recipe: PatternBounds, runner: TaskRunner) -> Chunks:
    board = recipe.board
    depth = np.zeros(board.size, dtype=np.uint8)
    search_space(board.make_words(board.example), runner, depth)
    for number, (name, partition) in enumerate(recipe.list_partitions().items()):
        counts = _count_partition(board, partition, depth, runner)
        distances, bounds = np.nonzero(counts)
        if (bounds > distances).any():
            raise SearchError(f"The bound of {name} is larger than a distance.")
        yield {
            "board": np.full(len(bounds), str(board).encode()),
            "partition": np.full(len(bounds), number, dtype=np.uint8),
            "distance": distances,
            "bound": bounds,
            "states": counts[distances, bounds],
        }


def _count_partition(
    board: SlidingBoard, partition: Partition, depth: Array, runner: TaskRunner
) -> Array:
    """Count the states by distance and bound, in threads."""
    tiles = board.cells - 1
    patterns, digits = np.zeros(tiles, dtype=np.int64), np.zeros(tiles, dtype=np.int64)
    for number, pattern in enumerate(partition.patterns):
        for at, tile in enumerate(pattern.tiles):
            patterns[tile - 1], digits[tile - 1] = number, board.cells**at
    flat = [make_flat_table(pattern, runner) for pattern in partition.patterns]
    starts = np.cumsum([0, *map(len, flat)])[:-1]
    tables = PatternTables(np.concatenate(flat), starts, patterns, digits)
    is_odd = np.array([_allows_odd(board, place) for place in range(board.cells)], dtype=np.int64)
    states = States(depth, np.array(board.weights), is_odd, np.array(board.cell_at))
    limits = [board.orders * at // CHUNKS for at in range(CHUNKS + 1)]
    total = np.zeros((256, 256), dtype=np.int64)
    with TimedThreadPool(runner.jobs, usage=runner.usage) as pool:
        futures = [
            pool.submit(count_bounds, states, tables, first, last)
            for first, last in pairwise(limits)
        ]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                total += future.result()
                runner.report_progress("chunks", done, CHUNKS)
        finally:
            for future in futures:
                future.cancel()
    return total


def make_flat_table(pattern: Pattern, runner: TaskRunner) -> Array:
    """Search a pattern; return its depths by the cells of its tiles, the first tile's first."""
    depth = search_depths(make_moves(pattern), runner)
    count = len(pattern.tiles)
    flat = np.zeros(pattern.cells**count, dtype=np.uint8)
    sets = np.array(sorted(combinations(range(pattern.cells), count), key=rank_set))
    for number, order in enumerate(permutations(range(count))):
        # the tile `order[at]` stands on the cell that is number `at` of the set
        weights = pattern.cells ** np.array(order)
        flat[sets @ weights] = depth[:, number]
    return flat


def _allows_odd(board: SlidingBoard, place: int) -> bool:
    """Return whether states with the blank on a place have odd orders of the tiles."""
    return board.is_odd(board.unrank(place * board.orders))
