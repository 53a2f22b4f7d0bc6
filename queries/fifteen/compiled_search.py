"""The compiled search for shortest solutions, with the tables in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from queries.fifteen.solution import SearchState
from queries.kernels.pattern_search import (
    CELLS,
    FOUND,
    SLOTS,
    Search,
    SearchTables,
    continue_search,
    make_search,
)
from tablebase.puzzles.fifteen.pattern import Pattern, rank_order

BUDGET = 200_000
"""Positions between two calls of `on_pause`: some hundredths of a second."""


class CompiledSolver:
    """A solver with the tables in memory; several threads may use it at once."""

    def __init__(self, patterns: Sequence[Pattern], tables: SearchTables) -> None:
        self._patterns = patterns
        self._tables = tables

    def search(self, board: list[int], state: SearchState) -> list[int]:
        """Return the cells of the blank on a shortest solution, the first one included.

        The search continues from the limit of `state`, and changes it; it pauses now and then.
        """
        search = self._begin(board)
        search.counters[1] = max(state.limit, int(search.bounds[:2].max()))
        earlier, status = state.positions, -1
        # plain tuples: compiled code that is cached would depend on the names of the classes
        arrays = tuple(self._tables), tuple(search)
        while status != FOUND:
            status = continue_search(*arrays, np.uint64(BUDGET))
            state.limit = int(search.counters[1])
            state.positions = earlier + int(search.counters[2])
            if status != FOUND:
                state.pause()
        path: list[int] = search.blanks[: int(search.counters[0]) + 1].tolist()
        return path

    def _begin(self, board: list[int]) -> Search:
        tables, search = self._tables, make_search()
        search.board[: len(board)] = board
        search.blanks[0] = board.index(0)
        for image in range(int(tables.images)):
            to_image = tables.cells[image * int(CELLS) :].tolist()
            for number, pattern in enumerate(self._patterns):
                # mirroring twice changes nothing, so it also leads back to the board's tiles
                cells = [to_image[board.index(to_image[t - 1] + 1)] for t in pattern.tiles]
                slot = image * SLOTS + number
                mask = sum(1 << cell for cell in cells)
                order = rank_order(sorted(range(len(cells)), key=cells.__getitem__))
                rank = order * pattern.sets + int(tables.set_ranks[mask])
                value = tables.distances[int(tables.offsets[slot]) + rank]
                search.masks[slot], search.orders[slot], search.values[slot] = mask, order, value
                search.bounds[image] += value
        return search
