"""The proof's own moves of sliding boards, beside the oracle's."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from pipeline.verify.sliding.neighbours import described, first_wrong
from tablebase.puzzles.sliding.board import CHARACTERS, LETTERS, Board
from tests.support import sliding_oracle as oracle

Array = npt.NDArray[np.int64]


class Known(NamedTuple):
    """A board's true distances to a goal, by rank, and what else a kernel is told."""

    board: Board
    goal: str
    depth: Array
    near: list[list[int]]
    """The ranks of each rank's neighbours."""

    def told(self, depth: Array) -> tuple[Array, Array, int, Array]:
        board, orders = self.board, self.board.orders
        states = [board.unrank(place * orders, self.goal) for place in range(board.cells)]
        odd = np.array([int(board.odd(state)) for state in states])
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
def known(request: pytest.FixtureRequest) -> Known:
    height, width = map(int, request.param[:3].split("x"))
    board = Board(height, width)
    goal = [*board.layouts][-1 if "another" in request.param else 0]
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


def test_true_distances_are_right(known: Known) -> None:
    orders = known.board.orders
    assert first_wrong(*known.told(known.depth), 0, orders) == (-1, 255)


CHANGES: list[Callable[[int], int]] = [
    lambda distance: distance + 2,
    lambda distance: abs(distance - 2),
    lambda distance: distance + 1,
    lambda distance: distance - 1 if distance else 7,
    lambda distance: 255,
]


@pytest.mark.parametrize("change", range(len(CHANGES)))
def test_of_what_is_wrong_the_first_is_told(known: Known, change: int) -> None:
    """Order by order, and of one the blank's places in turn."""
    for rank in range(len(known.near)):
        depth = known.depth.copy()
        depth[rank] = CHANGES[change](int(depth[rank]))
        if depth[rank] == known.depth[rank]:
            continue
        wrong = known.first_wrong(depth)
        told, orders = known.told(depth), known.board.orders
        assert first_wrong(*told, 0, orders) == wrong != (-1, 255)
        # each stretch of orders tells of its own
        number = wrong[0] % orders
        assert first_wrong(*told, 0, number) == (-1, 255)
        assert first_wrong(*told, number, number + 1) == wrong
        later, _ = first_wrong(*told, number + 1, orders)
        assert later < 0 or later % orders > number


def test_states_are_described_as_they_are(known: Known) -> None:
    board, first = known.board, 5
    rows = min(board.size - first, 700)
    tiles = np.empty((rows, board.cells), np.uint8)
    nearer, manhattan = np.empty(rows, np.uint8), np.empty(rows, np.int8)
    homes = [board.place[known.goal.index(mark)] for mark in CHARACTERS[1 : board.cells]]
    steps = [[board.steps(a, b) for b in board.cell_at] for a in board.cell_at]
    described(
        *known.told(known.depth), first, np.array(homes), np.array(steps), tiles, nearer, manhattan
    )
    for row in range(rows):
        state = board.unrank(first + row, known.goal)
        assert "".join(CHARACTERS[tile] for tile in tiles[row, board.place]) == state
        assert manhattan[row] == oracle.manhattan(state, known.goal, board.width)
        best = {
            letter
            for letter, after in oracle.neighbours(state, board.height, board.width).items()
            if known.depth[board.rank(after)] == known.depth[first + row] - 1
        }
        assert {LETTERS[at] for at in range(8) if nearer[row] >> at & 1} == best


def test_neighbours_on_longer_lines_are_those_of_the_rules() -> None:
    """Whatever the distances are, and wherever the blank stands."""
    board = Board(3, 3)
    goal, rows = board.example, 3
    depth = np.random.default_rng(9).integers(0, 9, board.size)
    known = Known(board, goal, depth, [])
    tiles, near = np.empty((rows, 9), np.uint8), np.empty(rows, np.uint8)
    nowhere = np.zeros(8, np.int64), np.zeros((9, 9), np.int64)
    for first in range(0, board.size - rows, 2999):
        described(*known.told(depth), first, *nowhere, tiles, near, np.empty(rows, np.int8))
        for row in range(rows):
            state = board.unrank(first + row, goal)
            assert "".join(CHARACTERS[tile] for tile in tiles[row, board.place]) == state
            lower = {
                letter
                for letter, after in oracle.neighbours(state, 3, 3).items()
                if depth[board.rank(after)] < depth[first + row]
            }
            assert {LETTERS[at] for at in range(8) if near[row] >> at & 1} == lower
