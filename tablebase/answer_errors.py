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
    """A search that its time limit ended: the true answer lies between two numbers of moves."""

    exit_code = 4

    def __init__(self, state: str, seconds: float, least: int, most: int, solution: str) -> None:
        super().__init__(
            f"Undecided after {seconds:g} s: {state} needs between {least} and {most} moves. "
            f"A solution of {most}: {solution}"
        )
        self.state = state
        self.seconds = seconds
        self.least = least
        self.most = most
        self.solution = solution
        self.known = {"state": state, "least": least, "most": most, "solution": solution}
