"""A second implementation of the moves of a pattern's tiles, and a search of its own.

A state is an order of the tiles (the slower index) and a place: a set of cells, and the region of
the other cells with the blank. All states of a level are moved on one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tablebase.jit import compiled

Array = npt.NDArray[Any]
UNKNOWN = 255


class Places(NamedTuple):
    """The places of so many tiles on a board, and the moves from each.

    `sets` has the number of each place's set of cells. The moves from place p are those from
    `begins[p]` to before `begins[p + 1]`: each leads to the place `targets`, and takes the tile at
    the position `taken` of the order out and puts it in at the position `put`.
    """

    sets: Array
    begins: Array
    targets: Array
    taken: Array
    put: Array


def list_masks(cells: int, tiles: int) -> list[int]:
    """List the sets of so many cells in the order of their numbers, with a bit for each cell."""
    return [mask for mask in range(1 << cells) if mask.bit_count() == tiles]


def list_places(height: int, width: int, tiles: int) -> tuple[Places, dict[tuple[int, int], int]]:
    """List the places, and return the number of each place by its mask and a cell of its region."""
    cells = height * width
    near = [
        [b for b in range(cells) if abs(a // width - b // width) + abs(a % width - b % width) == 1]
        for a in range(cells)
    ]
    numbers = dict[tuple[int, int], int]()
    sets, regions = list[int](), list[tuple[int, list[int]]]()
    for number, mask in enumerate(list_masks(cells, tiles)):
        for start in range(cells):
            if mask >> start & 1 or (mask, start) in numbers:
                continue
            region = [start]
            numbers[mask, start] = len(regions)
            for cell in region:
                for other in near[cell]:
                    if not mask >> other & 1 and (mask, other) not in numbers:
                        numbers[mask, other] = len(regions)
                        region.append(other)
            regions.append((mask, region))
            sets.append(number)
    begins, moves = [0], list[tuple[int, int, int]]()
    for mask, region in regions:
        for free in region:
            for tile in near[free]:
                if mask >> tile & 1:
                    after = mask ^ 1 << tile ^ 1 << free
                    # below the tile's cell, before and after the move
                    taken = (mask & (1 << tile) - 1).bit_count()
                    put = (after & (1 << free) - 1).bit_count()
                    moves.append((numbers[after, tile], taken, put))
        begins.append(len(moves))
    return Places(np.array(sets), np.array(begins), *np.array(moves).T), numbers


def search_placements(
    height: int, width: int, tiles: Sequence[int], on_level: Callable[[], None]
) -> tuple[Places, Array]:
    """Search all placements of some tiles; return the places, and the depths by order and place.

    In the goal, tile t is on cell t - 1, and the blank on the last cell.
    """
    places, numbers = list_places(height, width, len(tiles))
    new_orders = list_new_orders(len(tiles))
    depth = np.full((len(new_orders), len(places.sets)), UNKNOWN, dtype=np.uint8)
    goal = sum(1 << tile - 1 for tile in tiles)
    depth[0, numbers[goal, height * width - 1]] = level = 0
    count = 1
    while count:
        on_level()
        count = fill_level(depth, level, *places, new_orders)
        level += 1
    return places, depth


def list_new_orders(tiles: int) -> Array:
    """Return the number of each order after the tile at one position is put at another.

    Orders are numbered in lexical order; the result has an axis for each of the three.
    """
    orders = list_orders(list(range(tiles)))
    numbers = {tuple(order): number for number, order in enumerate(orders)}
    result = np.empty((len(orders), tiles, tiles), dtype=np.int32)
    for number, order in enumerate(orders):
        for taken in range(tiles):
            rest = [*order[:taken], *order[taken + 1 :]]
            for put in range(tiles):
                after = (*rest[:put], order[taken], *rest[put:])
                result[number, taken, put] = numbers[after]
    return result


def list_orders(tiles: list[int]) -> list[list[int]]:
    """List the orders of some tiles in lexical order."""
    if len(tiles) == 1:
        return [tiles]
    return [
        [tile, *rest] for tile in tiles for rest in list_orders([t for t in tiles if t != tile])
    ]


@compiled
def fill_level(
    depth: Array, level: int, sets: Array, begins: Array, targets: Array, taken: Array, put: Array,
    new_orders: Array,
) -> int:  # fmt: skip
    """Set the depth of all states one move from those of a level; return how many."""
    count, places = 0, len(sets)
    for order in range(len(new_orders)):
        for place in range(places):
            if depth[order, place] == level:
                for move in range(begins[place], begins[place + 1]):
                    new_order = new_orders[order, taken[move], put[move]]
                    if depth[new_order, targets[move]] == UNKNOWN:
                        depth[new_order, targets[move]] = level + 1
                        count += 1
    return count


@compiled
def find_least(depth: Array, sets: Array, first: int, end: int, least: Array) -> None:
    """Write the least depth of each set of cells to `least`, for the orders `first` to `end`."""
    least[:] = UNKNOWN
    for order in range(first, end):
        for place in range(len(sets)):
            at = sets[place]
            if depth[order, place] < least[order - first, at]:
                least[order - first, at] = depth[order, place]
