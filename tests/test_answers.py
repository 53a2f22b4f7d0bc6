"""What answers are written with: JSON as the standard library writes it, words in columns."""

from __future__ import annotations

import json
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from queries.answers import aligned, counted, json_text, quick_answer
from queries.forms import Option, quick

PLAIN = st.text(string.ascii_letters + string.digits + string.punctuation.replace('"', "") + " ")
FACTS = st.recursive(
    st.none() | st.booleans() | st.integers() | PLAIN,
    lambda facts: st.lists(facts) | st.dictionaries(PLAIN, facts),
)


@given(FACTS)
def test_facts_as_json_are_what_the_standard_library_writes(facts: object) -> None:
    assert json_text(facts) == json.dumps(facts)


@pytest.mark.parametrize("value", [1.5, "\n", "é", 'a"b', b"1", ("1",)])
def test_what_facts_never_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match=f"^facts hold no {re.escape(repr(value))}$"):
        json_text({"fact": [value]})


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_one_is_not_many(count: int) -> None:
    assert counted(count, "move") == f"{count:,} move" + ("" if count == 1 else "s")


def test_labels_stand_in_one_column() -> None:
    rows = [("", "first"), ("label", "second"), ("long label", ""), ("  indented", "third")]
    assert aligned(rows).splitlines() == [
        "            first",
        "label       second",
        "long label",
        "  indented  third",
    ]


@pytest.mark.parametrize("words", [[], [""], ["hanoi"], ["--help"], ["hanoi", "1"]])
def test_what_names_no_puzzle_is_left_to_the_command_line(words: list[str]) -> None:
    assert quick_answer(words) is None


@pytest.mark.parametrize(
    "words",
    [
        ["--to", "c3"],
        ["b1", "--to"],
        ["--to", "c3", "--closed"],
        ["b1", "--to", "--closed"],
        ["b1", "--to", "-"],
        ["b1", "-h"],
        ["b1", "--to=c3"],
        ["b1", "--svg", "b1.svg"],
    ],
)
def test_what_is_no_plain_form_is_left_to_the_command_line(words: list[str]) -> None:
    assert quick(words, (Option("to", "", "SQUARE"), Option("closed", ""))) is None
