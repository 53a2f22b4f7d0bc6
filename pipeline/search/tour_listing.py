"""Searches for Hamiltonian paths: all of a small graph, or one for every pair of ends.

All paths of a two-coloured graph are found depth first, in ascending order. Nodes are numbered from
0 to at most 63; a set of nodes is 64 bits. At each node v the search looks at v's free neighbours x
and at their own free neighbours. If x has none, it is a dead end, unless it is the last free node.
If x has one, it must be the next node or the end of the path: call it *forced*. While the end is
open, three forced neighbours are a dead branch; of two, one is next and the other is the end; a
single one becomes the end if it is not next. Once the end is settled, two further forced neighbours
are a dead branch, and a single one must be next. A neighbour whose colour cannot be the end's can
only be next.

One path is found for each ordered pair (start, end) of nodes, depth first, the same in every build.
It tries the neighbour with the fewest free neighbours first, and orders ties by random numbers from
a seed. It drops a branch when a free node other than the end has fewer than two free neighbours.
After `MAX_VISITED` nodes it restarts with the next seed; seeds begin at 0. The random numbers are
splitmix64, so that the tours are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.frontier.compiled import find_lowest
from puzzle_tablebase.jit import Array, compiled

Chunk = tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.bool_]]

CHUNK_PATHS = 1 << 16
"""The number of paths in a chunk."""
OPEN = -1


def make_neighbour_sets(neighbours: list[list[int]]) -> npt.NDArray[np.uint64]:
    """Return each node's neighbours as a set of 64 bits."""
    return np.array([sum(1 << other for other in row) for row in neighbours], dtype=np.uint64)


def iter_paths(
    sets: Array, colours: Array, names: Array, *opening: int, chunk: int = CHUNK_PATHS
) -> Iterator[Chunk]:
    """Iterate over all paths that begin with the opening, in ascending order of nodes, in chunks.

    A chunk is the paths' texts (a row a path: each node's `names` row in turn), their last nodes,
    and whether each path can close (its last node neighbours the first).
    """
    text = np.empty((chunk, len(sets) * names.shape[1]), dtype=np.uint8)
    ends = np.empty(chunk, dtype=np.uint8)
    row = np.empty(text.shape[1], dtype=np.uint8)
    # the state of the search, which it updates between calls: the path, the choices still to be
    # tried and the settled end by depth, and the depth
    path, depth = np.zeros(len(sets), dtype=np.int64), np.zeros(1, dtype=np.int64)
    choices = np.zeros(len(sets) + 1, dtype=np.uint64)
    settled = np.full(len(sets) + 1, OPEN, dtype=np.int64)
    choices[0] = 1 << opening[0]
    state = np.array(opening), path, choices, settled, depth
    while depth[0] >= 0:
        count = _search(sets, colours, names, text, ends, row, *state)
        if count:
            found = ends[:count].copy()
            closed = (sets[opening[0]] >> found.astype(np.uint64)) & np.uint64(1) == 1
            yield text[:count].copy(), found, closed


@compiled
def _search(  # noqa: PLR0915  # a kernel, compiled whole
    sets: Array, colours: Array, names: Array, text: Array, last: Array,
    row: Array, opening: Array, path: Array, choices: Array, ends: Array, saved_depth: Array,
) -> int:  # fmt: skip
    """Continue the search until `text` is full or no path remains, and return the number found.

    At depth d, `choices[d]` are the nodes still to be tried as the d-th of the path, `ends[d]` is
    the path's settled end or OPEN, and path[:d] is fixed.
    """
    nodes = len(sets)
    one: Any = np.uint64(1)
    none: Any = np.uint64(0)
    capacity = len(last)
    width = names.shape[1]
    count = 0
    depth = saved_depth[0]
    free = (one << np.uint64(nodes - 1) << one) - one if nodes < 64 else ~none
    for d in range(depth):
        free &= ~(one << np.uint64(path[d]))
        for c in range(width):
            row[d * width + c] = names[path[d], c]
    start_colour = colours[path[0]]
    while depth >= 0 and count < capacity:
        if choices[depth] == none:
            depth -= 1
            if depth >= 0:
                free |= one << np.uint64(path[depth])
            continue
        node = np.int64(find_lowest(choices[depth]))
        choices[depth] &= choices[depth] - one
        if depth == 0:
            start_colour = colours[node]
        path[depth] = node
        for c in range(width):
            row[depth * width + c] = names[node, c]
        end = ends[depth]
        if end < OPEN:  # two were forced: the one that is not next is the end
            end = -2 - end
            end = end // 64 if end % 64 == node else end % 64
        elif end >= 64:  # one was forced: it is the end unless it is next
            end = OPEN if end - 64 == node else end - 64
        if depth == nodes - 1:
            for at_byte in range(nodes * width):
                text[count, at_byte] = row[at_byte]
            last[count] = node
            count += 1
            continue
        free &= ~(one << np.uint64(node))
        open_ways = sets[node] & free
        rest = open_ways
        forced = none
        dead = False
        while rest != none:
            other = np.int64(find_lowest(rest))
            rest &= rest - one
            ways = sets[other] & free
            if ways == none:
                dead = free != one << np.uint64(other)
                if dead:
                    break
            elif ways & (ways - one) == none:
                forced |= one << np.uint64(other)
        next_end = end
        if not dead:
            if end != OPEN:
                if depth + 2 < nodes:
                    open_ways &= ~(one << np.uint64(end))
                forced &= open_ways
                if forced != none:
                    dead = forced & (forced - one) != none
                    open_ways = forced
            elif forced != none:
                further = forced & (forced - one)
                # all have the same colour; the path ends on the start's colour if `nodes` is odd
                is_end_colour = (colours[find_lowest(forced)] == start_colour) == (nodes % 2 == 1)
                if not is_end_colour:
                    dead = further != none
                    open_ways = forced
                elif further == none:
                    next_end = 64 + np.int64(find_lowest(forced))
                else:
                    dead = further & (further - one) != none
                    open_ways = forced
                    next_end = -2 - 64 * np.int64(find_lowest(forced))
                    next_end -= np.int64(find_lowest(further))
        if dead:
            open_ways = none
        depth += 1
        if depth < len(opening):
            open_ways &= one << np.uint64(opening[depth])
        choices[depth] = open_ways
        ends[depth] = next_end
        if open_ways == none:
            depth -= 1
            free |= one << np.uint64(node)
    saved_depth[0] = depth
    return count


MAX_VISITED = 2_000
MAX_SEEDS = 1_000

# The kernels hold every number as an unsigned word: they take half the time to compile, and no
# index is tested for being negative.
WORD = np.uint64
ZERO, ONE, TWO = WORD(0), WORD(1), WORD(2)
USED = WORD(1 << 8)
"""Added to the exits of each node on the path; no node has so many."""
NONE = WORD(2**64 - 1)
"""A key after those of all neighbours."""
# a neighbour's key: its exits, 47 bits of its random number, and its position in its row
EXITS_SHIFT, DRAW_SHIFT, POSITION_BITS = WORD(55), WORD(17), WORD(8)
POSITION_MASK = WORD((1 << 8) - 1)
USED_KEY, DEAD_END_KEY = USED << EXITS_SHIFT, TWO << EXITS_SHIFT
# splitmix64
GAMMA, MIX_1, MIX_2 = WORD(0x9E3779B97F4A7C15), WORD(0xBF58476D1CE4E5B9), WORD(0x94D049BB133111EB)
SHIFT_1, SHIFT_2, SHIFT_3 = WORD(30), WORD(27), WORD(31)


def find_paths(neighbours: Array, ends: Array) -> npt.NDArray[np.uint8]:
    """Find for each (start, end) a path from one to the other through every node, a row each.

    `neighbours` has one row a node, padded with -1. Where no path was found, the row is zeros.
    """
    paths = np.zeros((len(ends), len(neighbours)), dtype=np.uint8)
    degrees = np.count_nonzero(neighbours >= 0, axis=1).astype(WORD)
    exits, keys, path = np.empty((3, len(neighbours)), dtype=WORD)
    _search_pair(neighbours.astype(WORD), degrees, ends.astype(WORD), exits, keys, path, paths)
    return paths


@compiled
def _search_pair(
    near: Array, degrees: Array, ends: Array, exits: Array, keys: Array, path: Array, paths: Array
) -> None:
    """Search for each pair's path with one seed after another; the other arrays are work space."""
    for row in range(len(ends)):
        for seed in range(MAX_SEEDS):
            if _try_seed(near, degrees, ends[row, 0], ends[row, 1], WORD(seed), exits, keys, path):
                for depth in range(len(path)):
                    paths[row, depth] = path[depth]
                break


@compiled
def _try_seed(
    near: Array, degrees: Array, start: Any, end: Any, seed: Any,
    exits: Array, keys: Array, path: Array,
) -> bool:  # fmt: skip
    """Search for a path with one seed and write it to `path`; return whether one was found.

    `exits[v]` is the number of v's free neighbours, and `keys[depth]` the smallest key that the
    next neighbour at this depth may have; 0 where none was tried.
    """
    nodes, width = WORD(near.shape[0]), WORD(near.shape[1])
    for node in range(len(degrees)):
        exits[node] = degrees[node]
    exits[end] += ONE  # so that one free neighbour is enough for the end
    exits[start] += USED
    path[0], keys[0] = start, ZERO
    depth, visited = ZERO, 0
    while True:
        head, least = path[depth], keys[depth]
        if least == ZERO:
            if depth + ONE == nodes:
                return True
            visited += 1
            if visited > MAX_VISITED:
                return False
        left = ONE if least == ZERO else ZERO  # the path's last node is no longer free
        base = ((seed * nodes + depth) * nodes + head) * width
        best, dead_ends, position = NONE, 0, ZERO
        while position < degrees[head]:
            other = near[head, position]
            exits[other] -= left
            dead_ends += exits[other] < TWO
            draw = (base + position) * GAMMA
            draw = (draw ^ (draw >> SHIFT_1)) * MIX_1
            draw = (draw ^ (draw >> SHIFT_2)) * MIX_2
            draw = (draw ^ (draw >> SHIFT_3)) >> DRAW_SHIFT << POSITION_BITS
            key = exits[other] << EXITS_SHIFT | draw | position
            if key < least or (other == end and depth + TWO != nodes):
                key = NONE
            best = min(best, key)
            position += ONE
        # a dead end can only be the next node; of two one would be left behind
        if best < USED_KEY and dead_ends <= (best < DEAD_END_KEY):
            keys[depth] = best + ONE
            depth += ONE
            path[depth], keys[depth] = near[head, best & POSITION_MASK], ZERO
            exits[path[depth]] += USED
        elif depth == ZERO:
            return False
        else:
            for at in range(degrees[head]):
                exits[near[head, at]] += ONE
            exits[head] -= USED
            depth -= ONE
