"""A sliding board's moves as small tables, so that a search never unranks a state.

A block is a place of the blank. The order of the tiles is cut in a head, which numbers the row, and
a tail, which numbers the place in it. A move along a short line changes the block alone. One from
line to line takes a tile past `line - 1` others: it changes the head alone, the tail alone, or
exchanges one tile between them.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial

import numpy as np
import numpy.typing as npt

from tablebase.graph import BlockMove, Blocks, ForkedMove
from tablebase.puzzles.sliding.board import CHARACTERS, LETTERS, SlidingBoard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.block_space import Depths
    from tablebase.puzzle import Columns

MAX_TAIL_TILES = 6
"""Tiles of the tail, at most: 360 places a row, and tables that stay in a core's cache."""
MAX_PREFIX_TILES = 2
"""Tiles at the beginning of an order that rows of one stretch have in common, at most."""

Array = npt.NDArray[np.int64]


class SplitOrders:
    """The orders of so many tiles, cut in two: each half as an array, a row an order."""

    def __init__(self, tiles: int) -> None:
        self.tiles = tiles
        self.tail = min(MAX_TAIL_TILES, tiles - 1)
        self.head = tiles - self.tail
        self.heads = np.array([*permutations(range(tiles), self.head)])
        others = np.ones((len(self.heads), tiles), dtype=np.bool_)
        np.put_along_axis(others, self.heads, False, axis=1)
        self.others = np.nonzero(others)[1].reshape(-1, self.tail)
        """The tiles that a head leaves, ascending: those of its tails."""
        self.tails = np.array([*permutations(range(self.tail))])
        self.places = len(self.tails) // 2
        self.row_kinds = _count_smaller(self.heads).sum(axis=1) % 2
        """Whether an odd number of pairs is out of order, the tail's own left out."""
        odd = _count_smaller(self.tails).sum(axis=1) % 2
        self.tails_of_kind = np.stack([np.flatnonzero(odd == kind) for kind in (0, 1)])
        """For each kind the tails that are even, or odd: one of every two on end."""

    def rank_heads(self, heads: Array) -> Array:
        """The numbers of heads, as rows."""
        weights = [
            factorial(self.tiles - 1 - at) // factorial(self.tail) for at in range(self.head)
        ]
        ranks: Array = _count_smaller(heads) @ np.array(weights)
        return ranks

    def rank_tails(self, tails: Array) -> Array:
        """The numbers of tails among those of their kind."""
        weights = [factorial(self.tail - 1 - at) for at in range(self.tail)]
        ranks: Array = _count_smaller(tails) @ np.array(weights) // 2
        return ranks

    def make_move(self, source: int, target: int, order: list[int]) -> BlockMove:
        """The move that brings to each position of an order what stood at another."""
        head, tail = np.array(order[: self.head]), np.array(order[self.head :])
        if max(head) < self.head and order[self.head :] == [*range(self.head, self.tiles)]:
            return BlockMove(source, target, self.rank_heads(self.heads[:, head]).astype(np.uint32))
        coming = [position for position in head if position >= self.head]
        if not coming:
            return self._make_tail_move(source, target, tail - self.head)
        (going,) = {*range(self.head)} - {*head.tolist()}
        return self._make_exchange_move(
            source, target, head, tail - self.head, coming[0] - self.head, going
        )

    def _make_tail_move(self, source: int, target: int, order: Array) -> BlockMove:
        rows = np.arange(len(self.heads))[:, None]
        places = self.rank_tails(self.tails[self.tails_of_kind][:, :, order].reshape(-1, self.tail))
        return ForkedMove(
            source,
            target,
            rows.astype(np.uint32),
            np.zeros((2, self.places), dtype=np.uint8),
            np.zeros((len(rows), 1), dtype=np.uint8),
            places.reshape(2, 1, -1).astype(np.uint16),
        )

    def _make_exchange_move(
        self, source: int, target: int, head: Array, tail: Array, coming: int, going: int
    ) -> BlockMove:
        """One tile comes from a position of the tail, and one goes there from the head.

        A fork is how many of the tail's tiles are smaller than the one that comes, an entry how
        many of the others are smaller than the one that goes.
        """
        forks = range(self.tail)
        rows = np.empty((len(self.heads), self.tail), dtype=np.uint32)
        entries = np.empty(rows.shape, dtype=np.uint8)
        gone = self.heads[:, going]
        smaller = (self.others < gone[:, None]).sum(axis=1)
        for fork in forks:
            come = self.others[:, fork]
            widened = np.column_stack([self.heads, come])
            rows[:, fork] = self.rank_heads(widened[:, np.minimum(head, self.head)])
            entries[:, fork] = smaller - (come < gone)
        tails = self.tails[self.tails_of_kind]
        come = tails[:, :, coming]
        places = np.empty((2, self.tail, self.places), dtype=np.uint16)
        left = tails - (tails > come[:, :, None])
        for entry in forks:
            renamed = left + (left >= entry)
            gone = np.full((2, self.places, 1), entry)
            moved = np.concatenate([renamed, gone], axis=2)[
                :, :, np.where(tail < 0, self.tail, tail)
            ]
            places[:, entry] = self.rank_tails(moved.reshape(-1, self.tail)).reshape(2, -1)
        return ForkedMove(source, target, rows, come.astype(np.uint8), entries, places)

    def list_orders(self, first: int, last: int, kinds: Array) -> npt.NDArray[np.uint8]:
        """The tiles of all orders in some rows of these kinds, by position, row and place."""
        tails = self.tails[self.tails_of_kind][kinds]
        rows = np.arange(first, last)[:, None]
        orders = np.empty((self.tiles, last - first, self.places), dtype=np.uint8)
        orders[: self.head] = self.heads[first:last].T[:, :, None]
        for at in range(self.tail):
            orders[self.head + at] = self.others[rows, tails[:, :, at]]
        return orders


def _count_smaller(orders: Array) -> Array:
    """For each place of each order, how many smaller ones are left by those before it."""
    digits = orders.copy()
    for at in range(1, orders.shape[1]):
        digits[:, at] -= (orders[:, :at] < orders[:, at : at + 1]).sum(axis=1)
    return digits


_get_split_orders = cache(SplitOrders)


def count_fixed_prefixes(board: SlidingBoard) -> int:
    """How many beginnings of orders there are that no move in the tail, or into it, changes."""
    tiles = board.cells - 1
    head = tiles - min(MAX_TAIL_TILES, tiles - 1)
    prefix_tiles = min(MAX_PREFIX_TILES, max(0, head - board.line + 1))
    return factorial(tiles) // factorial(tiles - prefix_tiles)


def make_blocks(board: SlidingBoard, goal: str) -> Blocks:
    """The states that reach a goal; a place of the blank is a block."""
    split_orders, line = _get_split_orders(board.cells - 1), board.line
    moves = []
    for place in range(board.cells):
        if (place + 1) % line:
            same = np.arange(len(split_orders.heads), dtype=np.uint32)
            moves.append((BlockMove(place, place + 1, same), BlockMove(place + 1, place, same)))
        if place + line < board.cells:
            order = [*range(split_orders.tiles)]
            order.insert(place, order.pop(place + line - 1))
            back = sorted(range(split_orders.tiles), key=order.__getitem__)
            to = place + line
            moves.append(
                (split_orders.make_move(place, to, order), split_orders.make_move(to, place, back))
            )
    lines, steps = np.divmod(np.arange(board.cells), line)
    home = board.place[goal.index("0")]
    kinds = (lines - home // line) * (line - 1) % 2 ^ board.is_odd(goal)
    return Blocks(
        board.rank(goal),
        split_orders.places,
        len(split_orders.heads) // count_fixed_prefixes(board),
        ((lines + steps) % 2).astype(np.uint8),
        kinds.astype(np.uint8),
        split_orders.row_kinds.astype(np.uint8),
        moves,
    )


def make_rows(
    board: SlidingBoard, goal: str, space: Blocks, depth: Depths, block: int, first: int, last: int
) -> Columns:
    """A table's columns for the states of some rows of a block."""
    rows, every = len(space.row_kinds), np.arange(space.places)
    depths = depth.reshape(len(space.sides), rows, space.places)
    kinds = space.row_kinds[first:last] ^ space.block_kinds[block]
    orders = _get_split_orders(board.cells - 1).list_orders(first, last, kinds)
    tiles = np.insert(orders + np.uint8(1), block, 0, axis=0)
    here = depths[block, first:last]
    best = np.zeros(here.shape, dtype=np.uint8)
    letters = {cell: letter for letter, cell in board.list_exits(board.cell_at[block])}
    for move in (move for pair in space.moves for move in pair if move.source == block):
        to = move.rows[first:last]
        if isinstance(move, ForkedMove):
            fork = move.forks[kinds]
            entry = np.take_along_axis(move.entries[first:last], fork, axis=1)
            place = move.places[kinds[:, None], entry, every]
            near = depths[move.target, np.take_along_axis(to, fork, axis=1), place]
        else:
            near = depths[move.target, to]
        bit = 1 << LETTERS.index(letters[board.cell_at[move.target]])
        best |= (near < here) * np.uint8(bit)
    homes = [goal.index(mark) for mark in CHARACTERS[: board.cells]]
    manhattan = np.zeros(here.shape, dtype=np.uint8)
    for place, standing in enumerate(tiles):
        steps = [board.count_steps(board.cell_at[place], home) for home in homes]
        manhattan += np.array([0, *steps[1:]], dtype=np.uint8)[standing]
    marks = np.frombuffer(CHARACTERS.encode(), np.uint8)
    text = np.ascontiguousarray(np.moveaxis(marks[tiles[board.place]], 0, 2))
    return {
        "state": text.view(f"S{board.cells}").ravel(),
        "goal": np.full(here.size, [*board.layouts].index(goal), dtype=np.uint8),
        "distance": here.ravel(),
        "best_moves": MOVE_SETS[best.ravel()],
        "manhattan": manhattan.ravel(),
    }


MOVE_SETS = np.array(
    [
        "".join(letter for at, letter in enumerate(LETTERS) if letters >> at & 1)
        for letters in range(1 << len(LETTERS))
    ],
    dtype="S4",
)
"""The letters of every set of moves, by its bits."""
