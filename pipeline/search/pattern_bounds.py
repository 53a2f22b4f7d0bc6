"""Counts of a board's states by their distance and by a lower bound: the sum of patterns' depths.

Each pattern has a flat table of its depths, indexed by the cells of its tiles as digits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tablebase.jit import compiled

Array = npt.NDArray[Any]


class States(NamedTuple):
    """The states of a board by rank: by place of the blank, then by number of the tiles' order."""

    depth: Array
    weights: Array
    """The place values of the number of an order."""
    is_odd: Array
    """For each place of the blank 1 if it allows the odd orders, else 0."""
    cell_at: Array
    """The cell of each place."""


class PatternTables(NamedTuple):
    """The flat tables of all patterns, one after the other."""

    flat: Array
    starts: Array
    """The index at which each pattern's table begins."""
    patterns: Array
    """The number of each tile's pattern."""
    digits: Array
    """The value of each tile's cell in the index of its table."""


def count_bounds(states: States, tables: PatternTables, first: int, last: int) -> Array:
    """Count the states whose orders have the numbers from `first` to below `last`.

    The result is indexed by depth and bound.
    """
    counts = np.zeros((256, 256), dtype=np.int64)
    _count(*states, *tables, first, last, counts)
    return counts


@compiled
def _count(
    depth: Array, weights: Array, is_odd: Array, cell_at: Array, flat: Array, starts: Array,
    patterns: Array, digits: Array, first: int, last: int, counts: Array,
) -> None:  # fmt: skip
    places, tiles = len(is_odd), len(is_odd) - 1
    orders = len(depth) // places
    order = np.empty((2, tiles), np.int64)
    indexes = np.empty(len(starts), np.int64)
    for number in range(first, last):
        _unrank(number, weights, order)
        for place in range(places):
            row = order[is_odd[place]]
            indexes[:] = starts
            for at in range(tiles):
                tile = row[at]
                cell = cell_at[at + (at >= place)]
                indexes[patterns[tile]] += cell * digits[tile]
            bound = 0
            for pattern in range(len(starts)):
                bound += flat[indexes[pattern]]
            counts[depth[place * orders + number], bound] += 1


@compiled
def _unrank(number: int, weights: Array, order: Array) -> None:
    """Fill the even order of a number, and the odd one, as tiles from 0 by position."""
    tiles = order.shape[1]
    free = np.arange(tiles)
    inversions = 0
    for at in range(len(weights)):
        digit = number // weights[at]
        number -= digit * weights[at]
        inversions += digit
        order[0, at] = order[1, at] = free[digit]
        for later in range(digit, tiles - at - 1):
            free[later] = free[later + 1]
    kind = inversions % 2
    order[kind, tiles - 2], order[kind, tiles - 1] = free[0], free[1]
    order[1 - kind, tiles - 2], order[1 - kind, tiles - 1] = free[1], free[0]
