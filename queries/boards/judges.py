"""Judges of many solutions of boards: by rows, by tables, or, for the 15-puzzle, by a search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.boards.eight_columns import NO_RANK, list_successors, rank_states
from queries.boards.sliding_columns import read_tiles
from queries.check.boards import ArrayJudge, Numbers, Walk
from queries.check.goals import BoardJudge
from queries.check.judge import write_text
from queries.check.reading import Reading, read_claim
from queries.judgement import Judgement, judge_claim, judge_end
from tablebase.errors import NotationError, Undecided
from tablebase.puzzles.fifteen import BOARD
from tablebase.puzzles.sliding import LETTERS


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
                table_goal = board.view_goal(goal).table_goal
                raise self.reader.make_damage_error(self.reader.table_names[table_goal], problem)
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


class FifteenJudge(BoardJudge):
    """A judge of solutions; the shortest length is searched for only where the goal is reached."""

    def __init__(self, lookup: Any, answer_column: str = "answer") -> None:
        super().__init__(lookup, answer_column, BOARD)
        self._found: dict[str, int | str] = {}
        """The fewest moves by state, or why they are not known."""

    def parse_ends(self, key: str) -> tuple[str, str]:
        return BOARD.parse(key), self.lookup.goal

    def find_shortest(self, state: str, goal: str) -> None:
        return None

    def judge_claim(self, state: str, goal: str, claim: str) -> Judgement:
        if not BOARD.can_reach(state, goal):
            return judge_claim(claim, None, "the goal cannot be reached")
        if claim == "unreachable":
            return Judgement(result="wrong", problem="moves lead to the goal", score=0.0)
        bound = self.lookup.compute_bound(state)
        if int(claim) < bound:
            problem = f"the goal is at least {bound} moves away"
            return Judgement(result="wrong", problem=problem, score=0.0)
        fewest = self._search(state)
        if isinstance(fewest, str):
            return Judgement(result="undecided", problem=fewest, score=None)
        return judge_claim(claim, fewest, f"the goal is {fewest} moves away")

    def judge_moves(self, state: str, goal: str, reading: Reading) -> Judgement:
        judged = super().judge_moves(state, goal, reading)
        if judged.result != "solved":
            return judged
        length = len(reading.moves)
        is_shortest = length == self.lookup.compute_bound(state)
        fewest = length if is_shortest else self._search(state)
        if isinstance(fewest, str):
            return Judgement(result="solved", length=length, problem=fewest, score=None)
        return judge_end(length, fewest, None, is_home=True)

    def prepare(self, keys: pl.Series, answers: pl.Series) -> None:
        """Search on all cores for what the answers are compared with."""
        states = set[str]()
        for key, answer in zip(keys, answers, strict=True):
            try:
                state, goal = self.parse_ends(key)
            except NotationError:
                continue
            if self._needs_search(state, goal, write_text(answer)):
                states.add(state)
        if len(states) < 2:
            return
        found = self.lookup.answer_keys(pl.Series(sorted(states)))[0]
        for state, distance, error in zip(
            sorted(states), found["distance"], found["error"], strict=True
        ):
            self._found[state] = error if distance is None else distance

    def _needs_search(self, state: str, goal: str, text: str) -> bool:
        """Return whether an answer is compared with the fewest moves: the bound may decide it."""
        if not BOARD.can_reach(state, goal):
            return False
        if claim := read_claim(text):
            return claim != "unreachable" and int(claim) >= self.lookup.compute_bound(state)
        reading = self.read_moves(text)
        is_home = super().judge_moves(state, goal, reading).result == "solved"
        return is_home and len(reading.moves) != self.lookup.compute_bound(state)

    def _search(self, state: str) -> int | str:
        """Search for the fewest moves; a sentence if the time limit ends the search."""
        if state not in self._found:
            try:
                self._found[state] = len(self.lookup.solve(state).solution)
            except Undecided as error:
                self._found[state] = str(error)
        return self._found[state]
