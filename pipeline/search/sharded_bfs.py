"""Breadth-first search over states in state blocks, one shard of rows at a time.

Only layers are stored: a state's neighbours are in the next layer or in the previous one, so the
next layer of a shard follows from its last two layers and the states sent by other shards. Forked
moves stay in a prefix (`rows_per_prefix` consecutive rows), and so in a shard; other moves lead
whole rows to rows, and these are sent as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.search.block_bfs import expand_layer
from tablebase.graph import UNREACHED, BlockMove, Blocks, ForkedMove

StateRows = list[npt.NDArray[Any]]
"""States as two arrays: the numbers of their rows in the shard, and for each row a bit a place."""
ROWS_PER_STEP = 1 << 12
"""Rows that are processed together."""
MAX_EXPANDED_STATES = 1 << 22
"""States that are expanded together, a byte each; more if a single prefix has more."""
MAX_MARKED_STATES = 1 << 25
"""States whose distances are collected together, a byte each; more if a single block has more.

All layers are read for each such group.
"""
BACK, LAST, NEXT = 0, 1, 2
"""Marks for the states of three layers: the one before the last, the last, and the next."""


class Shard:
    """One of `count` shards: consecutive rows of every block, cut where a prefix ends."""

    def __init__(self, space: Blocks, number: int, count: int) -> None:
        self.space = space
        prefixes = len(space.row_kinds) // space.rows_per_prefix
        self.bounds = np.array(
            [prefixes * shard // count * space.rows_per_prefix for shard in range(count + 1)]
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
        """Return a layer of the shard, given the depths of all states."""
        rows = len(self.space.row_kinds)
        starts = np.arange(len(self.space.sides))[:, None] * rows
        shard_rows = (starts + np.arange(self.first, self.last)).ravel()
        numbers, bits = _collect_layer(depth.reshape(-1, self.space.places), shard_rows, level)
        blocks, block_rows = np.divmod(numbers, np.uint32(rows))
        return [blocks * np.uint32(self.rows) + block_rows - np.uint32(self.first), bits]

    def make_root_layer(self) -> StateRows:
        """Return the layer of the root, which is empty if the root is in another shard."""
        row, place = divmod(self.space.root, self.space.places)
        block, row = divmod(row, len(self.space.row_kinds))
        depth = np.full((1, self.space.places), UNREACHED, dtype=np.uint8)
        depth[0, place] = NEXT
        root_rows = np.array([0] if self.first <= row < self.last else [], dtype=np.int64)
        layer = _collect_layer(depth, root_rows, NEXT)
        return [layer[0] + np.uint32(block * self.rows + row - self.first), layer[1]]

    def make_empty_layer(self) -> StateRows:
        """Return a layer without states."""
        return _collect_layer(
            np.zeros((0, self.space.places), np.uint8), np.zeros(0, np.int64), NEXT
        )

    def find_next_layer(
        self, back: StateRows, last: StateRows, incoming: list[StateRows]
    ) -> StateRows:
        """Return the shard's next layer, from its last two and the states that others sent."""
        states_per_row = len(self.space.sides) * self.space.places
        step = self.space.rows_per_prefix * max(
            1, MAX_EXPANDED_STATES // (self.space.rows_per_prefix * states_per_row)
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
        """Return the next layer of some of the shard's rows.

        The rows begin and end with a prefix, so that no move within the shard leads out of them.
        """
        subspace, space = self._restrict(self.first + first, self.first + last), self.space
        rows = last - first
        depth = np.full((len(space.sides) * rows, space.places), UNREACHED, dtype=np.uint8)
        fresh, reached = (np.zeros(len(depth), dtype=np.uint8) for _ in range(2))
        for (numbers, bits), layer in marked:
            blocks, block_rows = np.divmod(numbers, np.uint32(self.rows))
            is_inside = (block_rows >= first) & (block_rows < last)
            inner_rows = (blocks * np.uint32(rows) + block_rows - np.uint32(first))[is_inside]
            _mark_layer(depth, [inner_rows, bits[is_inside]], layer)
            if layer != BACK:
                (fresh if layer == LAST else reached)[inner_rows] = 1
        if fresh.any():
            expand_layer(subspace, (depth.ravel(), np.uint8(LAST), fresh, reached), 0, rows)
        numbers, bits = _collect_layer(depth, np.flatnonzero(reached), NEXT)
        blocks, block_rows = np.divmod(numbers, np.uint32(rows))
        return [blocks * np.uint32(self.rows) + block_rows + np.uint32(first), bits]

    def _restrict(self, first: int, last: int) -> Blocks:
        """Return a space of its own that has only these rows of each block."""
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
        """Return the states to send to each shard: for each move the rows there, none twice."""
        numbers, bits = layer
        blocks, rows = np.divmod(numbers.astype(np.int64), self.rows)
        outgoing: list[list[StateRows]] = [[] for _ in self.bounds[1:]]
        for move in self.outer:
            sources = np.flatnonzero(blocks == move.source)
            targets = move.rows[rows[sources] + self.first].astype(np.int64)
            shards = np.searchsorted(self.bounds, targets, side="right") - 1
            for number in np.unique(shards):
                first, last = self.bounds[number : number + 2]
                is_sent = shards == number
                sent_rows = move.target * (last - first) + targets[is_sent] - first
                outgoing[number].append([sent_rows.astype(np.uint32), bits[sources[is_sent]]])
        return outgoing

    def iter_depths(
        self, layers: Callable[[], Iterable[StateRows]]
    ) -> Iterator[npt.NDArray[np.uint8]]:
        """Iterate over the distances of the shard's states, block by block, from all its layers."""
        blocks, places = len(self.space.sides), self.space.places
        step = min(blocks, max(1, MAX_MARKED_STATES // (self.rows * places)))
        depth = np.empty((step * self.rows, places), dtype=np.uint8)
        for first in range(0, blocks, step):
            count = min(step, blocks - first)
            depth.fill(UNREACHED)
            for level, (numbers, bits) in enumerate(layers()):
                row_blocks = numbers // np.uint32(self.rows)
                is_inside = (row_blocks >= first) & (row_blocks < first + count)
                rows = numbers[is_inside] - np.uint32(first * self.rows)
                _mark_layer(depth, [rows, bits[is_inside]], level)
            for block in depth.reshape(step, -1)[:count]:
                yield block.copy()


def _is_inner(move: BlockMove) -> bool:
    """Return whether a move never leads from one prefix to another."""
    identity = np.arange(len(move.rows), dtype=np.uint32)
    return isinstance(move, ForkedMove) or np.array_equal(move.rows, identity)


def _restrict_move(move: BlockMove, first: int, last: int) -> BlockMove:
    """Return a move restricted to some rows, which it does not lead out of."""
    rows = move.rows[first:last] - np.uint32(first)
    if isinstance(move, ForkedMove):
        entries = move.entries[first:last]
        return ForkedMove(move.source, move.target, rows, move.forks, entries, move.places)
    return BlockMove(move.source, move.target, rows)


def _mark_layer(depth: npt.NDArray[np.uint8], rows: StateRows, layer: int) -> None:
    """Mark states with a layer, except where a lower one is marked already."""
    for first in range(0, len(rows[0]), ROWS_PER_STEP):
        numbers, bits = (array[first : first + ROWS_PER_STEP] for array in rows)
        is_in_layer = np.unpackbits(bits, axis=1, count=depth.shape[1])
        marks = depth[numbers]
        depth[numbers] = np.where(is_in_layer, np.minimum(marks, np.uint8(layer)), marks)


def _collect_layer(
    depth: npt.NDArray[np.uint8], rows: npt.NDArray[np.int64], layer: int
) -> StateRows:
    """Return the states that are marked with a layer, in the given rows."""
    numbers, bits = [np.zeros(0, np.uint32)], [np.zeros((0, -(-depth.shape[1] // 8)), np.uint8)]
    for first in range(0, len(rows), ROWS_PER_STEP):
        chunk = rows[first : first + ROWS_PER_STEP]
        is_in_layer = depth[chunk] == layer
        has_states = is_in_layer.any(axis=1)
        numbers.append(chunk[has_states].astype(np.uint32))
        bits.append(np.packbits(is_in_layer[has_states], axis=1))
    return [np.concatenate(numbers), np.concatenate(bits)]
