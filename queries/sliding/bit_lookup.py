"""Lookups of many states at a time in a table with one bit of each distance: walks to the goal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from queries.kernels.bit_walks import UNREACHED, measure_distances, walk_states
from tablebase.puzzles.sliding import CHARACTERS, LETTERS, BoardGoalView, SlidingBoard
from tablebase.resources import count_cores

Bytes = npt.NDArray[np.uint8]
CHUNK_ORDERS = 1 << 16
"""Orders in a chunk, whose distances one thread measures."""


class BitLookup:
    """A lookup in a table of one bit for each state, for a goal that the table has a view of."""

    def __init__(self, board: SlidingBoard, view: BoardGoalView, goal: str, bits: Bytes) -> None:
        wide, layout = board.wide, view.layout
        self._bits, self._wide = bits, wide
        self._cells = [view.cells[cell] for cell in wide.cell_at]
        self._names = np.zeros(len(CHARACTERS), dtype=np.uint8)
        for cell, mark in zip(view.cells, layout, strict=True):
            self._names[CHARACTERS.index(goal[cell])] = CHARACTERS.index(mark)
        home = wide.place[layout.index("0")]
        lines, steps = np.divmod(np.arange(wide.cells), wide.line)
        sides = (lines + steps - home // wide.line - home % wide.line) % 2
        odd = ((lines - home // wide.line) * (wide.line - 1) + wide.is_odd(layout)) % 2
        self._ways = np.full((wide.cells, 4), -1)
        self._letters = np.zeros((wide.cells, 16), dtype=np.uint8)
        for place, cell in enumerate(self._cells):
            for way, (letter, to) in enumerate(board.list_exits(cell)):
                self._ways[place, way] = self._cells.index(to)
                chosen = np.arange(16) >> way & 1
                self._letters[place] |= (chosen << LETTERS.index(letter)).astype(np.uint8)
        weights = np.array([*wide.weights, 0, 0][: wide.cells - 1])
        self._tables = self._ways, sides, odd, weights
        self._goal = wide.rank(layout)

    def look_up(self, tiles: Bytes) -> tuple[npt.NDArray[np.int16], Bytes] | None:
        """Return the distances of states, -1 if unreachable, and the sets of best moves as bits.

        `tiles` has one state per column. None if a walk does not end at the goal.
        """
        cells = np.ascontiguousarray(self._names[tiles[self._cells]].T)
        distances, nearer = np.empty(len(cells), np.int16), np.empty(len(cells), np.uint8)
        if not walk_states(self._bits, cells, *self._tables, self._goal, distances, nearer):
            return None
        return distances, self._letters[cells.argmin(axis=1), nearer]

    def measure(self, tiles: Bytes) -> npt.NDArray[np.int16] | None:
        """Return the distances of states as `look_up` does."""
        answers = self.look_up(tiles)
        return answers and answers[0]

    def measure_distances(self) -> Bytes | None:
        """Return the distances of all states by rank; None if a walk does not end at the goal.

        The goal must be the one of the table, on the table's own board.
        """
        distances = np.full(self._wide.size, UNREACHED, dtype=np.uint8)
        distances[self._goal] = 0
        orders = self._wide.orders

        def measure_chunk(first: int) -> bool:
            last = min(orders, first + CHUNK_ORDERS)
            return measure_distances(self._bits, distances, *self._tables, first, last)

        with ThreadPoolExecutor(count_cores()) as pool:
            if not all(pool.map(measure_chunk, range(0, orders, CHUNK_ORDERS))):
                return None
        return distances
