"""Recipe of the distances of a pattern: the fewest moves of its tiles from each placement.

The blank moves among the cells without a tile of the pattern at no cost. So a *region* is a set of
cells for the tiles, and connected cells among the others, which the blank is on. A move of a tile
leads from region to region, and from order to order: the tile comes before or after others.

A state is a region and an order. Each region has a bit for each order, so a move that keeps the
order takes 64 states at a time. A thread changes only the regions that moves lead to.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.intrinsics import count_trailing_zeros
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.fifteen import Pattern, list_neighbours, parse_pattern, rank_set
from puzzle_tablebase.schema import UNREACHABLE, Table

SAME_ORDER = -1
"""The number of the order map of a move that keeps the order."""

CHUNKS_PER_THREAD = 16
"""Chunks for each thread in a layer: so many that no thread waits long for the last one."""
WORD_BITS = 64
CHUNK_ORDERS = 1 << 6
"""Orders in a chunk: a column of so many bytes is a line of the processor's cache."""


class PatternMoves(NamedTuple):
    """The regions of a pattern, and the moves that lead to each.

    The regions of set number s are those from `regions[s]` to before `regions[s + 1]`. The moves to
    region p are those from `moves[p]` to before `moves[p + 1]`; `sources` has the region that a
    move comes from, and `maps` the number of its row in `order_maps`, which has for each order in
    the source its order in the target.
    """

    regions: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    maps: npt.NDArray[np.int64]
    order_maps: npt.NDArray[np.uint16]
    root: int
    """The region of the goal. Its order is 0."""


def make(table: Table, tasks: Tasks) -> TableData:
    """Search all placements of the pattern, and return records."""
    depth = search_pattern(make_moves(parse_pattern(table.recipe.parameters)), tasks)

    def iter_parts() -> Parts:
        for first in range(0, depth.shape[1], CHUNK_ORDERS):
            tasks.report("records", first * len(depth), depth.size)
            yield Part(records={"distance": depth[:, first : first + CHUNK_ORDERS].T.ravel()})

    return TableData(iter_parts(), depth.size)


def make_moves(pattern: Pattern) -> PatternMoves:
    """Make the regions and moves of a pattern."""
    neighbours = list_neighbours(pattern.height, pattern.width)
    sets = combinations(range(pattern.cells), len(pattern.tiles))
    regions, firsts, count = dict[tuple[tuple[int, ...], int], int](), [0], 0
    for occupied in sorted(sets, key=rank_set):
        for start in {*range(pattern.cells)}.difference(occupied):
            pending = [start] if (occupied, start) not in regions else []
            count += len(pending)
            while pending:
                blank = pending.pop()
                regions[occupied, blank] = count - 1
                near = [cell for cell in neighbours[blank] if cell not in occupied]
                pending += [cell for cell in near if (occupied, cell) not in regions]
        firsts.append(count)
    shifts, moves = dict[tuple[int, int], int](), list[tuple[int, int, int]]()
    for (occupied, blank), region in regions.items():
        for tile in {*neighbours[blank]}.intersection(occupied):
            before = tuple(sorted({*occupied, blank} - {tile}))
            shift = before.index(blank), occupied.index(tile)
            is_same = shift[0] == shift[1]
            order_map = SAME_ORDER if is_same else shifts.setdefault(shift, len(shifts))
            moves.append((region, regions[before, tile], order_map))
    targets, sources, maps = np.array(sorted(moves)).T.copy()
    root = regions[tuple(tile - 1 for tile in pattern.tiles), pattern.cells - 1]
    ends = np.searchsorted(targets, np.arange(count + 1))
    order_maps = make_order_maps(len(pattern.tiles), [*shifts])
    return PatternMoves(np.array(firsts), ends, sources, maps, order_maps, root)


def make_order_maps(tiles: int, shifts: list[tuple[int, int]]) -> npt.NDArray[np.uint16]:
    """Return for each shift the rank of every order after it.

    A shift takes the tile at the first position out of the order and puts it back at the second.
    """
    orders = np.array([*permutations(range(tiles))], dtype=np.uint8)
    powers = (1 << 4 * np.arange(tiles, dtype=np.int64))[::-1]
    keys = orders @ powers  # ascending, as the orders are
    maps = np.empty((len(shifts), len(orders)), dtype=np.uint16)
    for at, (first, second) in enumerate(shifts):
        positions = list(range(tiles))
        positions.insert(second, positions.pop(first))
        maps[at] = np.searchsorted(keys, orders[:, positions] @ powers)
    return maps


def search_pattern(moves: PatternMoves, tasks: Tasks) -> Array:
    """Return the least depth of each set and order, over all regions of the set."""
    regions, sets, orders = moves.regions, len(moves.regions) - 1, moves.order_maps.shape[1]
    words = -(-orders // WORD_BITS)
    depth = np.full((sets, orders), UNREACHABLE, dtype=np.uint8)
    visited, frontier, reached = np.zeros((3, int(regions[-1]), words), dtype=np.uint64)
    frontier[moves.root, 0] = visited[moves.root, 0] = 1
    depth[np.searchsorted(regions, moves.root, side="right") - 1, 0] = 0
    is_in_frontier = np.zeros(len(frontier), dtype=np.uint8)
    is_in_frontier[moves.root] = 1
    level, chunk = 0, -(-sets // (tasks.jobs * CHUNKS_PER_THREAD))
    while is_in_frontier.any():
        tasks.report("layers", level)
        level += 1
        if level == UNREACHABLE:
            raise SearchError(f"A placement needs {level - 1} or more moves.")
        has_reached = np.zeros_like(is_in_frontier)
        layer = visited, frontier, is_in_frontier, reached, has_reached, depth, level
        chunks = (
            (first, min(sets, first + chunk), *moves[:5], *layer) for first in range(0, sets, chunk)
        )
        for _ in tasks.run_in_threads(_reach_sets, chunks):
            pass
        frontier, reached, is_in_frontier = reached, frontier, has_reached
    return depth


@compiled
def _reach_sets(
    first_set: int, end_set: int, regions: Array, moves: Array, sources: Array, maps: Array,
    order_maps: Array, visited: Array, frontier: Array, is_in_frontier: Array, reached: Array,
    has_reached: Array, depth: Array, level: int,
) -> None:  # fmt: skip
    """Reach the regions of some sets from the frontier's."""
    words, one, six, low = visited.shape[1], np.uint64(1), np.uint64(6), np.uint64(63)
    for number in range(first_set, end_set):
        for region in range(regions[number], regions[number + 1]):
            found = reached[region]
            found[:] = 0
            has_any = False
            for move in range(moves[region], moves[region + 1]):
                source = sources[move]
                if not is_in_frontier[source]:
                    continue
                has_any = True
                if maps[move] < 0:
                    for word in range(words):
                        found[word] |= frontier[source, word]
                    continue
                order_map = order_maps[maps[move]]
                for word in range(words):
                    bits = frontier[source, word]
                    while bits:
                        order = np.uint64(order_map[word * WORD_BITS + count_trailing_zeros(bits)])
                        found[order >> six] |= one << (order & low)
                        bits &= bits - one
            if not has_any:
                continue
            any_new = np.uint64(0)
            for word in range(words):
                new = found[word] & ~visited[region, word]
                found[word] = new
                visited[region, word] |= new
                any_new |= new
                while new:
                    at = word * WORD_BITS + count_trailing_zeros(new)
                    if depth[number, at] > level:
                        depth[number, at] = level
                    new &= new - one
            has_reached[region] = any_new != 0
