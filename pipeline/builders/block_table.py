"""Builder of the distances of a state space in state blocks, searched from its root.

Only the distances are stored.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import cast

import numpy as np
import numpy.typing as npt

from pipeline.builders.block_shards import measure_shard, search_shards
from pipeline.search.block_bfs import search_blocks
from pipeline.tasks import (
    Chunks,
    CostSample,
    SingleRunCost,
    TableData,
    TaskRunner,
    TimedThreadPool,
    run_in_threads,
)
from tablebase.block_space import BlockBreadthFirst
from tablebase.graph import Blocks
from tablebase.puzzle import Puzzle, Table
from tablebase.tables.checkpoints import Checkpoints
from tablebase.tables.parquet import ROW_GROUP_ROWS

Depths = npt.NDArray[np.uint8]
CHECKPOINT_SECONDS = 60.0
"""Seconds between two checkpoints of a search."""
CHUNK_RECORDS = 1 << 17
"""Records in a chunk."""
LEVEL = "level"


def make(recipe: BlockBreadthFirst, puzzle: Puzzle, table: Table, runner: TaskRunner) -> TableData:
    """Search the space, in this process or as shards on other machines; return rows and records.

    A table without columns has an index alone; the shards' distances then need not fit in memory.
    """
    (root,) = recipe.roots.values()
    space = recipe.space.make_blocks(root)
    read_depths = search_shards(recipe.space, root, runner) if runner.is_remote else None
    if read_depths and not table.columns:
        return (
            _convert_to_records(read_depths()),
            _convert_to_records(read_depths()),
            recipe.space.size,
        )
    runner.require_memory(table.name, _estimate_memory(space, recipe.space.size))
    depth = (
        np.concatenate([*read_depths()])
        if read_depths
        else _search(space, recipe.space.size, runner)
    )
    rows = (
        _iter_rows(recipe, space, depth, runner) if table.columns else _iter_records(depth, runner)
    )
    return rows, _iter_records(depth, runner), len(depth)


def _iter_rows(
    recipe: BlockBreadthFirst, space: Blocks, depth: Depths, runner: TaskRunner
) -> Chunks:
    (root,) = recipe.roots.values()
    step, rows = -(-ROW_GROUP_ROWS // space.places), len(space.row_kinds)
    arguments = (
        (root, space, depth, block, first, min(rows, first + step))
        for block in range(len(space.sides))
        for first in range(0, rows, step)
    )
    done = 0
    for columns in run_in_threads(recipe.space.make_rows, arguments, runner.jobs, runner.usage):
        runner.report_progress("rows", done, len(depth))
        done += len(columns["distance"])
        yield columns


def _iter_records(depth: Depths, runner: TaskRunner) -> Chunks:
    for first in range(0, len(depth), CHUNK_RECORDS):
        runner.report_progress("records", first, len(depth))
        yield {"distance": depth[first : first + CHUNK_RECORDS]}


def estimate(table: Table, runner: TaskRunner, items: None) -> CostSample:
    """Estimate the cost of a table, from a search of its space or of a smaller, similar space."""
    recipe = cast(BlockBreadthFirst, table.recipe)
    space, sample = recipe.space, recipe.space.measurable_space
    (root,) = recipe.roots.values() if sample is space else [sample.example]
    blocks, share = sample.make_blocks(root), sample.size / space.size
    memory, levels, start_time = _estimate_memory(blocks, sample.size), 0, 0.0
    runner.require_memory(f"A search that tells what {table.name} takes", memory)

    def layer_done(level: int, depth: Depths) -> None:
        nonlocal start_time, levels
        levels = level + 1
        if level == 1:  # by now the kernels are compiled
            start_time = time.process_time()

    depth = search_blocks(blocks, runner.jobs, layer_done, runner.require_no_failure)
    single_run = SingleRunCost((time.process_time() - start_time) / share, memory / share)
    measured = measure_shard(sample, root, depth, levels, runner)
    rows = (
        _iter_rows(recipe, blocks, depth, runner) if table.columns else _iter_records(depth, runner)
    )
    return CostSample(
        space.count_max_shards(), *measured, rows, _iter_records(depth, runner), single_run
    )


def _convert_to_records(depths: Iterator[Depths]) -> Chunks:
    for chunk in depths:
        yield {"distance": chunk}


def _estimate_memory(space: Blocks, states: int) -> int:
    """Return the bytes that a search needs: one a state, two a row, and the moves."""
    tables = (table for pair in space.moves for move in pair for table in move.list_tables())
    rows = 2 * len(space.sides) * len(space.row_kinds)
    return states + rows + sum(table.nbytes for table in tables)


def _search(space: Blocks, states: int, runner: TaskRunner) -> Depths:
    """Return the distances; a search that was killed resumes from its last checkpoint."""
    checkpoints = runner.checkpoints
    start_time = time.monotonic()

    def layer_done(level: int, depth: Depths) -> None:
        nonlocal start_time
        runner.report_progress("layers", level)
        if checkpoints and time.monotonic() - start_time >= CHECKPOINT_SECONDS:
            _save_search(checkpoints, level, depth.reshape(len(space.sides), -1))
            start_time = time.monotonic()

    saved_search = _load_search(checkpoints, space, states) if checkpoints else None
    return search_blocks(
        space,
        runner.jobs,
        layer_done,
        runner.require_no_failure,
        saved_search,
        partial(TimedThreadPool, usage=runner.usage),
    )


def _save_search(checkpoints: Checkpoints, level: int, blocks: Depths) -> None:
    """Save a search: the blocks first, the level last.

    If the process ends between them, some blocks are ahead of the saved level, which does no harm.
    """
    for number, block in enumerate(blocks):
        checkpoints.save(f"block {number}", [block])
    checkpoints.save(LEVEL, [np.array(level)])


def _load_search(checkpoints: Checkpoints, space: Blocks, states: int) -> tuple[int, Depths] | None:
    """Return the level and depths of a search's checkpoint, or None if part of it is missing."""
    level = checkpoints.load(LEVEL)
    if level is None:
        return None
    depth = np.empty((len(space.sides), states // len(space.sides)), dtype=np.uint8)
    for number, block in enumerate(depth):
        if (arrays := checkpoints.load(f"block {number}")) is None:
            return None
        block[:] = arrays[0]
    return int(level[0]), depth.ravel()
