"""All states of a puzzle with goals, and every move between them: what its tables are held against.

A space is made from the puzzle's plain rules, a state at a time, never from its `graph`; a puzzle's
own room may say the rules once more, for all states at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from pipeline.verify.claims import Array, Mask
    from tablebase.puzzle import GoalPuzzle


class Space:
    """A puzzle's states by rank, and its moves: `sources[m]` goes to `targets[m]` by a letter.

    `letters[m]` is the letter's place in the puzzle's letters; a target of -1 is no state.
    """

    def __init__(self, states: pa.StringArray, sources: Array, targets: Array, letters: Array):
        self.states = states
        self.sources = sources.astype(np.int32)
        self.targets = targets.astype(np.int32)
        self.letters = letters.astype(np.uint8)

    def features(self, ranks: Array, goal: str) -> dict[str, Array]:
        """Further columns for these states on their way to a goal."""
        raise NotImplementedError

    def parity(self) -> npt.NDArray[np.uint8] | None:
        """A number for every state that no move changes, where the rules know one."""
        return None

    def one_way(self) -> Mask:
        """Which moves no move undoes."""
        states = len(self.states)
        forth = self.sources.astype(np.int64) * states + self.targets
        back = self.targets.astype(np.int64) * states + self.sources
        if np.array_equal(np.sort(forth), np.sort(back)):
            return np.zeros(len(forth), dtype=np.bool_)
        return ~np.isin(back, forth)


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
        super().__init__(pa.array(texts, pa.string()), *np.array(moves, dtype=int).reshape(-1, 3).T)
        self._puzzle = puzzle
        self._texts = texts

    def features(self, ranks: Array, goal: str) -> dict[str, Array]:
        found = [self._puzzle.features(self._texts[rank], goal) for rank in ranks]
        names = found[0] if found else {}
        return {name: np.array([values[name] for values in found]) for name in names}
