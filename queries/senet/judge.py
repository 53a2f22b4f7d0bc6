"""The judge of Senet: lines of play from the opening to a position."""

from __future__ import annotations

from collections.abc import Iterator

from queries.check.judge import SEPARATORS, IllegalMove, Judge, read
from tablebase.errors import PositionUnreachable
from tablebase.puzzles.senet import OPENING, SIDES, THROWS, is_guarded, parse, swap_squares

SQUARE = "(?:1[0-5]|[1-9])"
MOVE = f"{SQUARE}[-x]{SQUARE}(?![^{SEPARATORS}])"


class SenetJudge(Judge):
    """A judge of lines of play; the distance from a position within them is in no table."""

    def parse(self, key: str) -> tuple[str, str, int | None]:
        position = parse(key)
        try:
            return OPENING, position, self.lookup.look_up(position).plies
        except PositionUnreachable:
            return OPENING, position, None

    def read_moves(self, text: str, start: str) -> tuple[list[str], str]:
        return read(text, MOVE, "a move such as 5-10 or 4x7")

    def follow(self, start: str, moves: list[str]) -> Iterator[str]:
        for ply, move in enumerate(moves):
            square, goal = map(int, move.replace("x", "-").split("-"))
            if problem := _find_problem(start, SIDES[ply % 2], square, goal, "x" in move):
                raise IllegalMove(f"{move}: {problem}")
            start = swap_squares(start, square, goal)
            yield start


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
