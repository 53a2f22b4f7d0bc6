"""Claims, which every proof is made of: what is reported, and the first row that refutes one."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.pipeline.proofs.claims import (
    MAX_SHOWN_VALUE,
    Claim,
    Claims,
    Difference,
    Silence,
    TableResult,
    VerifyFailed,
    compare,
    compare_records,
    require_equal,
    run_claims,
)
from puzzle_tablebase.pipeline.proofs.files import check_contents, check_files
from puzzle_tablebase.pipeline.terminal import format_error
from tests.support.tampered import open_one, run

NAME = "knight_tours_5x5"
ROWS = pl.LazyFrame(
    {"row": range(5), "name": ["ant", "bee", "cat", "dog", "eel"], "legs": [6, 6, None, 4, 0]}
)


class Recorder(Silence):
    """An observer that keeps what it is shown."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def on_progress(self, text: str, done: int, total: int) -> None:
        self.shown.append((text, done, total))

    def on_claim(self, claim: Any) -> None:
        self.shown.append(claim)


def claim_one(*claims: Claim) -> Claims[str]:
    yield from claims
    return "all is well"


def test_claims_are_run_until_one_is_refuted(outputs: Path) -> None:
    listed, result, recorder = open_one(outputs, NAME), TableResult(NAME), Recorder()
    good = Claim("it holds", [3, 7])
    assert run_claims(listed, claim_one(good), result, recorder) == "all is well"
    record = {"table": NAME, "file": f"{NAME}.parquet", "claim": "it holds", "rows": 1728}
    text = f"{NAME}.parquet: it holds"
    held = {**record, "passed": True}
    assert recorder.shown == [*((text, done, 1728) for done in (0, 3, 7)), held]
    assert result.claims == [held]
    assert result.seconds > 0

    def fail() -> Iterator[Difference]:
        yield from require_equal("rows", 4, 4)
        yield from require_equal("rows", 4, 5)
        raise AssertionError("nothing is looked for after a difference")

    with pytest.raises(VerifyFailed) as caught:
        run_claims(listed, claim_one(good, Claim("it is bad", fail())), result, recorder)
    assert (caught.value.found, caught.value.expected) == ("rows 4", 5)
    assert len(result.claims) == 2


def fail(outputs: Path, wrong: Difference) -> VerifyFailed:
    with pytest.raises(VerifyFailed) as caught:
        run(open_one(outputs, NAME), claim_one(Claim("all is well", [wrong])))
    return caught.value


def test_a_failure_has_the_row_that_it_names(outputs: Path) -> None:
    failure = fail(outputs, Difference("3 legs", 4, 1003))
    rows = open_one(outputs, NAME).scan_rows().drop("row").collect()
    command = f"pipeline precompute {NAME} --force --outputs {outputs}"
    assert str(failure).startswith(f"{outputs / NAME}.parquet fails a proof (all is well): ")
    assert format_error(failure).endswith(f"): found 3 legs, expected 4. Run: {command}")
    call = f"pt.precompute({NAME!r}, force=True, outputs={str(outputs)!r})"
    assert str(failure).endswith(f"): found 3 legs, expected 4. Call: {call}")
    assert json.loads(json.dumps(failure.to_dict())) == {
        "table": NAME,
        "file": f"{NAME}.parquet",
        "claim": "all is well",
        "rows": 1728,
        "passed": False,
        "row": 1003,
        "content": rows.row(1003, named=True),
        "found": "3 legs",
        "expected": "4",
    }


def test_all_claims_are_about_the_same_bytes(copy: Path) -> None:
    """Replace a file between two claims, as a build does."""
    listed, path = open_one(copy, NAME), copy / f"{NAME}.parquet"
    run(listed, check_files(listed))
    other = path.with_name("other")
    other.write_bytes(b"other rows")
    other.replace(path)
    run(listed, check_contents(listed))
    again = open_one(copy, NAME)
    with pytest.raises(VerifyFailed):
        run(again, check_files(again))


def test_values_of_damaged_files_are_escaped_and_shortened(outputs: Path) -> None:
    longest = "x" * MAX_SHOWN_VALUE
    text = str(fail(outputs, Difference("\x1b[31m", longest, 0, {"name": longest + "y"})))
    assert "\x1b" not in text
    assert "\\x1b[31m" in text
    assert f"expected {longest}. Call" in text
    assert f"{longest}y" not in text


def test_the_first_different_row_is_named() -> None:
    reverse = ROWS.reverse().with_columns(expected=pl.Series([1, 4, 2, 6, 6]).cast(pl.Int8))
    assert [*compare(reverse, legs="expected")] == [Difference("legs None", "2", 2)]
    assert not [*compare(ROWS, legs="legs", name=pl.col("name"))]
    assert [*compare(ROWS, legs=pl.col("legs").fill_null(1))] == [Difference("legs None", "1", 2)]


def test_records_are_compared_as_whole_numbers_with_and_without_a_sign() -> None:
    """Compare numbers that are equal as floats."""
    records = np.array([(1 << 60,), ((1 << 60) + 1,)], dtype=[("tours", "<u8")])
    listed: Any = SimpleNamespace(
        iter_records=lambda: iter([(0, records)]), index=SimpleNamespace(records=2)
    )
    expected = {"tours": np.array([1 << 60, 1 << 60])}
    (first, *_) = compare_records(listed, [expected])
    assert first == Difference(f"tours {(1 << 60) + 1}", 1 << 60, 1, {"tours": (1 << 60) + 1})
    assert [*compare_records(listed, [{"tours": records["tours"].astype(np.int64)}])] == [2]
