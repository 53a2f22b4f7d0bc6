"""One step of a breadth-first search over states in state blocks: each state's depth, in one byte.

The states of a layer are all on one side, and their successors on the other. A move without forks
is applied from the rows that it leads to, one with forks from the rows that it leaves. The shards
of a search use it (`sharded_bfs`); a search in one process handles words of states (`word_bfs`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.graph import Blocks, ForkedMove
from tablebase.jit import compiled

Array = npt.NDArray[Any]


def expand_layer(
    space: Blocks, layer: tuple[Array, np.uint8, Array, Array], first: int, last: int
) -> None:
    """Set the depths of a layer's successors in the rows from `first` to `last` of each block.

    A layer is a tuple: the depths of all states, the layer's own depth, the rows that have states
    of it, and the rows that have states of the next layer. This function marks the last ones.
    """
    rows, places = len(space.row_kinds), space.places
    side = space.sides[int(layer[2].argmax()) // rows]
    for move, back in (*space.moves, *((back, move) for move, back in space.moves)):
        if space.sides[move.source] != side:
            continue
        bounds = np.array([move.source * rows, move.target * rows, first, last, places], np.uint64)
        if isinstance(move, ForkedMove):
            _expand_forked_move(
                *layer,
                bounds,
                space.row_kinds ^ space.block_kinds[move.source],
                *move.list_tables(),
            )
        else:
            _expand_plain_move(*layer, bounds, back.rows)


@compiled
def _expand_plain_move(
    depth: Array, level: Any, fresh: Array, reached: Array, bounds: Array, back: Array
) -> None:  # fmt: skip
    """Apply a move that maps whole rows to rows, in the rows `first` to `last` that it leads to.

    `back` has for each of these the row that the move comes from.
    """
    source, target, first, last, places = bounds
    next_level = np.uint8(level + 1)
    for row in range(first, last):
        from_row = source + back[row]
        if fresh[from_row]:
            to_row = target + row
            from_state, to_state = from_row * places, to_row * places
            hit = np.uint8(0)
            for place in range(places):  # without a branch, so that the compiler vectorizes it
                before = depth[to_state + place]
                take = (depth[from_state + place] == level) & (before >= next_level)
                depth[to_state + place] = next_level if take else before
                hit |= take
            if hit:
                reached[to_row] = 1


@compiled
def _expand_forked_move(
    depth: Array, level: Any, fresh: Array, reached: Array, bounds: Array,
    kinds: Array, rows: Array, forks: Array, entries: Array, entered: Array,
) -> None:  # fmt: skip
    """Apply a move with forks to every state of the layer in the rows `first` to `last`."""
    source, target, first, last, places = bounds
    next_level = np.uint8(level + 1)
    rows_by_fork = np.empty(rows.shape[1], np.uint64)
    for row in range(first, last):
        from_row = source + row
        if fresh[from_row]:
            kind = np.uint64(kinds[row])
            for number, target_row in enumerate(rows[row]):
                rows_by_fork[number] = target + target_row
            from_state = from_row * places
            for place in range(places):
                if depth[from_state + place] == level:
                    fork = np.uint64(forks[kind, place])
                    entry = np.uint64(entries[row, fork])
                    to_row = rows_by_fork[fork]
                    to_state = to_row * places + entered[kind, entry, place]
                    if depth[to_state] >= next_level:
                        depth[to_state] = next_level
                        reached[to_row] = 1
