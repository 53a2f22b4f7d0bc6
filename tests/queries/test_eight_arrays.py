"""Arrays of the 8-puzzle's states, and states given as numbers, compared with the oracle."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queries.api import Tables
from tablebase.errors import BadRequest, NotationError
from tests.support.oracles import eight_best_moves, eight_distances, eight_neighbours

GOAL = "123456780"
rows = st.lists(st.integers(-2, 300), min_size=9, max_size=9) | st.permutations(range(9))


def join(cells: list[int]) -> str:
    """Return cells as text."""
    return "".join(map(str, cells))


@given(st.lists(rows, min_size=1, max_size=6))
def test_arrays_are_answered_as_by_the_oracle(tables: Tables, cells: list[list[int]]) -> None:
    eight, known = tables.eight, eight_distances(GOAL)
    is_state = [sorted(row) == [*range(9)] for row in cells]
    expected = [
        known.get(join(row), -1) if good else -1 for row, good in zip(cells, is_state, strict=True)
    ]
    assert eight.distances(cells, GOAL).tolist() == expected
    assert eight.distances(np.array(cells), GOAL).tolist() == expected
    ranks = eight.ranks(cells).tolist()
    for row, good, rank, best, nexts in zip(
        cells, is_state, ranks, eight.best_moves(cells, GOAL), eight.neighbours(cells), strict=True
    ):
        assert (rank == -1) == (not good)
        if not good:
            assert best == ""
            assert (nexts == 255).all()
            continue
        state = join(row)
        assert eight.puzzle.unrank(rank) == state
        assert best == (eight_best_moves(state, known) if state in known else "")
        moves = eight_neighbours(state)
        assert dict(eight.moves(state)) == moves
        for letter, after in zip("UDLR", nexts.tolist(), strict=True):
            assert after == (
                [int(mark) for mark in moves[letter]] if letter in moves else [255] * 9
            )


def test_columns_and_lists_are_states_too(tables: Tables) -> None:
    eight, cells = tables.eight, [3, 7, 8, 5, 4, 6, 2, 0, 1]
    expected = eight.probe("378546201")
    given: tuple[Any, ...] = (
        *(cells, tuple(cells), np.array(cells, np.uint8)),
        *([cells[:3], cells[3:6], cells[6:]], np.array(cells).reshape(3, 3)),
    )
    for key in given:
        assert eight.probe(key) == expected
        assert eight.distance(key) == 27
        assert eight.check(key, "27").result == "right"
    kinds = (pl.List(pl.UInt8), pl.Array(pl.Int64, 9))
    for column in (
        pl.Series(["378546201"] * 2),
        *(pl.Series([cells] * 2, dtype=kind) for kind in kinds),
    ):
        assert eight.distances(column).tolist() == [27, 27]
        assert eight.annotate(column.alias("state").to_frame())["distance"].to_list() == [27, 27]
    assert eight.distances(["378546201", "x", None]).tolist() == [27, -1, -1]
    assert eight.distances([]).tolist() == []
    assert eight.distances(np.zeros((0, 9), np.uint8)).tolist() == []
    assert eight.distances(np.array([cells]).reshape(-1, 3, 3)).tolist() == [27]


@pytest.mark.parametrize(
    "states", [None, "378546201", 5, [[1, 2]], [[1, 2, 3], [1]], np.zeros((2, 9)), [["a"] * 9]]
)
def test_what_has_no_states_is_refused(tables: Tables, states: Any) -> None:
    with pytest.raises(BadRequest, match="States are an array of whole numbers"):
        tables.eight.distances(states)


@pytest.mark.parametrize("key", [[1.0] * 9, [True] * 9, [[[1]]], {}, [], [0] * 9, [10**30] * 9])
def test_numbers_that_are_no_state_are_refused(tables: Tables, key: Any) -> None:
    with pytest.raises(NotationError):
        tables.eight.probe(key)


def test_moves_are_applied(tables: Tables) -> None:
    assert tables.eight.apply(GOAL, "") == GOAL
    assert tables.eight.apply(GOAL, "UUDD") == GOAL
    assert tables.eight.apply(GOAL, "6, 5") == tables.eight.apply(GOAL, "UL") == "123405786"
    for moves, problem in (
        ("UR", "move 2, R: the blank is in the last column"),
        ("61", "move 2, tile 1: it is not next to the blank"),
        ("UX", "character 2, 'X': not one of U, D, L, R"),
    ):
        with pytest.raises(BadRequest, match=problem):
            tables.eight.apply(GOAL, moves)
    with pytest.raises(NotationError, match="of type NoneType, not text"):
        tables.eight.apply(GOAL, None)  # type: ignore[arg-type]  # as programs may call it
