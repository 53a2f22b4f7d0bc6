"""A value that its column or its field of the index cannot hold stops a build."""

import io
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.index_writer import IndexWriter
from puzzle_tablebase.formats.parquet import to_arrow
from puzzle_tablebase.schema import Column, Recipe, Table


def write_field(letter: str, value: object) -> None:
    table = Table("toys", "", "", (), Recipe("toys"), (("field", letter),))
    IndexWriter(io.BytesIO(), table, 1).write(0, {"field": np.array([value])})


def write_column(column: Column, value: object) -> None:
    (written,) = to_arrow(column, np.array([value])).to_pylist()
    assert written == (column.values[int(str(value))] if column.values else value)


CASES: list[tuple[Callable[[object], None], list[object], list[object]]] = [
    (partial(write_field, "B"), [0, 255], [256, -1, 300]),
    (partial(write_field, "b"), [-128, 127], [128, -129, 300]),
    (partial(write_field, "H"), [0, 65_535], [65_536, -1]),
    (partial(write_field, "Q"), [0, 2**63], [-1]),
    (partial(write_field, "3s"), [b"", b"abc"], [b"abcd", b"abcdef"]),
    (partial(write_column, Column("a", "int16", "")), [-(1 << 15), 32_767], [1 << 15, -32_769]),
    (partial(write_column, Column("a", "int32", "")), [1 << 30], [1 << 31]),
    (partial(write_column, Column("a", "enum", "", values=("x", "y"))), [0, 1], [2, 256, -1]),
]
"""What writes a kind of value, values that it holds, and values that it does not."""


@pytest.mark.parametrize(("write", "held", "refused"), CASES)
def test_a_value_is_written_or_refused(
    write: Callable[[object], None], held: list[object], refused: list[object]
) -> None:
    for value in held:
        write(value)
    for value in refused:
        with pytest.raises(SearchError):
            write(value)
