"""Tests of every table in polars, pandas, pyarrow and DuckDB: types, names and pruning."""

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from tests.support.contract import CONTRACT, file_of

ENUM = "enum"
KINDS = {
    # polars: pyarrow, DuckDB, pandas; for columns with nulls, the nullable type of pandas
    "String": ("string", "VARCHAR", "str"),
    "Boolean": ("bool", "BOOLEAN", "bool"),
    "Int16": ("int16", "SMALLINT", "int16"),
    "Int32": ("int32", "INTEGER", "int32"),
    "Int64": ("int64", "BIGINT", "int64"),
    ENUM: ("dictionary<values=string, indices=uint8, ordered=0>", "VARCHAR", "category"),
}
COLUMNS = {column for columns, _, _ in CONTRACT.values() for column in columns}


@pytest.mark.parametrize("name", CONTRACT)
def test_every_library_has_the_types(outputs: Path, name: str) -> None:
    """Expect floats of pandas for numbers with nulls, unless its nullable types are requested."""
    path, (columns, _, nullable) = file_of(outputs, name), CONTRACT[name]
    types = {
        column: KINDS[ENUM if isinstance(dtype, pl.Enum) else str(dtype)]
        for column, dtype in columns.items()
    }
    arrow = {field.name: str(field.type) for field in pq.read_schema(path)}
    with duckdb.connect() as database:
        duck = {row[0]: row[1] for row in database.execute(f"describe from '{path}'").fetchall()}
    # of the large list of tours, only the first ones
    filters = [("path", "<", "a1c2e1d4")] if name == "knight_tours_6x6" else None
    rows = pd.read_parquet(path, filters=filters)
    whole = pd.read_parquet(path, filters=filters, dtype_backend="numpy_nullable").dtypes
    assert [*arrow] == [*duck] == [*rows] == [*types]
    for column, (of_arrow, of_duck, of_pandas) in types.items():
        assert (arrow[column], duck[column]) == (of_arrow, of_duck)
        holed = rows[column].hasnans
        assert not holed or column in nullable
        expected = "float64" if holed and of_pandas != "str" else of_pandas
        assert str(rows.dtypes[column]) == expected
        if of_pandas.startswith("int"):
            assert str(whole[column]) == of_pandas.capitalize()


@pytest.mark.parametrize("connect", [duckdb.connect, sqlite3.connect])
def test_every_column_can_be_named_without_quotes(
    connect: Callable[[str], sqlite3.Connection],
) -> None:
    names = ", ".join(f"{column} as {column}" for column in sorted(COLUMNS))
    columns = ", ".join(f"{column} text" for column in sorted(COLUMNS))
    database = connect(":memory:")
    database.execute(f"create table t ({columns})")
    assert database.execute(f"select {names} from t where start < finish").fetchall() == []
    database.close()


KEYS = [
    ("eight", "state", "378546201", 1),
    ("eight_edge", "state", "378546201", 1),
    ("senet", "position", "ABAAABBB.B...A.", 1),
    *(("knight_tours_6x6", "start", start, 12) for start in ("a1", "c3", "f6")),
    ("knight_tours_6x6", "start", "f1", 18),
]


@pytest.mark.parametrize(("name", "column", "value", "limit"), KEYS)
def test_duckdb_reads_few_row_groups(
    outputs: Path, name: str, column: str, value: str, limit: int
) -> None:
    query = f"select count(*) from '{file_of(outputs, name)}' where {column} = '{value}'"
    with duckdb.connect() as database:
        ((_, text),) = database.execute(f"explain analyze {query}").fetchall()
    ((read, total),) = re.findall(r"Row Groups Scanned: (\d+) / (\d+)", text)
    assert int(total) == pq.read_metadata(file_of(outputs, name)).num_row_groups
    assert 1 <= int(read) <= limit
