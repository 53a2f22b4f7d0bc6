"""Breadth-first search over states in blocks: fewest moves from the root, one byte a state.

A layer is taken in stretches of rows, as many at once as there are threads. Its states are all on
one side, and those that they reach on the other: no thread reads what another writes. A move
without forks is taken from the rows that it leads to; one with forks from the rows that it leaves,
and it stays in their stretch: no two threads write to a row.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.errors import SearchError
from tablebase.graph import UNREACHED, Blocks, ForkedMove
from tablebase.jit import compiled

Array = npt.NDArray[Any]
CHUNKS_PER_THREAD = 16
"""Stretches for each thread, so that none waits long for the last."""
SCANNED_ROWS = 1 << 12
"""Rows looked through at a time."""


def search_blocks(
    space: Blocks,
    threads: int,
    layer_done: Callable[[int, Array], None],
    chunk_done: Callable[[], None],
    saved: tuple[int, Array] | None = None,
) -> Array:
    """Every state's depth, `UNREACHED` where it has none.

    `layer_done(level, depth)` is told when the depths up to a level are all there, and a search
    goes on from that, also where deeper states are there; `chunk_done()` is told more often.
    """
    blocks, rows, places = len(space.sides), len(space.row_kinds), space.places
    size = blocks * rows * places
    level, depth = saved or (0, np.full(size, UNREACHED, dtype=np.uint8))
    depth[space.root] = 0
    fresh = _find_rows(depth.reshape(-1, places), level)
    at_once = space.rows_per_prefix * -(
        -rows // (space.rows_per_prefix * threads * CHUNKS_PER_THREAD)
    )
    with ThreadPoolExecutor(threads) as pool:
        while fresh.any():
            layer_done(level, depth)
            if level + 1 == UNREACHED:
                raise SearchError(f"A state lies {level} or more moves from the root.")
            reached = np.zeros_like(fresh)
            layer = depth, np.uint8(level), fresh, reached
            parts = [
                pool.submit(expand_layer, space, layer, first, min(rows, first + at_once))
                for first in range(0, rows, at_once)
            ]
            try:
                for part in parts:
                    part.result()
                    chunk_done()
            finally:
                for part in parts:
                    part.cancel()
            fresh, level = reached, level + 1
    return depth


def _find_rows(depth: Array, level: int) -> Array:
    """Which rows have a state of that depth."""
    has_state = [
        (depth[first : first + SCANNED_ROWS] == level).any(axis=1)
        for first in range(0, len(depth), SCANNED_ROWS)
    ]
    return np.concatenate(has_state).astype(np.uint8)


def expand_layer(
    space: Blocks, layer: tuple[Array, np.uint8, Array, Array], first: int, last: int
) -> None:
    """All that the moves of a layer bring to some rows of the blocks that they lead to.

    A layer is the depths of all states, its own depth, the rows that have states of it, and those
    that are found to have states of the next.
    """
    rows, places = len(space.row_kinds), space.places
    side = space.sides[int(layer[2].argmax()) // rows]
    for move, back in (*space.moves, *((back, move) for move, back in space.moves)):
        if space.sides[move.source] != side:
            continue
        at = np.array([move.source * rows, move.target * rows, first, last, places], np.uint64)
        if isinstance(move, ForkedMove):
            _expand_forked_move(
                *layer, at, space.row_kinds ^ space.block_kinds[move.source], *move.list_tables()
            )
        else:
            _expand_plain_move(*layer, at, back.rows)


@compiled
def _expand_plain_move(
    depth: Array, level: Any, fresh: Array, reached: Array, at: Array, back: Array
) -> None:  # fmt: skip
    """A move that leads a row as it is to another: the rows that it leads to, from `back`'s."""
    source, target, first, last, places = at
    nearer = np.uint8(level + 1)
    for row in range(first, last):
        here = source + back[row]
        if fresh[here]:
            there = target + row
            of, to = here * places, there * places
            hit = np.uint8(0)
            for place in range(places):  # without a branch, so that many are done at once
                before = depth[to + place]
                take = (depth[of + place] == level) & (before >= nearer)
                depth[to + place] = nearer if take else before
                hit |= take
            if hit:
                reached[there] = 1


@compiled
def _expand_forked_move(
    depth: Array, level: Any, fresh: Array, reached: Array, at: Array,
    kinds: Array, rows: Array, forks: Array, entries: Array, entered: Array,
) -> None:  # fmt: skip
    """A move with forks, of every state of the layer in these rows."""
    source, target, first, last, places = at
    nearer = np.uint8(level + 1)
    to_row = np.empty(rows.shape[1], np.uint64)
    for row in range(first, last):
        here = source + row
        if fresh[here]:
            kind = np.uint64(kinds[row])
            for number, to in enumerate(rows[row]):
                to_row[number] = target + to
            of = here * places
            for place in range(places):
                if depth[of + place] == level:
                    fork = np.uint64(forks[kind, place])
                    entry = np.uint64(entries[row, fork])
                    there = to_row[fork]
                    to = there * places + entered[kind, entry, place]
                    if depth[to] >= nearer:
                        depth[to] = nearer
                        reached[there] = 1
