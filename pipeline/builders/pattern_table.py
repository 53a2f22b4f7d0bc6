"""Builder of the distances of a pattern: the fewest moves of its tiles from each placement."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from pipeline.build_context import BuildContext
from pipeline.search.pattern_search import estimate_memory, search_pattern
from pipeline.tasks import Chunks, TableData, TaskRunner, TimedThreadPool
from tablebase.puzzle import Puzzle
from tablebase.puzzles.fifteen.pattern import Pattern
from tablebase.puzzles.fifteen.pattern_moves import list_cells, make_moves
from tablebase.puzzles.fifteen.tables import PatternDistances
from tablebase.schema import Table

Depths = npt.NDArray[np.uint8]
CHUNK_ORDERS = 1 << 6
"""Orders in a chunk: a column of so many bytes is a line of the processor's cache."""


def make(
    recipe: PatternDistances, puzzle: Puzzle, table: Table, context: BuildContext
) -> TableData:
    """Search all placements of the pattern, and return rows and records."""
    pattern, runner = recipe.pattern, context.tasks
    moves = make_moves(pattern)
    context.reserve_memory(table, estimate_memory(moves.places, moves.order_maps))
    depth = search_pattern(
        moves.places,
        (moves.moves, moves.sources, moves.maps, moves.order_maps),
        moves.root,
        runner.jobs,
        partial(runner.report_progress, "layers"),
        partial(TimedThreadPool, usage=runner.usage),
    )
    rows = _iter_rows(pattern, depth, runner) if table.columns else _iter_records(depth, runner)
    return TableData(rows, _iter_records(depth, runner), depth.size)


def _iter_records(depth: Depths, runner: TaskRunner) -> Chunks:
    """Iterate over the distances by rank: those of an order together."""
    for first in range(0, depth.shape[1], CHUNK_ORDERS):
        runner.report_progress("records", first * len(depth), depth.size)
        yield {"distance": depth[:, first : first + CHUNK_ORDERS].T.ravel()}


def _iter_rows(pattern: Pattern, depth: Depths, runner: TaskRunner) -> Chunks:
    first = 0
    for records in _iter_records(depth, runner):
        count = len(records["distance"])
        yield {"cells": list_cells(pattern, first, first + count), **records}
        first += count
