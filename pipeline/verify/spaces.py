"""All states of a puzzle with goals, and every move between them: what its tables are held against.

A space is made from the puzzle's plain rules, a state at a time, never from its `graph`. The
8-puzzle has one that says the rules once more, for all boards at once.
"""

from __future__ import annotations

from functools import singledispatch
from itertools import chain, permutations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablebase.puzzles.eight import Eight

if TYPE_CHECKING:
    from pipeline.verify.claims import Array
    from tablebase.puzzle import GoalPuzzle


class Space:
    """A puzzle's states by rank, and its moves: `sources[m]` goes to `targets[m]` by a letter.

    `letters[m]` is the letter's place in the puzzle's letters; a target of -1 is no state.
    """

    def __init__(
        self,
        states: pa.StringArray,
        sources: npt.NDArray[np.int32],
        targets: npt.NDArray[np.int32],
        letters: npt.NDArray[np.uint8],
    ) -> None:
        self.states = states
        self.sources = sources
        self.targets = targets
        self.letters = letters

    def features(self, ranks: Array, goal: str) -> dict[str, Array]:
        """Further columns for these states on their way to a goal."""
        raise NotImplementedError

    def parity(self) -> npt.NDArray[np.uint8] | None:
        """A number for every state that no move changes, where the rules know one."""
        return None

    def one_way(self) -> npt.NDArray[np.int64]:
        """The moves that no move undoes."""
        states = len(self.states)
        forth = np.sort(self.sources.astype(np.int64) * states + self.targets)
        back = self.targets.astype(np.int64) * states + self.sources
        if np.array_equal(forth, np.sort(back)):
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(~np.isin(back, forth))


class Plain(Space):
    """Any puzzle's space, by asking its rules for each state in turn."""

    def __init__(self, puzzle: GoalPuzzle) -> None:
        texts = [puzzle.unrank(rank) for rank in range(puzzle.size)]
        rank_of = {text: rank for rank, text in enumerate(texts)}
        moves = [
            (source, rank_of.get(after, -1), puzzle.letters.index(letter))
            for source, text in enumerate(texts)
            for letter, after in puzzle.moves(text)
        ]
        sources, targets, letters = np.array(moves, dtype=np.int32).reshape(-1, 3).T
        super().__init__(pa.array(texts, pa.string()), sources, targets, letters.astype(np.uint8))
        self._puzzle = puzzle
        self._texts = texts

    def features(self, ranks: Array, goal: str) -> dict[str, Array]:
        found = [self._puzzle.features(self._texts[rank], goal) for rank in ranks]
        names = found[0] if found else {}
        return {name: np.array([values[name] for values in found]) for name in names}


STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Where the blank goes by U, D, L and R, as (rows, columns)."""


class Sliding(Space):
    """The 8-puzzle's: 9! boards in notation order, a state read as one number of nine digits."""

    def __init__(self) -> None:
        # permutations of sorted digits come in ascending order, which is notation order
        digits = bytes(chain.from_iterable(permutations(range(9))))
        self._boards = np.frombuffer(digits, dtype=np.uint8).reshape(-1, 9)
        count = len(self._boards)
        weights = 10 ** np.arange(8, -1, -1, dtype=np.int32)
        numbers = self._boards @ weights
        self._blank = np.argmin(self._boards, axis=1)
        sources, targets, letters = [], [], []
        for letter, (down, right) in enumerate(STEPS):
            for cell in range(9):
                row, column = cell // 3 + down, cell % 3 + right
                if not (0 <= row < 3 and 0 <= column < 3):
                    continue
                came = np.flatnonzero(self._blank == cell)
                other = 3 * row + column
                tile = self._boards[came, other].astype(np.int32)
                after = numbers[came] + tile * (weights[cell] - weights[other])
                sources.append(came)
                targets.append(np.searchsorted(numbers, after))
                letters.append(np.full(len(came), letter, dtype=np.uint8))
        super().__init__(
            _fixed_text(self._boards + np.uint8(ord("0"))),
            np.concatenate(sources).astype(np.int32),
            np.concatenate(targets).astype(np.int32),
            np.concatenate(letters),
        )
        # where each tile stands: row t of this is tile t's cell on every board
        self._cells = np.empty((9, count), dtype=np.int8)
        everyone = np.arange(count)
        for cell in range(9):
            self._cells[self._boards[:, cell], everyone] = cell

    def features(self, ranks: Array, goal: str) -> dict[str, Array]:
        manhattan = np.zeros(len(ranks), dtype=np.int16)
        misplaced = np.zeros(len(ranks), dtype=np.int16)
        for tile in range(1, 9):
            home = goal.index(str(tile))
            cells = self._cells[tile, ranks]
            manhattan += abs(cells // 3 - home // 3) + abs(cells % 3 - home % 3)
            misplaced += cells != home
        return {"blank": self._blank[ranks], "manhattan": manhattan, "misplaced": misplaced}

    def parity(self) -> npt.NDArray[np.uint8]:
        """Whether the number of tile pairs out of order is odd."""
        pairs = [(low, high) for high in range(1, 9) for low in range(1, high)]
        out = [self._cells[low] > self._cells[high] for low, high in pairs]
        odd: npt.NDArray[np.uint8] = np.bitwise_xor.reduce(np.array(out, dtype=np.uint8), axis=0)
        return odd


def _fixed_text(cells: npt.NDArray[np.uint8]) -> pa.StringArray:
    rows, width = cells.shape
    edges = np.arange(0, rows * width + 1, width, dtype=np.int32)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(np.ascontiguousarray(cells))]
    return pa.StringArray.from_buffers(rows, *buffers[1:])


@singledispatch
def space_of(puzzle: GoalPuzzle) -> Space:
    """The states and moves of a puzzle."""
    return Plain(puzzle)


@space_of.register
def _(puzzle: Eight) -> Space:
    return Sliding()
