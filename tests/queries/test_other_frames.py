"""Frames of other libraries and plain lists, which `annotate` answers as it does polars frames."""

import itertools
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from queries.api import Tables
from tablebase.errors import BadRequest

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


def test_numbers_stay_whole_in_pandas(tables: Tables) -> None:
    frame = tables.eight.annotate(pd.DataFrame({"state": ["378546201", None]}))
    assert frame.dtypes["distance"] == pd.Int8Dtype()
    assert frame.dtypes["solutions"] == pd.Int16Dtype()
    assert [*frame["goal"].cat.categories] == ["corner", "centre", "edge"]


def test_numbers_as_keys(tables: Tables) -> None:
    distances = [27, 28, None]
    lost = [378546201, 87654321, None]  # the second without its leading 0
    for frame in (lost, pa.table({"state": lost}), pl.Series(lost)):
        assert pl.DataFrame(tables.eight.annotate(frame))["distance"].to_list() == distances
    floats = tables.eight.annotate(pd.DataFrame({"state": lost}))
    assert floats["distance"].to_list() == [27, 28, pd.NA]


def test_frames_without_rows(tables: Tables) -> None:
    expected = tables.eight.annotate(pl.DataFrame({"state": []}, {"state": pl.String}))
    assert tables.eight.annotate([]).equals(expected)
    assert tables.eight.annotate(pl.Series([], dtype=pl.String)).equals(expected)
    frame = tables.eight.annotate(pd.DataFrame({"state": []}, dtype=str))
    assert ([*frame.columns], frame.empty) == (expected.columns, True)
    assert tables.eight.annotate(pa.table({"state": pa.array([], pa.string())})).num_rows == 0


def test_mixed_objects_in_pandas_are_no_keys(tables: Tables) -> None:
    frame = pd.DataFrame({"state": ["378546201", ("a", 1), 5, None]}, dtype=object)
    assert tables.eight.annotate(frame)["distance"].to_list() == [27, pd.NA, pd.NA, pd.NA]


@pytest.mark.parametrize(
    "frame", [5, "378546201", {"state": ["378546201"]}, None, pd.Index(["378546201"])], ids=type
)
def test_what_is_no_frame_is_named_with_what_is(tables: Tables, frame: object) -> None:
    with pytest.raises(BadRequest, match=r"a pyarrow Table, or a list of keys\.$") as caught:
        tables.eight.annotate(frame)
    assert type(frame).__name__ in str(caught.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"other": ["378546201"]}),
        pd.DataFrame([["378546201", "152703846"]], columns=["state", "state"]),
        pd.DataFrame({"state": [True]}),
        pa.table({"other": ["378546201"]}),
        pa.table([["378546201"], ["152703846"]], names=["state", "state"]),
        pl.DataFrame({"state": [True]}),
        pl.DataFrame({"other": ["378546201"]}),
    ],
    ids=itertools.count(),
)
def test_a_missing_column_is_named(tables: Tables, frame: Any) -> None:
    with pytest.raises(BadRequest, match="There is no text column 'state' with keys"):
        tables.eight.annotate(frame)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_no_column_is_replaced(tables: Tables, make: Any) -> None:
    frame = make({"state": ["378546201"], "distance": ["mine"]})
    with pytest.raises(BadRequest, match="The column 'distance' exists already"):
        tables.eight.annotate(frame)
    result = pl.DataFrame(tables.eight.annotate(frame, prefix="its_"))
    assert result.select("distance", "its_distance").rows() == [("mine", 27)]


def test_a_list_of_mixed_types_is_bad(tables: Tables) -> None:
    with pytest.raises(BadRequest, match="needs texts, or numbers, but not both"):
        tables.eight.annotate([378546201, "152703846"])
