"""The search for a shortest solution (IDA*), with the distances of patterns as a lower bound.

The bound is the larger of two: the sum of the patterns' distances on the board, and the same on its
mirror image. Both are kept for each position and changed by one lookup a move. All entries that the
moves from a position need are looked up before one is used, so that the processor fetches them from
memory together. The arrays have one dimension and unsigned elements: their indexes cannot be
negative, which the compiler would have to check.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tablebase.frontier.bits import count_ones
from tablebase.jit import compiled

Array = npt.NDArray[Any]
MAX_MOVES = 256
"""The most moves of a solution: more than any board of 16 cells needs."""
ZERO, ONE, TWO, FOUR = (np.uint64(number) for number in (0, 1, 2, 4))
"""Numbers without a sign: with others, the compiler would make signed or broken ones."""
CELLS = np.uint64(16)
"""Cells of an image in `SearchTables`, and tiles with the blank."""
SLOTS = 8
"""Slots of an image: one for each pattern."""
NO_CELL = 255
SEARCHING, FOUND = 0, 1


class SearchTables(NamedTuple):
    """The tables of a partition, and the board's geometry, for the compiled search.

    An image is the board or its mirror image; each has a slot for each pattern. `steps` has four
    values for each cell: its neighbours, or `NO_CELL`. `cells` and `slots` have for each image what
    a cell of the board becomes, and the slot of a tile. The distances of a slot begin at `offsets`,
    with `sets` of them for each order; a set of cells has a number in `set_ranks`. After a tile of
    a slot moves from the i-th place of an order to the j-th, of `counts`, the order is that at
    `map_offsets` + (order * counts + i) * counts + j in `order_maps`.
    """

    distances: Array
    set_ranks: Array
    order_maps: Array
    steps: Array
    cells: Array
    slots: Array
    offsets: Array
    sets: Array
    counts: Array
    map_offsets: Array
    width: np.uint64
    images: np.uint64


class Search(NamedTuple):
    """The state of a search, which can be interrupted and continued.

    `counters` has the depth, the limit of the iteration, and the number of positions. `board` has
    the tile on each cell; `masks`, `orders` and `values` the cells, the order and the distance of
    each slot. For each depth: the blank's cell, the bounds of both images, and up to four children,
    each with the cell that the blank goes to, the sum of its bounds and, for each image, its slot's
    mask, order, entry in the tables and distance. `visits` has the children to visit in order, from
    `next_visits` to before `end_visits`; then the masks, orders and distances before the move.
    """

    counters: Array
    board: Array
    masks: Array
    orders: Array
    values: Array
    blanks: Array
    bounds: Array
    child_cells: Array
    child_masks: Array
    child_orders: Array
    child_entries: Array
    child_values: Array
    totals: Array
    visits: Array
    next_visits: Array
    end_visits: Array
    old_masks: Array
    old_orders: Array
    old_values: Array


def make_search() -> Search:
    """Allocate the arrays of a search."""
    by_depth = (MAX_MOVES * n for n in (1, 2, 4, 8, 8, 8, 8, 4, 4, 1, 1, 2, 2, 2))
    sizes = (int(CELLS), *[2 * SLOTS] * 3, *by_depth)
    arrays = (np.zeros(size, dtype=np.uint32) for size in sizes)
    return Search(np.zeros(3, dtype=np.uint64), *arrays)


@compiled
def continue_search(tables: tuple[Any, ...], search: tuple[Any, ...], budget: np.uint64) -> int:
    """Search until a solution is found or `budget` more positions are searched.

    `tables` and `search` are the fields of `SearchTables` and `Search`. At a solution the depth is
    its length, and `blanks` has the blank's cell after each move.
    """
    (distances, set_ranks, order_maps, steps, cells, slots, offsets, sets, counts,
     map_offsets, width, images) = tables  # fmt: skip
    (counters, board, masks, orders, values, blanks, bounds, child_cells, child_masks,
     child_orders, child_entries, child_values, totals, visits, next_visits, end_visits,
     old_masks, old_orders, old_values) = search  # fmt: skip
    between = (ONE << width) - ONE >> ONE
    depth, limit, positions = counters
    last, status, is_new = positions + budget, SEARCHING, positions == ZERO
    if is_new and bounds[ZERO] == ZERO:
        return FOUND
    while True:
        first = depth * FOUR
        if is_new:
            is_new = False
            positions += ONE
            blank, previous = blanks[depth], np.uint32(NO_CELL)
            if depth > ZERO:
                previous = blanks[depth - ONE]
            end_child = first
            for step in range(blank * FOUR, blank * FOUR + FOUR):
                cell = steps[step]
                if cell == NO_CELL:
                    break
                if cell == previous:
                    continue
                tile = board[cell]
                for image in range(images):
                    slot = slots[image * CELLS + tile]
                    begin, end = cells[image * CELLS + cell], cells[image * CELLS + blank]
                    mask, order = masks[slot], np.uint64(orders[slot])
                    if begin + width == end:
                        place = count_ones(mask & ((ONE << begin) - ONE))
                        target = place + count_ones(mask >> (begin + ONE) & between)
                        row = map_offsets[slot] + (order * counts[slot] + place) * counts[slot]
                        order = np.uint64(order_maps[row + target])
                    elif end + width == begin:
                        place = count_ones(mask & ((ONE << begin) - ONE))
                        target = place - count_ones(mask >> (end + ONE) & between)
                        row = map_offsets[slot] + (order * counts[slot] + place) * counts[slot]
                        order = np.uint64(order_maps[row + target])
                    mask = np.uint32(mask ^ (ONE << begin) ^ (ONE << end))
                    at = end_child * TWO + image
                    child_masks[at], child_orders[at] = mask, order
                    child_entries[at] = offsets[slot] + order * sets[slot] + set_ranks[mask]
                child_cells[end_child] = cell
                end_child += ONE
            for at in range(first * TWO, end_child * TWO):
                child_values[at] = distances[child_entries[at]]
            end_visit = first
            for child in range(first, end_child):
                tile = board[child_cells[child]]
                bound, total = ZERO, ZERO
                for image in range(images):
                    new = child_values[child * TWO + image]
                    old = values[slots[image * CELLS + tile]]
                    image_bound = np.uint64(bounds[depth * TWO + image]) + new - old
                    bound, total = max(bound, image_bound), total + image_bound
                # a move changes the true distance by one: if a child's bound is larger by more,
                # the bound of the position was too small, and it may be beyond the limit itself
                if depth + bound > limit + ONE:
                    end_visit = first
                    break
                if depth + bound + ONE > limit:
                    continue
                totals[child] = total
                at = end_visit
                while at > first and totals[visits[at - ONE]] > total:
                    visits[at] = visits[at - ONE]
                    at -= ONE
                visits[at] = child
                end_visit += ONE
            next_visits[depth], end_visits[depth] = first, end_visit
            if positions >= last:
                break
        if next_visits[depth] < end_visits[depth]:
            child = visits[next_visits[depth]]
            next_visits[depth] += ONE
            cell = child_cells[child]
            tile = board[cell]
            board[blanks[depth]], board[cell] = tile, 0
            for image in range(images):
                slot, at = slots[image * CELLS + tile], child * TWO + image
                new, old = child_values[at], values[slot]
                here = depth * TWO + image
                bounds[here + TWO] = bounds[here] + new - old
                old_masks[here], old_orders[here], old_values[here] = masks[slot], orders[slot], old
                masks[slot], orders[slot], values[slot] = child_masks[at], child_orders[at], new
            depth += ONE
            blanks[depth] = cell
            if bounds[depth * TWO] == ZERO:
                status = FOUND
                break
            is_new = True
        elif depth == ZERO:
            limit += TWO
            is_new = True
        else:
            depth -= ONE
            cell, blank = blanks[depth + ONE], blanks[depth]
            tile = board[blank]
            board[blank], board[cell] = 0, tile
            for image in range(images):
                slot, here = slots[image * CELLS + tile], depth * TWO + image
                masks[slot], orders[slot] = old_masks[here], old_orders[here]
                values[slot] = old_values[here]
    counters[0], counters[1], counters[2] = depth, limit, positions
    return status
