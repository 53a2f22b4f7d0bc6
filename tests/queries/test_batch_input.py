"""Batch input: every format, named or detected, packed or not; and inputs that are refused."""

import gzip
import io
import itertools
import json
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.queries import batch_input
from puzzle_tablebase.queries.batch_input import CHUNK_BYTES, Rows, read_rows
from tests.support.batch_files import write_frame, write_table

ROWS = [
    ("378546201", "plain"),
    ("123456780", 'a "word",\nand a line'),
    (None, "no key"),
    ("oops", "6\tspaces  "),
    ("1 2 3 4 5 6 7 8 0", ""),
]
FRAME = pl.DataFrame(ROWS, schema={"state": pl.String, "note": pl.String}, orient="row")
NO_BREAK = "\u00a0"
STATES: Any = SimpleNamespace(columns=("state",), key_cells=9, key_digits=9)
"""What a prober of states says of its keys."""
SQUARES: Any = SimpleNamespace(columns=("state",), key_cells=0, key_digits=9)


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, "zstd", asbytes=True)
    return packed


def read(
    folder: Path, data: bytes | str, name: str = "keys.txt", prober: Any = STATES,
    **options: Any,
) -> list[Rows]:  # fmt: skip
    """Read an input with the options of a batch."""
    source = folder / name
    source.write_bytes(data.encode() if isinstance(data, str) else data)
    return [*read_rows(str(source), prober, **options)]


def list_texts(parts: list[Rows]) -> list[Any]:
    """List all texts: keys, or keys with answers."""
    rows = [row for part in parts for row in zip(*part.texts, strict=True)]
    return [row[0] if len(row) == 1 else row for row in rows]


@pytest.fixture(params=[40, CHUNK_BYTES])
def chunk_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the input be read in small parts, too."""
    monkeypatch.setattr(batch_input, "CHUNK_BYTES", request.param)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd])
@pytest.mark.parametrize("file_format", ["csv", "tsv", "jsonl", "parquet"])
def test_rows_come_back_as_they_were(
    tmp_path: Path, file_format: str, pack: Callable[[bytes], bytes]
) -> None:
    mark = b"" if file_format == "parquet" else "\ufeff".encode()
    data = pack(mark + write_frame(file_format, FRAME))
    (rows,) = read(tmp_path, data, f"keys.{file_format}{'' if pack is bytes else '.gz'}".upper())
    assert rows.frame.rows() == ROWS
    assert rows.texts[0].to_list() == FRAME["state"].to_list()
    (again,) = read(tmp_path, data, "keys.unknown", format=file_format, column="state")
    assert again.frame.equals(rows.frame)
    # packed files may be concatenated, and a table may have no rows
    assert list_texts(read(tmp_path, pack(b"1234\n") + pack(b"b\n"))) == ["1234", "b"]
    if file_format != "jsonl":
        (rows,) = read(tmp_path, write_frame(file_format, FRAME.clear()), format=file_format)
        assert (rows.frame.schema, len(rows.texts[0])) == (FRAME.schema, 0)


TEXTS: list[tuple[str, list[str]]] = [
    ("\n\r\n \n", []),
    ("123456780 oops\n\n378546201", ["123456780", "oops", "378546201"]),
    ("\ufeff378546201\r\n1 2\r\n", ["378546201", "1 2"]),
    ("1 5 2 7 0 3 8 4 6\n123456780 378546201", ["1 5 2 7 0 3 8 4 6", "123456780", "378546201"]),
    ("3,7,8 5,4,6 2,.,1\n 3,7,8,5,4,6,2,.,1\n", ["3,7,8 5,4,6 2,.,1", "3,7,8,5,4,6,2,.,1"]),
    ("[[1, 2, 3], [4, 5, 6], [7, 8, 0]]", ["[[1, 2, 3], [4, 5, 6], [7, 8, 0]]"]),
    ("3 7 8 / 5 4 6 / 2 0 1\n3;7;8;5;4;6;2;_;1", ["3 7 8 / 5 4 6 / 2 0 1", "3;7;8;5;4;6;2;_;1"]),
    ("14 13 15 7\t11 12 9 5", ["14 13 15 7\t11 12 9 5"]),
    (f"123456780{NO_BREAK}378546201\n{NO_BREAK}\n", ["123456780", "378546201"]),
]


@pytest.mark.parametrize(("text", "keys"), TEXTS, ids=itertools.count())
@pytest.mark.usefixtures("chunk_bytes")
def test_keys_of_a_text(tmp_path: Path, text: str, keys: list[str]) -> None:
    assert list_texts(read(tmp_path, text)) == keys


def test_keys_without_cells_and_keys_with_answers(tmp_path: Path) -> None:
    assert list_texts(read(tmp_path, "b1 c3\na1", prober=SQUARES)) == ["b1", "c3", "a1"]
    read_pairs = partial(read, tmp_path, others=("answer",))
    assert list_texts(read_pairs("a1 b3 c5", prober=SQUARES)) == [("a1", "b3 c5")]
    board = "[1,2,3],[4,5,6],[7,0,8]"
    pairs = [(board, "RD"), ("1 2 3 4 5 6 7 0 8", "R U "), ("1", "2 R")]
    text = f"{board} RD\n\n1 2 3 4 5 6 7 0 8  R U \n1 2 R\n"
    assert list_texts(read_pairs(text)) == pairs


@pytest.mark.usefixtures("chunk_bytes")
def test_rows_keep_their_order_whatever_stands_between_them(tmp_path: Path) -> None:
    """Put no-break spaces, which Python splits at, and empty lines between the rows."""
    cells = [NO_BREAK, "1", f"{NO_BREAK}2", "3", "4", "5", "6", "7", "8"]
    table = "state,n\n" + "".join(f"{cell},{at}\n\n" for at, cell in enumerate(cells))
    parts = read(tmp_path, table, "keys.csv")
    assert [cell for part in parts for cell in part.frame["n"]] == [*map(str, range(9))]
    objects = "".join(f'{{"state":"{cell}"}}\n\n \n' for cell in cells)
    assert list_texts(read(tmp_path, objects, "keys.jsonl")) == cells


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


def test_cells_are_read_as_they_are_written(tmp_path: Path) -> None:
    text = '\n\nstate,n,\r\n007,1.50,"a\r\nb"\r\n\r\n123456780,5" disk, x \r\n,"",\r\n'
    (rows,) = read(tmp_path, text, "keys.csv")
    assert rows.frame.columns == ["state", "n", ""]
    assert rows.frame.rows() == [
        ("007", "1.50", "a\r\nb"), ("123456780", '5" disk', " x "), (None, "", None)
    ]  # fmt: skip
    (rows,) = read(tmp_path, 'state,id\n1,"5"" disk\n"\n', "keys.csv")
    assert rows.frame["id"].to_list() == ['5" disk\n']


def test_types_of_parquet_are_kept(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "day": pl.Series(["2024-02-29", None]).str.to_date(),
            "state": pl.Series(["123456780", None], dtype=pl.Categorical),
            "group": pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
            "exact": pl.Series(["1.50", "2"]).cast(pl.Decimal(10, 2)),
            "list": [[1], None],
            "none": pl.Series([None, None], dtype=pl.Null),
        }
    )
    (rows,) = read(tmp_path, write_frame("parquet", frame), "keys.pq")
    assert rows.frame.equals(frame)
    assert rows.frame.schema == frame.schema


@pytest.mark.parametrize("note", ["y" * 900, ["y" * 90] * 8], ids=["text", "list"])
def test_texts_that_are_stored_once_are_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: object
) -> None:
    """Allow about ten rows at a time."""
    monkeypatch.setattr(batch_input, "MAX_PART_BYTES", 11_000)
    data = write_table(state=["123456780"] * 100, note=[note] * 100)
    parts = read(tmp_path, data, "keys.parquet")
    assert pl.concat(part.frame for part in parts)["note"].to_list() == [note] * 100
    assert max(len(part.frame) for part in parts) <= 12


@pytest.mark.parametrize(
    ("first", "later", "is_same"),
    [
        ("1", "2", True),
        ("1.5", "2", True),
        ('{"x":[1]}', "null", True),
        ("1", '2,"b":1', False),
        ("1", '"x"', False),
        ("null", "1", False),
        ('{"a":1}', '{"a":1,"b":2}', False),
    ],
)
def test_fields_that_change_later_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, later: str, is_same: bool
) -> None:
    monkeypatch.setattr(batch_input, "CHUNK_BYTES", 40)
    lines = "".join(f'{{"state":"1","n":{n}}}'.ljust(39) + "\n" for n in (first, later))
    if is_same:
        rows = pl.concat([part.frame for part in read(tmp_path, lines, "keys.jsonl")])
        assert rows["n"].to_list() == [json.loads(first), json.loads(later)]
    else:
        with pytest.raises(BadRequest, match="change after line 1"):
            read(tmp_path, lines, "keys.jsonl")


DIGITS = b"123456780\n"
DECIMAL = pa.array([[Decimal("1.5")]], pa.list_(pa.decimal256(40, 2)))
REFUSED: dict[str, list[bytes]] = {
    "text": [
        *(b"\x89PNG\r\n\x1a\n\0", "123456780\n".encode("utf-16"), b"1" * (CHUNK_BYTES + 9) * 2),
        *(gzip.compress(DIGITS * 999)[:-9], zstd(DIGITS)[:-2]),
    ],
    "parquet": [
        *(b"state\n", b"", b"PAR1" * 9, write_frame("parquet", FRAME)[:-20]),
        *(write_table(state=["1"], x=DECIMAL), write_table(state=["1"], state_=["2"])),
        *(write_table(state=[True]), write_table(state=[b"123456780"]), write_table(state=[[1]])),
    ],
    "csv": [
        *(b'"state\n', b'"state"x\n1\n'),
        *(b"state,a,a\n", b"state\n\xe9\n", b"state,\xe9\n1,2\n", b"012345678\n1\n"),
        *(b'state,x\n1,"open\n2,2\n', b'state,x\r\n1,"a\r\nb"\r\n1,"2\r\n'),
        b'state,note\n1,"' + b"1\n" * CHUNK_BYTES,
    ],
    "jsonl": [
        *(b"1\n\n[1]\n", b'{"state":"1"}\n\n{"state":\n', b'{"state":"1"}\n\n{"x":NaN}'),
        b'{"state":"1","x":' + b"[" * 9_000 + b"]" * 9_000 + b"}",
        *(b'{"state":"1","n":1' + b"0" * 40 + b"}", b'{"state":true}', b'{"a":"1","b":1}'),
    ],
    "xml": [DIGITS],
}
"""By format, inputs that are damaged, or have no column of keys."""


@pytest.mark.parametrize(
    ("file_format", "data"),
    [(file_format, data) for file_format, inputs in REFUSED.items() for data in inputs],
    ids=itertools.count(),
)
def test_bad_inputs_are_refused(tmp_path: Path, file_format: str, data: bytes) -> None:
    with pytest.raises(BadRequest):
        read(tmp_path, data, format=file_format)


@pytest.mark.parametrize("name", ["a\nb", "Binary", 'a"b', "a,b"])
def test_a_header_may_have_quoted_line_breaks(tmp_path: Path, name: str) -> None:
    quoted = name.replace('"', '""')
    data = f'\n"{quoted}",state\n1,123456780\n'
    (rows,) = read(tmp_path, data, "keys.csv")
    assert rows.frame.rows(named=True) == [{name: "1", "state": "123456780"}]


def test_types_are_no_names(tmp_path: Path) -> None:
    (rows,) = read(tmp_path, write_table(state=["123456780"], decimal256=[1]), "keys.parquet")
    assert rows.frame["decimal256"].to_list() == [1]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (b"1,2\n3\n", "Row 3 of the input has 1 column, its header 2"),
        (b"\n1,2,3\n", "Row 2 of the input has 3 columns, its header 2"),
        (b"1,2\n" * 999_999 + b"3\n", "Row 1,000,001 of"),
    ],
    ids=itertools.count(),
)
def test_rows_of_other_lengths_are_named(tmp_path: Path, rows: bytes, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        read(tmp_path, b"state,b\n" + rows, "keys.csv")
