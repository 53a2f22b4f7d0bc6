"""Claim checks, which every proof is made of: reports, and the first row that refutes a claim."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from puzzle_tablebase.pipeline.verify.claims import (
    MAX_SHOWN_VALUE,
    Claim,
    ClaimCheck,
    Rows,
    VerifyFailed,
)
from puzzle_tablebase.tables.store import Folder

CLAIM = Claim("toys", "toys.parquet", "all is well", 5)
ROWS = Rows(
    pa.record_batch(
        {
            "name": ["ant", "bee", "cat", "dog", "eel"],
            "legs": pa.array([6, 6, None, 4, 0], pa.int8()),
        }
    ),
    1000,
)


@pytest.fixture
def reports() -> list[tuple[Claim, int]]:
    return []


@pytest.fixture
def fact(tmp_path: Path, reports: list[tuple[Claim, int]]) -> ClaimCheck:
    return ClaimCheck(CLAIM, Folder(tmp_path), "make toys", lambda *words: reports.append(words))


def test_a_claim_is_reported_as_proved_unless_it_is_refuted(
    fact: ClaimCheck, reports: list[tuple[Claim, int]]
) -> None:
    with fact:
        fact.report_progress(3)
    proved = Claim("toys", "toys.parquet", "all is well", 5, passed=True)
    assert reports == [(CLAIM, 0), (CLAIM, 3), (proved, 5)]
    reports.clear()
    with pytest.raises(VerifyFailed, match=r"well\): found rows 4, expected 5\. Run: "), fact:
        fact.require_equal("rows", 4, 5)
    assert reports == [(CLAIM, 0)]


def test_a_failure_has_every_detail(fact: ClaimCheck, tmp_path: Path) -> None:
    with pytest.raises(VerifyFailed) as text:
        fact.refute("3 legs", 4, 1003, {"name": "dog", "legs": 3})
    path = tmp_path / "toys.parquet"
    assert str(text.value) == (
        f"{path} fails a proof (all is well): row 1,003 (name dog, legs 3): found 3 legs, "
        f"expected 4. Run: make toys"
    )
    assert json.loads(json.dumps(text.value.to_dict())) == {
        "table": "toys",
        "file": "toys.parquet",
        "claim": "all is well",
        "rows": 5,
        "passed": False,
        "row": 1003,
        "content": {"name": "dog", "legs": 3},
        "found": "3 legs",
        "expected": "4",
        "command": "make toys",
    }


def test_values_of_damaged_files_are_escaped_and_shortened(fact: ClaimCheck) -> None:
    longest = "x" * MAX_SHOWN_VALUE
    with pytest.raises(VerifyFailed) as caught:
        fact.refute("\x1b[31m", longest, 0, {"name": longest + "y"})
    text = str(caught.value)
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert f"expected {longest}. Run" in text
    assert f"{longest}y" not in text
    assert len(text) < 3 * MAX_SHOWN_VALUE


def test_among_selected_rows_the_first_in_the_table_is_named(fact: ClaimCheck) -> None:
    at, expected = np.array([4, 3, 0]), pa.array([1, 2, 6], pa.int8())
    with pytest.raises(VerifyFailed) as text:
        ROWS.require_column(fact, "legs", expected, at)
    assert (text.value.row, text.value.found, text.value.expected) == (1003, "legs 4", "2")
    assert text.value.content == {"name": "dog", "legs": 4}
