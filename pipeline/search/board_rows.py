"""Kernel that lists the states of a sliding board's table, each with its best moves.

The states have the blank on one place, and consecutive numbers of the order of their tiles.
"""

from __future__ import annotations

import numpy as np

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.queries.kernels.bit_walks import move_tile, set_digits


@compiled
def fill_orders(
    depth: Array, weights: Array, ways: Array, blank: int, is_odd: int, first: int,
    tiles: Array, best: Array,
) -> None:  # fmt: skip
    """Fill the tiles, by position in the order, of the orders from number `first` on.

    `depth` has the distance of each state by rank; `weights` the place values of an order's number;
    `ways` the places that the blank can move to, or -1. `is_odd`: whether the orders are odd.
    `best` gets a bit for each way that leads nearer to the goal.
    """
    count = len(weights)
    orders = weights[0] * count
    digits, moved = np.zeros(count, np.int64), np.zeros(count, np.int64)
    set_digits(first, is_odd, weights, digits)
    for at in range(len(tiles)):
        row, number = tiles[at], first + at
        for position in range(count - 1, -1, -1):  # a digit is the tile among those that follow
            row[position] = digits[position]
            for later in range(position + 1, count):
                row[later] += row[later] >= row[position]
        distance = depth[blank * orders + number]
        for way in range(len(ways)):
            to = ways[way]
            if to >= 0:
                neighbour = to * orders + number + move_tile(digits, moved, blank, to, weights)
                best[at] |= (depth[neighbour] < distance) << way
        # the next order has the next digits; the last but one keeps the parity of their sum
        changed = count - 3
        while changed >= 0 and digits[changed] == count - 1 - changed:
            digits[count - 2] ^= digits[changed] & 1
            digits[changed] = 0
            changed -= 1
        if changed >= 0:
            digits[changed] += 1
            digits[count - 2] ^= 1
