"""Batch input: every format, named or detected, packed or not; and inputs that are refused."""

import gzip
import io
import itertools
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.queries import batch_input
from puzzle_tablebase.queries.batch_input import CHUNK_BYTES, BatchQuery, Rows, read_rows

ROWS = [
    ("378546201", "plain"),
    ("123456780", 'a "word",\nand a line'),
    (None, "no key"),
    ("oops", "6\tspaces  "),
    ("1 2 3 4 5 6 7 8 0", ""),
]
FRAME = pl.DataFrame(ROWS, schema={"state": pl.String, "note": pl.String}, orient="row")
NO_BREAK = "\u00a0"


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


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


def make_query(cells: int = 9, *, has_answers: bool = False) -> BatchQuery:
    """Make a query of states that nothing answers."""
    names = ("state", "answer") if has_answers else ("state",)
    is_key = "012345678".__eq__
    return BatchQuery(lambda *_: pl.DataFrame(), names, pl.Schema(), is_key, cells, 9)


class Read:
    """A function that reads an input with the options of a batch, and returns all its parts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(
        self, data: bytes | str, name: str = "asked.txt", query: BatchQuery | None = None,
        **options: Any,
    ) -> list[Rows]:  # fmt: skip
        source = self._folder / name
        source.write_bytes(data.encode() if isinstance(data, str) else data)
        return [*read_rows(str(source), query or make_query(), **options)]

    def list_texts(self, *arguments: Any, **options: Any) -> list[Any]:
        """Return all texts that are asked about: keys, or keys with answers."""
        parts = self(*arguments, **options)
        rows = [row for part in parts for row in zip(*part.texts, strict=True)]
        return [row[0] if len(row) == 1 else row for row in rows]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    return Read(tmp_path)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_rows_come_back_as_they_were(read: Read, kind: str, pack: Callable[[bytes], bytes]) -> None:
    mark = b"" if kind == "parquet" else "\ufeff".encode()
    data = pack(mark + write_frame(kind))
    (rows,) = read(data, f"asked.{kind}{'' if pack is bytes else '.gz'}".upper())
    assert rows.frame.rows() == ROWS
    assert rows.texts[0].to_list() == FRAME["state"].to_list()
    assert [rows.place(at) for at in (0, 4)] == (
        ["row 2", "row 6"] if kind in ("csv", "tsv") else ["row 1", "row 5"]
    )
    (again,) = read(data, "asked.unknown", format=kind, column="state")
    assert again.frame.equals(rows.frame)


def test_packed_files_may_be_concatenated(read: Read) -> None:
    for pack in (gzip.compress, zstd):
        assert read.list_texts(pack(b"123456780\n") + pack(b"b\n")) == ["123456780", "b"]


TEXTS: list[tuple[str, list[str]]] = [
    ("", []),
    ("\n\r\n \n", []),
    ("123456780 oops\n\n378546201", ["123456780", "oops", "378546201"]),
    ("\ufeff378546201\r\n1 2\r\n", ["378546201", "12"]),
    ("1 5 2 7 0 3 8 4 6\n123456780 378546201", ["152703846", "123456780", "378546201"]),
    ("3,7,8 5,4,6 2,.,1\n3,7,8,5,4,6,2,.,1\n", ["3785462.1", "3,7,8,5,4,6,2,.,1"]),
    ("[[1, 2, 3], [4, 5, 6], [7, 8, 0]]", ["123456780"]),
    ("14 13 15 7\t11 12 9 5", ["14 13 15 7 11 12 9 5"]),
    (f"123456780{NO_BREAK}378546201\n{NO_BREAK}\n", ["123456780", "378546201"]),
    ("\x1b[2J" + 200 * "x", ["\ufffd[2J" + 96 * "x"]),
]


@pytest.mark.parametrize(("text", "keys"), TEXTS, ids=itertools.count())
@pytest.mark.parametrize("chunk_bytes", [1, 7, CHUNK_BYTES])
def test_keys_of_a_text(read: Read, text: str, keys: list[str], chunk_bytes: int) -> None:
    assert read.list_texts(text, chunk_bytes=chunk_bytes) == keys


def test_without_cells_each_word_is_a_key(read: Read) -> None:
    assert read.list_texts("b1 c3\na1", query=make_query(0)) == ["b1", "c3", "a1"]


def test_a_line_has_a_key_and_an_answer(read: Read) -> None:
    text = "123456708 R\n\n1 2 3 4 5 6 7 0 8  R U \n[1,2,3],[4,5,6],[7,0,8] RD\nx\n"
    board = "[1,2,3],[4,5,6],[7,0,8]"
    pairs = [("123456708", "R"), ("123456708", "R U "), (board, "RD"), ("x", "")]
    assert read.list_texts(text, query=make_query(has_answers=True)) == pairs


def list_places(parts: list[Rows]) -> Iterator[str]:
    return (part.place(at) for part in parts for at in range(len(part.frame)))


@pytest.mark.parametrize("chunk_bytes", [20, CHUNK_BYTES])
def test_places_are_those_of_an_editor(read: Read, chunk_bytes: int) -> None:
    """Put no-break spaces, which Python splits at, and empty lines between the rows."""
    lines = ["123456780", "", NO_BREAK, f"a1{NO_BREAK}b1 c1c1", f"{NO_BREAK}99999", "7"]
    parts = read("\n".join(lines), chunk_bytes=chunk_bytes)
    assert [*list_places(parts)] == ["line 1", "line 4", "line 4", "line 4", "line 5", "line 6"][
        : sum(len(part.frame) for part in parts)
    ]
    cells = [NO_BREAK, "1", f"{NO_BREAK}2", "3", "4", "5", "6", "7", "8"]
    table = "state,n\n" + "".join(f"{cell},{at}\n" for at, cell in enumerate(cells, 2))
    parts = read(table, "asked.csv", chunk_bytes=chunk_bytes)
    assert [*list_places(parts)] == [f"row {at}" for at in range(2, 11)]
    assert [cell for part in parts for cell in part.frame["n"]] == [*map(str, range(2, 11))]
    with pytest.raises(BadRequest, match="Row 11 "):
        read(f"{table}{NO_BREAK}\n", "asked.csv", chunk_bytes=chunk_bytes)
    objects = "".join(f'{{"state":"{cell}"}}\n\n{NO_BREAK}\n' for cell in cells)
    parts = read(objects, "asked.jsonl", chunk_bytes=chunk_bytes)
    assert [*list_places(parts)] == [f"row {at}" for at in range(1, 10)]
    with pytest.raises(BadRequest, match="Line 28 "):
        read(f"{objects}[1]\n", "asked.jsonl", chunk_bytes=chunk_bytes)


@pytest.mark.parametrize("delimiter", [",", "\t"])
@given(
    rows=st.lists(st.tuples(st.text('ab", \t\n', max_size=8), st.text('"\n,', max_size=4))),
    chunk_bytes=st.integers(40, 80),
)
def test_rows_survive_any_chunk_boundary(
    delimiter: str, rows: list[tuple[str, str]], chunk_bytes: int
) -> None:
    frame = pl.DataFrame(rows, schema={"k": pl.String, "v": pl.String}, orient="row")
    file = io.BytesIO()
    frame.write_csv(file, separator=delimiter, quote_style="non_numeric")
    file.seek(0)
    parts = [*batch_input._read_delimited(file, delimiter, chunk_bytes)]
    assert pl.concat([part.frame for part in parts]).rows() == frame.rows()


def test_cells_are_read_as_they_are_written(read: Read) -> None:
    text = '\n\nstate,n,\r\n007,1.50,"a\r\nb"\r\n\r\n123456780,5" disk, x \r\n,"",\r\n'
    (rows,) = read(text, "asked.csv")
    assert rows.frame.columns == ["state", "n", ""]
    assert rows.frame.rows() == [
        ("007", "1.50", "a\r\nb"), ("123456780", '5" disk', " x "), (None, "", None)
    ]  # fmt: skip
    (rows,) = read('state,id\n1,"5"" disk\n"\n', "asked.csv")
    assert rows.frame["id"].to_list() == ['5" disk\n']


def test_types_of_parquet_are_kept(read: Read) -> None:
    frame = pl.DataFrame(
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
    (rows,) = read(write_frame("parquet", frame), "asked.pq")
    assert rows.frame.equals(frame)
    assert rows.frame.schema == frame.schema


def test_json_lines_keep_their_text(read: Read) -> None:
    lines = ['{"state":"a","x":1.50,"n":99999999999999999999}', '{"later":[1,"x"],"state":7}', "{}"]
    (rows,) = read("\r\n\n".join(lines), "asked.jsonl", keep_lines=True)
    assert rows.lines is not None
    assert rows.lines.str.strip_chars().to_list() == lines
    assert rows.texts[0].to_list() == ["a", "7", None]
    (rows,) = read('{"state":12345678}\n{"state":null}\n', "asked.jsonl")
    assert rows.texts[0].to_list() == ["012345678", None]
    for board in ([1, 2, 3, 4, 5, 6, 7, 8, 0], [[1, 2, 3], [4, 5, 6], [7, 8, 0]]):
        (rows,) = read(json.dumps({"state": board}), "asked.jsonl")
        assert rows.texts[0].to_list() == ["1 2 3 4 5 6 7 8 0"]


LATER: list[tuple[str, str, str]] = [
    ('{"n":1}', '{"n":2}', ""),
    ('{"n":1.5}', '{"n":2}', ""),
    ('{"n":1}', '{"n":null}', ""),
    ('{"n":{"x":[1]}}', "{}", ""),
    ('{"n":1}', '{"n":2,"b":1}', "'b'"),
    ('{"n":1}', '{"n":"x"}', "'n'"),
    ('{"n":1}', '{"n":1.5}', "'n'"),
    ('{"n":null}', '{"n":1}', "'n'"),
    ('{"n":{"a":1}}', '{"n":{"a":1,"b":2}}', "'n'"),
]


@pytest.mark.parametrize(("first", "later", "field"), LATER)
def test_fields_that_change_later_are_refused(
    read: Read, first: str, later: str, field: str
) -> None:
    """Without a change the rows are one table; lines that stay lines may have any fields."""
    lines = "".join(f'{line[:-1]}{"," * (line != "{}")}"state":"1"}}\n' for line in (first, later))
    options: dict[str, Any] = {"name": "asked.jsonl", "chunk_bytes": len(first) + 14}
    assert len(read(lines, keep_lines=True, **options)) == 2
    if field:
        with pytest.raises(BadRequest, match=f"The field {field} .* after row 1"):
            read(lines, **options)
    else:
        rows = pl.concat([part.frame for part in read(lines, **options)])
        assert rows["n"].to_list() == [json.loads(each).get("n") for each in (first, later)]


def test_an_input_without_rows_has_columns_all_the_same(read: Read) -> None:
    for kind in ("text", "csv", "tsv", "jsonl"):
        for text in ("", "\n\n", "\r\n"):
            (rows,) = read(text, format=kind)
            assert (rows.frame.columns, rows.frame.height) == (["state"], 0)
    for kind in ("csv", "tsv", "parquet"):
        (rows,) = read(write_frame(kind, FRAME.clear()), format=kind)
        assert rows.frame.schema == FRAME.schema
        assert [len(texts) for texts in rows.texts] == [0]


DIGITS = b"123456780\n"
DECIMALS = pa.table(
    {"state": ["1"], "x": pa.array([[Decimal("1.5")]], pa.list_(pa.decimal256(40, 2)))}
)


def write_table(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


REFUSED: dict[str, list[tuple[bytes, str]]] = {
    "text": [
        (b"\x89PNG\r\n\x1a\n\0", "Line 1 of"),
        (DIGITS + b"\xe9\n", "Line 2 of"),
        ("123456780\n".encode("utf-16"), "Line 1 of"),
        (b"state,note\n123456780,x\n", "--input-format csv"),
        (b'note\t"state"\n', "--input-format tsv"),
        (b' {"state":"123456780"}', "--input-format jsonl"),
        (gzip.compress(DIGITS * 999)[:-9], "truncated"),
        (zstd(DIGITS)[:-2], "cannot be read"),
        (b"1" * (CHUNK_BYTES + 9) * 2, "a line of more than"),
    ],
    "parquet": [
        (b"state\n", "no Parquet file"),
        (b"", "no Parquet file"),
        (b"PAR1" * 9, "cannot be read"),
        (write_frame("parquet")[:-20], "cannot be read"),
        (write_table(DECIMALS), "decimal256"),
        (write_table(pa.table([["1"], ["2"]], names=["state", "state"])), "two columns 'state'"),
        (write_frame("parquet", pl.DataFrame({"state": [True]})), "the type Boolean"),
    ],
    "csv": [
        (b"state,b\n1,2\n3\n", "Row 3 of the input has 1 column, its header 2"),
        (b"state,b\n\n1,2,3\n", "Row 2 of the input has 3 columns, its header 2"),
        (b"state,b\n" + b"1,2\n" * 999_999 + b"3\n", "Row 1,000,001 of"),
        (b"state,a,a\n", "two columns 'a'"),
        (b"state\n\xe9\n", "cannot be read"),
        (b"state,\xe9\n1,2\n", "cannot be read"),
        (b"012345678\n1\n", "the key '012345678'"),
        (b"12345678,x\n1,2\n", "the key '12345678'"),
        (b"a,b\n1,2\n", "no text column 'state'"),
        (b'"state\n1\n', "cannot be read"),
        (b'state,x\n1,"open\n2,2\n', "opens in row 2"),
        (b'state,x\r\n1,"a\r\nb"\r\n1,"2\r\n', "opens in row 3"),
        (b'state,note\n1,"' + b"1\n" * CHUNK_BYTES, "A row after row 1 "),
    ],
    "jsonl": [
        (b"1\n\n[1]\n", "Line 1 of"),
        (b'{"state":"1"}\n\n{"state":\n', "Line 3 of"),
        (b'{"state":"1"}\n\n{"x":NaN}', "cannot be read"),
        (b'{"state":"1","x":' + b"[" * 9_000 + b"]" * 9_000 + b"}", "cannot be read|Line 1"),
        (b'{"state":"1","n":1' + b"0" * 40 + b"}", "cannot be read"),
        (b'{"state":true}', "the type Boolean"),
        (b'{"a":"1","b":1}', "no text column 'state'. Its columns: 'a', 'b'."),
        (b"{}\n{}\n", "no text column 'state'"),
    ],
}
"""By format, inputs and what is said of each."""


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [(kind, *case) for kind, cases in REFUSED.items() for case in cases],
    ids=itertools.count(),
)
def test_bad_inputs_are_refused(read: Read, kind: str, data: bytes, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem) as caught:
        read(data, format=kind)
    assert "\n" not in str(caught.value)


def test_options_that_contradict_the_input_are_refused(read: Read) -> None:
    options: list[dict[str, Any]] = [{"format": "xml"}, {"column": "other"}]
    options.append({"format": "csv", "column": "other"})
    for each in options:
        with pytest.raises(BadRequest):
            read(b"state\n123456780\n", **each)
