"""All states of a puzzle with goals, and every move between them: what its tables are held against.

A space is made from the puzzle's moves of texts, never from its `graph`; a puzzle's own room may
say the rules once more, for all states at once.
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
        self.sources = sources.astype(np.int32, copy=False)
        self.targets = targets.astype(np.int32, copy=False)
        self.letters = letters.astype(np.uint8, copy=False)

    def features(self, ranks: Array, goal: str) -> dict[str, Array]:
        """Further columns for these states on their way to a goal."""
        raise NotImplementedError

    def parity(self) -> npt.NDArray[np.uint8] | None:
        """A number for every state that no move changes, where the rules know one."""
        return None

    def one_way(self) -> Mask:
        """Which moves no move undoes."""
        forth, back = (
            self._pairs(self.sources, self.targets),
            self._pairs(self.targets, self.sources),
        )
        forth.sort()
        back.sort()
        if np.array_equal(forth, back):
            return np.zeros(len(forth), dtype=np.bool_)
        return ~np.isin(self._pairs(self.targets, self.sources), forth)

    def _pairs(self, first: Array, second: Array) -> Array:
        """A number for each pair of ranks."""
        number: Array = first.astype(np.int64) * len(self.states) + second
        return number


class Plain(Space):
    """Any puzzle's space, by asking for all its states and moves."""

    def __init__(self, puzzle: GoalPuzzle) -> None:
        states = puzzle.states()
        sources, targets, letters = [], [], []
        for letter, ranks, after in puzzle.all_moves():
            sources.append(ranks.astype(np.int32))
            # in notation order they ascend; where they do not, no state is found
            at = np.minimum(np.searchsorted(states, after), len(states) - 1).astype(np.int32)
            targets.append(np.where(states[at] == after, at, np.int32(-1)))
            letters.append(np.full(len(ranks), puzzle.letters.index(letter), dtype=np.uint8))
        texts = pa.array(states).cast(pa.string())
        super().__init__(texts, *map(np.concatenate, (sources, targets, letters)))
        self._puzzle = puzzle

    def features(self, ranks: Array, goal: str) -> dict[str, Array]:
        found = [self._puzzle.features(self.states[int(rank)].as_py(), goal) for rank in ranks]
        names = found[0] if found else {}
        return {name: np.array([values[name] for values in found]) for name in names}
