"""Distances and best moves by a table of one bit a state: walks from states to the goal.

A walk keeps the Lehmer code of the permutation of the tiles: for each tile, the number of smaller
ones after it. A move is some adjacent transpositions, and each of these changes two digits.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.sliding import LETTERS, MOVE_SETS
from puzzle_tablebase.puzzles.sliding import SlidingBoard
from puzzle_tablebase.queries.board_columns import list_names, read_tiles, run_chunks

if TYPE_CHECKING:
    from puzzle_tablebase.errors import TableDamaged
    from puzzle_tablebase.puzzles.sliding import SymmetryView
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.queries.board_columns import Distances, Masks

MAX_STEPS = 254
CHUNK_ROWS = 1 << 14
"""Rows that are looked up at a time."""


class BitTable:
    """A table with one bit for each state, for a goal that it has a view of."""

    def __init__(
        self, board: SlidingBoard, view: SymmetryView, bits: Bytes, error: TableDamaged
    ) -> None:
        wide, goal = board.wide, board.wide.goals[view.table_goal]
        self._error = error
        """What is raised if the bits contradict each other."""
        self._bits, self._goal = bits, wide.rank(goal)
        self._cells = [view.cells[cell] for cell in wide.cell_at]
        self._names = list_names(view)
        lines, steps = np.divmod(np.arange(wide.cells), wide.line)
        home = divmod(wide.place[goal.index("0")], wide.line)
        ways = np.full((wide.cells, len(LETTERS)), -1)
        for place, cell in enumerate(self._cells):
            for letter, to in board.list_exits(cell):
                ways[place, LETTERS.index(letter)] = self._cells.index(to)
        colours = (lines + steps - sum(home)) % 2
        self._tables = ways, colours, *list_weights(board, view)

    def look_up(self, tiles: Bytes) -> tuple[Distances, Bytes]:
        """Return the distances of states, -1 if unreachable, and the sets of best moves as bits.

        `tiles` has one state per column.
        """
        places = np.ascontiguousarray(self._names[tiles[self._cells]].T)
        distances, nearer = np.empty(len(places), np.int16), np.empty(len(places), np.uint8)
        if not walk_states(self._bits, places, *self._tables, self._goal, distances, nearer):
            raise self._error
        return distances, nearer

    def measure(self, tiles: Bytes) -> Distances:
        """Return the distance modulo 4 of each column of tiles; each reaches the goal."""
        places = np.ascontiguousarray(self._names[tiles[self._cells]].T)
        values = np.empty(len(places), np.int16)
        _, colours, _, weights = self._tables
        read_values(self._bits, places, colours, weights, values)
        return values

    def answer_states(self, states: pl.Series) -> tuple[pl.DataFrame, Masks]:
        """Return distance and best moves of each text, and whether it is a state."""
        tiles, is_state = read_tiles(states, len(self._cells))
        good = np.flatnonzero(is_state)
        chunks = run_chunks(
            lambda at: self.look_up(tiles[:, good[at : at + CHUNK_ROWS]]), len(good), CHUNK_ROWS
        )
        distance, best = np.full(len(states), -1, np.int16), np.zeros(len(states), np.uint8)
        if chunks:
            distance[good], best[good] = map(np.concatenate, zip(*chunks, strict=True))
        answers = {"distance": distance, "best_moves": pl.Series(MOVE_SETS).gather(best)}
        rows = pl.DataFrame(answers).select(pl.when(pl.Series(distance >= 0)).then(pl.all()))
        return rows, is_state


def list_weights(board: SlidingBoard, view: SymmetryView) -> tuple[Array, Array]:
    """Return the parity of the permutations that reach a view's goal, by the blank's place on the
    wide board, and the weights of a permutation's Lehmer digits.
    """
    wide, goal = board.wide, board.wide.goals[view.table_goal]
    lines = np.arange(wide.cells) // wide.line
    turns = (lines - wide.place[goal.index("0")] // wide.line) * (wide.line - 1)
    weights = [factorial(tiles) // 2 for tiles in reversed(range(wide.cells - 1))]
    return (turns + wide.is_odd(goal)) % 2, np.array(weights)


@compiled
def walk_states(
    bits: Array, cells: Array, ways: Array, colours: Array, odd: Array, weights: Array,
    goal: int, distances: Array, nearer: Array,
) -> bool:  # fmt: skip
    """Fill the distances of states, -1 for those that do not reach the goal, and their best ways.

    `bits` has bit 1 of each distance by rank; `cells` the tiles of a state in each row, by place, 0
    for the blank; `ways` the places that the blank can move to, or -1; `colours` bit 0 of the
    distance, and `odd` the parity of the permutation, by the blank's place; `weights` the weights
    of a permutation's Lehmer digits; `goal` the goal's rank. `nearer` gets a bit for each way.
    Return False if a walk does not end at the goal.
    """
    orders = weights[0] * len(weights)
    digits, moved = np.zeros(len(weights), np.int64), np.zeros(len(weights), np.int64)
    for state in range(len(cells)):
        distances[state], nearer[state] = -1, 0
        blank, number, inversions = read_digits(cells[state], weights, digits)
        if inversions % 2 != odd[blank]:
            continue
        value = _read_value(bits, blank * orders + number, colours[blank])
        value, before = (value + 3) % 4, -1
        way = -1
        while True:
            way, increase = _find_way(
                bits, orders, blank, number, value, way + 1, before, ways, colours, weights, digits,
                moved,
            )  # fmt: skip
            if way < 0:
                break
            nearer[state] |= 1 << way
        steps = 0
        while blank * orders + number != goal:
            way, increase = _find_way(
                bits, orders, blank, number, value, 0, before, ways, colours, weights, digits, moved
            )
            if way < 0 or steps == MAX_STEPS:
                return False
            _copy_digits(digits, moved, blank, ways[blank, way])
            before = blank
            blank, number, value = ways[blank, way], number + increase, (value + 3) % 4
            steps += 1
        distances[state] = steps
    return True


@compiled
def read_values(bits: Array, cells: Array, colours: Array, weights: Array, values: Array) -> None:
    """Fill the distances of states modulo 4; the arrays are those of `walk_states`."""
    orders = weights[0] * len(weights)
    digits = np.zeros(len(weights), np.int64)
    for state in range(len(cells)):
        blank, number, _ = read_digits(cells[state], weights, digits)
        values[state] = _read_value(bits, blank * orders + number, colours[blank])


@compiled
def _find_way(
    bits: Array, orders: int, blank: int, number: int, value: int, first: int, before: int,
    ways: Array, colours: Array, weights: Array, digits: Array, moved: Array,
) -> tuple[int, int]:  # fmt: skip
    """Find the first way, from number `first`, to a state with this distance modulo 4; -1 if none.

    Return it with the increase of the permutation's rank; `moved` gets the digits that the move
    changes. `before` is the place that the blank came from, or -1; that way leads back to a farther
    state.
    """
    for way in range(first, ways.shape[1]):
        to = ways[blank, way]
        if to >= 0 and to != before:
            increase = _move_tile(digits, moved, blank, to, weights)
            if _read_value(bits, to * orders + number + increase, colours[to]) == value:
                return way, increase
    return -1, 0


@compiled
def read_digits(cells: Array, weights: Array, digits: Array) -> tuple[int, int, int]:
    """Fill the Lehmer digits; return the blank's place, the permutation's rank and inversions."""
    blank, number, inversions, at = 0, 0, 0, 0
    for place in range(len(cells)):
        if cells[place] == 0:
            blank = place
            continue
        digits[at] = 0
        for later in range(place + 1, len(cells)):
            digits[at] += 0 < cells[later] < cells[place]
        number += digits[at] * weights[at]
        inversions += digits[at]
        at += 1
    return blank, number, inversions


@compiled
def _read_value(bits: Array, rank: int, colour: int) -> Any:
    """Return a state's distance modulo 4."""
    return colour + 2 * (bits[rank >> 3] >> (rank & 7) & 1)


@compiled
def _move_tile(digits: Array, moved: Array, blank: int, to: int, weights: Array) -> int:
    """Move the blank to a place: fill the digits that change; return the increase of the rank.

    The tile on that place passes those between, by adjacent transpositions.
    """
    low, count = min(blank, to), abs(to - blank) - 1
    if count == 0:
        return 0
    increase = 0
    for at in range(low, low + count + 1):
        moved[at] = digits[at]
        increase -= digits[at] * weights[at]
    for step in range(count):
        at = low + count - 1 - step if to > blank else low + step
        first, second = moved[at], moved[at + 1]
        moved[at] = second + (second >= first)
        moved[at + 1] = first - (first > moved[at])
    for at in range(low, low + count + 1):
        increase += moved[at] * weights[at]
    return increase


@compiled
def _copy_digits(digits: Array, moved: Array, blank: int, to: int) -> None:
    """Copy the digits that a move changes."""
    if abs(to - blank) > 1:
        for at in range(min(blank, to), max(blank, to)):
            digits[at] = moved[at]
