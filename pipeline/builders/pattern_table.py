"""Builder of the distances of a pattern: the fewest moves of its tiles from each placement.

The blank moves among the cells without a tile of the pattern at no cost. So a *place* is a set of
cells for the tiles, and a region of the other cells that the blank is in. A move of a tile leads
from place to place, and from order to order: the tile comes before or after others.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.pipeline.search.pattern_search import estimate_memory, search_pattern
from puzzle_tablebase.pipeline.tasks import Chunks, TableData, Tasks
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.fifteen import (
    Pattern,
    PatternDistances,
    list_neighbours,
    rank_set,
)
from puzzle_tablebase.schema import Table

SAME_ORDER = -1
"""The number of the order map of a move that keeps the order."""

Depths = npt.NDArray[np.uint8]
CHUNK_ORDERS = 1 << 6
"""Orders in a chunk: a column of so many bytes is a line of the processor's cache."""


class PatternMoves(NamedTuple):
    """The places of a pattern, and the moves that lead to each.

    The places of set number s are those from `places[s]` to before `places[s + 1]`. The moves to
    place p are those from `moves[p]` to before `moves[p + 1]`; `sources` has the place that a move
    comes from, and `maps` the number of its row in `order_maps`, which has for each order in the
    source its order in the target.
    """

    places: npt.NDArray[np.int64]
    moves: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    maps: npt.NDArray[np.int64]
    order_maps: npt.NDArray[np.uint16]
    root: int
    """The place of the goal. Its order is 0."""


def make_moves(pattern: Pattern) -> PatternMoves:
    """Make the places and moves of a pattern."""
    neighbours = list_neighbours(pattern.height, pattern.width)
    count, cells = len(pattern.tiles), range(pattern.cells)
    sets = sorted(combinations(cells, count), key=rank_set)
    regions = [_find_regions(set(occupied), neighbours) for occupied in sets]
    places = np.cumsum([0, *map(max, ([0, *each.values()] for each in regions))])
    numbers = {occupied: at for at, occupied in enumerate(sets)}
    kinds = dict[tuple[int, int], int]()
    moves, sources, maps = [0], list[int](), list[int]()
    for occupied, region in zip(sets, regions, strict=True):
        for number in range(1, max(region.values()) + 1):
            for blank, tile in (
                (cell, other)
                for cell in cells
                if region.get(cell) == number
                for other in neighbours[cell]
                if other in occupied
            ):
                before = tuple(sorted({*occupied, blank} - {tile}))
                at = numbers[before]
                sources.append(int(places[at]) + regions[at][tile] - 1)
                shift = before.index(blank), occupied.index(tile)
                same = shift[0] == shift[1]
                maps.append(SAME_ORDER if same else kinds.setdefault(shift, len(kinds)))
            moves.append(len(sources))
    goal = tuple(tile - 1 for tile in pattern.tiles)
    root = int(places[numbers[goal]]) + regions[numbers[goal]][pattern.cells - 1] - 1
    order_maps = make_order_maps(count, [*kinds])
    return PatternMoves(
        places, np.array(moves), np.array(sources), np.array(maps), order_maps, root
    )


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


def _find_regions(occupied: set[int], neighbours: list[list[int]]) -> dict[int, int]:
    """Find the regions of the free cells, numbered from 1; return each free cell's region."""
    region = dict[int, int]()
    for start in range(len(neighbours)):
        if start in occupied or start in region:
            continue
        number = max(region.values(), default=0) + 1
        pending = [start]
        while pending:
            cell = pending.pop()
            region[cell] = number
            pending += [c for c in neighbours[cell] if c not in occupied and c not in region]
    return region


def make(recipe: PatternDistances, puzzle: Puzzle, table: Table, tasks: Tasks) -> TableData:
    """Search all placements of the pattern, and return records."""
    pattern, runner = recipe.pattern, tasks
    moves = make_moves(pattern)
    tasks.require_memory(estimate_memory(moves.places, moves.order_maps))
    depth = search_pattern(
        moves.places,
        (moves.moves, moves.sources, moves.maps, moves.order_maps),
        moves.root,
        runner.jobs,
        partial(runner.report, "layers"),
        runner.run_in_threads,
    )
    rows, records = (_iter_records(depth, runner) for _ in range(2))
    return TableData(rows, records, depth.size)


def _iter_records(depth: Depths, runner: Tasks) -> Chunks:
    """Iterate over the distances by rank: those of an order together."""
    for first in range(0, depth.shape[1], CHUNK_ORDERS):
        runner.report("records", first * len(depth), depth.size)
        yield {"distance": depth[:, first : first + CHUNK_ORDERS].T.ravel()}
