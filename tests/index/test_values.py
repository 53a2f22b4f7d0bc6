"""A value that its column or its field of the index cannot hold stops a build."""

import io

import numpy as np
import pytest

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.index import write_index
from puzzle_tablebase.formats.parquet import to_arrow
from puzzle_tablebase.schema import Column, Recipe, Table

FIELDS: list[tuple[str, list[object], list[object]]] = [
    ("B", [0, 255], [256, -1, 300]),
    ("b", [-128, 127], [128, -129, 300]),
    ("H", [0, 65_535], [65_536, -1]),
    ("Q", [0, 2**63], [-1]),
    ("3s", [b"", b"abc"], [b"abcd", b"abcdef"]),
]
"""A kind of field, values that it holds, and values that it does not."""
COLUMNS: list[tuple[Column, list[object], list[object]]] = [
    (Column("a", "int16", ""), [-(1 << 15), (1 << 15) - 1], [1 << 15, -(1 << 15) - 1]),
    (Column("a", "int32", ""), [1 << 30], [1 << 31]),
    (Column("a", "enum", "", values=("x", "y")), [0, 1], [2, 256, -1]),
]


def write(letter: str, value: object) -> bytes:
    file, table = io.BytesIO(), Table("toys", "", "", (), Recipe("toys"), (("field", letter),))
    write_index(file, table, 1, [{"field": np.array([value])}], "0" * 64)
    return file.getvalue()


@pytest.mark.parametrize(("letter", "held", "refused"), FIELDS)
def test_fields(letter: str, held: list[object], refused: list[object]) -> None:
    for value in held:
        assert len(write(letter, value)) == 2 * 4096
    for value in refused:
        with pytest.raises(SearchError, match="A value of field does not fit the index of toys"):
            write(letter, value)


@pytest.mark.parametrize(("column", "held", "refused"), COLUMNS)
def test_columns(column: Column, held: list[object], refused: list[object]) -> None:
    for value in held:
        expected = column.values[int(str(value))] if column.values else value
        assert to_arrow(column, np.array([value])).to_pylist() == [expected]
    for value in refused:
        with pytest.raises(SearchError, match="A value of column a "):
            to_arrow(column, np.array([value]))
