"""Batch input: every format, named or detected, compressed or not; and inputs that are refused."""

import bz2
import gzip
import io
import itertools
import json
import lzma
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.queries import batch_formats
from tests.support.shell import Ask

ROWS = [
    ("378546201", "plain"),
    ("123456780", 'a "word",\nand a line'),
    (None, "no key"),
    ("oops", "6\tspaces  "),
    ("1 2 3 4 5 6 7 8 0", ""),
]
FRAME = pl.DataFrame(ROWS, schema={"state": pl.String, "note": pl.String}, orient="row")
DISTANCES = [27, 0, None, None, 0]


def write_frame(kind: str, frame: pl.DataFrame = FRAME) -> bytes:
    """Return a frame as a file of a format."""
    file = io.BytesIO()
    if kind == "parquet":
        frame.write_parquet(file)
    elif kind == "jsonl":
        frame.write_ndjson(file)
    else:
        frame.write_csv(file, separator="\t" if kind == "tsv" else ",")
    return file.getvalue()


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}
KINDS = ["csv", "tsv", "jsonl", "parquet"]


def check(outcome: tuple[int, str, str]) -> None:
    """Require that the answers stand beside the input, row for row, with nothing changed."""
    code, out, complaint = outcome
    assert (code, "1 key is invalid" in complaint) == (2, True), complaint
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["state"], row["note"]) for row in rows] == ROWS
    assert [row["distance"] for row in rows] == DISTANCES
    assert [row["error"] is None for row in rows] == [True, True, True, False, True]


@pytest.mark.parametrize(
    ("kind", "packed"),
    [*((kind, "") for kind in KINDS), *(("csv", each) for each in PACKED if each)],
)
def test_formats_are_detected_by_file_name(
    ask_in_process: Ask, tmp_path: Path, kind: str, packed: str
) -> None:
    source = tmp_path / f"asked.{kind}{packed}".upper()
    source.write_bytes(PACKED[packed](write_frame(kind)))
    check(ask_in_process("eight", "--input", str(source), "--format", "jsonl"))


@pytest.mark.parametrize(("kind", "packed"), [*zip(KINDS, PACKED, strict=False)])
def test_formats_are_read_from_standard_input(ask: Ask, kind: str, packed: str) -> None:
    words = ("--format", "jsonl", "--input-format", kind, "--column", "state")
    check(ask("eight", *words, text=PACKED[packed](write_frame(kind))))


def test_parquet_and_compressed_files_are_detected_by_content(
    ask_in_process: Ask, tmp_path: Path
) -> None:
    check(ask_in_process("eight", "--format", "jsonl", text=write_frame("parquet")))
    source = tmp_path / "asked.csv"
    for data in (
        write_frame("parquet"),
        gzip.compress(write_frame("csv")),
        zstd(write_frame("parquet")),
    ):
        source.write_bytes(data)
        check(ask_in_process("eight", "--format", "jsonl", "--input", str(source)))
    code, out, _ = ask_in_process("eight", text=gzip.compress(b"123456780 1 2 3 4 5 6 7 8 0"))
    assert (code, out.count("123456780,corner,0")) == (0, 2)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_concatenated_streams_are_read(ask_in_process: Ask, pack: Callable[[bytes], bytes]) -> None:
    padding = bytes(8) if pack is lzma.compress else b""
    text = pack(b"123456780\n") + padding + pack(b"123456708\n") + padding
    assert ask_in_process("eight", text=text)[1].count("corner") == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_byte_order_marks_are_skipped(
    ask_in_process: Ask, tmp_path: Path, kind: str, encoding: str
) -> None:
    source = tmp_path / f"asked.{kind}"
    source.write_bytes(write_frame(kind).decode().encode(encoding))
    check(ask_in_process("eight", "--input", str(source), "--format", "jsonl"))
    code, out, complaint = ask_in_process("eight", text="123456780\r\n".encode(encoding))
    assert (code, complaint) == (0, "")
    assert out.splitlines()[1] == '123456780,corner,0,"",1,'


def test_cells_are_copied_unchanged(ask_in_process: Ask) -> None:
    rows = 'state,n,\r\n007,1.50,"a\r\nb"\r\n\r\n123456780,5" disk, x \r\n,"",\r\n'
    code, out, _ = ask_in_process("eight", "--input-format", "csv", text=rows.encode())
    assert code == 2
    header, first = out.split("007,")[0], "007," + out.split("007,")[1]
    assert header == 'state,n,"",goal,distance,best_moves,solutions,error\n'
    assert first.startswith('007,1.50,"a\r\nb",,,,,')
    assert first.endswith('\n123456780,"5"" disk", x ,corner,0,"",1,\n,"",,,,,,\n')


@pytest.mark.parametrize("kind", ["csv", "tsv"])
@given(
    rows=st.lists(st.tuples(st.text('ab", \t\n', max_size=8), st.text('"\n,', max_size=4))),
    chunk_bytes=st.integers(1, 40),
)
def test_rows_survive_any_chunk_boundary(
    kind: str, rows: list[tuple[str, str]], chunk_bytes: int
) -> None:
    frame = pl.DataFrame(rows, schema={"k": pl.String, "v": pl.String}, orient="row")
    file = io.BytesIO()
    delimiter = b"," if kind == "csv" else b"\t"
    frame.write_csv(file, separator=delimiter.decode(), quote_style="non_numeric")
    file.seek(0)
    result = [part.rows for part in batch_formats._read_delimited(file, delimiter, chunk_bytes)]
    assert pl.concat(result).rows() == frame.rows()


def test_parquet_types_are_preserved(ask_in_process: Ask, tmp_path: Path) -> None:
    source, target = tmp_path / "asked.parquet", tmp_path / "answers.parquet"
    given = pl.DataFrame(
        {
            "day": pl.Series(["2024-02-29", None]).str.to_date(),
            "state": pl.Series(["123456780", None], dtype=pl.Categorical),
            "kind": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
            "exact": pl.Series(["1.50", "2"]).cast(pl.Decimal(10, 2)),
            "list": [[1], None],
            "small": pl.Series([1, 2], dtype=pl.UInt16),
            "none": pl.Series([None, None], dtype=pl.Null),
        }
    )
    given.write_parquet(source)
    code, _, complaint = ask_in_process("eight", "--input", str(source), "--output", str(target))
    assert (code, complaint) == (0, "")
    result = pl.read_parquet(target)
    assert result.columns[: given.width] == given.columns
    assert result.select(given.columns).equals(given)
    assert result.select(given.columns).schema == given.schema
    assert result["distance"].to_list() == [0, None]
    given.select("state", "list").write_parquet(source)
    _, _, complaint = ask_in_process("eight", "--input", str(source), "--format", "csv")
    assert complaint == (
        "pipeline: CSV cannot hold the column 'list', which is of type List(Int64). "
        "Choose another --format, or leave the column out.\n"
    )


@pytest.mark.parametrize(
    ("kind", "target"),
    [("csv", "jsonl"), ("text", "parquet"), *((kind, "csv") for kind in ["text", *KINDS])],
)
def test_an_input_without_rows_makes_an_empty_table(
    ask_in_process: Ask, tmp_path: Path, kind: str, target: str
) -> None:
    """Give nothing, empty lines, or a header alone."""
    answers = tmp_path / f"answers.{target}"
    inputs = {text: ["state"] for text in (b"", b"\n\n", b"\r\n") if kind != "parquet"}
    if kind in ("csv", "tsv", "parquet"):
        inputs[write_frame(kind, FRAME.clear())] = ["state", "note"]
    for text, columns in inputs.items():
        words = ("--input-format", kind, "--output", str(answers))
        assert ask_in_process("eight", *words, text=text) == (0, "", "")
        names = [*columns, "goal", "distance", "best_moves", "solutions", "error"]
        if target == "parquet":
            result = pl.read_parquet(answers)
            assert (len(result), result.columns) == (0, names)
            assert [result.schema[name] for name in ("state", "distance")] == [pl.String, pl.Int8]
        else:
            assert answers.read_text() == ("" if target == "jsonl" else f"{','.join(names)}\n")


@pytest.mark.parametrize("chunk_bytes", [2, 1 << 21])
def test_lines_before_the_header_are_skipped(chunk_bytes: int) -> None:
    file = io.BytesIO(b"\n\n\n\nstate\n123456780\n")
    chunks = batch_formats._read_delimited(file, b",", chunk_bytes)
    assert [chunk.rows.to_dict(as_series=False) for chunk in chunks] == [
        {"state": []},
        {"state": ["123456780"]},
    ]


EVERY_TYPE = {
    "state": pa.array(["123456780"]),
    "exact": pa.array([Decimal("1.5")]),
    "bytes": pa.array([b"1"]),
    "list": pa.array([[1]]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "map of bytes": pa.array([[("a", b"1")]], pa.map_(pa.string(), pa.binary())),
    "struct": pa.array([{"a": [1.5]}]),
    "NUL in a name": pa.array([[{"a\0": 1}]]),
    "NUL \0": pa.array([1]),
    "duration": pa.array([1], pa.duration("ms")),
    "wide": pa.array([Decimal("1.5")], pa.decimal256(40, 2)),
    "wide within": pa.array(
        [[("a", [{"b": None}])]],
        pa.map_(pa.string(), pa.list_(pa.struct({"b": pa.decimal256(40, 2)}))),
    ),
}
REFUSED = {
    "csv": {*EVERY_TYPE} - {"state", "exact", "NUL \0"},
    "jsonl": {"bytes", "map of bytes", "wide", "wide within", "NUL in a name"},
    "parquet": {"wide", "wide within", "NUL in a name", "NUL \0"},
}


@pytest.mark.parametrize("target", REFUSED)
def test_unsupported_column_types_are_reported(
    ask_in_process: Ask, tmp_path: Path, target: str
) -> None:
    source = tmp_path / "asked.parquet"
    refused = set()
    for name, values in EVERY_TYPE.items():
        columns = {"state": EVERY_TYPE["state"], name: values}
        pq.write_table(pa.table(columns), source)
        answers = str(tmp_path / "answers")
        words = ("--input", str(source), "--format", target, "--output", answers)
        code, _, complaint = ask_in_process("eight", *words)
        if code:
            refused.add(name)
            assert (code, complaint.count("\n")) == (2, 1), complaint
            assert f"column {name!r}" in complaint
    assert refused == REFUSED[target]


UNREADABLE: dict[str, list[tuple[bytes, str]]] = {
    "": [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "Line 3 of the input has a NUL byte, so it"),
        (b'<svg xmlns="x"/>', "Unknown input format. Supported: text, csv,"),
        (b"state,note\n123456780,x\n", "looks like csv, not text. Add --input-format csv."),
        (b"state\n123456780\n", "looks like csv, not text. Add --input-format csv."),
        (b'note\t"state"\n', "looks like tsv, not text. Add --input-format tsv."),
        (b' {"state":"123456780"}', "looks like jsonl, not text. Add --input-format jsonl."),
        (b"123456780\n\xe9\n", "Line 2 of the input is not UTF-8."),
        (gzip.compress(b"123456780\n" * 999)[:-9], "cannot be read (truncated compressed"),
        (b"\xff\xfe1", "Standard input cannot be read ("),
        (lzma.compress(b"123456780")[:-9], "Standard input cannot be read ("),
        (lzma.compress(b"1\n") + lzma.compress(b"1")[1:], "Standard input cannot be read ("),
        (zstd(b"123456780")[:-2], "Standard input cannot be read ("),
    ],
    "--column state": [(b"123456780", "is read as text, which has no columns.")],
    "--input-format xml": [(b"", "no format 'xml'. Choose one of: text, csv, tsv, jsonl, parq")],
    "--input-format parquet": [
        (b"state\n", "Standard input is not a Parquet file. Choose --input-format."),
        (b"", "Standard input is not a Parquet file."),
        (b"PAR1" * 9, "Standard input cannot be read ("),
    ],
    "--input-format csv": [
        (b"state,b\n1,2\n3\n", "Row 3 of the input has 1 column, its head"),
        (b'state,x\n1,"open\n2,2\n', "opens on line 2 of the input is never"),
        (b'"state\n1\n', "The quote that opens on line 1 of the input is"),
        (b"state,a,a\n", "The input has two columns 'a'. Rename one of them."),
        (b"state\n\xe9\n", "Line 2 of the input is not UTF-8."),
        (b"state\n\0\n", "Line 2 of the input has a NUL byte"),
        (b"378546201\n1\n", "has the key '378546201', and not the names"),
        (b"state;x\n123456780;1\n", "The input has one column, 'state;x'. Separate columns with"),
        (b"a,b\n1,2\n", "no text column 'state'. Its columns: 'a', 'b'."),
    ],
    "--input-format tsv": [
        (b'state\tx\r\n1\t"a\r\nb"\r\n1\t"2\r\n', "opens on line 4 of the"),
        (b"12345678\tx\n", "names above it, such as state."),
    ],
    "--input-format jsonl --format jsonl": [
        (
            b'{"state":"1"}\n\n{"state":[true]}',
            "Line 3 of the input has no text in 'state', but '[true]'.",
        ),
        (b'{"state":"1","error":1}', "'error' exists already"),
        (b'{"state":"1","\\u0073tate":"2"}\n', "Line 1 of the input has two fields 'state'."),
    ],
    "--input-format jsonl": [
        (
            b'{"state":"1"}\n{"state":"1","x":"\\ud800"}',
            "Line 2 of the input has '\\ud800', half of a",
        ),
        (b"{}\n{}\n", "The rows of the input have no column, and"),
        (b'{"state":true}', "'state' (it has the type Boolean)."),
        (
            b'{"state":"1","n":1.5}\n\n{"n":9007199254740993}\n',
            "integer 9007199254740993, which would be rounded",
        ),
        (b"1\n\n[1]\n", "Line 1 of the input is a JSON value, not"),
    ],
}
"""By options, inputs and what is said of each."""


@pytest.mark.parametrize(
    ("words", "text", "complaint"),
    [(words, *case) for words, cases in UNREADABLE.items() for case in cases],
    ids=itertools.count(),
)
def test_unreadable_inputs_are_reported_in_one_line(
    ask_in_process: Ask, words: str, text: bytes, complaint: str
) -> None:
    code, out, result = ask_in_process("eight", *words.split(), text=text)
    assert (code, out) == (2, "")
    assert complaint in result
    assert result.startswith("pipeline: ")
    assert result.count("\n") == 1


def test_an_endless_row_is_rejected(ask_in_process: Ask) -> None:
    rows = b'state,note\n123456780,"' + b"1\n" * 4_000_000
    code, out, complaint = ask_in_process("eight", "--input-format", "csv", text=rows)
    assert (code, out) == (2, "")
    assert "the item that starts on line 2 has more than 4,194,304 bytes" in complaint
