"""Typed answers: the classes that the Python tables return."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GoalAnswer:
    """The answer for a state of a puzzle with goals.

    `distance` is 0 to 254; `best_moves` is "" at the goal, else its letters in answer order.
    """

    state: str
    goal: str
    distance: int
    best_moves: str
    solutions: int


@dataclass(frozen=True, slots=True)
class BoardAnswer:
    """The answer for a state of a sliding board; `best_moves` is "" at the goal."""

    state: str
    goal: str
    distance: int
    best_moves: str


@dataclass(frozen=True, slots=True)
class FifteenAnswer:
    """A shortest solution of a 4x4 board; `bound` is the lower bound that the search began with.

    `positions` is the number of positions that it searched.
    """

    state: str
    goal: str
    distance: int
    bound: int
    positions: int
    solution: str


@dataclass(frozen=True, slots=True)
class SenetAnswer:
    """A Senet position and the smallest of its shortest lines of play; `plies` is 0 to 15."""

    position: str
    plies: int
    plies_even: int | None
    plies_odd: int | None
    dice: str
    moves: str
    lines: int


@dataclass(frozen=True, slots=True)
class KnightAnswer:
    """A listed tour; `jumps` are 1 to 8, one fewer than the squares of `path`."""

    board: str
    start: str
    finish: str
    number: int
    closed: bool
    path: str
    jumps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CountAnswer:
    """The number of directed tours from a square, and of the closed ones among them.

    `tours` is None where only the closed ones are counted.
    """

    board: str
    start: str
    tours: int | None
    closed: int


@dataclass(frozen=True, slots=True)
class RankedTourAnswer:
    """A tour by its rank among all open ones from its start, or all closed ones of the board.

    `jumps` are 1 to 8.
    """

    board: str
    start: str
    finish: str
    rank: int
    closed: bool
    path: str
    jumps: tuple[int, ...]
