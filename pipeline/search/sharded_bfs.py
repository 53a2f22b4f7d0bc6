"""Breadth-first search over states in blocks, each shard of rows by itself.

A layer is all that is kept: a state's neighbours are one layer on or one layer back, so the next
layer of a shard follows from its last two, and from what comes in from other shards. Forked moves
stay in a stretch of rows, and so in a shard; a whole row that goes elsewhere is sent as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.search.block_bfs import expand_layer
from tablebase.graph import UNREACHED, BlockMove, Blocks, ForkedMove

StateRows = list[npt.NDArray[Any]]
"""States, as the numbers of their rows in the shard and a bit for each place of these."""
ROWS_PER_STEP = 1 << 12
"""Rows looked at together."""
MAX_EXPANDED_STATES = 1 << 22
"""States whose moves are made together, if a stretch has no more: a byte each."""
MAX_MARKED_STATES = 1 << 25
"""States whose distances are put together, if a block has no more: all layers are read for them."""
BACK, LAST, NEXT = 0, 1, 2
"""What is noted of the states of three layers."""


class Shard:
    """One of so many shards: whole stretches of rows on end, of every block."""

    def __init__(self, space: Blocks, number: int, count: int) -> None:
        self.space = space
        stretches = len(space.row_kinds) // space.rows_per_prefix
        self.bounds = np.array(
            [stretches * at // count * space.rows_per_prefix for at in range(count + 1)]
        )
        self.first, self.last = (int(bound) for bound in self.bounds[number : number + 2])
        self.rows = self.last - self.first
        self.inner, self.outer = list[tuple[BlockMove, BlockMove]](), list[BlockMove]()
        for pair in space.moves:
            if all(map(_is_inner, pair)):
                self.inner.append(pair)
            else:
                self.outer += pair

    def extract_layer(self, depth: npt.NDArray[np.uint8], level: int) -> StateRows:
        """A layer of the shard, from the depths of all states."""
        rows = len(self.space.row_kinds)
        own = np.arange(len(self.space.sides))[:, None] * rows + np.arange(self.first, self.last)
        numbers, bits = _collect_layer(depth.reshape(-1, self.space.places), own.ravel(), level)
        blocks, there = np.divmod(numbers, np.uint32(rows))
        return [blocks * np.uint32(self.rows) + there - np.uint32(self.first), bits]

    def make_root_layer(self) -> StateRows:
        """The first layer."""
        row, place = divmod(self.space.root, self.space.places)
        block, row = divmod(row, len(self.space.row_kinds))
        depth = np.full((1, self.space.places), UNREACHED, dtype=np.uint8)
        depth[0, place] = NEXT
        mine = np.array([0] if self.first <= row < self.last else [], dtype=np.int64)
        layer = _collect_layer(depth, mine, NEXT)
        return [layer[0] + np.uint32(block * self.rows + row - self.first), layer[1]]

    def make_empty_layer(self) -> StateRows:
        """A layer without states."""
        return _collect_layer(
            np.zeros((0, self.space.places), np.uint8), np.zeros(0, np.int64), NEXT
        )

    def find_next_layer(
        self, back: StateRows, last: StateRows, incoming: list[StateRows]
    ) -> StateRows:
        """The layer after two others of this shard, with what came in for it."""
        a_row = len(self.space.sides) * self.space.places
        step = self.space.rows_per_prefix * max(
            1, MAX_EXPANDED_STATES // (self.space.rows_per_prefix * a_row)
        )
        marked = [(back, BACK), (last, LAST), *((rows, NEXT) for rows in incoming)]
        layers = [
            self._find_next_rows(marked, first, min(self.rows, first + step))
            for first in range(0, self.rows, step)
        ]
        return [np.concatenate(arrays) for arrays in zip(*layers, strict=True)]

    def _find_next_rows(
        self, marked: list[tuple[StateRows, int]], first: int, last: int
    ) -> StateRows:
        """The same, of some of the shard's stretches: no move within it leads out of them."""
        own, space = self._restrict(self.first + first, self.first + last), self.space
        rows = last - first
        depth = np.full((len(space.sides) * rows, space.places), UNREACHED, dtype=np.uint8)
        fresh, reached = (np.zeros(len(depth), dtype=np.uint8) for _ in range(2))
        for (numbers, bits), layer in marked:
            blocks, there = np.divmod(numbers, np.uint32(self.rows))
            mine = (there >= first) & (there < last)
            here = (blocks * np.uint32(rows) + there - np.uint32(first))[mine]
            _mark_layer(depth, [here, bits[mine]], layer)
            if layer != BACK:
                (fresh if layer == LAST else reached)[here] = 1
        if fresh.any():
            expand_layer(own, (depth.ravel(), np.uint8(LAST), fresh, reached), 0, rows)
        numbers, bits = _collect_layer(depth, np.flatnonzero(reached), NEXT)
        blocks, there = np.divmod(numbers, np.uint32(rows))
        return [blocks * np.uint32(self.rows) + there + np.uint32(first), bits]

    def _restrict(self, first: int, last: int) -> Blocks:
        """Some stretches as a space of their own."""
        space = self.space
        moves = [
            (_restrict_move(forth, first, last), _restrict_move(back, first, last))
            for forth, back in self.inner
        ]
        kinds = space.row_kinds[first:last]
        sides = space.sides
        return Blocks(
            0, space.places, space.rows_per_prefix, sides, space.block_kinds, kinds, moves
        )

    def list_outgoing(self, layer: StateRows) -> list[list[StateRows]]:
        """What goes to each shard: for each move the rows there, none twice."""
        numbers, bits = layer
        blocks, rows = np.divmod(numbers.astype(np.int64), self.rows)
        outgoing: list[list[StateRows]] = [[] for _ in self.bounds[1:]]
        for move in self.outer:
            mine = np.flatnonzero(blocks == move.source)
            to = move.rows[rows[mine] + self.first].astype(np.int64)
            shards = np.searchsorted(self.bounds, to, side="right") - 1
            for number in np.unique(shards):
                first, last = self.bounds[number : number + 2]
                going = shards == number
                there = move.target * (last - first) + to[going] - first
                outgoing[number].append([there.astype(np.uint32), bits[mine[going]]])
        return outgoing

    def iter_depths(
        self, layers: Callable[[], Iterable[StateRows]]
    ) -> Iterator[npt.NDArray[np.uint8]]:
        """The distances of the shard's states, block by block, from all its layers."""
        blocks, places = len(self.space.sides), self.space.places
        step = min(blocks, max(1, MAX_MARKED_STATES // (self.rows * places)))
        depth = np.empty((step * self.rows, places), dtype=np.uint8)
        for first in range(0, blocks, step):
            some = min(step, blocks - first)
            depth.fill(UNREACHED)
            for level, (numbers, bits) in enumerate(layers()):
                blocks_of = numbers // np.uint32(self.rows)
                mine = (blocks_of >= first) & (blocks_of < first + some)
                _mark_layer(
                    depth, [numbers[mine] - np.uint32(first * self.rows), bits[mine]], level
                )
            for block in depth.reshape(step, -1)[:some]:
                yield block.copy()


def _is_inner(move: BlockMove) -> bool:
    """Whether a move leads from no stretch of rows to another."""
    same = np.arange(len(move.rows), dtype=np.uint32)
    return isinstance(move, ForkedMove) or np.array_equal(move.rows, same)


def _restrict_move(move: BlockMove, first: int, last: int) -> BlockMove:
    """A move that stays in some stretches, as it is in these."""
    rows = move.rows[first:last] - np.uint32(first)
    if isinstance(move, ForkedMove):
        entries = move.entries[first:last]
        return ForkedMove(move.source, move.target, rows, move.forks, entries, move.places)
    return BlockMove(move.source, move.target, rows)


def _mark_layer(depth: npt.NDArray[np.uint8], rows: StateRows, layer: int) -> None:
    """Note a layer of its states, where nothing less is noted."""
    for at in range(0, len(rows[0]), ROWS_PER_STEP):
        numbers, bits = (array[at : at + ROWS_PER_STEP] for array in rows)
        these = np.unpackbits(bits, axis=1, count=depth.shape[1])
        noted = depth[numbers]
        depth[numbers] = np.where(these, np.minimum(noted, np.uint8(layer)), noted)


def _collect_layer(
    depth: npt.NDArray[np.uint8], rows: npt.NDArray[np.int64], layer: int
) -> StateRows:
    """The states of a layer, in these rows."""
    numbers, bits = [np.zeros(0, np.uint32)], [np.zeros((0, -(-depth.shape[1] // 8)), np.uint8)]
    for at in range(0, len(rows), ROWS_PER_STEP):
        some = rows[at : at + ROWS_PER_STEP]
        is_in_layer = depth[some] == layer
        having = is_in_layer.any(axis=1)
        numbers.append(some[having].astype(np.uint32))
        bits.append(np.packbits(is_in_layer[having], axis=1))
    return [np.concatenate(numbers), np.concatenate(bits)]
