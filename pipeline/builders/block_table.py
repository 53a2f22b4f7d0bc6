"""A state space in blocks searched from its root: the distances are all that is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import cast

import numpy as np
import numpy.typing as npt

from pipeline.builders.block_shards import measured, search
from pipeline.search.block_bfs import in_blocks
from pipeline.tasks import AtOnce, Made, Probe, Stretches, Work, in_threads
from tablebase.block_space import InBlocks
from tablebase.graph import Blocks
from tablebase.puzzle import Puzzle, Table
from tablebase.tables.checkpoints import Kept
from tablebase.tables.parquet import ROW_GROUP

Depths = npt.NDArray[np.uint8]
CHECKPOINT = 60.0
"""Seconds between two times that an unfinished search is kept."""
STRETCH = 1 << 17
"""Records at a time."""
LEVEL = "level"


def make(recipe: InBlocks, puzzle: Puzzle, table: Table, work: Work) -> Made:
    (root,) = recipe.roots.values()
    space = recipe.space.blocks(root)
    found = search(recipe.space, root, work) if work.elsewhere else None
    if found and not table.columns:
        return _as_records(found()), _as_records(found()), recipe.space.size
    work.require_memory(table.name, _memory(space, recipe.space.size))
    depth = np.concatenate([*found()]) if found else _searched(space, recipe.space.size, work)
    rows = _listed(recipe, space, depth, work) if table.columns else _records(depth, work)
    return rows, _records(depth, work), len(depth)


def _listed(recipe: InBlocks, space: Blocks, depth: Depths, work: Work) -> Stretches:
    (root,) = recipe.roots.values()
    step, rows = -(-ROW_GROUP // space.places), len(space.row_kinds)
    stretches = (
        (root, space, depth, block, first, min(rows, first + step))
        for block in range(len(space.sides))
        for first in range(0, rows, step)
    )
    done = 0
    for columns in in_threads(recipe.space.rows_of, stretches, work.at_once):
        work.told("rows", done, len(depth))
        done += len(columns["distance"])
        yield columns


def _records(depth: Depths, work: Work) -> Stretches:
    for first in range(0, len(depth), STRETCH):
        work.told("records", first, len(depth))
        yield {"distance": depth[first : first + STRETCH]}


def probe(table: Table, work: Work, items: None) -> Probe:
    """What a table will take, from layers of the space itself or of one that stands for it."""
    recipe = cast(InBlocks, table.recipe)
    space, sample = recipe.space, recipe.space.sample
    (root,) = recipe.roots.values() if sample is space else [sample.example]
    blocks, share = sample.blocks(root), sample.size / space.size
    memory, levels, begun = _memory(blocks, sample.size), 0, 0.0
    work.require_memory(f"A search that tells what {table.name} takes", memory)

    def layer_done(level: int, depth: Depths) -> None:
        nonlocal begun, levels
        levels = level + 1
        if level == 1:  # by now the kernels are compiled
            begun = time.process_time()

    depth = in_blocks(blocks, work.at_once, layer_done, work.require_going)
    whole = AtOnce((time.process_time() - begun) / share, memory / share)
    found = measured(sample, root, depth, levels, work)
    rows = _listed(recipe, blocks, depth, work) if table.columns else _records(depth, work)
    return Probe(space.stretches(), *found, rows, _records(depth, work), whole)


def _as_records(depths: Iterator[Depths]) -> Stretches:
    for stretch in depths:
        yield {"distance": stretch}


def _memory(space: Blocks, states: int) -> int:
    """Bytes: one a state, two a row, and the moves."""
    tables = (table for pair in space.moves for move in pair for table in move.tables())
    rows = 2 * len(space.sides) * len(space.row_kinds)
    return states + rows + sum(table.nbytes for table in tables)


def _searched(space: Blocks, states: int, work: Work) -> Depths:
    """The distances; a search that was killed goes on from where it was kept."""
    kept = work.kept
    begun = time.monotonic()

    def layer_done(level: int, depth: Depths) -> None:
        nonlocal begun
        work.told("layers", level)
        if kept and time.monotonic() - begun >= CHECKPOINT:
            _keep(kept, level, depth.reshape(len(space.sides), -1))
            begun = time.monotonic()

    found = _kept(kept, space, states) if kept else None
    return in_blocks(space, work.at_once, layer_done, work.require_going, found)


def _keep(kept: Kept, level: int, blocks: Depths) -> None:
    """The level last: where this ends half way, blocks are ahead of it, which does no harm."""
    for number, block in enumerate(blocks):
        kept.store(f"block {number}", [block])
    kept.store(LEVEL, [np.array(level)])


def _kept(kept: Kept, space: Blocks, states: int) -> tuple[int, Depths] | None:
    """What was kept of an unfinished search, if all of it is whole."""
    level = kept.load(LEVEL)
    if level is None:
        return None
    depth = np.empty((len(space.sides), states // len(space.sides)), dtype=np.uint8)
    for number, block in enumerate(depth):
        if (found := kept.load(f"block {number}")) is None:
            return None
        block[:] = found[0]
    return int(level[0]), depth.ravel()
