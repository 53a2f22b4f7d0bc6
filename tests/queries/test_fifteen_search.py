"""Searches for shortest solutions, beside the distances of all states of small boards."""

import random
import time
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from puzzle_tablebase.queries.fifteen_search import Solver, answer_in_threads
from tests.support import sliding_oracle as oracle
from tests.support.fifteen_boards import (
    SMALL,
    PlainSearch,
    make_records,
    make_solver,
    require_path,
)

CHARACTERS = "0123456789ab"
HARD = [11, 10, 9, 8, 7, 6, 5, 4, 3, 1, 2, 0]
"""A state of 3x4 whose search takes thousands of positions."""


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
    ("name", "size", "plain_size"),
    [
        ("2x3", 360, 360),
        ("3x3", 500, 40),
        ("3x3 alone", 500, 10),
        ("3x4", 200, 20),
        pytest.param("3x3", 181_440, 40, marks=pytest.mark.nightly),
        pytest.param("3x3 alone", 181_440, 10, marks=pytest.mark.nightly),
    ],
)
def test_solutions_are_shortest_and_those_of_a_plain_search(
    name: str, size: int, plain_size: int
) -> None:
    plain, solver = PlainSearch(name), make_solver(name)
    for at, (board, distance) in enumerate(sample(name, size)):
        limits = list[int]()
        found = solver.search(board, limits.append)
        assert len(found.blanks) - 1 == distance
        require_path(board, int(name[2]), found.blanks)
        assert found.bound == max(plain.compute_bounds(board))
        assert found.bound <= distance
        assert all(limit <= distance for limit in limits)
        if at < plain_size:
            assert plain.search(board) == found.blanks
            assert plain.limit == distance
            assert plain.positions == found.positions


@pytest.mark.parametrize(("most", "blocks"), [(0, 0), (3, 3), (1_000, 26)])
def test_blocks_are_read_as_they_are_needed_until_all_are_read(most: int, blocks: int) -> None:
    solver, records = make_solver("3x4"), make_records("3x4")
    solver.max_single_blocks = most
    before = sum(each.blocks for each in records)
    require_path(HARD, 4, solver.search(HARD).blanks)
    assert sum(each.blocks for each in records) - before == blocks


def test_an_easy_board_needs_few_blocks() -> None:
    records = make_records("3x4")
    before = sum(each.blocks for each in records)
    easy = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11]
    assert len(make_solver("3x4").search(easy).blanks) == 2
    assert sum(each.blocks for each in records) - before < 9


def test_tables_that_do_not_fit_are_read_block_by_block_and_forgotten() -> None:
    records: Any = make_records("3x4")
    solver = Solver(SMALL["3x4"].patterns, records, memory=4096, min_blocks=10)
    assert solver.max_single_blocks == 10
    expected = make_solver("3x4").search(HARD)
    before = sum(each.blocks for each in records)
    assert solver.search(HARD) == expected
    assert sum(each.blocks for each in records) - before > 26, "some are read again"
    distances = solver._tables.distances
    known = sum(bool(distances[at : at + 4092].any()) for at in range(0, len(distances), 4092))
    assert known < 20


def test_a_batch_that_is_left_ends_its_searches() -> None:
    solver, solved = make_solver("3x4", 100), list[str]()

    def answer(key: str, pause: Callable[[], None]) -> Any:
        solver.search(HARD, lambda _: pause())
        solved.append(key)

    answered = answer_in_threads([*map(str, range(5_000))], answer)
    part = next(answered)
    assert part
    del answered  # as an error does that ends a batch
    count = len(solved)
    time.sleep(0.1)
    assert len(part) <= count == len(solved) < 5_000


def test_answers_come_in_order_and_before_the_last() -> None:
    is_free = Event()

    def answer(key: str, pause: Callable[[], None]) -> Any:
        if key == "3":
            is_free.wait()
        if key == "4":
            raise KeyError(key)
        return key

    answered = answer_in_threads(map(str, range(6)), answer)
    assert [get() for get in next(answered)] == [*"012"]
    is_free.set()
    third, failed, *_ = [get for part in answered for get in part]
    assert third() == "3"
    with pytest.raises(KeyError):
        failed()


def test_a_pause_can_end_a_search() -> None:
    class Stop(Exception):
        """An error of the caller's own."""

    limits = list[int]()

    def stop(limit: int) -> None:
        limits.append(limit)
        if len(limits) > 50:
            raise Stop

    board = HARD[:]
    with pytest.raises(Stop):
        make_solver("3x4", 100).search(board, stop)
    assert max(PlainSearch("3x4").compute_bounds(board)) <= limits[-1] <= 50
    assert limits == sorted(limits)
    assert board == HARD


def solve_small_boards() -> str:
    """Solve some boards of two sizes."""
    lines = []
    for name, boards in (
        ("2x3", [board for board, _ in sample("2x3", 12)]),
        ("3x3", [[1, 2, 3, 4, 5, 6, 0, 7, 8], [1, 2, 3, 0, 4, 6, 7, 5, 8]]),
    ):
        solver = make_solver(name)
        lines += [
            f"{name} {found.blanks} {found.positions}\n" for found in map(solver.search, boards)
        ]
    return "".join(lines)
