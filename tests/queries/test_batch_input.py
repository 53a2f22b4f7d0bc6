"""Batch input: every format, named or detected, compressed or not; and inputs that are refused."""

import gzip
import io
import itertools
import json
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import BinaryIO, cast

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.queries import batch_input
from tests.support.shell import SCRIPT, Ask, run

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
    code, out, _ = ask_in_process("eight", text=gzip.compress(b"123456780\n1 2 3 4 5 6 7 8 0"))
    assert (code, out.count("123456780,corner,0")) == (0, 2)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_concatenated_streams_are_read(ask_in_process: Ask, pack: Callable[[bytes], bytes]) -> None:
    text = pack(b"123456780\n") + pack(b"123456708\n")
    assert ask_in_process("eight", text=text)[1].count("corner") == 2


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_byte_order_marks_are_skipped(ask_in_process: Ask, tmp_path: Path, kind: str) -> None:
    source, encoding = tmp_path / f"asked.{kind}", "utf-8-sig"
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
    chunk_bytes=st.integers(40, 80),
)
def test_rows_survive_any_chunk_boundary(
    kind: str, rows: list[tuple[str, str]], chunk_bytes: int
) -> None:
    frame = pl.DataFrame(rows, schema={"k": pl.String, "v": pl.String}, orient="row")
    file = io.BytesIO()
    delimiter = "," if kind == "csv" else "\t"
    frame.write_csv(file, separator=delimiter, quote_style="non_numeric")
    file.seek(0)
    parts = [part.rows for part in batch_input._read_delimited(file, delimiter, chunk_bytes)]
    rows = [tuple(row.values()) for part in parts for row in cast(pa.Table, part).to_pylist()]
    assert rows == frame.rows()


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
    problem = "CSV cannot hold the rows (CSV format does not support nested data)"
    assert complaint == f"pipeline: {problem}.\n"


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
            assert [result.schema[name] for name in ("state", "distance")] == [pl.String, pl.Int16]
        else:
            assert answers.read_text() == ("" if target == "jsonl" else f"{','.join(names)}\n")


def test_lines_before_the_header_are_skipped(ask_in_process: Ask) -> None:
    words = ("--input-format", "csv")
    code, out, _ = ask_in_process("eight", *words, text=b"\n\n\n\nstate\n123456780\n")
    assert (code, out.splitlines()[1]) == (0, '123456780,corner,0,"",1,')


EVERY_TYPE = {
    "state": pa.array(["123456780"]),
    "exact": pa.array([Decimal("1.5")]),
    "bytes": pa.array([b"1"]),
    "list": pa.array([[1]]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "map of bytes": pa.array([[("a", b"1")]], pa.map_(pa.string(), pa.binary())),
    "struct": pa.array([{"a": [1.5]}]),
    "duration": pa.array([1], pa.duration("ms")),
    "wide": pa.array([Decimal("1.5")], pa.decimal256(40, 2)),
    "wide within": pa.array(
        [[("a", [{"b": None}])]],
        pa.map_(pa.string(), pa.list_(pa.struct({"b": pa.decimal256(40, 2)}))),
    ),
}
REFUSED = {
    "csv": {*EVERY_TYPE} - {"state", "exact"},
    "jsonl": {"bytes", "map of bytes", "wide", "wide within"},
    "parquet": set[str](),
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
            assert " cannot hold the " in complaint
    assert refused == REFUSED[target]


UNREADABLE: dict[str, list[tuple[bytes, str]]] = {
    "": [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "Line 1 of the input is not UTF-8"),
        (b'<svg xmlns="x"/>', "Unknown input format. Supported: text, csv,"),
        (b"state,note\n123456780,x\n", "looks like csv, not text. Add --input-format csv."),
        (b"state\n123456780\n", "looks like csv, not text. Add --input-format csv."),
        (b'note\t"state"\n', "looks like tsv, not text. Add --input-format tsv."),
        (b' {"state":"123456780"}', "looks like jsonl, not text. Add --input-format jsonl."),
        (b"123456780\n\xe9\n", "Line 2 of the input is not UTF-8."),
        ("123456780\n".encode("utf-16"), "Line 1 of the input is not UTF-8."),
        (gzip.compress(b"123456780\n" * 999)[:-9], "cannot be read (truncated compressed"),
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
        (b'"state\n1\n', "Standard input cannot be read ("),
        (b"state,a,a\n", "The input has two columns 'a'. Rename one of them."),
        (b"state\n\xe9\n", "invalid UTF8 data"),
        (b"378546201\n1\n", "has the key '378546201', and not the names"),
        (b"state;x\n123456780;1\n", "The input has one column, 'state;x'. Separate columns with"),
        (b"a,b\n1,2\n", "no text column 'state'. Its columns: 'a', 'b'."),
    ],
    "--input-format tsv": [
        (b"12345678\tx\n", "names above it, such as state."),
    ],
    "--input-format jsonl --format jsonl": [
        (b'{"state":"1","error":1}', "'error' exists already"),
        (b'{"state":"1","\\u0073tate":"2"}\n', "a JSON object (it has two fields 'state')."),
        (b'{"state" : "1","x":{"a" :1,"a":2}}\n', "a JSON object (it has two fields 'a')."),
        (b'{"a":"1","b":1}', "no text column 'state'. Its columns: 'a', 'b'."),
        (b'{"state":"1","x":1e400}', "Line 1 of the input is not a JSON object ("),
        (b'{"state":"1"}\n\n{"x":NaN}', "Line 3 of the input is not a JSON object ("),
        (b'{"state":"1","x":' + b"[" * 9_000 + b"]" * 9_000 + b"}", "maximum recursion depth"),
        (b"1\n\n[1]\n", "Line 1 of the input is not a JSON object ("),
    ],
    "--input-format jsonl": [
        (b"{}\n{}\n", "The rows of the input have no column."),
        (b'{"state":true}', "'state' (it has the type Boolean)."),
        (b'{"state":"1","n":1.5}\n\n{"n":9007199254740993}\n', "Integer value 9007199254740993 is"),
        (b'{"state":"1","n":1}\n{"n":"x"}\n', "The field 'n' is not of one type: Could not conv"),
        (
            b'{"state":"1","n":1' + b"0" * 40 + b"}",
            "The field 'n' has a number of more than 64 bits",
        ),
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


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (b'state,x\n1,"open\n2,2\n', 2),
        (b'state,x\n1,"open"\n1,"open\n2,2', 3),
        (b'state,x\r\n1,"a\r\nb"\r\n1,"2\r\n', 3),
    ],
)
def test_a_quote_that_is_never_closed_is_reported(
    ask_in_process: Ask, tmp_path: Path, text: bytes, row: int
) -> None:
    words = ("--input-format", "csv", "--output", str(tmp_path / "answers.csv"))
    code, _, complaint = ask_in_process("eight", *words, text=text)
    problem = f"A quote that opens in row {row} of the input is never closed"
    assert (code, complaint) == (2, f"pipeline: {problem}.\n")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "text",
    [b'state,id\n378546201,5" disk\n123456780,"a\nb"\n', b'state,id\n378546201,"5"" disk\n"\n'],
)
def test_a_quote_or_a_line_end_in_a_cell_is_no_fault(ask_in_process: Ask, text: bytes) -> None:
    code, out, complaint = ask_in_process("eight", "--input-format", "csv", text=text)
    assert (code, complaint) == (0, "")
    assert pl.read_csv(out.encode())["id"][-1] in ("a\nb", '5" disk\n')


def test_a_reader_that_reads_ahead_does_not_abort_the_process(outputs: Path) -> None:
    rows = b"state,id\n378546201,7\n123456780\n"
    words = ["query", "eight", "--input-format", "csv", "--outputs", str(outputs)]
    for _ in range(6):  # in processes of their own: the end is that of Python
        code, out, complaint = run([SCRIPT, *words], input=rows)
        assert (code, out) == (2, "")
        assert complaint == "pipeline: Row 3 of the input has 1 column, its header 2.\n"


def test_a_header_that_is_not_utf_8_is_reported(ask_in_process: Ask) -> None:
    rows = b"state,\xe9\n378546201,1\n"
    code, out, complaint = ask_in_process("eight", "--input-format", "csv", text=rows)
    assert (code, out) == (2, "")
    assert complaint == "pipeline: Row 1 of the input is not UTF-8. Save the input as UTF-8.\n"


def test_an_endless_row_is_rejected(ask_in_process: Ask) -> None:
    rows = b'state,note\n123456780,"' + b"1\n" * 4_000_000
    code, out, complaint = ask_in_process("eight", "--input-format", "csv", text=rows)
    assert (code, out) == (2, "")
    assert "A row after row 1 of the input has more than 2,097,152 bytes. Look for a" in complaint


def read_tables(chunk_bytes: int, *lines: str) -> list[pa.Table]:
    """Return lines of JSON as tables."""
    file = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
    texts = batch_input._iter_texts(cast(BinaryIO, file), chunk_bytes)
    chunks = batch_input._make_tables(batch_input._read_objects(texts))
    return [cast(pa.Table, chunk.rows) for chunk in chunks]


@pytest.mark.parametrize(
    ("first", "later", "problem"),
    [
        ("1", '"b":1', "The field 'b' is of type int64 from row 2 on, and not there before."),
        ("1", '"n":"x"', "The field 'n' is of type string from row 2 on, and of type int64 before"),
        (
            '{"a":1}',
            '"n":{"a":1,"b":2}',
            "The field 'n' is of type struct<a: int64, b: int64> from",
        ),
        ("1.5", f'"n":{2**53 + 1}', "9007199254740993"),
        ("1", '"n":1.5', "Float value 1.5"),
    ],
)
def test_fields_that_change_later_are_refused(first: str, later: str, problem: str) -> None:
    with pytest.raises((BadRequest, pa.ArrowInvalid), match=re.escape(problem)):
        read_tables(30, f'{{"state":"123456780","n":{first}}}', f'{{"state":"1",{later}}}')


def test_numbers_of_two_kinds_are_one_column() -> None:
    parts = read_tables(12, '{"n":1.5,"at":{"x":[1]}}', '{"n":2}', '{"at":null}')
    rows = pa.concat_tables(parts).to_pylist()
    assert [row["n"] for row in rows] == [1.5, 2.0, None]
    assert [row["at"] for row in rows] == [{"x": [1]}, None, None]


def test_fields_of_json_lines_keep_their_values(ask_in_process: Ask) -> None:
    lines = [
        '{"state":"123456780","x":1.50,"n":' + "9" * 40 + ',"at":[{"a":1},{"b":"\\u00e9\\"}"}]}',
        '{"later":[1,"x"],"state":12345678}',
        '{"state":[1,2,3,4,5,6,7,8,0]}',
        '{"state":null,"":":::"}',
        '{"state":3.5}',
    ]
    words = ("--input-format", "jsonl", "--format", "jsonl")
    code, out, complaint = ask_in_process("eight", *words, text="\r\n\n".join(lines).encode())
    assert (code, complaint) == (2, "pipeline: 1 key is invalid. See the column error.\n")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row.pop("distance") for row in rows] == [0, 22, 0, None, None]
    for row, line in zip(rows, lines, strict=True):
        assert {name: row[name] for name in row if name not in ANSWERED} == json.loads(line)
        assert [*row][-4:] == ANSWERED


ANSWERED = ["goal", "best_moves", "solutions", "error"]
