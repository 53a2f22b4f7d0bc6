"""The search for shortest solutions (IDA*), with the distances of patterns as a lower bound.

The bound is the larger of two: the sum of the patterns' distances on the board, and the same on its
mirror image. Both are kept for each position and changed by one lookup a move. A position that the
search met before, with as much room for moves, is skipped.

Most of the time goes into waiting for memory. So the entries that the moves from a position need
are asked for before any is used. The arrays have one dimension and unsigned elements: their indexes
cannot be negative, which the compiler would have to check.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from puzzle_tablebase.frontier.compiled import count_ones, prefetch
from puzzle_tablebase.jit import Array, compiled

MAX_MOVES = 256
"""The most moves of a solution: more than any board of 16 cells needs."""
NO_CELL = 255
CELLS = np.uint64(16)
"""Cells of an image, and tiles with the blank."""
SLOTS = 8
"""Slots of an image: one for each pattern."""
SLOT_MASK = np.uint64(SLOTS - 1)
PLACES = 4
"""Places of an order that a rank is looked up for at once."""

# numbers without a sign: with others, the compiler would make signed or broken ones
ZERO, ONE, TWO, THREE, FOUR, EIGHT = (np.uint64(number) for number in (0, 1, 2, 3, 4, 8))
MASK_BITS, ORDER_BITS, PLACE_BITS = np.uint64(16), np.uint64(24), np.uint64(3)
ORDER, VALUE = MASK_BITS, MASK_BITS + ORDER_BITS
"""The first bits of the order and of the distance in a slot's word."""
CELLS_MASK, ORDER_MASK, PLACE_MASK = (
    (ONE << bits) - ONE for bits in (MASK_BITS, ORDER_BITS, PLACE_BITS)
)
HALF_ORDER = np.uint64(PLACES) * PLACE_BITS
HALF_ORDER_MASK = (ONE << HALF_ORDER) - ONE

SEEN_BITS, TILE_BITS, LIMIT_BITS, ROOM_BITS = np.uint64(14), FOUR, EIGHT, EIGHT
SEEN = 1 << int(SEEN_BITS)
"""Positions that a search remembers."""
SHIFTS = np.uint64(15), np.uint64(29), np.uint64(43)
"""Distances over which the bits of a key are mixed, all larger than `SEEN_BITS`."""
KEY_MASK = (ONE << np.uint64(60)) - ONE
"""The bits of a key: the tile on each cell but the last of 16, which the others determine."""
SEEN_MASK, ROOM_MASK = np.uint64(SEEN - 1), (ONE << ROOM_BITS) - ONE

SEARCHING, SOLVED, MISSING = 0, 1, 2

# the words of a search: its state, the tile on each cell, the word of each slot, and its frames
STATUS, DEPTH, LIMIT, POSITIONS, WANTED = (np.uint64(number) for number in range(5))
BOARD = np.uint64(5)
SLOT = BOARD + CELLS
FRAMES = SLOT + np.uint64(2 * SLOTS)
# the words of a frame
BLANK, KEY, BOUND, OLD, NEXT, END, CHILDREN, VISITS, CHILD = (
    np.uint64(number) for number in (0, 1, 2, 4, 6, 7, 8, 9, 13)
)
# the words of a child
CELL, CHILD_KEY, ENTRY, CHILD_SLOT, CHILD_BOUND = (np.uint64(number) for number in (0, 1, 2, 4, 6))
CHILD_WORDS = np.uint64(8)
FRAME_WORDS = CHILD + FOUR * CHILD_WORDS
SEARCH_WORDS = FRAMES + np.uint64(MAX_MOVES) * FRAME_WORDS


@compiled
def find_place(key: np.uint64) -> Any:
    """Return the place of a position among those that a search remembers.

    The place and the key's bits from `SEEN_BITS` determine the key.
    """
    return (key ^ key >> SHIFTS[0] ^ key >> SHIFTS[1] ^ key >> SHIFTS[2]) & SEEN_MASK


@compiled
def continue_search(tables: tuple[Any, ...], search: Array, seen: Array, rounds: int) -> None:  # noqa: PLR0915  # a kernel, compiled whole
    """Search for so many rounds, with a step in each, or until the board is solved, or until an
    entry of `distances` is needed that has not been read: its number is then in `WANTED`.

    For `tables` see `make_tables`; `search` and `seen` have SEARCH_WORDS and SEEN words.
    At a solution the depth is its length, and the frames have the blank's cell after each move.

    A slot has the cells of its tiles, the tile on each place (three bits each), and its entry of
    `distances`. A frame has the blank's cell, the position's key, the bounds of both images, the
    words of the slots before the move from it, and up to four children. `VISITS` has the children
    to visit in order: from `NEXT` to before `END`.
    """
    distances, set_entries, first_entries, last_entries, steps, cells, slots = tables
    for _ in range(rounds):
        depth, limit = search[DEPTH], search[LIMIT]
        frame = FRAMES + depth * FRAME_WORDS
        # the children of the position, which the step before asked for, by their bounds
        first = frame + VISITS
        end = first
        for at in range(search[frame + CHILDREN]):
            child = frame + CHILD + at * CHILD_WORDS
            tile = search[BOARD + search[child + CELL]]
            bound, total = ZERO, ZERO
            for image in range(TWO):
                slot = SLOT + slots[image * CELLS + tile]
                new = np.uint64(distances[search[child + ENTRY + image]])
                if new == ZERO:
                    search[STATUS], search[WANTED] = MISSING, search[child + ENTRY + image]
                    return
                image_bound = search[frame + BOUND + image] + new - (search[slot] >> VALUE)
                search[child + CHILD_SLOT + image] |= new << VALUE
                search[child + CHILD_BOUND + image] = image_bound
                bound, total = max(bound, image_bound), total + image_bound
            # a move changes the true distance by one: if a child's bound is larger by more,
            # the bound of the position was too small, and it may be beyond the limit itself
            if depth + bound > limit + ONE:
                end = first
                break
            if depth + bound + ONE > limit:
                continue
            visit, place = total << TWO | at, end
            while place > first and search[place - ONE] > visit:
                search[place] = search[place - ONE]
                place -= ONE
            search[place] = visit
            end += ONE
        search[frame + NEXT], search[frame + END] = first, end
        # the next position: a child, one of an earlier position, or the first one again
        while True:
            if search[frame + NEXT] < search[frame + END]:
                at = search[search[frame + NEXT]] & THREE
                search[frame + NEXT] += ONE
                child = frame + CHILD + at * CHILD_WORDS
                if search[child + CHILD_BOUND] != ZERO:
                    child_key, room = search[child + CHILD_KEY], limit - depth
                    place = find_place(child_key)
                    name = (child_key >> SEEN_BITS << LIMIT_BITS | limit) << ROOM_BITS
                    if name | room <= seen[place] <= name | ROOM_MASK:
                        continue
                    seen[place] = name | room
                cell, previous = search[child + CELL], search[frame + BLANK]
                tile = search[BOARD + cell]
                search[BOARD + previous], search[BOARD + cell] = tile, 0
                below = frame + FRAME_WORDS
                for image in range(TWO):
                    slot = SLOT + slots[image * CELLS + tile]
                    search[frame + OLD + image] = search[slot]
                    search[slot] = search[child + CHILD_SLOT + image]
                    search[below + BOUND + image] = search[child + CHILD_BOUND + image]
                search[below + BLANK] = cell
                search[below + KEY] = search[child + CHILD_KEY]
                depth, frame = depth + ONE, below
                break
            if depth == ZERO:
                previous = search[frame + BLANK]
                if search[POSITIONS] != ZERO:
                    limit += TWO
                break
            depth, frame = depth - ONE, frame - FRAME_WORDS
            blank, cell = search[frame + BLANK], search[frame + FRAME_WORDS + BLANK]
            tile = search[BOARD + blank]
            search[BOARD + blank], search[BOARD + cell] = 0, tile
            for image in range(TWO):
                slot = SLOT + slots[image * CELLS + tile]
                search[slot] = search[frame + OLD + image]
        search[DEPTH], search[LIMIT] = depth, limit
        if search[frame + BOUND] == ZERO:
            search[STATUS] = SOLVED
            return
        # ask for what the moves from it need
        search[POSITIONS] += ONE
        blank, key = search[frame + BLANK], search[frame + KEY]
        child = frame + CHILD
        for step in range(blank * FOUR, blank * FOUR + FOUR):
            cell = np.uint64(steps[step])
            if cell == NO_CELL:
                break
            if cell == previous:
                continue
            tile = search[BOARD + cell]
            for image in range(TWO):
                slot = np.uint64(slots[image * CELLS + tile])
                begin = np.uint64(cells[image * CELLS + cell])
                target = np.uint64(cells[image * CELLS + blank])
                word = search[SLOT + slot]
                mask, order = word & CELLS_MASK, word >> ORDER & ORDER_MASK
                # the tile leaves a place of the order, and enters one
                mask ^= ONE << begin
                place = PLACE_BITS * count_ones(mask & (ONE << begin) - ONE)
                moved = order >> place & PLACE_MASK
                low = (ONE << place) - ONE
                order = order & low | order >> PLACE_BITS & ~low
                place = PLACE_BITS * count_ones(mask & (ONE << target) - ONE)
                low = (ONE << place) - ONE
                order = order & low | moved << place | (order & ~low) << PLACE_BITS
                mask ^= ONE << target
                half = (slot & SLOT_MASK) << HALF_ORDER
                entry = np.uint64(first_entries[half | order & HALF_ORDER_MASK])
                entry += last_entries[half | order >> HALF_ORDER] + set_entries[mask]
                prefetch(distances, entry)
                search[child + ENTRY + image] = entry
                search[child + CHILD_SLOT + image] = mask | order << ORDER
            child_key = key ^ tile << TILE_BITS * cell ^ tile << TILE_BITS * blank
            child_key &= KEY_MASK
            prefetch(seen, find_place(child_key))
            search[child + CHILD_KEY], search[child + CELL] = child_key, cell
            child += CHILD_WORDS
        search[frame + CHILDREN] = (child - frame - CHILD) // CHILD_WORDS
