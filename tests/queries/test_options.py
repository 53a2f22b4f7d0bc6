"""Options: each is declared once, parsed once, and holds where it is declared."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.queries.prober import PROBERS, open_prober
from puzzle_tablebase.queries.questions import (
    Options,
    parse_distances,
    parse_positive_number,
    parse_split,
)
from puzzle_tablebase.queries.tables import Tables
from puzzle_tablebase.stores import Folder

MOVED = "123456789abcde0f"


@pytest.mark.parametrize(
    ("name", "key", "options"),
    [
        ("hanoi", "1", {}),
        ("eight", "378546201", {"turn": "A"}),
        ("eight", None, {"path": True}),
        ("knight", "b1", {"to": "a3", "number": 0}),
        ("knight", "a1", {"rank": 0, "count": True}),
        ("eight", "378546201", {"goal": ""}),
        ("senet", "ABAAABBB.B...A.", {"turn": ""}),
        ("senet", "ABAAABBB.B...A.", {"turn": True}),
        *(("fifteen", MOVED, {"time_limit": value}) for value in (10**400, [1])),
        ("fifteen", MOVED, {"patterns": 7}),
        (None, "378546201", {}),
        (7, "378546201", {}),
    ],
)
def test_other_queries_are_refused(
    tables: Tables, name: str, key: str | None, options: dict[str, object]
) -> None:
    with pytest.raises((BadRequest, NotationError)):
        tables.answer(name, key, **options)


def test_a_probe_takes_no_option_of_rows(tables: Tables) -> None:
    with pytest.raises(BadRequest, match="no option 'features' for a probe"):
        tables.eight.probe("123450786", features=True)


@pytest.mark.parametrize("value", [False, 0, np.False_, None])
def test_a_flag_is_false_by_its_truth(tables: Tables, value: Any) -> None:
    knight = tables.knight
    assert knight.probe("b1", closed=value) == knight.probe("b1")
    assert knight.probe("b1", number=0).number == 0, "zero is a value"
    assert knight.probe("b1", closed=np.True_) == knight.probe("b1", closed=True)
    assert tables.eight.probe("123450786", path=value) == tables.eight.probe("123450786")


@given(st.integers(0, 10**9 - 1), st.integers(0, 10**9 - 1))
def test_distances_are_a_number_or_a_range(first: int, last: int) -> None:
    assert parse_distances(first) == parse_distances(f"{first}") == range(first, first + 1)
    if first <= last:
        assert parse_distances(f"{first}-{last}") == range(first, last + 1)
    else:
        with pytest.raises(BadRequest):
            parse_distances(f"{first}-{last}")


@given(st.dictionaries(st.text("abXY_ 9", min_size=1).map(str.strip), st.integers(1, 10**10 - 1)))
def test_a_split_is_the_names_with_their_rows(sizes: dict[str, int]) -> None:
    """White space around and between is no part of a name."""
    named = {name.replace(" ", ""): size for name, size in sizes.items() if name.strip()}
    assume(named)
    text = ",".join(f" {name} = {size}" for name, size in named.items())
    assert parse_split(text) == named


@given(st.text("0123456789-,=ab ٣_.", max_size=9))
def test_any_other_text_of_distances_and_splits_is_refused(text: str) -> None:
    if not re.fullmatch("[0-9]{1,9}(-[0-9]{1,9})?", text):
        with pytest.raises(BadRequest):
            parse_distances(text)
    if not re.fullmatch("([^=,]+=[0-9]{1,10})(,[^=,]+=[0-9]{1,10})*", text.replace(" ", "")):
        with pytest.raises(BadRequest):
            parse_split(text)


@given(st.floats(allow_nan=True) | st.text(max_size=6))
def test_a_positive_number_is_one_above_0(value: float | str) -> None:
    """Expect what Python reads as a finite number above 0, of ASCII without underscores."""
    try:
        expected = float(value) if str(value).isascii() and "_" not in str(value) else 0
    except ValueError:
        expected = 0
    if 0 < expected < math.inf:
        assert parse_positive_number(value, "--time-limit", "seconds", 60) == expected
    else:
        with pytest.raises(BadRequest, match="--time-limit needs a number of seconds above 0"):
            parse_positive_number(value, "--time-limit", "seconds", 60)


def test_an_option_is_declared_once_and_excludes_what_is_declared(tmp_path: Path) -> None:
    for name in PROBERS:
        options = open_prober(name, Folder(tmp_path)).options
        names = [option.name for option in options]
        assert len(names) == len({*names}), name
        assert {other for option in options for other in option.excludes} <= {*names}, name
        assert {*names} <= {*vars(Options)}, name
