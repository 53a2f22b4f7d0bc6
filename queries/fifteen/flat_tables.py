"""The tables of a partition in memory, for the compiled search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from queries.kernels.pattern_search import CELLS, NO_CELL, SLOTS, SearchTables
from tablebase.puzzles.fifteen.pattern import Pattern, list_neighbours, mirror_cell
from tablebase.puzzles.fifteen.pattern_moves import make_order_maps
from tablebase.resources import allocate_pages


def make_tables(patterns: Sequence[Pattern], chunks: Iterable[Iterable[bytes]]) -> SearchTables:
    """Make the tables of the search; `chunks` has the distances of each pattern, in chunks."""
    height, width = patterns[0].height, patterns[0].width
    cells = height * width
    # large pages help, because most lookups are far apart
    distances = np.frombuffer(allocate_pages(sum(each.size for each in patterns)), np.uint8)
    at = 0
    for chunk in (chunk for of_pattern in chunks for chunk in of_pattern):
        distances[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
        at += len(chunk)
    masks = np.arange(1 << cells)
    counts = np.bitwise_count(masks)
    set_ranks = np.empty(len(masks), dtype=np.uint16)
    for count in range(cells + 1):
        of_count = counts == count
        set_ranks[of_count] = np.arange(of_count.sum())
    images = [[*range(cells)]]
    if height == width:
        images.append([mirror_cell(cell, width) for cell in range(cells)])
    cell_images = np.zeros((2, int(CELLS)), dtype=np.uint8)
    slots = np.zeros((2, int(CELLS)), dtype=np.uint8)
    for image, image_cells in enumerate(images):
        cell_images[image, :cells] = image_cells
        for number, pattern in enumerate(patterns):
            tiles = [image_cells[tile - 1] + 1 for tile in pattern.tiles]
            slots[image, tiles] = image * SLOTS + number
    steps = [(near + [NO_CELL] * 4)[:4] for near in list_neighbours(height, width)]
    maps = [_make_maps(len(pattern.tiles), width) for pattern in patterns]
    return SearchTables(
        distances,
        set_ranks,
        np.concatenate(maps),
        np.array(steps, dtype=np.uint8).ravel(),
        cell_images.ravel(),
        slots.ravel(),
        _fill_slots(add_up(pattern.size for pattern in patterns)),
        _fill_slots(pattern.sets for pattern in patterns),
        _fill_slots(len(pattern.tiles) for pattern in patterns),
        _fill_slots(add_up(map(len, maps))),
        np.uint64(width),
        np.uint64(len(images)),
    )


def _fill_slots(values: Iterable[int]) -> npt.NDArray[np.uint32]:
    """Return a value for each slot of two images, which have the same."""
    slots = np.zeros((2, SLOTS), dtype=np.uint32)
    for number, value in enumerate(values):
        slots[:, number] = value
    return slots.ravel()


def add_up(sizes: Iterable[int]) -> list[int]:
    """Return the sum of the sizes before each.

    >>> add_up([3, 4, 5])
    [0, 3, 7]
    """
    return [0, *accumulate(sizes)][:-1]


def _make_maps(tiles: int, width: int) -> npt.NDArray[np.uint16]:
    """Return for each order, and each place from and to which a tile moves, the order after it.

    A tile that moves from row to row passes at most `width - 1` others.
    """
    shifts = [(i, j) for i in range(tiles) for j in range(tiles)]
    near = [(i, j) for i, j in shifts if abs(i - j) < width]
    near_maps = make_order_maps(tiles, near)
    maps = np.zeros((len(near_maps[0]), len(shifts)), dtype=np.uint16)
    maps[:, [shifts.index(shift) for shift in near]] = near_maps.T
    return maps.ravel()
