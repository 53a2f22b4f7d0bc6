"""Searches for shortest solutions, beside the distances of all states of small boards."""

import math
import random
import time
from collections.abc import Callable
from typing import NoReturn

import polars as pl
import pytest

from puzzle_tablebase.queries.fifteen_search import SearchState, answer_in_threads, iter_in_order
from tests.support import sliding_oracle as oracle
from tests.support.fifteen_boards import (
    PlainSearch,
    make_records,
    make_solver,
    make_state,
    require_path,
)

CHARACTERS = "0123456789ab"


def sample(name: str, size: int) -> list[tuple[list[int], int]]:
    """Choose states of a board, on 3x4 near its goal, with their distances."""
    height, width = map(int, name.split()[0].split("x"))
    goal = f"{CHARACTERS[1 : height * width]}0"
    if name == "3x4":
        known = oracle.distances_near(goal, height, width, 18)
    else:
        known = oracle.distances(goal, height, width)
    chosen = random.Random(15).sample(sorted(known.items()), min(size, len(known)))
    return [([CHARACTERS.index(mark) for mark in state], distance) for state, distance in chosen]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("2x3", 360),
        ("3x3", 500),
        ("3x3 alone", 500),
        ("3x4", 200),
        pytest.param("3x3", 181_440, marks=pytest.mark.nightly),
        pytest.param("3x3 alone", 181_440, marks=pytest.mark.nightly),
    ],
)
def test_states_are_solved_in_the_fewest_moves(name: str, size: int) -> None:
    plain, solver = PlainSearch(name), make_solver(name)
    for board, distance in sample(name, size):
        bound = max(plain.compute_bounds(board))
        assert 0 <= bound <= distance
        assert (distance - bound) % 2 == 0
        path = solver.search(board, make_state())
        assert len(path) - 1 == distance
        require_path(board, int(name[2]), path)


@pytest.mark.parametrize(
    ("name", "size"), [("2x3", 360), ("3x3", 40), ("3x3 alone", 10), ("3x4", 20)]
)
def test_the_positions_are_those_of_a_plain_search(name: str, size: int) -> None:
    plain, solver = PlainSearch(name), make_solver(name)
    for board, distance in sample(name, size):
        state = make_state()
        path = solver.search(board, state)
        assert plain.search(board) == path
        assert len(path) - 1 == distance == state.limit == plain.limit
        assert state.positions == plain.positions


@pytest.mark.parametrize(("most", "blocks"), [(0, 0), (3, 3), (1_000, 26)])
def test_blocks_are_read_as_they_are_needed_until_all_are_read(most: int, blocks: int) -> None:
    solver, records = make_solver("3x4"), make_records("3x4")
    solver.max_single_blocks = most
    before = sum(each.blocks for each in records)
    require_path(HARD, 4, solver.search(HARD, make_state()))
    assert sum(each.blocks for each in records) - before == blocks


def test_an_easy_board_needs_few_blocks() -> None:
    records = make_records("3x4")
    before = sum(each.blocks for each in records)
    easy = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11]
    assert len(make_solver("3x4").search(easy, make_state())) == 2
    assert sum(each.blocks for each in records) - before < 9


def test_a_batch_that_fails_ends_its_searches() -> None:
    solver, solved = make_solver("3x4", 100), list[str]()
    keys = pl.Series(map(str, range(200_000)))

    def answer(key: str, pause: Callable[[], None]) -> NoReturn:
        solver.search(HARD, SearchState(0, pause))
        solved.append(key)
        raise AssertionError

    def fail(done: int) -> None:
        if done:
            raise MemoryError

    with pytest.raises(MemoryError):
        next(
            iter_in_order(
                keys, answer_in_threads(keys, answer), pl.Schema(), fail, seconds=math.inf
            )
        )
    count = len(solved)
    time.sleep(0.1)
    assert 0 < count == len(solved) < len(keys)


def solve_small_boards() -> str:
    """Solve some boards of two sizes."""
    lines = []
    for name, boards in (
        ("2x3", [board for board, _ in sample("2x3", 12)]),
        ("3x3", [[1, 2, 3, 4, 5, 6, 0, 7, 8], [1, 2, 3, 0, 4, 6, 7, 5, 8]]),
    ):
        solver = make_solver(name)
        for board in boards:
            state = make_state()
            lines.append(f"{name} {solver.search(board, state)} {state.positions}\n")
    return "".join(lines)


HARD = [11, 10, 9, 8, 7, 6, 5, 4, 3, 1, 2, 0]
"""A state of 3x4 whose search takes thousands of positions."""


def test_a_pause_can_end_a_search() -> None:
    class Stop(Exception):
        """An error of the caller's own."""

    pauses = 0

    def stop() -> None:
        nonlocal pauses
        pauses += 1
        if pauses > 50:
            raise Stop

    board, state = HARD[:], SearchState(0, stop)
    with pytest.raises(Stop):
        make_solver("3x4", 100).search(board, state)
    assert max(PlainSearch("3x4").compute_bounds(board)) <= state.limit <= 50
    assert board == HARD
