"""Kernels that compare the states of a sliding board with their neighbours.

Each state is unranked, moved and ranked again by itself; nothing is shared with the search's move
tables. An order of the tiles, and the same order with its last two tiles exchanged, have the same
number: a place of the blank allows either the even or the odd one of the two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.jit import compiled
from tablebase.puzzles.sliding import SlidingBoard

Array = npt.NDArray[Any]
NO_NEIGHBOUR = 255


def list_parities(board: SlidingBoard, goal: str) -> Array:
    """Return for each place of the blank 1 if it allows the odd orders of the tiles, else 0."""
    lines = np.arange(board.cells) // board.line - board.place[goal.index("0")] // board.line
    parities: Array = (lines * (board.line - 1) + board.is_odd(goal)) % 2
    return parities


@compiled
def find_first_wrong(
    depth: Array, odd: Array, line: int, weights: Array, first: int, last: int
) -> tuple[int, int]:
    """Return the first state whose nearest neighbour is not exactly one move nearer.

    The orders with numbers from `first` up to `last` are checked. `depth` has the states'
    distances, `odd` says for each place of the blank which orders it allows, `weights` has the
    place values of an order's number, and `line` is the number of places in a line.
    The result is the state's rank and its nearest neighbour's distance; the rank is -1 if no such
    state exists.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for number in range(first, last):
        unrank_tiles(number, weights, order)
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
    """Fill the rows of three arrays with the states from rank `first` on.

    `tiles` gets the tile on each place, 0 for the blank; `nearer` a bit for each of the four
    neighbours that is one move nearer; `manhattan` the sum of the `steps` from each tile's place to
    its place in the goal, which `homes` has by tile.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for row in range(len(tiles)):
        place, number = (first + row) // orders, (first + row) % orders
        unrank_tiles(number, weights, order)
        tile_order = order[odd[place]]
        _read_neighbours(depth, tile_order, line, weights, place, number, moved, near)
        nearer[row] = manhattan[row] = 0
        for way in range(4):
            if near[way] < depth[first + row]:
                nearer[row] |= 1 << way
        for at in range(len(odd)):
            tiles[row, at] = 0
            if at != place:
                tile = tile_order[at - (at > place)]
                tiles[row, at] = tile + 1
                manhattan[row] += steps[at, homes[tile]]


@compiled
def _read_neighbours(
    depth: Array, order: Array, line: int, weights: Array, place: int, number: int,
    moved: Array, near: Array,
) -> None:  # fmt: skip
    """Fill `near` with the distances of the neighbours: a place back or on, a line back or on."""
    places = len(order) + 1
    orders = len(depth) // places
    near[:] = NO_NEIGHBOUR
    if place % line:
        near[0] = depth[(place - 1) * orders + number]
    if (place + 1) % line:
        near[1] = depth[(place + 1) * orders + number]
    if place >= line:
        # the tile a line back moves behind the tiles between
        moved[:] = order
        for at in range(place - line, place - 1):
            moved[at] = order[at + 1]
        moved[place - 1] = order[place - line]
        near[2] = depth[(place - line) * orders + rank_tiles(moved, weights)]
    if place + line < places:
        moved[:] = order
        for at in range(place, place + line - 1):
            moved[at + 1] = order[at]
        moved[place] = order[place + line - 1]
        near[3] = depth[(place + line) * orders + rank_tiles(moved, weights)]


@compiled
def unrank_tiles(number: int, weights: Array, order: Array) -> None:
    """Fill `order` with the two orders of a number: the even one and the odd one."""
    tiles = order.shape[1]
    remaining = 0
    for tile in range(tiles):
        remaining |= tile << (4 * tile)
    odd = 0
    for at in range(tiles - 2):
        chosen = number // weights[at]
        number -= chosen * weights[at]
        odd ^= chosen & 1
        order[0, at] = remaining >> (4 * chosen) & 15
        order[1, at] = order[0, at]
        below = remaining & ((1 << (4 * chosen)) - 1)
        remaining = below | (remaining >> (4 * chosen + 4)) << (4 * chosen)
    low, high = remaining & 15, remaining >> 4 & 15
    order[odd, tiles - 2], order[odd, tiles - 1] = low, high
    order[1 - odd, tiles - 2], order[1 - odd, tiles - 1] = high, low


@compiled
def rank_tiles(order: Array, weights: Array) -> int:
    """Return the number of an order."""
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
