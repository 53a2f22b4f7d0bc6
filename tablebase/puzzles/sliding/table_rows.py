"""The columns of a sliding board's table, for some rows of its search."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np
import numpy.typing as npt

from tablebase.puzzles.sliding.board import CHARACTERS, LETTERS, SlidingBoard
from tablebase.puzzles.sliding.word_moves import TAIL, trace_places
from tablebase.word_space import (
    BLOCK,
    CYCLE,
    EXCHANGES,
    INNER,
    IS_BORDER,
    MAX_EXCHANGES,
    OUTER,
    ROW_STATES,
    START,
    WEIGHT,
    WORD_STATES,
    WordSpace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.puzzle import Columns

    Depths = npt.NDArray[np.uint8]

Array = npt.NDArray[np.int64]


def make_rows(
    board: SlidingBoard,
    goal: str,
    space: WordSpace,
    depth: Depths,
    block: int,
    first: int,
    last: int,
) -> Columns:
    """Make a table's columns for the states in rows `first` to below `last` of a block."""
    kinds = space.list_row_kinds(first, last) ^ space.kinds[block]
    rows = np.arange(first, last)
    tiles = np.insert(_list_orders(board.cells - 1, space, rows, kinds), block, 0, axis=0)
    starts = block * space.states + rows * ROW_STATES
    distance = depth[starts[:, None] + np.arange(tiles.shape[2])]
    best = np.zeros(distance.shape, dtype=np.uint8)
    letters = {cell: letter for letter, cell in board.list_exits(board.cell_at[block])}
    for move in space.moves[block]:
        neighbours = _find_neighbours(space, move, rows, kinds)[:, : tiles.shape[2]]
        bit = 1 << LETTERS.index(letters[board.cell_at[move[BLOCK]]])
        best |= (depth[neighbours] < distance) * np.uint8(bit)
    goal_cells = [goal.index(mark) for mark in CHARACTERS[: board.cells]]
    manhattan = np.zeros(distance.shape, dtype=np.uint8)
    for place, tile in enumerate(tiles):
        steps = [board.count_steps(board.cell_at[place], goal_cell) for goal_cell in goal_cells]
        manhattan += np.array([0, *steps[1:]], dtype=np.uint8)[tile]
    marks = np.frombuffer(CHARACTERS.encode(), np.uint8)
    text = np.ascontiguousarray(np.moveaxis(marks[tiles[board.place]], 0, 2))
    return {
        "state": text.view(f"S{board.cells}").ravel(),
        "goal": np.full(distance.size, [*board.layouts].index(goal), dtype=np.uint8),
        "distance": distance.ravel(),
        "best_moves": MOVE_SETS[best.ravel()],
        "manhattan": manhattan.ravel(),
    }


def _find_neighbours(
    space: WordSpace, move: Array, rows: Array, kinds: npt.NDArray[np.uint8]
) -> Array:
    """Find the ranks of the states that a move leads from to each state of some rows.

    The move back leads to them. `kinds`: for each row whether its tails are odd.
    """
    outer = move[EXCHANGES : EXCHANGES + move[OUTER]]
    inner = move[EXCHANGES + MAX_EXCHANGES :][: move[INNER]]
    by_kind = np.array([trace_places(tuple(outer.tolist()), kind) for kind in (0, 1)])
    words, bits = np.divmod(by_kind[kinds], WORD_STATES)
    runs = (move[START] + rows // move[WEIGHT] % move[CYCLE])[:, None]
    offsets = space.tables.offsets[runs, words if move[IS_BORDER] else 0]
    if move[IS_BORDER]:
        words = space.tables.sources[runs, words].astype(np.int64)
    places = trace_places(tuple(inner.tolist()), 0)[words * WORD_STATES + bits]
    ranks: Array = move[BLOCK] * space.states + (rows[:, None] + offsets) * ROW_STATES + places
    return ranks


def _list_orders(
    tiles: int, space: WordSpace, rows: Array, kinds: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """List the orders in some rows, as tiles by position, row and place."""
    free_tiles = np.broadcast_to(np.arange(1, tiles + 1, dtype=np.uint8), (len(rows), tiles))
    weight, heads = space.rows, []
    for radix in space.radices:
        weight //= radix
        is_taken = np.arange(radix) == (rows // weight % radix)[:, None]
        heads.append(free_tiles[is_taken])
        free_tiles = free_tiles[~is_taken].reshape(len(rows), radix - 1)
    tails = _list_tails(tiles - len(heads))[kinds]
    orders = np.empty((tiles, len(rows), tails.shape[1]), dtype=np.uint8)
    for at, head in enumerate(heads):
        orders[at] = head[:, None]
    for at in range(tails.shape[2]):
        orders[len(heads) + at] = np.take_along_axis(free_tiles, tails[:, :, at], axis=1)
    return orders


@cache
def _list_tails(tiles: int) -> Array:
    """List the even tails of so many tiles, and the odd ones, each by place."""
    tails = np.array([*permutations(range(min(TAIL, tiles)))])
    pairs = [(a, b) for b in range(tails.shape[1]) for a in range(b)]
    odd = sum((tails[:, a] > tails[:, b] for a, b in pairs), np.zeros(len(tails), np.int64)) % 2
    return np.stack([tails[odd == kind] for kind in (0, 1)])


MOVE_SETS = np.array(
    [
        "".join(letter for at, letter in enumerate(LETTERS) if letters >> at & 1)
        for letters in range(1 << len(LETTERS))
    ],
    dtype="S4",
)
"""The letters of each set of moves, indexed by the set's bits."""
