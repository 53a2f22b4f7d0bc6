"""Builder of the distances of a state space in state blocks, searched from its root.

An index has the distances, a byte each, or one bit of each, 360 states in a record.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial
from typing import cast

import numpy as np
import numpy.typing as npt

from pipeline.builders.block_shards import measure_shard, search_shards
from pipeline.search.word_bfs import (
    Planes,
    estimate_search_bytes,
    iter_word_records,
    search_words,
)
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
from tablebase.graph import UNREACHED, Blocks
from tablebase.puzzle import BITS_INDEX, ROW_BYTES, Puzzle, Table
from tablebase.tables.parquet import ROW_GROUP_ROWS
from tablebase.word_space import ROW_STATES, WordSpace

Depths = npt.NDArray[np.uint8]
CHUNK_STATES = 1024 * ROW_STATES
"""States in a chunk of records."""


def make(recipe: BlockBreadthFirst, puzzle: Puzzle, table: Table, runner: TaskRunner) -> TableData:
    """Search the space, in this process or as shards on other machines; return rows and records.

    A table without columns has an index alone; the shards' distances then need not fit in memory.
    """
    (root,) = recipe.roots.values()
    space = recipe.space
    count = space.size // ROW_STATES if table.index == BITS_INDEX else space.size
    if runner.is_remote:
        read_depths = search_shards(space, root, runner)
        if not table.columns:
            records = (_iter_records(table, read_depths(), space.size, runner) for _ in range(2))
            return next(records), next(records), count
        runner.require_memory(table.name, space.size)
        depth = np.concatenate([*read_depths()])
    else:
        has_bits_alone = not table.columns and table.index == BITS_INDEX
        size = estimate_search_bytes(space.size) + (0 if has_bits_alone else space.size)
        runner.require_memory(table.name, size)
        words = space.make_words(root)
        if has_bits_alone:
            planes = _search(words, runner)
            return _iter_bits(planes, runner), _iter_bits(planes, runner), count
        depth = np.full(space.size, UNREACHED, dtype=np.uint8)
        _search(words, runner, depth)
    rows = (
        _iter_rows(recipe, space.make_blocks(root), depth, runner)
        if table.columns
        else _iter_records(table, [depth], space.size, runner)
    )
    return rows, _iter_records(table, [depth], space.size, runner), count


def _search(words: WordSpace, runner: TaskRunner, depth: Depths | None = None) -> Planes:
    """Search a space; a search that is killed begins again, as it takes little time."""

    def layer_done(level: int, states: int) -> None:
        runner.report_progress("layers", level)

    return search_words(
        words,
        runner.jobs,
        layer_done,
        runner.require_no_failure,
        depth,
        partial(TimedThreadPool, usage=runner.usage),
    )


def _iter_bits(planes: Planes, runner: TaskRunner) -> Chunks:
    done, total = 0, len(planes.words)
    for records in iter_word_records(planes):
        runner.report_progress("records", done, total)
        done += len(records)
        yield {"bits": _view_as_bytes(records)}


def _view_as_bytes(records: Depths) -> npt.NDArray[np.bytes_]:
    """View rows of bytes as one value each."""
    return records.view(f"S{ROW_BYTES}").ravel()


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


def _iter_records(table: Table, chunks: Iterable[Depths], size: int, runner: TaskRunner) -> Chunks:
    """Iterate over an index's records, given distances in chunks of whole rows."""
    done = 0
    for depths in chunks:
        for first in range(0, len(depths), CHUNK_STATES):
            runner.report_progress("records", done, size)
            chunk = depths[first : first + CHUNK_STATES]
            done += len(chunk)
            if table.index == BITS_INDEX:
                bits = (chunk >> 1 & 1).reshape(-1, ROW_STATES)
                yield {"bits": _view_as_bytes(np.packbits(bits, axis=1, bitorder="little"))}
            else:
                yield {"distance": chunk}


def estimate(table: Table, runner: TaskRunner, items: None) -> CostSample:
    """Estimate the cost of a table, from a search of its space or of a smaller, similar space."""
    recipe = cast(BlockBreadthFirst, table.recipe)
    space, sample = recipe.space, recipe.space.measurable_space
    (root,) = recipe.roots.values() if sample is space else [sample.example]
    share = sample.size / space.size
    has_bits_alone = not table.columns and table.index == BITS_INDEX
    search_bytes = estimate_search_bytes(sample.size)
    memory = search_bytes + (0 if has_bits_alone else sample.size)
    levels, start_time = 0, 0.0
    runner.require_memory(
        f"A search that tells what {table.name} takes", search_bytes + sample.size
    )

    def layer_done(level: int, states: int) -> None:
        nonlocal start_time, levels
        levels = level + 1
        if level == 1:  # by now the kernels are compiled
            start_time = time.process_time()

    depth = np.full(sample.size, UNREACHED, dtype=np.uint8)
    words = sample.make_words(root)
    search_words(words, runner.jobs, layer_done, runner.require_no_failure, depth)
    single_run = SingleRunCost((time.process_time() - start_time) / share, memory / share)
    states, seconds, stored = measure_shard(sample, root, depth, levels, runner)
    per_row = ROW_STATES if has_bits_alone else 1
    measured = [count / per_row for count in states], seconds, stored * per_row
    records = (_iter_records(table, [depth], len(depth), runner) for _ in range(2))
    rows = next(records)
    if table.columns:
        rows = _iter_rows(recipe, sample.make_blocks(root), depth, runner)
    return CostSample(space.count_max_shards(), *measured, rows, next(records), single_run)
