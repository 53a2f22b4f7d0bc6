"""Breadth-first search over states in blocks, each shard of rows by itself.

A layer is all that is kept: a state's neighbours are one layer on or one layer back, so the next
layer of a shard follows from its last two, and from what comes in from other shards. Forked moves
stay in a stretch of rows, and so in a shard; a whole row that goes elsewhere is sent as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.search.in_blocks import expanded
from tablebase.graph import UNREACHED, BlockMove, Blocks, ForkedMove

Rows = list[npt.NDArray[Any]]
"""States, as the numbers of their rows in the shard and a bit for each place of these."""
AT_ONCE = 1 << 12
"""Rows looked at together."""
BACK, LAST, NEXT = 0, 1, 2
"""What is noted of the states of three layers."""


class Shard:
    """One of so many shards: whole stretches of rows on end, of every block."""

    def __init__(self, space: Blocks, number: int, of: int) -> None:
        self.space = space
        stretches = len(space.row_kinds) // space.stretch
        self.bounds = np.array([stretches * at // of * space.stretch for at in range(of + 1)])
        self.first, self.last = (int(bound) for bound in self.bounds[number : number + 2])
        self.rows = self.last - self.first
        self.inner, self.outer = list[tuple[BlockMove, BlockMove]](), list[BlockMove]()
        for pair in space.moves:
            forth, back = map(self._here, pair)
            if forth and back:
                self.inner.append((forth, back))
            else:
                self.outer += pair

    def _here(self, move: BlockMove) -> BlockMove | None:
        """A move as it is within the shard, if it stays in it."""
        rows = move.rows[self.first : self.last].astype(np.int64) - self.first
        if isinstance(move, ForkedMove):
            entries = move.entries[self.first : self.last]
            ends = rows.astype(np.uint32), move.forks, entries, move.places
            return ForkedMove(move.source, move.target, *ends)
        same = np.array_equal(rows, np.arange(self.rows))
        return BlockMove(move.source, move.target, rows.astype(np.uint32)) if same else None

    def layer(self, depth: npt.NDArray[np.uint8], level: int) -> Rows:
        """A layer of the shard, from the depths of all states."""
        rows = len(self.space.row_kinds)
        own = np.arange(len(self.space.sides))[:, None] * rows + np.arange(self.first, self.last)
        numbers, bits = _layer(depth.reshape(-1, self.space.places), own.ravel(), level)
        blocks, there = np.divmod(numbers, np.uint32(rows))
        return [blocks * np.uint32(self.rows) + there - np.uint32(self.first), bits]

    def root(self) -> Rows:
        """The first layer."""
        row, place = divmod(self.space.root, self.space.places)
        block, row = divmod(row, len(self.space.row_kinds))
        depth = np.full((1, self.space.places), UNREACHED, dtype=np.uint8)
        depth[0, place] = NEXT
        mine = np.array([0] if self.first <= row < self.last else [], dtype=np.int64)
        found = _layer(depth, mine, NEXT)
        return [found[0] + np.uint32(block * self.rows + row - self.first), found[1]]

    def none(self) -> Rows:
        """A layer without states."""
        return _layer(np.zeros((0, self.space.places), np.uint8), np.zeros(0, np.int64), NEXT)

    def next(self, back: Rows, last: Rows, arrived: list[Rows]) -> Rows:
        """The layer after two others of this shard, with what came in for it."""
        space = self.space
        blocks, places = len(space.sides), space.places
        depth = np.full((blocks * self.rows, places), UNREACHED, dtype=np.uint8)
        fresh, reached = (np.zeros(len(depth), dtype=np.uint8) for _ in range(2))
        for rows, layer in ((back, BACK), (last, LAST), *((rows, NEXT) for rows in arrived)):
            _note(depth, rows, layer)
        fresh[last[0]] = 1
        for rows in arrived:
            reached[rows[0]] = 1
        if len(last[0]):
            own = Blocks(
                0, places, self.rows, space.sides, space.block_kinds,
                space.row_kinds[self.first : self.last], self.inner,
            )  # fmt: skip
            expanded(own, (depth.ravel(), np.uint8(LAST), fresh, reached), 0, self.rows)
        return _layer(depth, np.flatnonzero(reached), NEXT)

    def leaving(self, layer: Rows) -> list[list[Rows]]:
        """What goes to each shard: for each move the rows there, none twice."""
        numbers, bits = layer
        blocks, rows = np.divmod(numbers.astype(np.int64), self.rows)
        sent: list[list[Rows]] = [[] for _ in self.bounds[1:]]
        for move in self.outer:
            mine = np.flatnonzero(blocks == move.source)
            to = move.rows[rows[mine] + self.first].astype(np.int64)
            shards = np.searchsorted(self.bounds, to, side="right") - 1
            for number in np.unique(shards):
                first, last = self.bounds[number : number + 2]
                going = shards == number
                there = move.target * (last - first) + to[going] - first
                sent[number].append([there.astype(np.uint32), bits[mine[going]]])
        return sent

    def depths(self, layers: Iterable[Rows]) -> npt.NDArray[np.uint8]:
        """The distances of the shard's states, by block, from all its layers."""
        depth = np.full((len(self.space.sides) * self.rows, self.space.places), UNREACHED, np.uint8)
        for level, rows in enumerate(layers):
            _note(depth, rows, level)
        return depth.reshape(len(self.space.sides), -1)


def _note(depth: npt.NDArray[np.uint8], rows: Rows, layer: int) -> None:
    """Note a layer of its states, where nothing less is noted."""
    for at in range(0, len(rows[0]), AT_ONCE):
        numbers, bits = (array[at : at + AT_ONCE] for array in rows)
        these = np.unpackbits(bits, axis=1, count=depth.shape[1])
        noted = depth[numbers]
        depth[numbers] = np.where(these, np.minimum(noted, np.uint8(layer)), noted)


def _layer(depth: npt.NDArray[np.uint8], rows: npt.NDArray[np.int64], layer: int) -> Rows:
    """The states of a layer, in these rows."""
    numbers, bits = [np.zeros(0, np.uint32)], [np.zeros((0, -(-depth.shape[1] // 8)), np.uint8)]
    for at in range(0, len(rows), AT_ONCE):
        some = rows[at : at + AT_ONCE]
        found = depth[some] == layer
        having = found.any(axis=1)
        numbers.append(some[having].astype(np.uint32))
        bits.append(np.packbits(found[having], axis=1))
    return [np.concatenate(numbers), np.concatenate(bits)]
