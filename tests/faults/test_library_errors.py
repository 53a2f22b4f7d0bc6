"""What a library cannot read, hold or write ends in one sentence, and in no error of the library.

Each command runs in a process of its own: some of these rows crash one that does not look first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import puzzle_tablebase as pt
from puzzle_tablebase.errors import explain_library_error
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.queries.tables import Tables
from puzzle_tablebase.stores import Folder
from tests.support.forks import Measure, fork_commands
from tests.support.shell import run_here
from tests.support.tampered import change_columns, describe_file, edit_manifest, replace_link

BAD_TEXT = pa.Array.from_buffers(
    pa.string(), 1, [None, pa.array([0, 3], pa.int32()).buffers()[1], pa.py_buffer(b"\xff\xfe1")]
)
STATE = "378546201"


def make_wide(value: int) -> pa.Array:
    return pa.array([Decimal(value)], pa.decimal256(70, 0))


ROWS = {
    "key": {"state": BAD_TEXT},
    "note": {"state": [STATE], "note": BAD_TEXT},
    "date": {"state": [STATE], "day": pa.array([2**31 - 1], pa.date32())},
    "name": {"state": [STATE], "a\0b": [1]},
    "wide": {"state": [STATE], "wide": make_wide(1)},
    "zone": {"state": [STATE], "at": pa.array([1], pa.timestamp("us", tz="Nowhere/X"))},
}
REFUSED = {
    ("key", "csv"): "The input 'key.parquet' cannot be read (In column",
    ("note", "parquet"): "The input 'note.parquet' cannot be read (In column",
    ("date", "csv"): "CSV cannot hold the rows (a date is out of range)",
    ("date", "jsonl"): "JSON cannot hold the rows (a date is out of range)",
    ("name", "parquet"): "Parquet cannot hold the rows (a column's name has a zero byte)",
    ("wide", "csv"): "The input 'wide.parquet' cannot be read (it has a column of type decimal256)",
    ("zone", "csv"): "The input 'zone.parquet' cannot be read (",
}


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    with fork_commands(tmp_path_factory.mktemp("results")) as measure:
        yield measure


@pytest.mark.parametrize(("rows", "file_format"), REFUSED, ids="-".join)
def test_rows_that_no_library_takes(
    rows: str, file_format: str, outputs: Path, tmp_path: Path, measure: Measure
) -> None:
    pq.write_table(pa.table(ROWS[rows]), tmp_path / f"{rows}.parquet")
    words = ("query", "eight", "--input", f"{rows}.parquet", "--format", file_format)
    completed, _ = measure(*words, "--outputs", outputs, cwd=tmp_path)
    assert (completed.code, completed.out, completed.err.count("\n")) == (2, "", 1)
    assert completed.err.startswith(f"pipeline: {REFUSED[rows, file_format]}")


@pytest.mark.parametrize("prefix", ["\udcff", "a\udcffb"])
def test_a_prefix_of_other_bytes(prefix: str, query: Any) -> None:
    completed = query("eight", "--prefix", prefix, text=STATE.encode())
    assert completed == (2, "", f"pipeline: The prefix {prefix!r} is not text in UTF-8.\n")


FRAMES = {
    "a ragged list": [STATE, ["1", "2"]],
    "another ragged list": [["1"], ["1", "2"], 3],
    "decimals of 256 bits": pa.table({"state": make_wide(STATE.isdigit())}),
    "a chunk of decimals": pa.chunked_array([make_wide(1)]),
    "half of a pair": ["\ud800"],
    "half of a pair in pandas": pd.DataFrame({"state": ["\ud800"]}, dtype=object),
    "bytes for text": pa.table({"state": BAD_TEXT}),
    "dates": pa.table({"state": pa.array([2**31 - 1], pa.date32())}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_that_no_library_takes(name: str, tables: Tables) -> None:
    with pytest.raises(pt.BadRequest, match=r"The keys cannot be read|There is no text column"):
        tables.eight.annotate(FRAMES[name])


def test_other_columns_may_have_any_type(tables: Tables) -> None:
    rows = pa.table(ROWS["wide"])
    assert tables.eight.annotate(rows)["wide"].equals(rows["wide"])


@pytest.mark.parametrize("wrong", [3, ["state"], b"state", {}, None])
def test_names_that_are_no_text(wrong: Any, tables: Tables) -> None:
    frame = pl.DataFrame({"state": [STATE]})
    if wrong:  # without a name it is the usual column
        with pytest.raises(pt.NotationError, match="a column's name"):
            tables.eight.annotate(frame, wrong)
    for call in (
        lambda: tables.eight.annotate(frame, prefix=wrong),
        lambda: tables.answer(wrong, STATE),
        lambda: tables.goals(wrong),
    ):
        with pytest.raises(pt.NotationError, match="text"):
            call()


def test_a_name_with_a_zero_byte(tables: Tables) -> None:
    with pytest.raises(pt.BadRequest):
        tables.eight.annotate(pa.table({"state": [STATE]}), prefix="a\0")


STATES = ["999999999", "", "12345678", "1" * 100, "\u00e9" * 9, "123456780\0"]


@pytest.mark.parametrize("state", STATES)
def test_forged_states(state: str, outputs: Path, copy: Path) -> None:
    path = replace_link(copy / "eight_edge.parquet")
    rows = pl.read_parquet(path)
    forged = pl.when(pl.int_range(pl.len()) % 1000 == 0).then(pl.lit(state)).otherwise("state")
    rows.with_columns(forged.alias("state")).write_parquet(path)
    with edit_manifest(copy) as entries:
        entries["eight_edge"]["parquet"] = describe_file(path)
    for words in (
        *("query eight --hardest --goal edge", "sample eight --goal edge --size 50"),
        *("query eight 123456708 --goal edge", "verify eight_edge"),
    ):
        completed = run_here(*words.split(), "--outputs", str(copy))
        assert completed.code in (0, 1, 3), (words, completed)
    keys = "\n".join(rows["state"].head(50))
    assert run_here(
        "query", "eight", "--goal", "edge", "--outputs", str(copy), stdin=keys
    ).code in (0, 3)


def test_a_reason_is_one_line_and_memory_is_none() -> None:
    with pytest.raises(pa.ArrowInvalid) as caught:
        pa.array(["x"]).cast(pa.int8())
    assert explain_library_error(caught.value).startswith("Failed to parse string: 'x'")
    assert explain_library_error(pa.ArrowMemoryError("malloc failed")) == ""
    assert explain_library_error(OSError("Corrupt snappy data")) == "Corrupt snappy data"
    assert explain_library_error(OSError(5, "Input/output error")) == ""
    assert explain_library_error(ValueError("a bug of ours")) == ""
    long = explain_library_error(pl.exceptions.ComputeError("\x1b" * 500 + "\nmore"))
    assert len(long) == 800, "each is shown as four characters"
    assert long.isprintable()


def test_a_proof_says_in_a_sentence_what_no_library_reads(copy: Path) -> None:
    path = replace_link(copy / "eight_edge.parquet")
    pl.read_parquet(path).drop("state").write_parquet(path)
    with edit_manifest(copy) as entries:
        entries["eight_edge"]["parquet"] = describe_file(path)
    with pytest.raises(pt.TablebaseError, match="fails a proof"):
        verify(Folder(copy), ["eight_edge"])
    completed = run_here("verify", "eight_edge", "--json", "--outputs", str(copy))
    assert completed.code == 3
    assert json.loads(completed.out)["failure"]["passed"] is False


@pytest.mark.parametrize("command", ["query eight --hardest", "sample eight", "query knight a1"])
def test_two_columns_of_one_name_are_damage(command: str, copy: Path) -> None:
    table, name = ("knight_tours_5x5", "path") if "knight" in command else ("eight", "distance")
    words = [*command.split(), *("--board", "5x5", "--number", "3") * ("knight" in command)]
    change_columns(copy, table, lambda rows: rows.append_column(name, rows[name]))
    completed = run_here(*words, "--outputs", str(copy))
    assert (completed.code, completed.out) == (3, "")
    assert f"its column {name} is not as the table's definition says" in completed.err
