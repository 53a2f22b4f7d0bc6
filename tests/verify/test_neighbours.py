"""The proof's own moves of sliding boards, compared with the oracle's."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.verify.sliding import describe_states, find_first_wrong
from tablebase.puzzles.sliding import CHARACTERS, LETTERS, SlidingBoard
from tests.support import sliding_oracle as oracle

Array = npt.NDArray[np.int64]


class Known(NamedTuple):
    """A board's true distances to a goal, by rank, and the kernels' other arguments."""

    board: SlidingBoard
    goal: str
    depth: Array
    near: list[list[int]]
    """The ranks of each rank's neighbours."""

    def describe(self, depth: Array) -> tuple[Array, Array, int, Array]:
        board, orders = self.board, self.board.orders
        states = [board.unrank(place * orders, self.goal) for place in range(board.cells)]
        odd = np.array([int(board.is_odd(state)) for state in states])
        return depth.astype(np.uint8), odd, board.line, np.array(board.weights)

    def first_wrong(self, depth: Array) -> tuple[int, int]:
        orders = self.board.orders
        for number in range(orders):
            for rank in range(number, self.board.size, orders):
                nearest = min(depth[near] for near in self.near[rank])
                if depth[rank] and nearest != depth[rank] - 1:
                    return rank, nearest
        return -1, 255


@pytest.fixture(scope="module", params=["2x2", "2x3", "2x3 of another goal", "2x4"])
def known_states(request: pytest.FixtureRequest) -> Known:
    height, width = map(int, request.param[:3].split("x"))
    board = SlidingBoard(height, width)
    goal = [*board.goals][-1 if "another" in request.param else 0]
    distances = oracle.distances(goal, height, width)
    states = [board.unrank(rank, goal) for rank in range(board.size if board.cells < 8 else 0)]
    near = [
        [board.rank(state) for state in oracle.neighbours(state, height, width).values()]
        for state in states
    ]
    depth = np.zeros(board.size, np.int64)
    for state, distance in distances.items():
        depth[board.rank(state)] = distance
    return Known(board, goal, depth, near)


def test_true_distances_pass(known_states: Known) -> None:
    orders = known_states.board.orders
    assert find_first_wrong(*known_states.describe(known_states.depth), 0, orders) == (-1, 255)


CHANGES: list[Callable[[int], int]] = [
    lambda distance: distance + 2,
    lambda distance: abs(distance - 2),
    lambda distance: distance + 1,
    lambda distance: distance - 1 if distance else 7,
    lambda distance: 255,
]


@pytest.mark.parametrize("change", range(len(CHANGES)))
def test_the_first_wrong_rank_is_returned(known_states: Known, change: int) -> None:
    """Find the first wrong rank order by order, and within an order by the blank's place."""
    for rank in range(len(known_states.near)):
        depth = known_states.depth.copy()
        depth[rank] = CHANGES[change](int(depth[rank]))
        if depth[rank] == known_states.depth[rank]:
            continue
        wrong = known_states.first_wrong(depth)
        reported, orders = known_states.describe(depth), known_states.board.orders
        assert find_first_wrong(*reported, 0, orders) == wrong != (-1, 255)
        # each chunk of orders reports its own
        number = wrong[0] % orders
        assert find_first_wrong(*reported, 0, number) == (-1, 255)
        assert find_first_wrong(*reported, number, number + 1) == wrong
        later, _ = find_first_wrong(*reported, number + 1, orders)
        assert later < 0 or later % orders > number


def test_describe_states_agrees_with_the_oracle(known_states: Known) -> None:
    board, first = known_states.board, 5
    rows = min(board.size - first, 700)
    tiles = np.empty((rows, board.cells), np.uint8)
    nearer, manhattan = np.empty(rows, np.uint8), np.empty(rows, np.int8)
    homes = [board.place[known_states.goal.index(mark)] for mark in CHARACTERS[1 : board.cells]]
    steps = [[board.count_steps(a, b) for b in board.cell_at] for a in board.cell_at]
    describe_states(
        *known_states.describe(known_states.depth),
        first,
        np.array(homes),
        np.array(steps),
        tiles,
        nearer,
        manhattan,
    )
    for row in range(rows):
        state = board.unrank(first + row, known_states.goal)
        assert "".join(CHARACTERS[tile] for tile in tiles[row, board.place]) == state
        assert manhattan[row] == oracle.manhattan(state, known_states.goal, board.width)
        best = {
            letter
            for letter, after in oracle.neighbours(state, board.height, board.width).items()
            if known_states.depth[board.rank(after)] == known_states.depth[first + row] - 1
        }
        assert {LETTERS[at] for at in range(8) if nearer[row] >> at & 1} == best
