"""The proof of a pattern's distances: a second search, by moves that are written a second time.

A state is an order of the tiles (the slower index) and a region: a set of cells, and connected
cells among the others, with the blank. All states of a level are moved on one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.sliding import parse_sides
from puzzle_tablebase.pipeline.proofs.claims import ListedTable, Proof, Prover, compare_records
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import Table

UNKNOWN = 255

HOW = "every entry is the least over the blank's cells in a second search of all placements"
CHUNK_ORDERS = 1 << 6
"""Orders whose entries are compared at a time."""


class Regions(NamedTuple):
    """The regions of so many tiles on a board, and the moves from each.

    `sets` has the number of each region's set of cells, in ascending order. The moves from region p
    are those from `begins[p]` to before `begins[p + 1]`: each leads to the region `targets`, takes
    the tile at the position `taken` of the order out, and puts it in at the position `put`.
    """

    sets: Array
    begins: Array
    targets: Array
    taken: Array
    put: Array


def list_regions(height: int, width: int, tiles: int) -> tuple[Regions, dict[tuple[int, int], int]]:
    """List the regions; return the number of each, too, by its mask and a cell of the blank."""
    cells = height * width
    near = [
        [b for b in range(cells) if abs(a // width - b // width) + abs(a % width - b % width) == 1]
        for a in range(cells)
    ]
    numbers = dict[tuple[int, int], int]()
    sets, regions = list[int](), list[tuple[int, list[int]]]()
    # a bit for each cell
    masks = [mask for mask in range(1 << cells) if mask.bit_count() == tiles]
    for number, mask in enumerate(masks):
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
    return Regions(np.array(sets), np.array(begins), *np.array(moves).T), numbers


def search_placements(height: int, width: int, tiles: Sequence[int]) -> tuple[Regions, Array]:
    """Search all placements of some tiles; return the regions, and the depths by order and region.

    In the goal, tile t is on cell t - 1, and the blank on the last cell.
    """
    regions, numbers = list_regions(height, width, len(tiles))
    new_orders = list_new_orders(len(tiles))
    depth = np.full((len(new_orders), len(regions.sets)), UNKNOWN, dtype=np.uint8)
    goal = sum(1 << tile - 1 for tile in tiles)
    depth[0, numbers[goal, height * width - 1]] = level = 0
    count = 1
    while count:
        count = fill_level(depth, level, *regions, new_orders)
        level += 1
    return regions, depth


def list_new_orders(tiles: int) -> Array:
    """Return the number of each order after the tile at one position is put at another.

    Orders are numbered in lexical order; the result has an axis for each of the three.
    """
    orders = [*permutations(range(tiles))]
    numbers = {order: number for number, order in enumerate(orders)}
    result = np.empty((len(orders), tiles, tiles), dtype=np.int32)
    for number, order in enumerate(orders):
        for taken in range(tiles):
            rest = order[:taken] + order[taken + 1 :]
            for put in range(tiles):
                after = (*rest[:put], order[taken], *rest[put:])
                result[number, taken, put] = numbers[after]
    return result


@compiled
def fill_level(
    depth: Array, level: int, sets: Array, begins: Array, targets: Array, taken: Array, put: Array,
    new_orders: Array,
) -> int:  # fmt: skip
    """Set the depth of all states one move from those of a level; return how many."""
    count, regions = 0, len(sets)
    for order in range(len(new_orders)):
        for region in range(regions):
            if depth[order, region] == level:
                for move in range(begins[region], begins[region + 1]):
                    new_order = new_orders[order, taken[move], put[move]]
                    if depth[new_order, targets[move]] == UNKNOWN:
                        depth[new_order, targets[move]] = level + 1
                        count += 1
    return count


def prove_pattern(listed: ListedTable) -> Proof:
    """Prove the distances of a pattern."""
    parameters = listed.definition.recipe.parameters
    regions, depth = search_placements(*parse_sides(parameters["board"]), parameters["tiles"])

    text = "every entry is the fewest moves of the tiles over all cells of the blank"
    yield listed.claim_records(text, compare_records(listed, iter_least(regions, depth)))
    return Proved(Verdict.PROVED, HOW, fields=("distance",))


def iter_least(regions: Regions, depth: Array) -> Iterator[dict[str, Array]]:
    """Iterate over the least depths of the placements by rank, some orders at a time."""
    begins = np.flatnonzero(np.diff(regions.sets, prepend=-1))
    for first in range(0, len(depth), CHUNK_ORDERS):
        least = np.minimum.reduceat(depth[first : first + CHUNK_ORDERS], begins, axis=1)
        # a placement that was not reached has no entry
        yield {"distance": np.where(least == UNKNOWN, -1, least.astype(np.int64)).ravel()}


def estimate_memory(table: Table) -> int:
    """Estimate the bytes for the depths of all placements, by region and by set."""
    return PROCESS_BYTES + 2 * table.states


PATTERN = Prover(prove_pattern, estimate_memory)
