"""Searches for shortest solutions, beside the distances of all states of small boards."""

import random
import time
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from puzzle_tablebase.formats.index import BODY_BYTES
from puzzle_tablebase.queries import fifteen_search
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
"""A state of 3x4 whose search expands thousands of nodes."""


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
        ("3x3", 150, 15),
        ("3x3 alone", 150, 5),
        ("3x4", 100, 10),
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
        assert found.heuristic == max(plain.compute_heuristics(board))
        assert found.heuristic <= distance
        assert all(limit <= distance for limit in limits)
        if at < plain_size:
            assert plain.search(board) == found.blanks
            assert plain.limit == distance
            assert plain.nodes_expanded == found.nodes_expanded


def count_reads() -> int:
    return sum(each.reads for each in make_records("3x4"))


def test_each_part_is_read_once_when_it_is_needed() -> None:
    solver, before = make_solver("3x4"), count_reads()
    easy = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11]
    assert len(solver.search(easy).blanks) == 2
    assert count_reads() - before == 3
    for _ in range(2):
        require_path(HARD, 4, solver.search(HARD).blanks)
        assert count_reads() - before == 5


def test_tables_that_do_not_fit_are_read_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    records: Any = make_records("3x4")
    expected = make_solver("3x4").search(HARD)
    monkeypatch.setattr(fifteen_search, "SPAN_BLOCKS", 1)
    monkeypatch.setattr(fifteen_search, "SPAN_BYTES", BODY_BYTES)
    solver, before = Solver(SMALL["3x4"], records, memory=4096, min_spans=10), count_reads()
    assert solver.search(HARD) == expected
    assert count_reads() - before > 26, "some are read again"
    distances = solver._distances
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
    time.sleep(0.1)  # a search may be past its last pause
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
    early = list[str]()
    while len(early) < 3:
        early += [each.result() for each in next(answered)]
    assert early == [*"012"]
    is_free.set()
    third, failed, *_ = [each for part in answered for each in part]
    assert third.result() == "3"
    with pytest.raises(KeyError):
        failed.result()


def solve_small_boards() -> str:
    """Solve some boards of two sizes."""
    lines = []
    for name, boards in (
        ("2x3", [board for board, _ in sample("2x3", 12)]),
        ("3x3", [[1, 2, 3, 4, 5, 6, 0, 7, 8], [1, 2, 3, 0, 4, 6, 7, 5, 8]]),
    ):
        solver = make_solver(name)
        lines += [
            f"{name} {found.blanks} {found.nodes_expanded}\n"
            for found in map(solver.search, boards)
        ]
    return "".join(lines)
