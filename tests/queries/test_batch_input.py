"""Batch input: every format, named or detected, packed or not; and inputs that are refused."""

import gzip
import io
import itertools
import json
from collections.abc import Callable
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


@pytest.fixture(params=[40, CHUNK_BYTES])
def chunk_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the input be read in small parts, too."""
    monkeypatch.setattr(batch_input, "CHUNK_BYTES", request.param)
    return int(request.param)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_rows_come_back_as_they_were(read: Read, kind: str, pack: Callable[[bytes], bytes]) -> None:
    mark = b"" if kind == "parquet" else "\ufeff".encode()
    data = pack(mark + write_frame(kind))
    (rows,) = read(data, f"asked.{kind}{'' if pack is bytes else '.gz'}".upper())
    assert rows.frame.rows() == ROWS
    assert rows.texts[0].to_list() == FRAME["state"].to_list()
    (again,) = read(data, "asked.unknown", format=kind, column="state")
    assert again.frame.equals(rows.frame)


def test_packed_files_may_be_concatenated(read: Read) -> None:
    for pack in (gzip.compress, zstd):
        assert read.list_texts(pack(b"123456780\n") + pack(b"b\n")) == ["123456780", "b"]


TEXTS: list[tuple[str, list[str]]] = [
    ("", []),
    ("\n\r\n \n", []),
    ("123456780 oops\n\n378546201", ["123456780", "oops", "378546201"]),
    ("\ufeff378546201\r\n1 2\r\n", ["378546201", "1 2"]),
    ("1 5 2 7 0 3 8 4 6\n123456780 378546201", ["1 5 2 7 0 3 8 4 6", "123456780", "378546201"]),
    ("3,7,8 5,4,6 2,.,1\n 3,7,8,5,4,6,2,.,1\n", ["3,7,8 5,4,6 2,.,1", "3,7,8,5,4,6,2,.,1"]),
    ("[[1, 2, 3], [4, 5, 6], [7, 8, 0]]", ["[[1, 2, 3], [4, 5, 6], [7, 8, 0]]"]),
    ("14 13 15 7\t11 12 9 5", ["14 13 15 7\t11 12 9 5"]),
    (f"123456780{NO_BREAK}378546201\n{NO_BREAK}\n", ["123456780", "378546201"]),
]


@pytest.mark.parametrize(("text", "keys"), TEXTS, ids=itertools.count())
def test_keys_of_a_text(read: Read, text: str, keys: list[str], chunk_bytes: int) -> None:
    assert read.list_texts(text) == keys


def test_without_cells_each_word_is_a_key(read: Read) -> None:
    assert read.list_texts("b1 c3\na1", query=make_query(0)) == ["b1", "c3", "a1"]


def test_a_line_has_a_key_and_an_answer(read: Read) -> None:
    board = "[1,2,3],[4,5,6],[7,0,8]"
    text = f"123456708 R\n\n1 2 3 4 5 6 7 0 8  R U \n{board} RD\nx\n1 2 R\n"
    pairs = [("123456708", "R"), ("1 2 3 4 5 6 7 0 8", "R U "), (board, "RD"), ("x", "")]
    query = make_query(has_answers=True)
    assert read.list_texts(text, query=query) == [*pairs, ("1", "2 R")]
    assert read.list_texts("a1 b3 c5", query=query._replace(cells=0)) == [("a1", "b3 c5")]


def test_rows_keep_their_order_whatever_stands_between_them(read: Read, chunk_bytes: int) -> None:
    """Put no-break spaces, which Python splits at, and empty lines between the rows."""
    cells = [NO_BREAK, "1", f"{NO_BREAK}2", "3", "4", "5", "6", "7", "8"]
    table = "state,n\n" + "".join(f"{cell},{at}\n\n" for at, cell in enumerate(cells))
    parts = read(table, "asked.csv")
    assert [cell for part in parts for cell in part.frame["n"]] == [*map(str, range(9))]
    objects = "".join(f'{{"state":"{cell}"}}\n\n \n' for cell in cells)
    assert read.list_texts(objects, "asked.jsonl") == cells


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_input, "CHUNK_BYTES", chunk_bytes)
        assert pl.concat(batch_input._read_delimited(file, delimiter)).rows() == frame.rows()


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


@pytest.mark.parametrize(
    ("first", "later", "is_same"),
    [
        ('{"n":1}', '{"n":2}', True),
        ('{"n":1.5}', '{"n":2}', True),
        ('{"n":{"x":[1]}}', '{"n":null}', True),
        ('{"n":1}', '{"n":2,"b":1}', False),
        ('{"n":1}', '{"n":"x"}', False),
        ('{"n":null}', '{"n":1}', False),
        ('{"n":{"a":1}}', '{"n":{"a":1,"b":2}}', False),
    ],
)
def test_fields_that_change_later_are_refused(
    read: Read, monkeypatch: pytest.MonkeyPatch, first: str, later: str, is_same: bool
) -> None:
    lines = "".join(f'{line[:-1]},"state":"1"}}'.ljust(39) + "\n" for line in (first, later))
    monkeypatch.setattr(batch_input, "CHUNK_BYTES", 40)
    if is_same:
        rows = pl.concat([part.frame for part in read(lines, "asked.jsonl")])
        assert rows["n"].to_list() == [json.loads(each).get("n") for each in (first, later)]
    else:
        with pytest.raises(BadRequest, match="change after line 1"):
            read(lines, "asked.jsonl")


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


OPEN = b'state,note\n1,"' + b"1\n" * CHUNK_BYTES
REFUSED = {
    "text": [
        (b"\x89PNG\r\n\x1a\n\0", "cannot be read"),
        ("123456780\n".encode("utf-16"), "cannot be read"),
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
        (write_frame("parquet", pl.DataFrame({"state": [b"123456780"]})), "the type Binary"),
    ],
    "csv": [
        (b"state,b\n1,2\n3\n", "Row 3 of the input has 1 column, its header 2"),
        (b"state,b\n\n1,2,3\n", "Row 2 of the input has 3 columns, its header 2"),
        (b"state,b\n" + b"1,2\n" * 999_999 + b"3\n", "Row 1,000,001 of"),
        (b"state,a,a\n", "two columns 'a'"),
        (b"state\n\xe9\n", "cannot be read"),
        (b"state,\xe9\n1,2\n", "cannot be read"),
        (b"012345678\n1\n", "no text column 'state'. Columns: '012345678'"),
        (b'state,x\n1,"open\n2,2\n', "never closed"),
        (b'state,x\r\n1,"a\r\nb"\r\n1,"2\r\n', "never closed"),
        (OPEN, "cannot be read"),
    ],
    "jsonl": [
        *((bad, "cannot be read") for bad in (b"1\n\n[1]\n", b'{"state":"1"}\n\n{"state":\n')),
        (b'{"state":"1"}\n\n{"x":NaN}', "cannot be read"),
        (b'{"state":"1","x":' + b"[" * 9_000 + b"]" * 9_000 + b"}", "cannot be read"),
        (b'{"state":"1","n":1' + b"0" * 40 + b"}", "cannot be read"),
        (b'{"state":true}', "the type Boolean"),
        (b'{"a":"1","b":1}', "no text column 'state'. Columns: 'a', 'b'."),
    ],
}
"""By format, inputs and what is said of each."""


@pytest.mark.parametrize(
    ("kind", "data", "problem"),
    [(kind, *case) for kind, cases in REFUSED.items() for case in cases],
    ids=itertools.count(),
)
def test_bad_inputs_are_refused(read: Read, kind: str, data: bytes, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        read(data, format=kind)


def test_options_that_contradict_the_input_are_refused(read: Read) -> None:
    options: list[dict[str, Any]] = [{"format": "xml"}, {"column": "other"}]
    options.append({"format": "csv", "column": "other"})
    for each in options:
        with pytest.raises(BadRequest):
            read(b"state\n123456780\n", **each)
