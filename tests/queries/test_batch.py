"""Batches: answers beside the input's rows, in every format, packed or not."""

import contextlib
import gc
import gzip
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from subprocess import DEVNULL, PIPE
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.errors import BadRequest, OutputError
from puzzle_tablebase.queries import batch, batch_input
from puzzle_tablebase.queries.batch import compress_output, iter_answers, run_batch
from puzzle_tablebase.queries.batch_input import Rows
from puzzle_tablebase.queries.questions import BATCH, Options
from tests.support.batch_files import write_frame, write_table
from tests.support.shell import SCRIPT, Cli, environment

ANSWERED = ["goal", "distance", "best_moves", "solutions", "error"]
KEYS = b"378546201 123456780 bad"


def read_zstd(data: bytes) -> bytes:
    unpacked: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    return unpacked


UNPACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".zst": read_zstd}
READ: dict[str, Callable[..., pl.DataFrame]] = {
    "csv": partial(pl.read_csv, schema_overrides={"state": pl.String}),
    "jsonl": pl.read_ndjson,
    "parquet": pl.read_parquet,
}


OPTIONS = Options(BATCH, {})


def make_prober(*, calls: list[int] | None = None, seconds: float = 0.0) -> Any:
    """Make a prober of numbers: the answer is the double, and negative numbers have none."""

    def answer(keys: pl.Series, options: Options) -> pl.DataFrame:
        if calls is not None:
            calls.append(len(keys))
        time.sleep(seconds * len(keys))
        numbers = keys.cast(pl.Int64, strict=False)
        is_bad = numbers.is_null() & keys.is_not_null()
        errors = pl.select(
            pl.when(is_bad).then(pl.lit("no number"))
            .when(numbers < 0).then(pl.lit("no answer"))
        ).to_series()  # fmt: skip
        doubles = pl.select(pl.when(numbers >= 0).then(numbers * 2)).to_series()
        return pl.DataFrame({"double": doubles, "error": errors.cast(pl.String)})

    schema = pl.Schema({"double": pl.Int64()})
    return SimpleNamespace(
        columns=("n", "double"),
        key_cells=0,
        key_digits=0,
        iter_answers=None,
        make_schema=lambda options: schema,
        answer_keys=answer,
        has_key=lambda text, options: text.lstrip("-").isdigit(),
    )


def run(folder: Path, text: str | bytes, prober: Any = None, **options: Any) -> int:
    """Answer a text, into a file `out` unless the options name another."""
    source = folder / options.pop("name", "in.txt")
    source.write_bytes(text.encode() if isinstance(text, str) else text)
    given = {"format": "csv", "output": str(folder / "out"), "input": str(source), **options}
    on_progress = given.pop("on_progress", lambda rows: None)
    return run_batch(prober or make_prober(), OPTIONS, on_progress, **given)


def test_each_key_has_an_answer_or_an_error(tmp_path: Path) -> None:
    rows = "n,x\n7,a\n,b\n-1,c\nz,d\n7,\n"
    assert run(tmp_path, rows, name="in.csv") == 1, "a key without an answer is no invalid one"
    answers = pl.read_csv(tmp_path / "out", infer_schema=False)
    assert answers.rows() == [
        ("7", "a", "14", None),
        (None, "b", None, None),
        ("-1", "c", None, "no answer"),
        ("z", "d", None, "no number"),
        ("7", None, "14", None),
    ]
    assert answers.columns == ["n", "x", "double", "error"]


@pytest.mark.parametrize("file_format", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("given", ["csv", "tsv", "jsonl", "parquet"])
def test_all_formats_agree(query: Cli, tmp_path: Path, given: str, file_format: str) -> None:
    states = ["378546201", None, "bad", "1 2 3 4 5 6 7 8 0", "123456708"]
    frame = pl.DataFrame({"state": states, "note": ['a "b", c\nd', None, "é", "\t", " "]})
    source, target = tmp_path / f"in.{given}", tmp_path / f"out.{file_format}"
    source.write_bytes(write_frame(given, frame))
    assert query("eight", "--input", str(source), "--output", str(target))[:2] == (2, "")
    answers = READ[file_format](target)
    assert answers.columns == [*frame.columns, *ANSWERED]
    assert answers.select(frame.columns).equals(frame)
    assert answers["distance"].to_list() == [27, None, None, 0, 1]
    assert answers["goal"].to_list() == ["corner", None, None, "corner", "corner"]
    assert answers["error"].is_null().to_list() == [True, True, False, True, True]


def test_a_column_may_be_named_like_a_type(query: Cli, tmp_path: Path) -> None:
    """A column of bytes is refused by CSV and JSON lines, and one named after a type is not."""
    for name, value, code in (("Binary", 1, 0), ("x", b"1", 2), ("x", [{"a": b"1"}], 2)):
        source, frame = tmp_path / "in.parquet", {"state": ["123456708"], name: [value]}
        pl.DataFrame(frame).write_parquet(source)
        for file_format in ("csv", "jsonl"):
            completed = query("eight", "--input", str(source), "--format", file_format)
            assert completed[0] == code
            assert ("(a column has bytes)" in completed[2]) == (code == 2)


def test_a_path_is_one_text_in_every_format(query: Cli, tmp_path: Path) -> None:
    for name, key, first, count in (
        ("eight", "378546201", "378546201", 28),
        ("senet", "ABAAABBB.B...A.", "ABABABABAB.....", 3),
    ):
        for file_format, read in READ.items():
            target = str(tmp_path / f"out.{file_format}")
            assert query(name, "--path", "--output", target, text=key.encode())[0] == 0
            path = read(target)["path"][0]
            assert (path.split(" ")[0], path.count(" ") + 1) == (first, count)


def test_objects_keep_their_values(query: Cli) -> None:
    lines = [
        '{"state":"123456780","n":99999999999999999999,"day":"2024-02-29","at":[{"a":1,"b":"é\\""}]}',
        '{"day":"x","state":"123456708"} ',
        "{ }",
    ]
    words = ("--input-format", "jsonl", "--format", "jsonl")
    code, out, complaint = query("eight", *words, text="\r\n\n".join(lines).encode())
    assert (code, complaint) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["distance"] for row in rows] == [0, 1, None]
    names = ["state", "n", "day", "at"]
    for row, own in zip(rows, map(json.loads, lines), strict=True):
        assert [*row] == [*names, *ANSWERED]
        assert {name: row[name] for name in names} == dict.fromkeys(names) | own


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_an_input_without_rows_makes_an_empty_table(tmp_path: Path, format: str) -> None:
    blank = product(("txt", "csv", "tsv", "jsonl"), ("", "\n\n", "\r\n"))
    for name, text in (*blank, ("csv", "n\n")):
        assert run(tmp_path, text, name=f"in.{name}", format=format) == 0
        if format == "parquet":
            schema = {"n": pl.String, "double": pl.Int64, "error": pl.String}
            assert pl.read_parquet(tmp_path / "out").equals(pl.DataFrame(schema=schema))
        else:
            expected = "n,double,error\n" if format == "csv" else ""
            assert (tmp_path / "out").read_text() == expected


def test_rows_are_handed_over_in_parts_of_half_a_second(tmp_path: Path) -> None:
    fast, slow, counts = list[int](), list[int](), list[int]()
    text = "".join(f"{number}\n" for number in range(100_000))
    run(tmp_path, text, make_prober(calls=fast), format="parquet")
    assert fast[0] == batch.FIRST_ROWS
    assert (sum(fast), len(fast) < 10) == (100_000, True)
    assert pq.ParquetFile(tmp_path / "out").num_row_groups == 1
    assert pl.read_parquet(tmp_path / "out")["double"].to_list() == [*range(0, 200_000, 2)]
    run(tmp_path, "1 " * 40, make_prober(calls=slow, seconds=0.05), on_progress=counts.append)
    assert max(slow) <= 16
    assert len(slow) > 2
    assert counts == [sum(slow[:at]) for at in range(1, len(slow) + 1)]


def test_every_row_group_of_long_texts_is_as_large_as_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "MAX_PART_BYTES", 2_500)
    with batch.open_row_writer(str(tmp_path / "out"), "parquet") as write:
        for _ in range(9):
            write(pl.DataFrame({"text": ["a" * 100] * 10}))
    footer = pq.read_metadata(tmp_path / "out")
    assert [footer.row_group(at).num_rows for at in range(footer.num_row_groups)] == [30] * 3


def test_streamed_parts_are_the_rows_in_order() -> None:
    def stream(keys: pl.Series, options: Options) -> Iterator[pl.DataFrame]:
        yield from keys.to_frame().iter_slices(300)

    frames = [pl.DataFrame({"n": range(at, at + 1_000)}) for at in (0, 1_000, 2_000)]
    rows = (Rows(frame, (frame["n"],)) for frame in frames)
    prober = make_prober()
    prober.iter_answers = stream
    answered = [*iter_answers(prober, OPTIONS, rows)]
    assert pl.concat(part.frame for part, _ in answered).equals(pl.concat(frames))
    for part, answers in answered:
        assert part.frame.equals(answers)
        assert part.frame["n"].equals(part.texts[0])


@pytest.mark.parametrize(
    ("values", "formats"),
    [
        (pa.array([b"1"]), ["parquet"]),
        (pa.array([[b"1"]]), ["parquet"]),
        (pa.array([[1]]), ["jsonl", "parquet"]),
        (pa.array([{"a": [1.5]}]), ["jsonl", "parquet"]),
        (pa.array([1], pa.duration("ms")), ["jsonl", "parquet"]),
    ],
)
def test_columns_that_a_format_cannot_hold_are_refused(
    tmp_path: Path, values: pa.Array, formats: list[str]
) -> None:
    for file_format in READ:
        with contextlib.nullcontext() if file_format in formats else pytest.raises(BadRequest):
            run(tmp_path, write_table(n=["1"], x=values), name="in.pq", format=file_format)


@pytest.mark.parametrize(
    ("file_format", "suffix"),
    [("parquet", ".gz"), ("jsonl", ".zst"), *(("csv", each) for each in UNPACK)],
)
def test_outputs_are_packed_by_suffix(
    query: Cli, tmp_path: Path, file_format: str, suffix: str
) -> None:
    plain, packed = (
        tmp_path / f"plain.{file_format}",
        tmp_path / f"packed.{file_format}{suffix.upper()}",
    )
    written = []
    for target in (plain, packed, packed):
        assert query("eight", "--output", str(target), text=KEYS)[:2] == (2, "")
        written.append(target.read_bytes())
    assert UNPACK[suffix](written[1]) == written[0]
    assert written[2] == written[1], "the same answers give the same bytes"
    # and the program reads what it has written
    words = ("--input", str(packed), "--column", "state", "--prefix", "again_")
    code, out, _ = query("eight", *words)
    assert (code, out.splitlines()[1]) == (2, "378546201,corner,27,ULR,15,,corner,27,ULR,15,")


@pytest.mark.parametrize("suffix", UNPACK)
def test_a_failure_is_reported_and_leaves_no_file(tmp_path: Path, suffix: str) -> None:
    def fail(data: object) -> int:
        raise OutputError("'x'", "the disk is full")

    full: Any = SimpleNamespace(write=fail, flush=lambda: None)
    with pytest.raises(OutputError), compress_output(full, suffix) as packed:
        packed.write(bytes(range(256)) * 1_000)  # some write only when they close
    target = tmp_path / f"answers.csv{suffix}"
    with pytest.raises(BadRequest):
        run(tmp_path, 'n,x\n1,"x\n', name="in.csv", output=str(target))
    assert not target.exists()


def test_named_goals_have_the_tables_type_and_others_are_text(query: Cli, tmp_path: Path) -> None:
    target, named = tmp_path / "answers.parquet", pl.Enum(["corner", "centre", "edge"])
    for goal, dtype in ("corner", named), ("edge", named), ("087654321", pl.String):
        words = ("--goal", goal, "--output", str(target))
        assert query("eight", *words, text=b"378546201")[0] == 0
        assert pl.read_parquet_schema(target)["goal"] == dtype


@pytest.mark.parametrize(
    ("name", "format"), [("in.txt", "csv"), ("in.csv", "parquet"), ("in.jsonl", "jsonl")]
)
def test_rows_that_are_written_are_not_kept(
    name: str, format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read and answer many parts: frames in memory have as many rows after each as after others."""
    monkeypatch.setattr(batch_input, "CHUNK_BYTES", 200)
    monkeypatch.setattr(batch, "CHUNK_ROWS", 10)
    monkeypatch.setattr(batch, "PART_SECONDS", 0)
    counts = dict[int, int]()
    gc.freeze()  # only what is made from here on is counted

    def count_rows(done: int) -> None:
        if done % 50 == 0:
            columns = (pl.DataFrame, pl.Series)
            counts[done] = sum(len(each) for each in gc.get_objects() if isinstance(each, columns))

    line = '{"n": "%05d"}\n' if name == "in.jsonl" else "%05d\n"
    text = "n\n" * (name == "in.csv") + "".join(line % row for row in range(200))
    assert run(tmp_path, text, name=name, format=format, on_progress=count_rows) == 0
    assert [*counts] == [50, 100, 150, 200]
    assert counts[200] < counts[50] + 50
    assert max(counts.values()) < 120, "the input is not read as a whole"


WARM_UP, MEASURED = 12, 24
"""The rounds that fill buffers and caches, and those after them; a round has all 362,880 keys."""
ALLOWANCE = 20 << 20
"""Bytes by which the peak may grow: the keys are 4 times as many, the answers 10 times."""


def read_peak(process: subprocess.Popen[bytes]) -> int:
    """Return the most memory that a process has had so far, in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.slow
def test_memory_does_not_grow_with_the_input(outputs: Path, tmp_path: Path) -> None:
    """Measure one process twice, as it answers: what it needs at any rate does not count."""
    rows = pl.read_parquet(outputs / "eight.parquet", columns=["state"]).sample(
        fraction=1, shuffle=True, seed=1
    )
    keys, target = rows.write_csv(include_header=False).encode(), tmp_path / "answers.csv"
    assert MEASURED * len(keys) > 4 * ALLOWANCE
    command: list[str | Path] = [SCRIPT, "query", "eight", "--output", target, "--outputs", outputs]
    # each thread of polars has memory of its own
    environ = environment({"POLARS_MAX_THREADS": "2"})
    with subprocess.Popen(command, env=environ, stdin=PIPE, stdout=DEVNULL) as process:
        assert process.stdin
        peaks = []
        for rounds in (WARM_UP, MEASURED):
            for _ in range(rounds):
                process.stdin.write(keys)
            peaks.append(read_peak(process))
        process.stdin.close()
    assert process.returncode == 0
    assert peaks[1] - peaks[0] < ALLOWANCE
    with target.open("rb") as answers:
        lines = sum(part.count(b"\n") for part in iter(lambda: answers.read(1 << 20), b""))
    assert lines == 1 + (WARM_UP + MEASURED) * rows.height
