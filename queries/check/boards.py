"""The judges of puzzles with goals; those of sliding boards read tiles that slide, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from queries.check.judge import (
    SEPARATORS,
    IllegalMove,
    Judge,
    read,
)
from queries.judgement import Judgement, judge_moves
from tablebase.errors import GoalUnreachable, Undecided
from tablebase.puzzles.fifteen import BOARD

EDGES = {"U": "first row", "D": "last row", "L": "first column", "R": "last column"}
"""Where the blank is if its move is illegal, by the move."""


class GoalJudge(Judge):
    """A judge of the moves of any puzzle with goals."""

    puzzle: Any = None

    def __init__(self, lookup: Any, answer_column: str) -> None:
        super().__init__(lookup, answer_column)
        self.puzzle = self.puzzle or self.reader.puzzle

    def parse(self, key: str) -> tuple[str, str, int | None]:
        state, goal = self.lookup.parse_ends(key)
        try:
            return state, goal, self.reader.find_distance(state, goal)[0]
        except GoalUnreachable:
            return state, goal, None

    def is_at(self, last: Any, goal: str, distance: int) -> bool:
        return bool(self.reader.find_distance("".join(last), goal)[0] == distance)

    def read_moves(self, text: str, start: str) -> tuple[list[str], str]:
        letters = self.puzzle.letters
        return read(text, f"[{re.escape(letters)}]", f"one of {', '.join(letters)}", stop=".")

    def follow(self, start: str, moves: list[str]) -> Iterator[Any]:
        for move in moves:
            start = dict(self.puzzle.moves(start)).get(move, "")
            if not start:
                raise IllegalMove(f"{move}: it is not legal there")
            yield start


class BoardJudge(GoalJudge):
    """A judge of a sliding board's moves: letters of the blank's moves, or tiles that slide."""

    def read_moves(self, text: str, start: str) -> tuple[list[str], str]:
        tiles = "".join(sorted(self.puzzle.example.replace("0", "")))
        if text.lstrip(SEPARATORS)[:1] not in {*tiles}:
            return super().read_moves(text, start)
        what = f"one of the tiles 1-{tiles[-1]}"
        words = text.replace(",", " ").split() if len(tiles) > 9 else []
        if len(words) < 2 or max(map(len, words)) > 2:
            return read(text, f"[{tiles}]", what, stop=".")
        names = {str(number): tile for number, tile in enumerate(tiles, 1)}
        pattern = rf"(?:{'|'.join([*names][9:])}|[{tiles}])(?![^{SEPARATORS}])"
        moves, problem = read(text, pattern, what)
        return [names.get(move, move) for move in moves], problem

    def follow(self, start: str, moves: list[str]) -> Iterator[Any]:
        exits = [dict(self.puzzle.list_exits(cell)) for cell in range(len(start))]
        cells, blank = [*start], start.index("0")
        for move in moves:
            ways = exits[blank]
            to = ways.get(move)
            if move not in EDGES:
                to = next((cell for cell in ways.values() if cells[cell] == move), None)
            if to is None:
                raise IllegalMove(explain_illegal(move))
            cells[blank], cells[to], blank = cells[to], "0", to
            yield cells


def explain_illegal(move: str) -> str:
    """Name a move, and say why it is illegal."""
    if move in EDGES:
        return f"{move}: the blank is in the {EDGES[move]}"
    return f"tile {move}: it is not next to the blank"


class FifteenJudge(BoardJudge):
    """A judge of solutions of the 15-puzzle: it searches only where the bound does not decide."""

    puzzle = BOARD

    def __init__(self, lookup: Any, answer_column: str) -> None:
        super().__init__(lookup, answer_column)
        self._search = cache(lambda state: len(lookup.solve(state).solution))

    def parse(self, key: str) -> tuple[str, str, None]:
        return BOARD.parse(key), self.lookup.goal, None

    def judge_claim(self, claim: str, start: str, shortest: int | None) -> Judgement:
        if BOARD.can_reach(start, self.lookup.goal):
            bound = self.lookup.compute_bound(start)
            if claim == "unreachable" or int(claim) < bound:
                problem = f"the fewest moves are at least {bound}"
                return Judgement(result="wrong", problem=problem, score=0.0)
            shortest = self._search(start)
        return super().judge_claim(claim, start, shortest)

    def complete(self, judged: Judgement, start: str, last: Any) -> Judgement:
        length = judged.length
        if judged.result != "solved" or length is None:
            return judged
        try:
            is_shortest = length == self.lookup.compute_bound(start)
            shortest = length if is_shortest else self._search(start)
        except Undecided as error:
            return Judgement(result="solved", length=length, problem=str(error), score=None)
        return judge_moves(length, shortest, None, is_home=True)
