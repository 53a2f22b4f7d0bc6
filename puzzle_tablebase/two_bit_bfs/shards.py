"""Shards of a search in words of bits: parts of the states, each searched by a task.

A shard has consecutive rows of every block. Between two layers it keeps no words: a state's
neighbours are in the next layer or in the one before, so a shard's next layer follows from its last
two, and from the last layers of other shards. Shards end where only transpositions in the head
lead from one to another: these move whole *groups* of rows, which are read where the other shard
wrote them. Every move changes the colour of the blank's cell, so the blocks of a layer have one
colour: a shard in memory is the last layer, one bit for each state of half the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.jit import Array
from puzzle_tablebase.resources import allocate_pages
from puzzle_tablebase.two_bit_bfs.codec import estimate_bytes
from puzzle_tablebase.two_bit_bfs.kernels import SCRATCH_ROWS, find_shard_rows
from puzzle_tablebase.two_bit_bfs.space import (
    BLOCK,
    CYCLE,
    IS_BORDER,
    ROW_STATES,
    START,
    WEIGHT,
    WORD_STATES,
    WORDS,
    WordSpace,
    list_row_parities,
)

UNITS_PER_SHARD = 6
"""Units of rows that a shard has, if possible: so that shards differ little in size."""
OPEN_FILES, GROUP_BYTES = 16, 24
"""Files of other shards that a task keeps open, and the bytes for each of their groups."""


class Rows:
    """Rows of some blocks in memory: their words, and which of them have states."""

    def __init__(self, rows: int) -> None:
        # pages are taken as they are written to
        memory = allocate_pages(max(rows, 1) * WORDS * 8)
        self.words = np.frombuffer(memory, dtype=np.uint64)
        self.words = self.words.reshape(-1, WORDS)[:rows]
        self.frontier = np.zeros(rows, dtype=np.uint8)
        """1 for each row that has states; the words of others mean nothing."""


class Encoded(NamedTuple):
    """The states of a shard's rows of a block, as bytes, with the ends of their groups."""

    data: Array
    starts: Array

    @classmethod
    def make_empty(cls, groups: int) -> Encoded:
        return cls(np.zeros(0, np.uint8), np.zeros(groups + 1, np.int64))


class Source(NamedTuple):
    """Groups that a shard reads from another: their numbers in a layer there, the rows here."""

    shard: int
    numbers: Array
    rows: Array


class Shard:
    """One of `count` shards: consecutive rows of every block, up to where a unit of rows ends."""

    def __init__(self, space: WordSpace, number: int, count: int) -> None:
        self.space, self.number, self.count = space, number, count
        self._unit = unit = _choose_unit(space, count)
        units = space.rows // unit
        self._bounds = np.array([units * shard // count * unit for shard in range(count + 1)])
        self.first, self.last = (int(bound) for bound in self._bounds[number : number + 2])
        self.rows = self.last - self.first
        self.most_rows = int(np.diff(self._bounds).max())
        """The rows of the largest shard."""
        spans = [moves[:, WEIGHT] * moves[:, CYCLE] for moves in space.moves]
        self._inner, self._outer = (
            [moves[(span <= unit) == stays] for moves, span in zip(space.moves, spans, strict=True)]
            for stays in (True, False)
        )
        """For each block the moves to it that stay in a unit, and the others."""
        weights = [int(move[WEIGHT]) for moves in self._outer for move in moves]
        self.group = min([unit, *weights])
        """The rows of a group."""
        self.groups = self.rows // self.group
        colours = [np.flatnonzero(space.colours == colour) for colour in range(2)]
        self._blocks = [[int(block) for block in colour] for colour in colours]
        self._slot = {block: at for colour in self._blocks for at, block in enumerate(colour)}
        self.most_blocks = max(map(len, self._blocks))
        """The number of blocks of the more frequent colour."""

    def list_blocks(self, level: int) -> list[int]:
        """List the blocks that a layer can have states in: those of its colour."""
        root_colour = int(self.space.colours[self.space.root // self.space.states])
        return self._blocks[root_colour ^ level % 2]

    def list_all_blocks(self) -> list[int]:
        """List all blocks in the order of a file of bits: those of the root's colour first."""
        return self.list_blocks(0) + self.list_blocks(1)

    def estimate_bytes(self) -> int:
        """Return the peak memory, in bytes, of a task of any shard."""
        # the last layer, what other shards lead to, and the row's parity; what is read, and written
        held = self.most_rows * ((self.most_blocks + 1) * (WORDS * 8 + 1) + 1)
        files = min(OPEN_FILES, self.count) + 3
        tables = files * GROUP_BYTES * self.most_blocks * (self.most_rows // self.group)
        return held + tables + 2 * self.estimate_data_bytes() + SCRATCH_ROWS * WORDS * 8

    def estimate_data_bytes(self) -> int:
        """Return the most bytes of a block's rows."""
        return estimate_bytes(self.most_rows, self.group)

    def list_sources(self, block: int) -> Iterator[Source]:
        """List the groups of the last layer that lead to a block from other parts of its shards."""
        targets = np.arange(0, self.rows, self.group)
        for move in self._outer[block]:
            rows = targets + self.first
            phases = move[START] + rows // move[WEIGHT] % move[CYCLE]
            rows += self.space.tables.offsets[phases, 0]
            shards = np.searchsorted(self._bounds, rows, side="right") - 1
            for shard in np.unique(shards):
                here = np.flatnonzero(shards == shard)
                first, last = self._bounds[shard : shard + 2]
                slot = self._slot[int(move[BLOCK])] * ((last - first) // self.group)
                numbers = slot + (rows[here] - first) // self.group
                order = np.argsort(numbers)
                yield Source(int(shard), numbers[order], targets[here[order]])

    def add_root(self, block: int, incoming: Rows) -> bool:
        """If the root is in this shard's rows of a block, add it there and return True."""
        root_block, offset = divmod(self.space.root, self.space.states)
        row, bit = divmod(offset, ROW_STATES)
        if block != root_block or not self.first <= row < self.last:
            return False
        word, bit = divmod(bit, WORD_STATES)
        incoming.words[row - self.first] = 0
        incoming.words[row - self.first, word] = np.uint64(1 << bit)
        incoming.frontier[row - self.first] = 1
        return True

    @cached_property
    def _parities(self) -> Array:
        return list_row_parities(self.space.radices, self.first, self.last)

    def find_reachable_groups(self, sizes: Array) -> Array:
        """Find the groups that moves within this shard may lead to.

        `sizes`: the bytes of the last layer's groups, block after block.
        """
        groups, per_unit = max(self.groups, 1), self._unit // self.group
        in_blocks = sizes.reshape(len(sizes) // groups, self.groups).any(axis=0)
        reachable: Array = np.repeat(in_blocks.reshape(-1, per_unit).any(axis=1), per_unit)
        return reachable

    def find_rows(
        self, block: int, last: Rows, reachable: Array, incoming: Rows | None, earlier: Encoded,
        data: Array,
    ) -> tuple[int, Array]:  # fmt: skip
        """Find the next layer's states in a block, and write them; return their number.

        Also return the starts of the groups. `last`: the last layer in this shard; `reachable`:
        the groups that any states lead to. `incoming`: what other shards lead to, if any do.
        `earlier`: the layer before.
        """
        moves = self._inner[block].copy()
        moves[:, BLOCK] = [self._slot[int(move[BLOCK])] for move in moves]
        if not len(last.frontier):
            moves = moves[:0]
        starts = np.zeros(self.groups + 1, dtype=np.int64)
        bounds = np.array([int(self.space.parities[block]), self.group])
        others = incoming or Rows(0)
        scratch = np.empty((WORDS, SCRATCH_ROWS), dtype=np.uint64)
        count = find_shard_rows(
            last.words, last.frontier, moves, *self.space.tables, self._parities, bounds, reachable,
            others.words, others.frontier, *earlier, data, starts[1:], scratch,
        )  # fmt: skip
        return int(count), starts


def count_shards(space: WordSpace, task_bytes: int, jobs: int) -> int:
    """Return the number of shards, a multiple of the jobs, whose tasks fit `task_bytes` each.

    If none fits, return the largest possible number.
    """
    most = space.rows // _list_units(space)[-1]
    count = 1
    while count < most:
        needed = Shard(space, 0, count).estimate_bytes()
        if needed <= task_bytes:
            break
        # a shard's memory shrinks a little less than its size
        count = max(count + 1, int(count * needed / max(1, task_bytes) * 0.9))
    return min(most, -(-count // jobs) * jobs)


def _choose_unit(space: WordSpace, count: int) -> int:
    """Return the rows of a unit: the largest size with enough units."""
    wanted = UNITS_PER_SHARD * count if count > 1 else 1
    units = _list_units(space)
    return next((unit for unit in units if space.rows // unit >= wanted), units[-1])


def _list_units(space: WordSpace) -> list[int]:
    """List the possible sizes of a unit, rows whose orders begin alike, in descending order.

    Moves that transpose tiles of head and tail stay in a unit.
    """
    border_moves = [move for moves in space.moves for move in moves if move[IS_BORDER]]
    least = max((int(move[WEIGHT] * move[CYCLE]) for move in border_moves), default=1)
    units = [space.rows]
    for radix in space.radices:
        if units[-1] // radix >= least:
            units.append(units[-1] // radix)
    return units
