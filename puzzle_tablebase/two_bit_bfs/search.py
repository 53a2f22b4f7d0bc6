"""Breadth-first search in words of bits, 60 states at a time.

Two bits a state, in two bit planes: 00 if it is not reached yet, 11 in the frontier (the last
layer), 01 or 10 before, by bit 1 of its depth. Every move changes the colour of the blank's cell,
so the blocks of a layer have one colour and those of the next the other: no thread reads what
another writes. The search is bottom-up: each row pulls the states that its moves lead back to, and
rows that nothing in the frontier leads to are skipped. Then one of the frontier's two bits is
cleared. In the end the first plane has bit 1 of every depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.jit import Array
from puzzle_tablebase.resources import allocate_pages
from puzzle_tablebase.schema import UNREACHABLE
from puzzle_tablebase.two_bit_bfs.kernels import (
    CHUNK_ROWS,
    SCRATCH_ROWS,
    close_rows,
    pack_rows,
    pull_rows,
)
from puzzle_tablebase.two_bit_bfs.space import (
    RECORD_BYTES,
    ROW_STATES,
    WORD_STATES,
    WORDS,
    WordSpace,
    WordTables,
    list_row_parities,
)

MAX_TASK_ROWS = 1 << 17
"""Most rows of a task: few enough that a search ends soon after it is interrupted."""
TASKS_PER_THREAD = 4
"""Tasks for each thread in a layer, at least: so many that no thread waits long."""


class Planes:
    """The two bit planes of a search, with the rows that have states of the last layer.

    They have all rows of each block, or those from `first` to `last`.
    """

    def __init__(self, space: WordSpace, first: int = 0, last: int | None = None) -> None:
        end = space.rows if last is None else last
        self.row_parities = list_row_parities(space.radices, first, end)
        """For each row of a block, whether the sum of its head's digits is odd."""
        rows = space.blocks * len(self.row_parities)
        memory = allocate_pages(rows * 2 * WORDS * 8)
        self.words = np.frombuffer(memory, dtype=np.uint64).reshape(rows, 2 * WORDS)
        """For each row the words of the first plane, then those of the second."""
        self.frontier = np.zeros(rows, dtype=np.uint8)
        """1 for each row that has states of the last layer."""
        self._first, self._rows = first, len(self.row_parities)

    def add_root(self, space: WordSpace) -> None:
        """Make the root the first layer, if its row is one of these."""
        block, offset = divmod(space.root, space.states)
        row, bit = divmod(offset, ROW_STATES)
        if 0 <= row - self._first < self._rows:
            row += block * self._rows - self._first
            word, bit = divmod(bit, WORD_STATES)
            self.words[row, [word, WORDS + word]] = np.uint64(1 << bit)
            self.frontier[row] = 1


def estimate_search_bytes(states: int) -> int:
    """Return the bytes of memory that a search of `states` states needs, on a board of any size."""
    return -(-states // ROW_STATES) * (2 * WORDS * 8 + 2)


def find_layers(
    find_layer: Callable[[int], int], size: int, report: Callable[[int], None]
) -> list[int]:
    """Find layer after layer until one is empty; return their numbers of states.

    `find_layer` finds one and counts it. Raise SearchError unless the layers add up to the space.
    """
    layers: list[int] = []
    while count := find_layer(len(layers)):
        report(len(layers))
        layers.append(count)
        if len(layers) == UNREACHABLE:
            raise SearchError(f"A state lies {UNREACHABLE} or more moves from the root.")
    if sum(layers) != size:
        raise SearchError(f"{sum(layers):,} of {size:,} states were reached.")
    return layers


def search_words(
    space: WordSpace,
    threads: int,
    star_map: Callable[..., Iterable[Any]],
    report: Callable[[int], None] = lambda level: None,
) -> tuple[list[int], Planes]:
    """Search all states; return the layers' numbers of states, and bit 1 of every state's depth.

    The bits are the first plane. `star_map` has the interface of `itertools.starmap`.
    `report` is called after each layer.
    """
    planes = Planes(space)
    planes.add_root(space)
    first_colour = int(space.colours[space.root // space.states])
    rows_of_colour = [
        [*_divide_rows(space, np.flatnonzero(space.colours == colour).tolist(), threads)]
        for colour in (first_colour, 1 - first_colour)
    ]

    def pull(block: int, first: int, last: int) -> None:
        bounds = np.array([block * space.rows, first, last, space.parities[block]])
        pull_block(planes, space.moves[block], space.tables, bounds)

    def close(level: int, block: int, first: int, last: int) -> int:
        """Close the last layer in some rows of a block; return its number of states there."""
        bounds = np.array([block * space.rows, first, last, level])
        return int(close_rows(planes.words, planes.frontier, bounds))

    def find_layer(level: int) -> int:
        for _ in star_map(pull, rows_of_colour[1 - level % 2]):
            pass
        return sum(star_map(partial(close, level), rows_of_colour[level % 2]))

    return find_layers(find_layer, space.size, report), planes


def _divide_rows(
    space: WordSpace, blocks: list[int], threads: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the rows of each task: a block, the first row in it and the last."""
    step = -(-space.rows * len(blocks) // (threads * TASKS_PER_THREAD))
    step = min(MAX_TASK_ROWS, max(CHUNK_ROWS, step))
    for block in blocks:
        for first in range(0, space.rows, step):
            yield block, first, min(space.rows, first + step)


def pull_block(planes: Planes, moves: Array, tables: WordTables, bounds: Array) -> None:
    """Find the next layer's states in some rows of a block."""
    scratch = np.empty((WORDS, SCRATCH_ROWS), dtype=np.uint64)
    pull_rows(planes.words, planes.frontier, moves, *tables, planes.row_parities, bounds, scratch)


def iter_word_records(planes: Planes) -> Iterator[Array]:
    """Yield bit 1 of every state's depth, 45 bytes a row, some rows at a time.

    Bit `i` of a row is in byte `i // 8`, where it is worth `2 ** (i % 8)`.
    """
    for first in range(0, len(planes.words), MAX_TASK_ROWS):
        words = planes.words[first : first + MAX_TASK_ROWS]
        records = np.empty((len(words), RECORD_BYTES), dtype=np.uint8)
        pack_rows(words, records)
        yield records
