"""Frames of other libraries, plain lists, and arrays of the 8-puzzle's states.

`annotate` answers them as it does polars frames.
"""

import itertools
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.queries.api import Tables
from tests.support.oracles import eight_best_moves, eight_distances, eight_neighbours

KEYS = {
    "eight": ["378546201", None, "no state", "152703846", "152703846"],
    "senet": ["ABAAABBB.B...A.", None, "BBBBBAAAAA.....", "ababababab....."],
    "knight": ["b1", None, "z9", "a1"],
}


@pytest.mark.parametrize("name", KEYS)
def test_every_kind_of_frame_gets_the_same_answers(tables: Tables, name: str) -> None:
    keys, annotate = KEYS[name], partial(getattr(tables, name).annotate, column="key")
    expected = annotate(pl.DataFrame({"key": keys}))
    assert expected["key"].to_list() == keys
    for listed in (keys, tuple(keys), pl.Series("other", keys)):
        assert annotate(listed).equals(expected)
    arrow = annotate(pa.table({"n": [*range(len(keys))], "key": keys}))
    assert isinstance(arrow, pa.Table)
    assert arrow.column_names == ["n", *expected.columns]
    assert arrow.drop_columns(["n"]).to_pylist() == expected.to_dicts()
    for text in (object, "str", "string[pyarrow]", "category"):
        frame = pd.DataFrame({"n": range(len(keys)), "key": keys}, index=[7] * len(keys))
        frame = frame.astype({"key": text})
        result = annotate(frame)
        assert [*result.columns] == ["n", *expected.columns]
        assert result.index.equals(frame.index)
        assert result[["n", "key"]].equals(frame)
        added = result.drop(columns=["n", "key"]).astype(object)
        rows = added.where(added.notna(), None).to_dict("records")
        assert rows == expected.drop("key").to_dicts()
        assert annotate(frame["key"]).equals(result.drop(columns="n"))


def test_numbers_as_keys_and_as_answers(tables: Tables) -> None:
    lost = [378546201, 87654321, None]  # the second without its leading 0
    for frame in (lost, pa.table({"state": lost}), pl.Series(lost)):
        assert pl.DataFrame(tables.eight.annotate(frame))["distance"].to_list() == [27, 28, None]
    result = tables.eight.annotate(pd.DataFrame({"state": lost}))
    assert result["distance"].to_list() == [27, 28, pd.NA]
    assert pd.api.types.is_integer_dtype(result.dtypes["distance"]), "numbers stay whole"
    assert [*result["goal"].cat.categories] == ["corner", "centre", "edge"]


def test_frames_without_rows(tables: Tables) -> None:
    expected = tables.eight.annotate(pl.DataFrame({"state": []}, {"state": pl.String}))
    assert tables.eight.annotate([]).equals(expected)
    assert tables.eight.annotate(pl.Series([], dtype=pl.String)).equals(expected)
    frame = tables.eight.annotate(pd.DataFrame({"state": []}, dtype=str))
    assert ([*frame.columns], frame.empty) == (expected.columns, True)
    assert tables.eight.annotate(pa.table({"state": pa.array([], pa.string())})).num_rows == 0


TWICE = ["state", "state"]
REFUSED: list[Any] = [
    *(5, "378546201", {"state": ["1"]}, None, pd.Index(["378546201"]), [378546201, "152703846"]),
    pd.DataFrame({"state": ["378546201", ("a", 1), 5, None]}, dtype=object),
    pd.DataFrame({"state": [10**30, 378546201]}, dtype=object),
    *(pd.DataFrame([["1", "2"]], columns=TWICE), pa.table([["1"], ["2"]], names=TWICE)),
    *(make({"other": ["1"]}) for make in (pd.DataFrame, pa.table, pl.DataFrame, pl.LazyFrame)),
    *(make({"state": [True]}) for make in (pd.DataFrame, pl.DataFrame, pl.LazyFrame)),
    pl.DataFrame({"state": [[1, 2, 3]]}),
]
"""What cannot be annotated."""


@pytest.mark.parametrize("frame", REFUSED, ids=itertools.count())
def test_what_has_no_keys_is_refused(tables: Tables, frame: Any) -> None:
    with pytest.raises(BadRequest, match=r"^(The keys cannot be read|There is no text column)"):
        tables.eight.annotate(frame)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, pl.DataFrame, pl.LazyFrame])
def test_no_column_is_replaced(tables: Tables, make: Any) -> None:
    frame = make({"state": ["378546201"], "distance": ["mine"]})
    with pytest.raises(BadRequest, match=r"'distance' exists already, .*: prefix="):
        tables.eight.annotate(frame)
    result = tables.eight.annotate(frame, prefix="its_")
    rows = pl.DataFrame(result.collect() if make is pl.LazyFrame else result)
    assert rows.select("distance", "its_distance").rows() == [("mine", 27)]


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
        assert eight.check(key, "27", answers="distances").result == "right"
    assert eight.distances(pl.Series(["378546201"] * 2)).tolist() == [27, 27]
    assert eight.distances(["378546201", "x", None]).tolist() == [27, -1, -1]
    assert eight.distances([]).tolist() == []
    assert eight.distances(np.zeros((0, 9), np.uint8)).tolist() == []
    assert eight.distances(np.array([cells]).reshape(-1, 3, 3)).tolist() == [27]


@pytest.mark.parametrize(
    "states",
    [None, "378546201", 5, [[1, 2]], np.zeros((2, 9)), [["a"] * 9], pl.Series([["3", "7"]])],
)
def test_what_has_no_states_is_refused(tables: Tables, states: Any) -> None:
    with pytest.raises(BadRequest, match="array of whole numbers"):
        tables.eight.distances(states)
    with pytest.raises(NotationError, match="is not a goal"):
        tables.eight.best_moves(["378546201"], goal="")


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
