"""Slow and obvious answers for sliding boards; nothing is shared with the program."""

from collections import deque
from functools import cache, lru_cache

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


@lru_cache(8)  # a search of 3x3 takes most of a second
def distances(goal: str, rows: int, columns: int) -> dict[str, int]:
    """Return the fewest moves to the goal, for every state that reaches it."""
    result = {goal: 0}
    waiting = deque([goal])
    while waiting:
        state = waiting.popleft()
        for neighbour in neighbours(state, rows, columns).values():
            if neighbour not in result:
                result[neighbour] = result[state] + 1
                waiting.append(neighbour)
    return result


def distances_near(goal: str, rows: int, columns: int, most: int) -> dict[str, int]:
    """Return the fewest moves to the goal, for every state that needs at most so many."""
    known, layer = {goal: 0}, [goal]
    for distance in range(1, most + 1):
        steps = (neighbours(state, rows, columns).values() for state in layer)
        layer = [*{state for nexts in steps for state in nexts} - known.keys()]
        known |= dict.fromkeys(layer, distance)
    return known


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
