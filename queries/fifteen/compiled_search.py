"""The compiled search for shortest solutions, with the tables in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from queries.fifteen.flat_tables import join_places, join_tiles
from queries.fifteen.solution import SearchState
from queries.kernels import pattern_search as words
from queries.kernels.pattern_search import SearchTables, continue_searches, find_entry
from tablebase.puzzles.fifteen import Pattern

BUDGET = 200_000
"""Positions between two calls of `pause`: some hundredths of a second."""
BOARDS_AT_ONCE = 4
"""Boards that are searched in turns: with more, the search waits no less for memory."""

Words = npt.NDArray[np.uint64]
Question = tuple[list[int], SearchState]
"""A board, and the state of its search."""


class CompiledSolver:
    """A solver with the tables in memory; several threads may use it at once."""

    def __init__(
        self, patterns: Sequence[Pattern], tables: SearchTables, budget: int = BUDGET
    ) -> None:
        self._patterns = patterns
        self._tables = tables
        self._budget = budget

    def search(self, board: list[int], state: SearchState) -> list[int]:
        """Return the cells of the blank on a shortest solution, the first one included.

        The search continues from the limit of `state`, and changes it; it pauses now and then.
        """
        ((_, path),) = self.search_each([(board, state)], 1)
        return path

    def search_each(
        self, questions: Iterable[Question], boards_at_once: int = BOARDS_AT_ONCE
    ) -> Iterator[tuple[SearchState, list[int]]]:
        """Yield the state and the path of each question as soon as its search ends.

        Several boards are searched in turns, which takes less time than one after the other.
        """
        waiting = iter(questions)
        searches = np.zeros((boards_at_once, int(words.SEARCH_WORDS)), dtype=np.uint64)
        seen = np.zeros((boards_at_once, words.SEEN), dtype=np.uint64)
        # a plain tuple: compiled code that is cached would depend on the name of the class
        arrays = tuple(self._tables), searches.ravel(), seen.ravel()
        states = dict[int, tuple[SearchState, int]]()
        while True:
            for number in {*range(boards_at_once)}.difference(states):
                for board, state in waiting:
                    seen[number] = 0
                    self._begin(searches[number], board, state)
                    states[number] = state, state.positions
                    break
            if not states:
                return
            continue_searches(*arrays, self._budget // boards_at_once)
            for number, (state, earlier) in [*states.items()]:
                search = searches[number]
                state.limit = int(search[words.LIMIT])
                state.positions = earlier + int(search[words.POSITIONS])
                if search[words.STATUS] == words.SOLVED:
                    search[words.STATUS] = words.IDLE
                    del states[number]
                    yield state, _list_blanks(search)
                else:
                    state.pause()

    def _begin(self, search: Words, board: list[int], state: SearchState) -> None:
        """Write the words of a search that begins."""
        tables = tuple(self._tables)
        slots, bounds = [0] * (2 * words.SLOTS), [0, 0]
        for image in range(2):
            to_image = self._tables.cells[image * int(words.CELLS) :].tolist()
            for number, pattern in enumerate(self._patterns):
                # mirroring twice changes nothing, so it also leads back to the board's tiles
                cells = [to_image[board.index(to_image[t - 1] + 1)] for t in pattern.tiles]
                slot = image * words.SLOTS + number
                mask = sum(1 << cell for cell in cells)
                order = join_places(sorted(range(len(cells)), key=cells.__getitem__))
                entry = find_entry(tables, np.uint64(number), np.uint64(mask), np.uint64(order))
                value = int(self._tables.distances[entry])
                slots[slot] = mask | order << int(words.ORDER) | value << int(words.VALUE)
                bounds[image] += value
        search[words.BOARD : words.BOARD + words.CELLS][: len(board)] = board
        search[words.SLOT : words.FRAMES] = slots
        frame = search[words.FRAMES :]
        frame[words.BLANK] = board.index(0)
        frame[words.KEY] = join_tiles(board)
        frame[words.BOUND : words.OLD] = bounds
        frame[words.CHILDREN] = 0
        search[words.STATUS] = words.SEARCHING if bounds[0] else words.SOLVED
        state.raise_bound(max(bounds))
        search[words.LIMIT] = state.limit
        search[words.DEPTH] = search[words.POSITIONS] = 0


def _list_blanks(search: Words) -> list[int]:
    """Return the cells of the blank on the solution that a search ended with."""
    frames = search[words.FRAMES :].reshape(words.MAX_MOVES, -1)
    blanks: list[int] = frames[: int(search[words.DEPTH]) + 1, words.BLANK].tolist()
    return blanks
