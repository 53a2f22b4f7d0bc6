"""The search for a solution that need not be shortest: positions with small bounds come first."""

from __future__ import annotations

from heapq import heappop, heappush

from queries.fifteen.solution import search_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from queries.fifteen.plain_search import PlainSolver

WEIGHTS = (1.5, 2.0)
"""Weights of a position's bound against the moves to it: a larger one is faster, and finds longer
solutions. The first is tried for so many positions, the second until it finds one."""
MAX_POSITIONS = 5_000


def find_any_path(
    solver: PlainSolver, board: list[int], pause: Callable[[], None] = search_on
) -> list[int]:
    """Return the cells of the blank on a solution, the first one included.

    `pause` is called at each position, and may raise SearchPaused.
    """
    good, fast = WEIGHTS
    path = _search(solver, board, good, MAX_POSITIONS, pause)
    path = path or _search(solver, board, fast, None, pause)
    assert path
    return path


def _search(
    solver: PlainSolver,
    board: list[int],
    weight: float,
    most: int | None,
    pause: Callable[[], None],
) -> list[int] | None:
    """Search with a weight; None if it takes more than so many positions."""
    blank = board.index(0)
    start = tuple(board)
    goal = (*range(1, len(board)), 0)
    parents: dict[tuple[int, ...], tuple[int, ...] | None] = {start: None}
    moves_to = {start: 0}
    heap = [(0.0, 0, start, blank)]
    while heap:
        pause()
        _, _, position, blank = heappop(heap)
        if position == goal:
            break
        if most is not None and len(parents) > most:
            return None
        for cell in solver.steps[blank]:
            child = [*position]
            child[blank], child[cell] = child[cell], 0
            key = tuple(child)
            moves = moves_to[position] + 1
            if key in moves_to and moves_to[key] <= moves:
                continue
            moves_to[key], parents[key] = moves, position
            cost = moves + weight * solver.compute_bound(child)
            heappush(heap, (cost, -moves, key, cell))
    path = list[int]()
    here: tuple[int, ...] | None = goal
    while here is not None:
        path.append(here.index(0))
        here = parents[here]
    return path[::-1]
