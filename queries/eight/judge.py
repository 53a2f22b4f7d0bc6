"""The judge of the 8-puzzle: states are ranks, and a move is one lookup."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.check.boards import ArrayJudge, Numbers, Walk
from queries.eight.any_goal import list_successors
from queries.eight.vectorized import NO_RANK, rank_states


class EightJudge(ArrayJudge):
    """A judge of answers for the 8-puzzle."""

    min_rows = 64

    def read_starts(self, keys: pl.Series) -> tuple[npt.NDArray[np.bool_], Callable[..., Walk]]:
        ranks = rank_states(keys).to_numpy()
        distances, successors = self.reader.read_distances(self.lookup.goal), list_successors()

        def make_walk(rows: Numbers) -> Walk:
            return RankWalk(ranks[rows], distances, successors)

        return ranks != NO_RANK, make_walk


class RankWalk:
    """States of the 8-puzzle by rank; an illegal move leads to `NO_RANK`, and none leads away."""

    def __init__(
        self,
        ranks: npt.NDArray[np.uint32],
        distances: npt.NDArray[np.int16],
        successors: npt.NDArray[np.uint32],
    ) -> None:
        self._ranks = ranks
        self._distances = distances
        self._successors = successors.ravel()

    def measure(self, rows: int) -> npt.NDArray[np.int16]:
        return self._distances.take(self._ranks[:rows])

    def move(self, rows: int, letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        moves = letters.astype(np.uint32) * np.uint32(NO_RANK + 1) + self._ranks[:rows]
        here = self._ranks[:rows] = self._successors.take(moves)
        is_legal: npt.NDArray[np.bool_] = here != NO_RANK
        return is_legal
