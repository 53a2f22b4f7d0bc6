"""The neighbours of a board's states, each unranked, moved and ranked again, one by one.

Nothing is shared with the search's tables. An order of the tiles and the one with its last two
exchanged have one number: of the two, a place of the blank allows the even one or the odd one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.jit import compiled

Array = npt.NDArray[Any]
NO_NEIGHBOUR = 255


@compiled
def find_first_wrong(
    depth: Array, odd: Array, line: int, weights: Array, first: int, last: int
) -> tuple[int, int]:
    """The first state with an order from first to last whose nearest neighbour is not one nearer.

    `depth` has the states' distances, `odd` for each place of the blank which orders it allows,
    `weights` what a tile counts for in an order's number. Gives the state's rank and its nearest
    neighbour's distance; -1 where there is none.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for number in range(first, last):
        _unrank(number, weights, order)
        for place in range(len(odd)):
            here = depth[place * orders + number]
            _read_neighbours(depth, order[odd[place]], line, weights, place, number, moved, near)
            nearest = min(near[0], near[1], near[2], near[3])
            if here and nearest != here - 1:
                return place * orders + number, nearest
    return -1, NO_NEIGHBOUR


@compiled
def describe_states(
    depth: Array, odd: Array, line: int, weights: Array, first: int, homes: Array, steps: Array,
    tiles: Array, nearer: Array, manhattan: Array,
) -> None:  # fmt: skip
    """The states from a rank on, as the rows of these arrays.

    `tiles`: what stands on each place, 0 for the blank; `nearer`: which of the four neighbours are
    one nearer, as bits; `manhattan`, by each tile's place at home and the `steps` between places.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for row in range(len(tiles)):
        place, number = (first + row) // orders, (first + row) % orders
        _unrank(number, weights, order)
        own = order[odd[place]]
        _read_neighbours(depth, own, line, weights, place, number, moved, near)
        nearer[row] = manhattan[row] = 0
        for way in range(4):
            if near[way] < depth[first + row]:
                nearer[row] |= 1 << way
        for at in range(len(odd)):
            tiles[row, at] = 0
            if at != place:
                tile = own[at - (at > place)]
                tiles[row, at] = tile + 1
                manhattan[row] += steps[at, homes[tile]]


@compiled
def _read_neighbours(
    depth: Array, order: Array, line: int, weights: Array, place: int, number: int,
    moved: Array, near: Array,
) -> None:  # fmt: skip
    """The distances of the neighbours: a place back, a place on, a line back, a line on."""
    places = len(order) + 1
    orders = len(depth) // places
    near[:] = NO_NEIGHBOUR
    if place % line:
        near[0] = depth[(place - 1) * orders + number]
    if (place + 1) % line:
        near[1] = depth[(place + 1) * orders + number]
    if place >= line:
        # the tile a line back comes to stand behind those between
        moved[:] = order
        for at in range(place - line, place - 1):
            moved[at] = order[at + 1]
        moved[place - 1] = order[place - line]
        near[2] = depth[(place - line) * orders + _rank(moved, weights)]
    if place + line < places:
        moved[:] = order
        for at in range(place, place + line - 1):
            moved[at + 1] = order[at]
        moved[place] = order[place + line - 1]
        near[3] = depth[(place + line) * orders + _rank(moved, weights)]


@compiled
def _unrank(number: int, weights: Array, order: Array) -> None:
    """The two orders of a number: the even one, and the odd one."""
    tiles = order.shape[1]
    left = 0
    for tile in range(tiles):
        left |= tile << (4 * tile)
    odd = 0
    for at in range(tiles - 2):
        chosen = number // weights[at]
        number -= chosen * weights[at]
        odd ^= chosen & 1
        order[0, at] = left >> (4 * chosen) & 15
        order[1, at] = order[0, at]
        below = left & ((1 << (4 * chosen)) - 1)
        left = below | (left >> (4 * chosen + 4)) << (4 * chosen)
    low, high = left & 15, left >> 4 & 15
    order[odd, tiles - 2], order[odd, tiles - 1] = low, high
    order[1 - odd, tiles - 2], order[1 - odd, tiles - 1] = high, low


@compiled
def _rank(order: Array, weights: Array) -> int:
    """The number of an order."""
    number = 0
    seen = 0
    for at in range(len(order) - 2):
        tile = order[at]
        before = seen & ((1 << tile) - 1)
        count = 0
        while before:
            before &= before - 1
            count += 1
        number += (tile - count) * weights[at]
        seen |= 1 << tile
    return number
