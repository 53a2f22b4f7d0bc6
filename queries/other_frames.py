"""Frames of other libraries and plain lists as polars frames, and back: for `annotate`.

pandas is not imported: a frame of it can only come from a program that has imported it.
"""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
import pyarrow as pa

from tablebase.errors import BadRequest, quote

SUPPORTED = (
    "annotate takes a polars DataFrame, LazyFrame or Series, a pandas DataFrame or Series, a "
    "pyarrow Table, or a list of keys"
)


def make_type_error(frame: object) -> BadRequest:
    """Make the error for an object that is no frame of a supported library."""
    kind = type(frame)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    return BadRequest(f"{quote(name)} is not a table or a column of keys", SUPPORTED)


def read_columns(frame: Any, columns: tuple[str, ...]) -> pl.DataFrame | None:
    """Return the named columns of a frame that is not polars' own, as one of polars.

    The columns that it lacks are left out. None for an unsupported object. The rest of the frame is
    never converted.
    """
    if len(columns) > 1 and isinstance(frame, list | tuple | pl.Series):
        return None
    found = [_read_column(frame, column) for column in columns]
    read = [each for each in found if each is not None]
    return pl.concat(read, how="horizontal") if read else None


def _read_column(frame: Any, column: str) -> pl.DataFrame | None:
    if isinstance(frame, list | tuple):
        return pl.DataFrame({column: _make_series(column, frame)})
    if isinstance(frame, pl.Series):
        return frame.alias(column).to_frame()
    if isinstance(frame, pa.Table):
        is_there = frame.column_names.count(column) == 1
        return pl.DataFrame({column: pl.from_arrow(frame[column])} if is_there else {})
    if _is_pandas(frame, "DataFrame"):
        frame = frame.get(column, frame)
        if _is_pandas(frame, "DataFrame"):  # no such column, or several
            return pl.DataFrame()
    if _is_pandas(frame, "Series"):
        return pl.DataFrame({column: _read_pandas(column, frame)})
    return None


def list_column_names(frame: object) -> list[str]:
    """Return the names of the columns that a frame of another library has."""
    if isinstance(frame, pa.Table):
        return [*frame.column_names]
    return [*map(str, getattr(frame, "columns", ()))]


def join_answers(frame: Any, keys: pl.DataFrame, answers: pl.DataFrame) -> Any:
    """Return a frame of the same library with the answers as further columns.

    A list or a polars Series becomes a polars frame, and a pandas Series a pandas frame.
    """
    if isinstance(frame, pa.Table):
        for name, column in zip(answers.columns, answers.to_arrow().columns, strict=True):
            frame = frame.append_column(name, column)
        return frame
    if _is_pandas(frame, "Series"):
        frame = frame.to_frame(keys.columns[0])
    elif not _is_pandas(frame, "DataFrame"):
        return keys.hstack(answers)
    added = _make_pandas(answers)
    added.index = frame.index
    return sys.modules["pandas"].concat([frame, added], axis="columns")


def _is_pandas(frame: object, name: str) -> bool:
    """Return whether an object is of a class of pandas."""
    kind = getattr(sys.modules.get("pandas"), name, None)
    return kind is not None and isinstance(frame, kind)


def _make_series(name: str, keys: list[Any] | tuple[Any, ...]) -> pl.Series:
    """Make a column of a list's keys: texts, whole numbers or bytes, and None."""
    try:
        return pl.Series(
            name, keys, dtype=None if any(key is not None for key in keys) else pl.String
        )
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        problem = "A list of keys needs texts, or numbers, but not both"
        raise BadRequest(problem, 'Example: ["378546201", "123456780"]') from error


def _read_pandas(name: str, keys: Any) -> pl.Series:
    """Return a pandas column; texts among other objects are kept, what is no text becomes one."""
    try:
        return pl.DataFrame({name: pl.from_pandas(keys)})[name]
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        texts = [
            None if missing else str(key) for key, missing in zip(keys, keys.isna(), strict=True)
        ]
        return pl.Series(name, texts, dtype=pl.String)


def _make_pandas(answers: pl.DataFrame) -> Any:
    """Return answers as a pandas frame; numbers stay whole beside missing ones."""
    pandas = sys.modules["pandas"]
    nullable = {
        pa.int8(): pandas.Int8Dtype(),
        pa.int16(): pandas.Int16Dtype(),
        pa.int32(): pandas.Int32Dtype(),
        pa.int64(): pandas.Int64Dtype(),
        pa.bool_(): pandas.BooleanDtype(),
    }
    return answers.to_arrow().to_pandas(types_mapper=nullable.get)
