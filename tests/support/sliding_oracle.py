"""Slow and obvious answers for sliding boards; nothing is shared with the program."""

from functools import cache, lru_cache
from itertools import count

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]

STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}


def neighbours(state: str, rows: int, columns: int) -> dict[str, str]:
    """Return every state one move away, by the letter of the move, in the order U D L R."""
    result = {}
    for letter, cell in _list_moves(state.index("0"), rows, columns):
        tile = state[cell]
        result[letter] = state.replace("0", " ").replace(tile, "0").replace(" ", tile)
    return result


@cache
def _list_moves(blank: int, rows: int, columns: int) -> list[tuple[str, int]]:
    """List the letter of each legal move of the blank, and the cell that it leads to."""
    row, column = divmod(blank, columns)
    return [
        (letter, (row + down) * columns + column + right)
        for letter, (down, right) in STEPS.items()
        if row + down in range(rows) and column + right in range(columns)
    ]


@lru_cache(8)
def distances(goal: str, rows: int, columns: int) -> dict[str, int]:
    """Return the fewest moves to the goal, for every state that reaches it."""
    return distances_near(goal, rows, columns, 255)


def distances_near(goal: str, rows: int, columns: int, most: int) -> dict[str, int]:
    """Return the fewest moves to the goal, for every state that needs at most so many.

    The states of a layer are hexadecimal numbers, which all move at once.
    """
    known, cells = dict[str, int](), rows * columns
    before, layer = np.array([], np.uint64), np.array([int(goal, 16)], np.uint64)
    for distance in count():
        digits = layer.astype(">u8").tobytes().hex()  # sixteen of each state, from the left
        states = [digits[at : at + cells] for at in range(16 - cells, len(digits), 16)]
        known |= dict.fromkeys(states, distance)
        if not len(layer) or distance == most:
            return known
        nexts = np.unique(_move_all(layer, rows, columns))
        # each move changes the colour of the blank's cell, so none leads to the same layer
        before, layer = layer, np.setdiff1d(nexts, before, assume_unique=True)
    raise AssertionError


def _move_all(states: Numbers, rows: int, columns: int) -> Numbers:
    """Return all states one move away from some, one after the other."""
    result = []
    shifts = [np.uint64(4 * (rows * columns - 1 - cell)) for cell in range(rows * columns)]
    for blank, shift in enumerate(shifts):
        some = states[states >> shift & np.uint64(15) == 0]
        for _, cell in _list_moves(blank, rows, columns):
            tiles = some >> shifts[cell] & np.uint64(15)
            result.append(some - (tiles << shifts[cell]) + (tiles << shift))
    return np.concatenate(result)


def replay(state: str, letters: str, rows: int, columns: int) -> list[str]:
    """Return the states along a way, the first one included; an illegal move is a KeyError."""
    states = [state]
    for letter in letters:
        states.append(neighbours(states[-1], rows, columns)[letter])
    return states


def list_solutions(state: str, rows: int, columns: int, known: dict[str, int]) -> list[str]:
    """List every shortest solution, in the order U D L R of the moves."""
    if not known[state]:
        return [""]
    near = neighbours(state, rows, columns)
    return [
        letter + rest
        for letter in best_moves(state, rows, columns, known)
        for rest in list_solutions(near[letter], rows, columns, known)
    ]


def best_moves(state: str, rows: int, columns: int, known: dict[str, int]) -> str:
    """Return every first move of a shortest solution, in the order U D L R; empty at the goal."""
    return "".join(
        letter
        for letter, neighbour in neighbours(state, rows, columns).items()
        if known[neighbour] == known[state] - 1
    )


def manhattan(state: str, goal: str, columns: int) -> int:
    """Sum the rows and columns that each tile is away from its goal; the blank does not count."""
    total = 0
    for tile in state.replace("0", ""):
        row, column = divmod(state.index(tile), columns)
        goal_row, goal_column = divmod(goal.index(tile), columns)
        total += abs(row - goal_row) + abs(column - goal_column)
    return total
