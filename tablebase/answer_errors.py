"""The errors of valid queries: the answer is no, or is not known."""

from __future__ import annotations

from tablebase.errors import TablebaseError


class NoAnswer(TablebaseError):
    """A valid query whose answer is no."""


class GoalUnreachable(NoAnswer):
    """A goal that no sequence of moves from the state leads to."""

    def __init__(self, state: str, goal: str, why: str) -> None:
        super().__init__(f"{goal} cannot be reached from {state}: {why}")
        self.state = state
        self.goal = goal
        self.why = why


class PositionUnreachable(NoAnswer):
    """An arrangement that no line of play leads to, or none with the given side to move."""

    def __init__(self, position: str, turn: str = "") -> None:
        problem = f"is never reached with {turn} to move" if turn else "is never reached"
        super().__init__(f"{position} {problem}: no line of play from the opening leads to it.")
        self.position = position
        self.turn = turn


class NoSuchTour(NoAnswer):
    """A tour that does not exist, or a rank past the last tour."""

    def __init__(self, board: str, why: str) -> None:
        super().__init__(why)
        self.board = board
        self.why = why


class BoardTooLarge(NoAnswer):
    """A board whose tours are too many to list; `instead` says which table has them."""

    def __init__(self, board: str, limit: int, size: str = "", instead: str = "") -> None:
        hint = instead or f"Boards of up to {limit} squares can be listed"
        super().__init__(f"{board} has too many tours to list{size}. {hint}.")
        self.board = board
        self.limit = limit


class NotCounted(NoAnswer):
    """A board that has more tours than this program can count."""

    def __init__(self, board: str) -> None:
        super().__init__(f"No count for {board}: the board is too large.")
        self.board = board


class Undecided(TablebaseError):
    """A search that its time limit ended: the true answer lies between two numbers of moves.

    `most` and `solution` are None if the time was too short for any solution.
    """

    exit_code = 4

    def __init__(self, state: str, seconds: float, least: int, solution: str | None) -> None:
        self.state = state
        self.seconds = seconds
        self.least = least
        self.most = None if solution is None else len(solution)
        self.solution = solution
        self.known = {"state": state, "least": least, "most": self.most, "solution": solution}
        known = (
            f"at least {least} moves. No solution was found"
            if solution is None
            else f"between {least} and {self.most} moves. A solution of {self.most}: {solution}"
        )
        super().__init__(f"Undecided after {seconds:g} s: {state} needs {known}")
