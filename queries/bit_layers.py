"""Distances of all states from a table of one bit a state: breadth-first, from the goal outwards.

The table gives distances modulo 4. So a layer is those neighbours of the last one that are one
farther by the table; only the last layer is kept.

If each state gets exactly one distance, all are right. Proof: let the first wrong value be at the
smallest distance *d*; it is *d* + 2 modulo 4, so layer *d* lacks this state. If a later layer has
it, the layer after that has the value *d* + 3, that is *d* - 1 modulo 4, so it includes the state's
neighbour at distance *d* - 1, which then gets a second distance.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from puzzle_tablebase.intrinsics import count_trailing_zeros
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.schema import UNREACHABLE
from puzzle_tablebase.two_bit_bfs.kernels import FULL_WORD, ONE, add_rows
from puzzle_tablebase.two_bit_bfs.search import MAX_TASK_ROWS, Planes, pull_block
from puzzle_tablebase.two_bit_bfs.space import RECORD_BYTES, ROW_STATES, WORD_STATES, WORDS

if TYPE_CHECKING:
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.two_bit_bfs.space import WordSpace

MIN_TASK_ROWS = 1 << 12
TASKS_PER_THREAD = 4


def reconstruct_distances(space: WordSpace, bits: Bytes) -> Bytes | None:
    """Return the distances of all states by rank; None if the bits contradict each other.

    `bits` is bit 1 of each distance from the root, by rank.
    """
    if bits[space.root >> 3] >> (space.root & 7) & 1:
        return None
    planes, distances = Planes(space), np.full(space.size, UNREACHABLE, np.uint8)
    planes.add_root(space)
    # the second plane gets the states that the next layer of their colour must not have
    numbers = np.arange(len(planes.words))
    add_rows(planes.words, planes.frontier, numbers, bits.reshape(-1, RECORD_BYTES), False)

    def pull(part: tuple[int, int, int]) -> None:
        block, first, last = part
        bounds = np.array([block * space.rows, first, last, space.parities[block]])
        pull_block(planes, space.moves[block], space.tables, bounds)

    def assign(level: int, part: tuple[int, int, int]) -> int:
        block, first, last = part
        bounds = np.array([block * space.rows, first, last, level, block * space.states])
        return int(assign_distances(planes.words, planes.frontier, bounds, distances))

    first_colour, found = int(space.colours[space.root // space.states]), 0
    parts = [_divide_rows(space, first_colour), _divide_rows(space, 1 - first_colour)]
    with ThreadPoolExecutor(count_cores()) as pool:
        for level in range(UNREACHABLE):
            for _ in pool.map(pull, parts[1 - level % 2]):
                pass
            counts = [*pool.map(partial(assign, level), parts[level % 2])]
            if min(counts) < 0:
                return None
            if not any(counts):
                break
            found += sum(counts)
    return distances if found == space.size else None


def _divide_rows(space: WordSpace, colour: int) -> list[tuple[int, int, int]]:
    """List the tasks of a colour's blocks: a block, the first row in it and the end."""
    blocks = np.flatnonzero(space.colours == colour).tolist()
    step = space.rows * len(blocks) // (count_cores() * TASKS_PER_THREAD)
    step = min(MAX_TASK_ROWS, max(MIN_TASK_ROWS, step))
    return [
        (block, first, min(space.rows, first + step))
        for block in blocks
        for first in range(0, space.rows, step)
    ]


@compiled
def assign_distances(words: Array, frontier: Array, bounds: Array, distances: Array) -> Any:
    """Write the distances of the last layer's states in some rows of a block; return their number.

    Return -1 if one has a distance already. The next layer of this colour is two farther, so it
    must not have these states, but may have those that this layer must not have.
    """
    base, first, last, level, start = bounds
    count = 0
    for row in range(first, last):
        frontier[base + row] = 0
        for word in range(WORDS):
            states = words[base + row, word]
            at = start + row * ROW_STATES + word * WORD_STATES
            words[base + row, word] = 0
            words[base + row, WORDS + word] = states | FULL_WORD & ~words[base + row, WORDS + word]
            while states:
                state = at + np.int64(count_trailing_zeros(states))
                if distances[state] != UNREACHABLE:
                    return -1
                distances[state] = level
                states &= states - ONE
                count += 1
    return count
