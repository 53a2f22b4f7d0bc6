"""Few bytes that stand for many: each ends in a sentence, or is read in parts that fit.

Each command runs in a process of its own, which says how much memory it has had at most.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.errors import TableDamaged
from puzzle_tablebase.pipeline.proofs import files
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.queries import scans
from puzzle_tablebase.stores import MANIFEST, MAX_WHOLE_BYTES, Folder
from tests.support.forks import Measure, fork_commands
from tests.support.shell import Cli
from tests.support.tampered import change_columns, get_refutation, rewrite

FIVE = "knight_tours_5x5"
(TABLE,) = KNIGHT.find_tables(FIVE)

STATE = "378546201"
MEBIBYTE = 1 << 20


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measure]:
    with fork_commands(tmp_path_factory.mktemp("results")) as measure:
        yield measure


def repeat(rows: int, *values: object) -> pa.Array:
    """Return a column in which the last value stands in all rows but the first ones."""
    at = [*range(len(values))] + [len(values) - 1] * (rows - len(values))
    return pa.DictionaryArray.from_arrays(pa.array(at, pa.int32()), pa.array(values))


def write_text(path: Path) -> None:
    rows = pa.table({"state": repeat(20_000, STATE), "note": repeat(20_000, "", "x" * 80_000)})
    pq.write_table(rows, path, compression="zstd", store_schema=False)


def write_lists(path: Path) -> None:
    lists = pa.array([["y" * 80_000] * 8] * 2_000)
    rows = pa.table({"state": repeat(2_000, STATE), "note": lists})
    pq.write_table(rows, path, compression="zstd", store_schema=False)


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_text, write_lists])
@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_a_text_that_is_stored_once_is_read_in_parts(
    write: Callable[[Path], None], file_format: str, outputs: Path, tmp_path: Path, measure: Measure
) -> None:
    write(tmp_path / "few.parquet")
    assert (tmp_path / "few.parquet").stat().st_size < 200_000
    target = "/dev/null" if file_format == "jsonl" else tmp_path / "answers.parquet"
    options = ("--output", target, "--format", file_format, "--outputs", outputs)
    completed, peak = measure("query", "eight", "--input", tmp_path / "few.parquet", *options)
    assert completed == (0, "", "")
    assert peak < 1200 * MEBIBYTE
    if file_format == "parquet":
        answered = pq.ParquetFile(target).metadata.num_rows
        assert answered == pq.ParquetFile(tmp_path / "few.parquet").metadata.num_rows


def test_measuring_a_dictionary_copies_no_text(tmp_path: Path, measure: Measure) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 30), pa.array(["x" * 68_000_000]))
    rows = pa.table({"state": repeat(30, STATE), "note": words})  # a type of Arrow's, in its schema
    pq.write_table(rows, tmp_path / "words.parquet", compression="zstd")
    completed, peak = measure("query", "eight", "--input", tmp_path / "words.parquet")
    assert completed.code == 2
    assert "a row has 68,000,0" in completed.err
    assert peak < 1000 * MEBIBYTE


def make_objects(count: int) -> str:
    lines = (json.dumps({"state": STATE, f"field {number}": 1}) for number in range(count))
    return "".join(f"{line}\n" for line in lines)


def make_nested(count: int) -> str:
    lines = (json.dumps({"state": STATE, "more": {f"{number}": 1}}) for number in range(count))
    return "".join(f"{line}\n" for line in lines)


def make_deep(levels: int, bracket: str) -> str:
    inner = '{"b":' * levels + "1" + "}" * levels if bracket == "{" else "[" * levels + "]" * levels
    return f'{{"state": "{STATE}", "more": {inner}}}\n'


REFUSED = {
    "levels that differ": ("g.jsonl", "".join(make_deep(n, "{") for n in range(200)), "64 levels"),
    "objects in objects": ("h.jsonl", make_deep(64, "{"), "more than 64 levels"),
    "lists in lists": ("i.jsonl", make_deep(900_000, "["), "more than 64 levels"),
    "lists without an end": ("j.jsonl", "[" * 2_000_000, "cannot be read"),
    "a name a line": ("a.jsonl", make_objects(40_000), "names: too many for columns"),
    "a name inside": ("b.jsonl", make_nested(40_000), "names: too many for columns"),
    "few lines": ("c.jsonl", make_objects(5_000), "The objects of 5,001 lines have 5,001 names"),
    "a string without an end": ("d.jsonl", '{"a": "' + '\\"' * 800_000, "cannot be read"),
    "a wide header": ("e.csv", ",".join(["state", *map(str, range(100_000))]) + "\n", "100,001"),
    "a wide header of tabs": ("f.tsv", "state" + "\tx" * 900_000 + "\n", "900,001 columns"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_without_end_are_refused(
    name: str, outputs: Path, tmp_path: Path, measure: Measure
) -> None:
    file, text, problem = REFUSED[name]
    (tmp_path / file).write_text(text, "utf-8")
    completed, peak = measure("query", "eight", "--input", tmp_path / file, "--outputs", outputs)
    assert (completed.code, completed.out) == (2, "")
    assert problem in completed.err
    assert completed.err.count("\n") == 1
    assert peak < 500 * MEBIBYTE


def test_deep_objects_are_read(cli: Cli, tmp_path: Path) -> None:
    flat = f'{{"state": "{STATE}", "more": "{"[" * 500}"}}\n'
    for text in (make_deep(63, "{"), make_deep(63, "["), flat * 500):
        (tmp_path / "deep.jsonl").write_text(text, "utf-8")
        completed = cli("query", "eight", "--input", tmp_path / "deep.jsonl", "--format", "jsonl")
        assert (completed.code, completed.out.count(STATE), completed.err) == (
            0,
            text.count(STATE),
            "",
        )


def test_wide_rows_are_read(outputs: Path, tmp_path: Path, measure: Measure) -> None:
    names = ["state", *map(str, range(999))]
    rows = [STATE] + ["1"] * 999
    (tmp_path / "wide.csv").write_text(f"{','.join(names)}\n" + f"{','.join(rows)}\n" * 500)
    wide = {name: int(name) for name in names[1:]} | {"state": STATE}
    (tmp_path / "wide.jsonl").write_text(f"{json.dumps(wide)}\n" * 500)
    for file in ("wide.csv", "wide.jsonl"):
        completed, _ = measure("query", "eight", "--input", tmp_path / file, "--outputs", outputs)
        assert (completed.code, completed.out.count("\n"), completed.err) == (0, 501, "")


@pytest.mark.parametrize("command", ["query eight --hardest --goal edge", "verify eight_edge"])
def test_rows_beyond_the_definition_are_damage(command: str, copy: Path, measure: Measure) -> None:
    count = 17 * 181_440
    rewrite(copy, "eight_edge", lambda rows: pa.concat_tables([rows] * 17), row_group=count)
    completed, peak = measure(*command.split(), "--outputs", copy)
    assert completed.code == 3
    facts = f"found rows {count}, expected 181440" if "verify" in command else f"has {count:,} rows"
    assert facts in completed.err
    assert completed.err.count("\n") == 1
    assert peak < 400 * MEBIBYTE


@pytest.mark.parametrize("command", ["query eight 378546201", "status", "verify", "report"])
def test_a_manifest_without_end_is_not_read(command: str, tmp_path: Path, measure: Measure) -> None:
    with (tmp_path / MANIFEST).open("wb") as file:
        os.truncate(file.fileno(), 5_000_000_000)
    completed, peak = measure(*command.split(), "--outputs", tmp_path)
    problem = f"it has more than {MAX_WHOLE_BYTES:,} bytes"
    path = tmp_path / MANIFEST
    assert (completed.code, completed.out) == (3, "")
    assert completed.err.startswith(f"pipeline: {path} cannot be read: {problem}. ")
    assert peak < 400 * MEBIBYTE


def test_texts_of_tables_that_would_not_fit_are_damage(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite(copy, FIVE, lambda rows: rows)
    values = {"start": "c3"}
    found = scans.find_rows(Folder(copy), TABLE, values, ("path",))
    for module in (scans, files):
        monkeypatch.setattr(module, "MAX_GROUP_BYTES", 2 * 25 * 1_728 - 1)
    with pytest.raises(TableDamaged, match="texts of its column path are too long"):
        scans.find_rows(Folder(copy), TABLE, values, ("path",))
    failure = get_refutation(copy, FIVE)
    assert str(failure.found) == f"texts of {(3 + 50) * 1_728:,} bytes in 1,728 rows"
    monkeypatch.undo()
    assert len(found) == len(scans.find_rows(Folder(copy), TABLE, values, ("path",))) > 0


def put_parts_first(rows: pa.Table) -> pa.Table:
    return rows.add_column(0, "parts", [[{"a": 1, "b": "a"}] * len(rows)])


def test_the_columns_of_a_row_are_found_wherever_they_stand(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"start": "c3"}
    found = scans.find_rows(Folder(copy), TABLE, values, ("path",))
    change_columns(copy, FIVE, put_parts_first)
    assert scans.find_rows(Folder(copy), TABLE, values, ("path",)) == found
    monkeypatch.setattr(scans, "MAX_GROUP_BYTES", 1 << 26)
    with pytest.raises(TableDamaged, match="texts of its column path are too long"):
        scans.find_rows(Folder(copy), TABLE, values, ("path",))
