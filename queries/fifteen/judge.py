"""The judge of the 15-puzzle: moves are judged at once, their length by a search."""

from __future__ import annotations

from typing import Any

import polars as pl

from queries.check.goals import BoardJudge
from queries.check.judge import write_text
from queries.check.reading import Reading, read_claim
from queries.judgement import Judgement, judge_claim, judge_end
from tablebase.errors import NotationError, Undecided
from tablebase.puzzles.fifteen import BOARD


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
            text = write_text(answer)
            is_home = bool(read_claim(text)) or (
                super().judge_moves(state, goal, self.read_moves(text)).result == "solved"
            )
            if is_home and BOARD.can_reach(state, goal):
                states.add(state)
        if len(states) < 2:
            return
        found = self.lookup.answer_keys(pl.Series(sorted(states)))[0]
        for state, distance, error in zip(
            sorted(states), found["distance"], found["error"], strict=True
        ):
            self._found[state] = error if distance is None else distance

    def _search(self, state: str) -> int | str:
        """Search for the fewest moves; a sentence if the time limit ends the search."""
        if state not in self._found:
            try:
                self._found[state] = len(self.lookup.solve(state).solution)
            except Undecided as error:
                self._found[state] = str(error)
        return self._found[state]
