"""Breadth-first search in words of bits, of all states together or one shard at a time.

Two bits a state, in two planes: unreached 00, in the last layer 11, earlier 01 or 10 by bit 1 of
its depth. Every move changes the block's side, so that a layer's blocks have one side and the next
layer's the other: no thread reads what another writes. Each row takes in what comes from the rows
that its moves lead back to; rows that no row with states of the layer leads to are skipped. Then
one of the layer's two bits is cleared. In the end the first plane has bit 1 of every depth.

Between two layers a shard keeps no words, only its layers: a state's neighbours are in the next
layer or in the previous one, so the next layer of a shard follows from its last two and from the
states that other shards send. Shards are cut where only exchanges in the head lead from one to
another: these move whole rows, which are sent as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.frontier.word_kernels import (
    CHUNK_ROWS,
    SCRATCH_ROWS,
    add_rows,
    close_rows,
    pack_rows,
    pull_rows,
    write_depths,
)
from puzzle_tablebase.graph import UNREACHED
from puzzle_tablebase.jit import Array
from puzzle_tablebase.resources import allocate_pages
from puzzle_tablebase.word_space import (
    BLOCK,
    CYCLE,
    IS_BORDER,
    RECORD_BYTES,
    ROW_STATES,
    START,
    WEIGHT,
    WORD_STATES,
    WORDS,
    WordSpace,
    WordTables,
    list_row_kinds,
)

MAX_TASK_ROWS = 1 << 17
"""Most rows of a task: few enough that a search ends soon after it is interrupted."""
TASKS_PER_THREAD = 4
"""Tasks for each thread in a layer, at least: so many that no thread waits long."""


class Planes:
    """The two planes of a search, with the rows that have states of the last layer.

    They have all rows of each block, or those from `first` to `last`.
    """

    def __init__(self, space: WordSpace, first: int = 0, last: int | None = None) -> None:
        end = space.rows if last is None else last
        self.row_kinds = list_row_kinds(space.radices, first, end)
        """For each row of a block, whether the sum of its head's digits is odd."""
        rows = space.blocks * len(self.row_kinds)
        memory = allocate_pages(rows * 2 * WORDS * 8)
        self.words = np.frombuffer(memory, dtype=np.uint64).reshape(rows, 2 * WORDS)
        """For each row the words of the first plane, then those of the second."""
        self.fresh = np.zeros(rows, dtype=np.uint8)
        """1 for each row that has states of the last layer."""


def estimate_search_bytes(states: int) -> int:
    """Return the bytes of memory that a search of so many states needs, for boards of any size."""
    return -(-states // ROW_STATES) * (2 * WORDS * 8 + 2)


def search_words(
    space: WordSpace,
    threads: int,
    layer_done: Callable[[int, int], None],
    run: Callable[..., Iterable[Any]],
    depth: Array | None = None,
    max_task_rows: int = MAX_TASK_ROWS,
) -> Planes:
    """Search all states; the first plane of the result has bit 1 of every state's depth.

    `layer_done(level, states)` is called after each layer. `run` calls a function with each of some
    tuples, in so many threads. `depth`: a byte for each state, which gets its depth.
    `max_task_rows`: the most rows of a call.
    """
    planes = Planes(space)
    block, place = divmod(space.root, space.states)
    row, bit = divmod(place, ROW_STATES)
    row += block * space.rows
    word, bit = divmod(bit, WORD_STATES)
    planes.words[row, [word, WORDS + word]] = np.uint64(1 << bit)
    planes.fresh[row] = 1
    level, total, side = 0, 0, int(space.sides[block])
    rows_of_side = [
        [*_divide_rows(space, np.flatnonzero(space.sides == side).tolist(), threads, max_task_rows)]
        for side in range(2)
    ]

    def pull(block: int, first: int, last: int) -> None:
        bounds = np.array([block * space.rows, first, last, space.kinds[block]])
        pull_block(planes, space.moves[block], space.tables, bounds)

    def close(level: int, block: int, first: int, last: int) -> int:
        """Close the last layer in some rows of a block; return its number of states there."""
        bounds = np.array([block * space.rows, first, last, level, block * space.states])
        if depth is not None:
            write_depths(planes.words, planes.fresh, bounds, depth)
        return int(close_rows(planes.words, planes.fresh, bounds))

    while True:
        for _ in run(pull, rows_of_side[1 - side]):
            pass
        count = sum(run(partial(close, level), rows_of_side[side]))
        if not count:
            break
        total += count
        layer_done(level, count)
        level, side = level + 1, 1 - side
        if level == UNREACHED:
            raise SearchError(f"A state lies {level} or more moves from the root.")
    if total != space.size:
        raise SearchError(f"{total:,} of {space.size:,} states were reached.")
    return planes


def _divide_rows(
    space: WordSpace, blocks: list[int], threads: int, max_task_rows: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the rows of each task: a block, the first row in it and the last."""
    step = -(-space.rows * len(blocks) // (threads * TASKS_PER_THREAD))
    step = min(max_task_rows, max(CHUNK_ROWS, step))
    for block in blocks:
        for first in range(0, space.rows, step):
            yield block, first, min(space.rows, first + step)


def pull_block(planes: Planes, moves: Array, tables: WordTables, bounds: Array) -> None:
    """Find the next layer's states in some rows of a block."""
    scratch = np.empty((WORDS, SCRATCH_ROWS), dtype=np.uint64)
    pull_rows(planes.words, planes.fresh, moves, *tables, planes.row_kinds, bounds, scratch)


def iter_word_records(planes: Planes) -> Iterator[Array]:
    """Yield bit 1 of every state's depth, 45 bytes a row, so many rows at a time.

    Bit `i` of a row is in byte `i // 8`, where it is worth `2 ** (i % 8)`.
    """
    for first in range(0, len(planes.words), MAX_TASK_ROWS):
        words = planes.words[first : first + MAX_TASK_ROWS]
        records = np.empty((len(words), RECORD_BYTES), dtype=np.uint8)
        pack_rows(words, records)
        yield records


StateRows = list[Array]
"""States as two arrays: the numbers of their rows, and for each of these rows 45 bytes."""
Layer = list[Array]
"""States of a layer as two arrays: a bit for each row of the layer's side, whether it has any, and
45 bytes for each row that has."""
UNITS_PER_SHARD = 8
"""Units of rows that a shard has, if possible: so that shards differ little in size."""
ROWS_PER_STEP = 1 << 12
"""Rows that are copied together."""


class Shard:
    """One of `count` shards: consecutive rows of every block, cut where a unit of rows ends."""

    def __init__(self, space: WordSpace, number: int, count: int) -> None:
        self.space = space
        unit = _choose_unit(space, count)
        units = space.rows // unit
        self.bounds = np.array([units * shard // count * unit for shard in range(count + 1)])
        self.first, self.last = (int(bound) for bound in self.bounds[number : number + 2])
        self.rows = self.last - self.first
        spans = [moves[:, WEIGHT] * moves[:, CYCLE] for moves in space.moves]
        self.inner, self.outer = (
            [moves[(span <= unit) == stays] for moves, span in zip(space.moves, spans, strict=True)]
            for stays in (True, False)
        )
        """For each block the moves to it that stay in a unit, and the others."""
        self.partners = self._list_partners(unit)
        """The shards that this one gets states from, which are also those that it sends any to."""
        self.states = space.blocks * self.rows * ROW_STATES

    def _list_partners(self, unit: int) -> list[int]:
        shards = [np.zeros(0, dtype=np.int64)]
        for move in (move for moves in self.outer for move in moves):
            rows = np.arange(self.first, self.last, min(unit, move[WEIGHT]))
            shards.append(self._find_shards(self._find_rows(move, rows)))
        return [int(shard) for shard in np.unique(np.concatenate(shards))]

    def _find_rows(self, move: Array, rows: Array) -> Array:
        """Find the rows that a move leads from to these, or that the one back leads to."""
        runs = move[START] + rows // move[WEIGHT] % move[CYCLE]
        source_rows: Array = rows + self.space.tables.offsets[runs, 0]
        return source_rows

    def _find_shards(self, rows: Array) -> Array:
        shards: Array = np.searchsorted(self.bounds, rows, side="right") - 1
        return shards

    def _list_blocks(self, level: int) -> Array:
        """List the blocks of a layer's side."""
        root_side = self.space.sides[self.space.root // self.space.states]
        blocks: Array = np.flatnonzero(self.space.sides == root_side ^ level % 2)
        return blocks

    def _list_side_rows(self, level: int) -> Array:
        """List the numbers of all rows of a layer's side."""
        rows: Array = self._list_blocks(level)[:, None] * self.rows + np.arange(self.rows)
        return rows.ravel()

    def make_root_layer(self) -> Layer:
        """Return the layer of the root, which is empty if the root is in another shard."""
        block, place = divmod(self.space.root, self.space.states)
        row, bit = divmod(place, ROW_STATES)
        planes = Planes(self.space, self.first, self.last)
        if self.first <= row < self.last:
            number = block * self.rows + row - self.first
            planes.words[number, bit // WORD_STATES] = np.uint64(1 << bit % WORD_STATES)
            planes.fresh[number] = 1
        return self._collect_layer(planes, 0)

    def read_layer(self, layer: Layer, level: int) -> StateRows:
        """Return a layer's states with the numbers of their rows."""
        side_rows = self._list_side_rows(level)
        return [side_rows[np.unpackbits(layer[0], count=len(side_rows)).view(np.bool_)], layer[1]]

    def find_next_layer(
        self, level: int, layers: Iterable[Layer], incoming: Iterable[StateRows]
    ) -> Layer:
        """Find the layer `level`, from the last one, the one before, and what others sent."""
        planes = Planes(self.space, self.first, self.last)
        for back, layer in enumerate(layers, start=1):
            numbers, records = self.read_layer(layer, level - back)
            add_rows(planes.words, planes.fresh, numbers, records, back == 1)
        for block in self._list_blocks(level):
            bounds = np.array([block * self.rows, 0, self.rows, self.space.kinds[block]])
            pull_block(planes, self.inner[block], self.space.tables, bounds)
        for rows in incoming:
            numbers, records = rows
            add_rows(planes.words, planes.fresh, numbers, records, True)
        return self._collect_layer(planes, level)

    def _collect_layer(self, planes: Planes, level: int) -> Layer:
        side_rows = self._list_side_rows(level)
        is_fresh = planes.fresh[side_rows]
        numbers = side_rows[is_fresh.view(np.bool_)]
        records = np.empty((len(numbers), RECORD_BYTES), dtype=np.uint8)
        for first in range(0, len(numbers), ROWS_PER_STEP):
            last = first + ROWS_PER_STEP
            pack_rows(planes.words[numbers[first:last]], records[first:last])
        return [np.packbits(is_fresh), records]

    def iter_outgoing(self, layer: Layer, level: int) -> Iterable[StateRows]:
        """Iterate over the states to send to each partner: the rows there, with their states."""
        numbers, records = self.read_layer(layer, level)
        blocks, rows = np.divmod(numbers, self.rows)
        places, targets, target_blocks = ([np.zeros(0, dtype=np.int64)] for _ in range(3))
        for block in self._list_blocks(level):
            here = np.flatnonzero(blocks == block)
            for move in self.outer[block]:
                places.append(here)
                targets.append(self._find_rows(move, rows[here] + self.first))
                target_blocks.append(np.full(len(here), move[BLOCK]))
        place, target, block = map(np.concatenate, (places, targets, target_blocks))
        shards = self._find_shards(target)
        for number in self.partners:
            is_sent = shards == number
            first, last = self.bounds[number : number + 2]
            sent_rows = block[is_sent] * (last - first) + target[is_sent] - first
            yield [sent_rows.astype(np.uint32), records[place[is_sent]]]

    def collect_bits(self, layers: Iterable[Layer]) -> Array:
        """Collect bit 1 of every depth from all layers: 45 bytes a row, by block."""
        bits = np.zeros((self.space.blocks * self.rows, RECORD_BYTES), dtype=np.uint8)
        for level, layer in enumerate(layers):
            if level & 2:
                numbers, records = self.read_layer(layer, level)
                bits[numbers] |= records
        return bits.reshape(self.space.blocks, self.rows, RECORD_BYTES)


def count_max_shards(space: WordSpace) -> int:
    """Count the units of rows, if they are as small as can be: at most so many shards are cut."""
    return space.rows // min(_list_units(space))


def _choose_unit(space: WordSpace, count: int) -> int:
    """Return the number of rows of a unit, the largest of which there are enough."""
    wanted = UNITS_PER_SHARD * count if count > 1 else 1
    units = _list_units(space)
    return next((unit for unit in units if space.rows // unit >= wanted), units[-1])


def _list_units(space: WordSpace) -> list[int]:
    """List the numbers of rows whose orders begin alike, from all rows to as few as can be.

    Moves that exchange tiles of head and tail stay in a unit.
    """
    border_moves = [move for moves in space.moves for move in moves if move[IS_BORDER]]
    least = max((int(move[WEIGHT] * move[CYCLE]) for move in border_moves), default=1)
    units = [space.rows]
    for radix in space.radices:
        if units[-1] // radix >= least:
            units.append(units[-1] // radix)
    return units
