"""Counts of the states of a layer by the bounds of partitions: sums of their patterns' depths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.verify.sliding.neighbours import unrank_tiles
from tablebase.jit import compiled

Array = npt.NDArray[Any]
BOUNDS = 256
"""More than any bound."""


class BoundTables(NamedTuple):
    """The depths of the patterns of all partitions.

    `tiles` has the tiles of the patterns, counted from 0, those of a pattern to before its number
    in `ends`. The depths of a pattern begin at `starts`; their places are the cells of its tiles,
    read as digits. `partitions` has the number of each pattern's partition, in ascending order.
    """

    flat: Array
    starts: Array
    tiles: Array
    ends: Array
    partitions: Array


@compiled
def count_layer(
    bits: Array, begin: int, place: int, kind: int, weights: Array, cell_at: Array,
    tables: tuple[Any, ...],
) -> Array:  # fmt: skip
    """Count the states of a part of a layer, by partition and bound.

    The states have the blank on a place; their orders are numbered from `begin`, and `kind` says
    which of the two orders of a number the place allows. `tables` has the fields of `BoundTables`.
    """
    flat, starts, tiles, ends, partitions = tables
    counts = np.zeros((partitions[-1] + 1, BOUNDS), np.int64)
    bounds = np.empty(len(counts), np.int64)
    cells = len(cell_at)
    order, cell_of = np.empty((2, cells - 1), np.int64), np.empty(cells - 1, np.int64)
    for number in range(8 * len(bits)):
        if bits[number >> 3] >> (number & 7) & 1 == 0:
            continue
        unrank_tiles(begin + number, weights, order)
        for at in range(cells - 1):
            cell_of[order[kind, at]] = cell_at[at + (at >= place)]
        bounds[:] = 0
        at = 0
        for pattern in range(len(ends)):
            index = 0
            while at < ends[pattern]:
                index = index * cells + cell_of[tiles[at]]
                at += 1
            bounds[partitions[pattern]] += flat[starts[pattern] + index]
        for partition in range(len(counts)):
            counts[partition, bounds[partition]] += 1
    return counts
