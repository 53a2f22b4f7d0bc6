"""Tables of a sliding board's moves, so that a search never unranks a state.

A block has the states with the blank on one place. The order of the tiles is split into a head,
whose rank is the row, and a tail, whose rank is the place in the row. A move along a short line
changes the block alone. One from line to line moves a tile past `line - 1` others: it changes the
head alone, the tail alone, or exchanges one tile between them.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import factorial

import numpy as np
import numpy.typing as npt

from tablebase.graph import BlockMove, Blocks, ForkedMove
from tablebase.puzzles.sliding.board import LETTERS, MARKS, SlidingBoard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.block_space import Depths
    from tablebase.puzzle import Columns

MAX_TAIL_TILES = 6
"""Most tiles of the tail: 360 places in each row, and tables that fit a core's cache."""
MAX_PREFIX_TILES = 2
"""Most first tiles that the rows of one run share."""

Array = npt.NDArray[np.int64]


class SplitOrders:
    """The orders of so many tiles, split into heads and tails: arrays with one in each row."""

    def __init__(self, tiles: int) -> None:
        self.tiles = tiles
        self.tail = min(MAX_TAIL_TILES, tiles - 1)
        self.head = tiles - self.tail
        self.heads = np.array([*permutations(range(tiles), self.head)])
        others = np.ones((len(self.heads), tiles), dtype=np.bool_)
        np.put_along_axis(others, self.heads, False, axis=1)
        self.others = np.nonzero(others)[1].reshape(-1, self.tail)
        """For each head, the tiles that are not in it, ascending: those of its tails."""
        self.tails = np.array([*permutations(range(self.tail))])
        self.places = len(self.tails) // 2
        self.row_kinds = _count_smaller(self.heads).sum(axis=1) % 2
        """Whether an odd number of pairs is out of order, without pairs in the tail."""
        odd = _count_smaller(self.tails).sum(axis=1) % 2
        self.tails_of_kind = np.stack([np.flatnonzero(odd == kind) for kind in (0, 1)])
        """For kind 0 the even tails, for kind 1 the odd ones: one of each two consecutive tails."""

    def rank_heads(self, heads: Array) -> Array:
        """Return the ranks of heads, which number the rows."""
        weights = [
            factorial(self.tiles - 1 - at) // factorial(self.tail) for at in range(self.head)
        ]
        ranks: Array = _count_smaller(heads) @ np.array(weights)
        return ranks

    def rank_tails(self, tails: Array) -> Array:
        """Return the ranks of tails among those of their kind."""
        weights = [factorial(self.tail - 1 - at) for at in range(self.tail)]
        ranks: Array = _count_smaller(tails) @ np.array(weights) // 2
        return ranks

    def make_move(self, source: int, target: int, order: list[int]) -> BlockMove:
        """Make the move after which position `i` has the tile that was at position `order[i]`."""
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
        """Make a move that exchanges a tile of the tail with one of the head.

        `coming`: the position in the tail of the tile that comes to the head; `going`: the position
        in the head of the one that goes to the tail. A fork is the number of the tail's tiles that
        are smaller than the one that comes, an entry the number of the tail's remaining tiles that
        are smaller than the one that goes.
        """
        forks = range(self.tail)
        rows = np.empty((len(self.heads), self.tail), dtype=np.uint32)
        entries = np.empty(rows.shape, dtype=np.uint8)
        going_tile = self.heads[:, going]
        smaller = (self.others < going_tile[:, None]).sum(axis=1)
        for fork in forks:
            coming_tile = self.others[:, fork]
            widened = np.column_stack([self.heads, coming_tile])
            rows[:, fork] = self.rank_heads(widened[:, np.minimum(head, self.head)])
            entries[:, fork] = smaller - (coming_tile < going_tile)
        tails = self.tails[self.tails_of_kind]
        coming_fork = tails[:, :, coming]
        places = np.empty((2, self.tail, self.places), dtype=np.uint16)
        remaining = tails - (tails > coming_fork[:, :, None])
        for entry in forks:
            renumbered = remaining + (remaining >= entry)
            entering = np.full((2, self.places, 1), entry)
            moved = np.concatenate([renumbered, entering], axis=2)[
                :, :, np.where(tail < 0, self.tail, tail)
            ]
            places[:, entry] = self.rank_tails(moved.reshape(-1, self.tail)).reshape(2, -1)
        return ForkedMove(source, target, rows, coming_fork.astype(np.uint8), entries, places)

    def list_orders(self, first: int, last: int, kinds: Array) -> npt.NDArray[np.uint8]:
        """List the orders in rows `first` to below `last`, as tiles by position, row and place.

        `kinds`: the kinds of these rows in their block.
        """
        tails = self.tails[self.tails_of_kind][kinds]
        rows = np.arange(first, last)[:, None]
        orders = np.empty((self.tiles, last - first, self.places), dtype=np.uint8)
        orders[: self.head] = self.heads[first:last].T[:, :, None]
        for at in range(self.tail):
            orders[self.head + at] = self.others[rows, tails[:, :, at]]
        return orders


def _count_smaller(orders: Array) -> Array:
    """Count, for each position of each order, the smaller tiles that are not before it."""
    digits = orders.copy()
    for at in range(1, orders.shape[1]):
        digits[:, at] -= (orders[:, :at] < orders[:, at : at + 1]).sum(axis=1)
    return digits


_get_split_orders = cache(SplitOrders)


def count_fixed_prefixes(board: SlidingBoard) -> int:
    """Count the different prefixes of orders that no move in the tail, or into it, changes."""
    tiles = board.cells - 1
    head = tiles - min(MAX_TAIL_TILES, tiles - 1)
    prefix_tiles = min(MAX_PREFIX_TILES, max(0, head - board.line + 1))
    return factorial(tiles) // factorial(tiles - prefix_tiles)


def make_blocks(board: SlidingBoard, goal: str) -> Blocks:
    """Make the blocks of the states that reach a goal, one for each place of the blank."""
    split_orders, line = _get_split_orders(board.cells - 1), board.line
    moves = []
    for place in range(board.cells):
        if (place + 1) % line:
            unchanged = np.arange(len(split_orders.heads), dtype=np.uint32)
            moves.append(
                (BlockMove(place, place + 1, unchanged), BlockMove(place + 1, place, unchanged))
            )
        if place + line < board.cells:
            order = [*range(split_orders.tiles)]
            order.insert(place, order.pop(place + line - 1))
            inverse = sorted(range(split_orders.tiles), key=order.__getitem__)
            target = place + line
            moves.append(
                (
                    split_orders.make_move(place, target, order),
                    split_orders.make_move(target, place, inverse),
                )
            )
    lines, steps = np.divmod(np.arange(board.cells), line)
    goal_place = board.place[goal.index("0")]
    kinds = (lines - goal_place // line) * (line - 1) % 2 ^ board.is_odd(goal)
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
    """Make a table's columns for the states in rows `first` to below `last` of a block."""
    rows, places = len(space.row_kinds), np.arange(space.places)
    depths = depth.reshape(len(space.sides), rows, space.places)
    kinds = space.row_kinds[first:last] ^ space.block_kinds[block]
    orders = _get_split_orders(board.cells - 1).list_orders(first, last, kinds)
    tiles = np.insert(orders + np.uint8(1), block, 0, axis=0)
    block_depths = depths[block, first:last]
    best = np.zeros(block_depths.shape, dtype=np.uint8)
    letters = {cell: letter for letter, cell in board.list_exits(board.cell_at[block])}
    for move in (move for pair in space.moves for move in pair if move.source == block):
        target_rows = move.rows[first:last]
        if isinstance(move, ForkedMove):
            fork = move.forks[kinds]
            entry = np.take_along_axis(move.entries[first:last], fork, axis=1)
            place = move.places[kinds[:, None], entry, places]
            target_depths = depths[
                move.target, np.take_along_axis(target_rows, fork, axis=1), place
            ]
        else:
            target_depths = depths[move.target, target_rows]
        bit = 1 << LETTERS.index(letters[board.cell_at[move.target]])
        best |= (target_depths < block_depths) * np.uint8(bit)
    goal_cells = [goal.index(mark) for mark in MARKS[: board.cells]]
    manhattan = np.zeros(block_depths.shape, dtype=np.uint8)
    for place, tile in enumerate(tiles):
        steps = [board.count_steps(board.cell_at[place], goal_cell) for goal_cell in goal_cells]
        manhattan += np.array([0, *steps[1:]], dtype=np.uint8)[tile]
    marks = np.frombuffer(MARKS.encode(), np.uint8)
    text = np.ascontiguousarray(np.moveaxis(marks[tiles[board.place]], 0, 2))
    return {
        "state": text.view(f"S{board.cells}").ravel(),
        "goal": np.full(block_depths.size, [*board.layouts].index(goal), dtype=np.uint8),
        "distance": block_depths.ravel(),
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
"""The letters of each set of moves, indexed by the set's bits."""
