"""The search for a solution that need not be shortest: positions with small bounds come first."""

from __future__ import annotations

from heapq import heappop, heappush

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries.fifteen.plain_search import PlainSolver

WEIGHT = 1.5
"""The weight of a position's bound against the moves to it: larger is faster, and longer."""


def find_solution(solver: PlainSolver, board: list[int]) -> list[int]:
    """Return the cells of the blank on a solution, the first one included."""
    blank = board.index(0)
    start = tuple(board)
    goal = (*range(1, len(board)), 0)
    parents: dict[tuple[int, ...], tuple[int, ...] | None] = {start: None}
    moves_to = {start: 0}
    heap = [(0.0, 0, start, blank)]
    while heap:
        _, _, position, blank = heappop(heap)
        if position == goal:
            break
        for cell in solver.steps[blank]:
            child = [*position]
            child[blank], child[cell] = child[cell], 0
            key = tuple(child)
            moves = moves_to[position] + 1
            if key in moves_to and moves_to[key] <= moves:
                continue
            moves_to[key], parents[key] = moves, position
            cost = moves + WEIGHT * solver.compute_bound(child)
            heappush(heap, (cost, -moves, key, cell))
    path = list[int]()
    here: tuple[int, ...] | None = goal
    while here is not None:
        path.append(here.index(0))
        here = parents[here]
    return path[::-1]
