"""The tables of a partition in memory, for the compiled search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt

from queries.fifteen.solution import search_on
from queries.kernels.pattern_search import (
    CELLS,
    HALF_ORDER_MASK,
    KEY_MASK,
    NO_CELL,
    PLACE_BITS,
    PLACES,
    SLOTS,
    TILE_BITS,
    SearchTables,
)
from tablebase.puzzles.fifteen import Pattern, list_neighbours, mirror_cell, rank_order
from tablebase.resources import allocate_pages


def make_tables(
    patterns: Sequence[Pattern],
    chunks: Iterable[Iterable[bytes]],
    pause: Callable[[], None] = search_on,
) -> SearchTables:
    """Make the tables of the search; `chunks` has the distances of each pattern, in chunks.

    `pause` is called after each chunk, and may raise SearchPaused.
    """
    height, width = patterns[0].height, patterns[0].width
    cells = height * width
    # large pages help, because most lookups are far apart
    distances = np.frombuffer(allocate_pages(sum(each.size for each in patterns)), np.uint8)
    at = 0
    for chunk in (chunk for of_pattern in chunks for chunk in of_pattern):
        distances[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
        at += len(chunk)
        pause()
    masks = np.arange(1 << cells)
    counts = np.bitwise_count(masks)
    set_entries = np.empty(len(masks), dtype=np.uint16)
    for count in range(cells + 1):
        of_count = counts == count
        set_entries[of_count] = np.arange(of_count.sum())
    # a board that is not square is its own mirror image
    mirrored = [mirror_cell(cell, width) if height == width else cell for cell in range(cells)]
    cell_images = np.zeros((2, int(CELLS)), dtype=np.uint8)
    slots = np.zeros((2, int(CELLS)), dtype=np.uint8)
    for image, image_cells in enumerate((range(cells), mirrored)):
        cell_images[image, :cells] = image_cells
        for number, pattern in enumerate(patterns):
            tiles = [image_cells[tile - 1] + 1 for tile in pattern.tiles]
            slots[image, tiles] = image * SLOTS + number
    steps = np.full((int(CELLS), int(CELLS), 4), NO_CELL, dtype=np.uint8)
    for cell, near in enumerate(list_neighbours(height, width)):
        for previous in range(cells):
            others = [other for other in near if other != previous]
            steps[cell, previous, : len(others)] = others
    entries = np.zeros((2, SLOTS, int(HALF_ORDER_MASK) + 1), dtype=np.uint32)
    offset = 0
    for number, pattern in enumerate(patterns):
        entries[:, number] = _rank_halves(len(pattern.tiles)) * np.uint32(pattern.sets)
        entries[0, number] += offset
        offset += pattern.size
    return SearchTables(
        distances,
        set_entries,
        entries[0].ravel(),
        entries[1].ravel(),
        steps.ravel(),
        cell_images.ravel(),
        slots.ravel(),
    )


def join_places(order: Sequence[int]) -> int:
    """Return a number with the tile on each place of an order, the first one in the lowest bits.

    >>> join_places([1, 0, 2])
    129
    """
    return sum(tile << int(PLACE_BITS) * place for place, tile in enumerate(order))


def join_tiles(board: Sequence[int]) -> int:
    """Return the key of a position: the tile on each cell, the first one in the lowest bits.

    >>> hex(join_tiles([1, 0, 2]))
    '0x201'
    """
    tiles = sum(tile << int(TILE_BITS) * cell for cell, tile in enumerate(board))
    return tiles & int(KEY_MASK)


def _rank_halves(tiles: int) -> npt.NDArray[np.uint16]:
    """Return what the first places of an order, and what the others, add to its rank."""
    first = min(tiles, PLACES)
    ranks = np.zeros((2, int(HALF_ORDER_MASK) + 1), dtype=np.uint16)
    for order in permutations(range(tiles), first):
        others = sorted({*range(tiles)}.difference(order))
        ranks[0, join_places(order)] = rank_order([*order, *others])
    for order in permutations(range(tiles), tiles - first):
        ranks[1, join_places(order)] = rank_order(order)
    return ranks
