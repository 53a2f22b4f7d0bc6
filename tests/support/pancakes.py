"""A goal puzzle written like a plugin: five pancakes, turned over from the top.

A state is a stack of the pancakes 1 (small) to 5, top first. A move turns the top two, three, four
or five over; its letter is how many.
"""

from collections.abc import Iterator

from puzzle_tablebase.errors import NotationError
from puzzle_tablebase.puzzles import GoalPuzzle

STACKED = "12345"


class Pancakes(GoalPuzzle):
    name = "pancakes"
    title = "Pancakes"
    size = 120
    example = STACKED
    goals = {"stacked": STACKED}  # noqa: RUF012  # a class's constants, as in any puzzle
    letters = "2345"

    def __init__(self) -> None:
        self.tables = (
            self.make_goal_table(
                "pancakes", "All 120 stacks of five pancakes, each with its distance", ("stacked",)
            ),
        )

    def parse(self, text: str) -> str:
        state = text.strip()
        if sorted(state) != list(STACKED):
            raise NotationError("a stack", text, "it needs each of 1-5 once", STACKED)
        return state

    def rank(self, state: str) -> int:
        if not state:
            return 0
        smaller = sum(other < state[0] for other in state[1:])
        ways = (1, 1, 2, 6, 24)[len(state) - 1]
        return smaller * ways + self.rank(state[1:])

    def unrank(self, rank: int) -> str:
        remaining = list(STACKED)
        state = ""
        for ways in (24, 6, 2, 1, 1):
            at, rank = divmod(rank, ways)
            state += remaining.pop(at)
        return state

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        for letter in self.letters:
            top = int(letter)
            yield letter, state[:top][::-1] + state[top:]


PUZZLE = Pancakes()
