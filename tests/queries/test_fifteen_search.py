"""Searches for shortest solutions, beside the distances of all states of small boards."""

import math
import random
from collections.abc import Iterator
from typing import Any, NoReturn

import polars as pl
import pytest

from puzzle_tablebase.queries.fifteen_compiled import Answered, iter_in_order, search_in_threads
from puzzle_tablebase.queries.fifteen_search import (
    PlainSearchOver,
    SearchPaused,
    SearchState,
    find_any_path,
)
from tests.support import sliding_oracle as oracle
from tests.support.fifteen_boards import make_solvers, make_state, require_path

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
    plain, compiled = make_solvers(name)
    for board, distance in sample(name, size):
        bound = plain.compute_bound(board)
        assert 0 <= bound <= distance
        assert (distance - bound) % 2 == 0
        path = compiled.search(board, make_state())
        assert len(path) - 1 == distance
        require_path(board, int(name[2]), path)


@pytest.mark.parametrize(
    ("name", "size"), [("2x3", 360), ("3x3", 100), ("3x3 alone", 30), ("3x4", 50)]
)
def test_both_searches_visit_the_same_positions(name: str, size: int) -> None:
    plain, compiled = make_solvers(name)
    for board, distance in sample(name, size):
        states = make_state(), make_state()
        paths = plain.search(board, states[0], 10**9), compiled.search(board, states[1])
        assert paths[0] == paths[1]
        assert len(paths[0]) - 1 == distance == states[0].limit == states[1].limit
        assert states[0].positions == states[1].positions


@pytest.mark.parametrize("boards_at_once", [1, 2, 7])
def test_boards_in_turns_are_searched_as_each_alone(boards_at_once: int) -> None:
    _, compiled = make_solvers("3x3", 500)
    boards = [board for board, _ in sample("3x3", 50)]
    alone = [make_state() for _ in boards]
    paths = [compiled.search(board, state) for board, state in zip(boards, alone, strict=True)]
    states = [make_state() for _ in boards]
    together = dict(compiled.search_each(zip(boards, states, strict=True), boards_at_once))
    assert [together[state] for state in states] == paths
    for state, other in zip(states, alone, strict=True):
        assert (state.bound, state.limit, state.positions) == (
            other.bound, other.limit, other.positions
        )  # fmt: skip


def test_no_boards_need_no_search() -> None:
    _, compiled = make_solvers("2x3")
    assert [*compiled.search_each([])] == []
    assert [*search_in_threads(compiled, {})] == []


def test_a_batch_that_fails_ends_its_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    _, compiled = make_solvers("3x4", 100)
    keys, search_each = pl.Series(map(str, range(200_000))), compiled.search_each
    solved = []

    def count_solved(boards: Any) -> Iterator[Any]:
        for found in search_each(boards):
            solved.append(found)
            yield found

    monkeypatch.setattr(compiled, "search_each", count_solved)

    def fail(done: int) -> None:
        if done:
            raise MemoryError

    def refuse() -> NoReturn:
        raise AssertionError

    def list_answered() -> Answered:
        for searched in search_in_threads(compiled, dict.fromkeys(keys, HARD)):
            yield None if searched is None else (searched[0], refuse)

    with pytest.raises(MemoryError):
        next(iter_in_order(keys, list_answered(), pl.Schema(), fail, seconds=math.inf))
    assert 0 < len(solved) < len(keys)


def solve_small_boards() -> str:
    """Solve some boards of two sizes, alone and in turns."""
    lines = []
    for name, boards in (
        ("2x3", [board for board, _ in sample("2x3", 12)]),
        ("3x3", [[1, 2, 3, 4, 5, 6, 0, 7, 8], [1, 2, 3, 0, 4, 6, 7, 5, 8]]),
    ):
        _, compiled = make_solvers(name)
        states = [make_state() for _ in boards]
        paths = dict(compiled.search_each(zip(boards, states, strict=True), 3))
        lines += [f"{name} {paths[state]} {state.positions}\n" for state in states]
    return "".join(lines)


@pytest.mark.parametrize("name", ["2x3", "3x3", "3x3 alone"])
def test_a_solution_at_once_is_a_solution(name: str) -> None:
    plain, _ = make_solvers(name)
    for board, distance in sample(name, 40):
        path = find_any_path(plain, board)
        require_path(board, int(name[2]), path)
        assert len(path) - 1 >= distance


HARD = [11, 10, 9, 8, 7, 6, 5, 4, 3, 1, 2, 0]
"""A state of 3x4 whose search takes thousands of positions."""


def test_a_search_continues_where_another_ended() -> None:
    plain, compiled = make_solvers("3x4")
    whole = make_state()
    path = compiled.search(HARD, whole)
    require_path(HARD, 4, path)
    for limit in (300, 1000):
        state = make_state()
        with pytest.raises(PlainSearchOver):
            plain.search(HARD, state, limit)
        assert state.positions <= limit
        assert state.limit <= whole.limit
        assert compiled.search(HARD, state) == path
        assert state.positions == whole.positions


def test_a_pause_can_end_a_search() -> None:
    def stop() -> None:
        raise SearchPaused

    plain, compiled = make_solvers("3x4", 100)
    board = HARD[:]
    for is_plain in (True, False):
        state = SearchState(0, stop)
        with pytest.raises(SearchPaused):
            _ = plain.search(board, state, 10**9) if is_plain else compiled.search(board, state)
        assert plain.compute_bound(board) <= state.limit <= 50
        assert board == HARD
