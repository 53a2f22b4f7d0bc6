"""Breadth-first search over the placements of a pattern: the fewest moves of its tiles.

A state is a place and an order. Each place has a bit for each order, so a move that keeps the order
takes 64 states at a time. A thread changes only the places that moves lead to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.frontier.compiled import find_lowest
from puzzle_tablebase.graph import UNREACHED
from puzzle_tablebase.jit import Array, compiled

CHUNKS_PER_THREAD = 16
"""Chunks for each thread in a layer: so many that no thread waits long for the last one."""
WORD_BITS = 64


def search_pattern(
    places: Array,
    moves: tuple[Array, Array, Array, Array],
    root: int,
    threads: int,
    layer_done: Callable[[int], None],
    run: Callable[..., Iterable[Any]],
) -> Array:
    """Return the least depth of each set and order, over all places of the set.

    `places` and `moves` are as in `PatternMoves`. `layer_done(level)` is called when all depths up
    to a level are known. `run` calls a function with each of some tuples in so many
    threads.
    """
    sets, orders = len(places) - 1, moves[3].shape[1]
    words = -(-orders // WORD_BITS)
    depth = np.full((sets, orders), UNREACHED, dtype=np.uint8)
    visited, fresh, reached = np.zeros((3, int(places[-1]), words), dtype=np.uint64)
    fresh[root, 0] = visited[root, 0] = 1
    depth[np.searchsorted(places, root, side="right") - 1, 0] = 0
    has_fresh = np.zeros(len(fresh), dtype=np.uint8)
    has_fresh[root] = 1
    level, chunk = 0, -(-sets // (threads * CHUNKS_PER_THREAD))
    while has_fresh.any():
        layer_done(level)
        level += 1
        if level == UNREACHED:
            raise SearchError(f"A placement needs {level - 1} or more moves.")
        has_reached = np.zeros_like(has_fresh)
        layer: tuple[Any, ...] = visited, fresh, has_fresh, reached, has_reached, depth, level
        chunks = (
            (first, min(sets, first + chunk), places, *moves, *layer)
            for first in range(0, sets, chunk)
        )
        for _ in run(_reach_sets, chunks):
            pass
        fresh, reached, has_fresh = reached, fresh, has_reached
    return depth


def estimate_memory(places: Array, order_maps: Array) -> int:
    """Return the bytes that a search needs: three bits for each state, and the depths."""
    sets, orders = len(places) - 1, order_maps.shape[1]
    bits = 3 * int(places[-1]) * orders
    needed: int = bits // 8 + sets * orders + order_maps.nbytes
    return needed


@compiled
def _reach_sets(
    first_set: int, end_set: int, places: Array, moves: Array, sources: Array, maps: Array,
    order_maps: Array, visited: Array, fresh: Array, has_fresh: Array, reached: Array,
    has_reached: Array, depth: Array, level: int,
) -> None:  # fmt: skip
    """Reach the places of some sets from the fresh ones of the layer before."""
    words, one, six, low = visited.shape[1], np.uint64(1), np.uint64(6), np.uint64(63)
    for number in range(first_set, end_set):
        for place in range(places[number], places[number + 1]):
            found = reached[place]
            found[:] = 0
            has_any = False
            for move in range(moves[place], moves[place + 1]):
                source = sources[move]
                if not has_fresh[source]:
                    continue
                has_any = True
                if maps[move] < 0:
                    for word in range(words):
                        found[word] |= fresh[source, word]
                    continue
                order_map = order_maps[maps[move]]
                for word in range(words):
                    bits = fresh[source, word]
                    while bits:
                        order = np.uint64(order_map[word * WORD_BITS + find_lowest(bits)])
                        found[order >> six] |= one << (order & low)
                        bits &= bits - one
            if not has_any:
                continue
            any_new = np.uint64(0)
            for word in range(words):
                new = found[word] & ~visited[place, word]
                found[word] = new
                visited[place, word] |= new
                any_new |= new
                while new:
                    at = word * WORD_BITS + find_lowest(new)
                    if depth[number, at] > level:
                        depth[number, at] = level
                    new &= new - one
            has_reached[place] = any_new != 0
