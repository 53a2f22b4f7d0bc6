"""Answers as JSON like the standard library's, and counts that read no input."""

import json
import subprocess
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.queries.answer import format_json
from tests.support.shell import SCRIPT, environment

TEXT = st.text() | st.text(st.characters()) | st.text('"\\\x7f\x1b\n\té\ud800😀')
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
FACTS = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda facts: st.lists(facts) | st.tuples(facts) | st.dictionaries(TEXT, facts),
)


@given(FACTS)
def test_format_json_agrees_with_the_standard_library(facts: object) -> None:
    assert format_json(facts) == json.dumps(facts)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (b"1", "b'1'"),
        (np.float64(0.1), 0.1),
        (np.int8(-3), -3),
        (date(2024, 2, 29), "2024-02-29"),
        (Decimal("1.50"), "1.50"),
    ],
)
def test_values_unknown_to_json_are_valid_json(value: object, written: object) -> None:
    assert json.loads(format_json({"fact": [value], 1: value})) == {"fact": [written], "1": written}


@pytest.mark.parametrize("board", [["--board", "5x5"], ["--board=5x5"]], ids=["quick", "proper"])
def test_a_count_without_a_square_reads_no_input(outputs: Path, board: list[str]) -> None:
    """Keep standard input open and silent, so that a process that reads it never ends."""
    with subprocess.Popen(
        [SCRIPT, "query", "knight", "--count", *board, "--json", "--outputs", str(outputs)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.wait(timeout=60) == 0
        assert process.stdout
        assert process.stdout.read() == b'{"board": "5x5", "tours": 1728, "closed": 0}\n'
