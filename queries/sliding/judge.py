"""The judge of sliding boards that have tables: states are arrays of tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.check.boards import ArrayJudge, Numbers, Walk
from queries.sliding.vectorized import read_tiles
from tablebase.puzzles.sliding import LETTERS


class TableJudge(ArrayJudge):
    """A judge of answers for one board."""

    def __init__(self, lookup: Any, answer_column: str = "answer") -> None:
        super().__init__(lookup, answer_column)
        self.min_rows = self.reader.count_single_keys()

    def read_starts(self, keys: pl.Series) -> tuple[npt.NDArray[np.bool_], Callable[..., Walk]]:
        board, goal = self.reader.puzzle, self.lookup.goal_state
        tiles, is_state = read_tiles(board, keys)
        table = self.reader.make_lookup(board.view_goal(goal), goal)
        targets = np.full((len(LETTERS), board.cells), -1)
        for cell, exits in enumerate(self.exits):
            for letter, to in exits.items():
                targets[LETTERS.index(letter), cell] = to

        def measure(states: npt.NDArray[np.uint8]) -> npt.NDArray[np.int16]:
            distances = table.measure(states)
            if distances is None:
                problem = f"not every walk leads to {goal}"
                layout = board.view_goal(goal).layout
                raise self.reader.make_damage_error(self.reader.table_names[layout], problem)
            found: npt.NDArray[np.int16] = distances.astype(np.int16)
            return found

        def make_walk(rows: Numbers) -> Walk:
            return TileWalk(tiles[:, rows], targets, measure)

        return is_state, make_walk


class TileWalk:
    """States of a board, one per column of tiles; a row with an illegal move stays where it is."""

    def __init__(
        self,
        tiles: npt.NDArray[np.uint8],
        targets: npt.NDArray[np.int64],
        measure: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.int16]],
    ) -> None:
        self._tiles, self._targets, self._measure = tiles, targets, measure
        self._blank = np.argmin(tiles, axis=0)
        self._is_legal = np.ones(tiles.shape[1], dtype=np.bool_)

    def measure(self, rows: int) -> npt.NDArray[np.int16]:
        return self._measure(self._tiles[:, :rows])

    def move(self, rows: int, letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        blank, here = self._blank[:rows], np.arange(rows)
        target = self._targets[letters, blank]
        self._is_legal[:rows] &= target >= 0
        target = np.where(self._is_legal[:rows], target, blank)
        self._tiles[blank, here] = self._tiles[target, here]
        self._tiles[target, here] = 0
        self._blank[:rows] = target
        return self._is_legal[:rows]
