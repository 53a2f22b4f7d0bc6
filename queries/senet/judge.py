"""The judge of Senet: lines of play from the opening to a position."""

from __future__ import annotations

from queries.check.judge import Judge, write_text
from queries.check.reading import SEPARATORS, read_claim, read_words
from queries.judgement import (
    Judgement,
    judge_claim,
    judge_end,
    make_illegal,
    make_unreadable,
)
from tablebase.errors import PositionUnreachable
from tablebase.puzzles.senet import OPENING, SIDES, THROWS, is_guarded, parse, swap_squares

SQUARE = "(?:1[0-5]|[1-9])"
MOVE = f"{SQUARE}[-x]{SQUARE}(?![^{SEPARATORS}])"


class SenetJudge(Judge):
    """A judge of lines of play; the distance from a position within them is in no table."""

    def check(self, key: str, answer: object) -> Judgement:
        position, text = parse(key), write_text(answer)
        shortest = self._find_plies(position)
        if claim := read_claim(text):
            truth = "no line of play reaches the position"
            if shortest is not None:
                plies = "ply" if shortest == 1 else "plies"
                truth = f"the position is reached after {shortest} {plies}"
            return judge_claim(claim, shortest, truth)
        reading = read_words(text, MOVE, "a move such as 5-10 or 4x7")
        length, here = len(reading.moves), OPENING
        if reading.problem:
            return make_unreadable(length + 1, reading.problem, shortest)
        for done, move in enumerate(reading.moves):
            start, goal = map(int, move.replace("x", "-").split("-"))
            if problem := _find_problem(here, SIDES[done % 2], start, goal, "x" in move):
                return make_illegal(length, done + 1, f"{move}: {problem}", shortest)
            here = swap_squares(here, start, goal)
        return judge_end(length, shortest, None, is_home=here == position)

    def _find_plies(self, position: str) -> int | None:
        try:
            plies: int = self.lookup.look_up(position).plies
        except PositionUnreachable:
            return None
        return plies


def _find_problem(position: str, mover: str, start: int, goal: int, is_swap: bool) -> str:
    """Return the reason why a move is illegal; "" if it is legal."""
    target = position[goal - 1]
    if goal - start not in THROWS:
        return f"a throw moves a piece {THROWS[0]} to {THROWS[-1]} squares forward"
    if position[start - 1] != mover:
        return f"{mover} has no piece there"
    if target == mover:
        return f"{mover} stands there already"
    if is_swap != (target != "."):
        return f"the square is {'empty: write -' if is_swap else 'taken: write x'}"
    return "the piece there is guarded" if is_swap and is_guarded(position, goal) else ""
