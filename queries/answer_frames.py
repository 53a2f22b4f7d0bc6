"""Answers to a column of keys as a frame: by looking up each key, or by a join with the table.

Frames of other libraries and plain lists are turned into polars frames, and back. pandas is not
imported: a frame of it can only come from a program that has imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa

from queries.answer import Answer
from queries.key_columns import can_hold_answers, can_hold_keys, read_key_column
from tablebase.errors import BadRequest, NotationError, TablebaseError, TableError, quote
from tablebase.schema import KIND_LETTERS, Column

Frame = TypeVar("Frame")
"""A frame of polars, pandas or pyarrow: `annotate` returns one of the same kind."""

Keys = list[str] | list[str | None] | tuple[str | None, ...] | pl.Series
"""Keys alone, for which `annotate` returns a polars frame."""

TYPES: dict[str, type[pl.DataType]] = {
    kind: getattr(pl, kind.capitalize()) for kind in KIND_LETTERS
}
TYPES["boolean"] = pl.Boolean

REPORTED = 64
"""Keys between two reports of progress; the slowest puzzle needs a second for that many."""

Answers = tuple[pl.DataFrame, list[int]]
"""One row per key, with a column `error`; and the row numbers whose key is not in the notation."""


def look_up_keys(
    keys: pl.Series,
    look_up: Callable[[Any], Answer],
    columns: pl.Schema,
    on_progress: Callable[[int], None],
) -> Answers:
    """Look up every key by itself, equal keys only once. A null key gets nulls."""
    rows, bad = list[list[object]](), list[object]()
    unique = keys.drop_nulls().unique(maintain_order=True)
    for done, key in enumerate(unique):
        if done and done % REPORTED == 0:
            on_progress(done)
        try:
            facts = look_up(key).to_dict()
            rows.append([*(_format_cell(facts.get(name)) for name in columns), None])
        except TableError:
            raise
        except TablebaseError as error:
            rows.append([*([None] * len(columns)), str(error)])
            if isinstance(error, NotationError):
                bad.append(key)
    answers = pl.DataFrame(rows, {**columns, "error": pl.String()}, orient="row")
    places = keys.replace_strict(unique, pl.int_range(len(unique), eager=True), default=None)
    is_bad = keys.is_in(bad)
    return answers.select(pl.all().gather(places)), is_bad.arg_true().to_list()


def concatenate_answers(parts: Iterable[Answers]) -> Answers:
    """Return the answers of consecutive rows as one."""
    frames, all_bad, first = list[pl.DataFrame](), list[int](), 0
    for answers, bad in parts:
        frames.append(answers)
        all_bad += [first + at for at in bad]
        first += len(answers)
    return pl.concat(frames), all_bad


def make_answer_schema(names: Iterable[str], columns: Mapping[str, Column]) -> pl.Schema:
    """Return the columns with their declared types; a column without a declaration is text."""
    return pl.Schema({name: _get_type(columns.get(name)) for name in names})


def _get_type(column: Column | None) -> pl.DataType:
    if column is not None and column.kind == "enum":
        return pl.Enum(column.values)
    return TYPES.get(column.kind if column else "", pl.String)()


def _format_cell(fact: object) -> object:
    return " ".join(fact) if isinstance(fact, list | tuple) else fact


def merge_answers(
    keys: pl.Series, joined: pl.DataFrame, answer_singly: Callable[[pl.Series], Answers]
) -> Answers:
    """Complete answers that a join found: look up singly each key with neither answer nor error."""
    no_error = pl.lit(None, dtype=pl.String).alias("error")
    answers = joined if "error" in joined.columns else joined.with_columns(no_error)
    is_missing = answers.to_series(0).is_null() & answers["error"].is_null()
    missing = (is_missing & keys.is_not_null()).arg_true()
    if missing.is_empty():
        return answers, []
    single_answers, bad = answer_singly(keys.gather(missing))
    row = pl.Series("row", missing, dtype=pl.UInt32)
    patch = single_answers.cast(answers.schema).insert_column(0, row)
    merged = answers.with_row_index("row").update(patch, on="row", include_nulls=True).drop("row")
    return merged, [int(missing[at]) for at in bad]


def annotate_frame(
    frame: Any,
    columns: tuple[str, ...],
    prefix: str,
    added: Iterable[str],
    answer: Callable[..., pl.DataFrame],
    key_digits: int = 0,
) -> Any:
    """Add to a frame the answers for some of its columns, the keys' first; nulls without an answer.

    For `key_digits` see `can_hold_keys`, for frames of other libraries `queries.answer_frames`.
    """
    is_own = isinstance(frame, pl.DataFrame | pl.LazyFrame)
    keys = frame if is_own else read_columns(frame, columns)
    if keys is None:
        raise make_type_error(frame)
    schema = keys.lazy().collect_schema()
    if not can_hold_keys(schema.get(columns[0]), key_digits):
        raise BadRequest(f"There is no text column {quote(columns[0])} with keys")
    for column in columns[1:]:
        if not can_hold_answers(schema.get(column)):
            raise BadRequest(f"There is no text column {quote(column)} with answers")
    taken = schema.names() if is_own else list_column_names(frame)
    names = rename_columns(added, taken, prefix, 'prefix="..."')

    def rename_answers(*texts: pl.Series) -> pl.DataFrame:
        keys, *others = texts
        others = [read_key_column(other) for other in others]
        return answer(read_key_column(keys, key_digits), *others).rename(names)

    if not is_own:
        return join_answers(frame, keys, rename_answers(*(keys[name] for name in columns)))
    if isinstance(frame, pl.DataFrame):
        return frame.hstack(rename_answers(*(frame[name] for name in columns)))
    no_rows = [pl.Series(dtype=pl.String)] * len(columns)
    return frame.with_columns(
        pl.struct(columns)
        .map_batches(
            lambda keys: rename_answers(*(keys.struct.field(name) for name in columns)).to_struct(),
            return_dtype=pl.Struct(rename_answers(*no_rows).schema),
            is_elementwise=True,
        )
        .struct.unnest()
    )


def rename_columns(
    names: Iterable[str], existing: Iterable[str], prefix: str, option: str
) -> dict[str, str]:
    """Map the added columns' names to prefixed ones; BadRequest where one of those exists already.

    `existing` are the names of the existing columns, `option` is how the user sets a prefix.

    >>> rename_columns(["distance"], ["state", "distance"], "my_", "--prefix TEXT")
    {'distance': 'my_distance'}
    """
    renamed = {name: f"{prefix}{name}" for name in names}
    duplicate = next((name for name in renamed.values() if name in existing), None)
    if duplicate is not None:
        problem = f"The column {quote(duplicate)} exists already, and the answer would add another"
        hint = f"Add a prefix to the names of the added columns: {option}"
        raise BadRequest(problem, hint)
    return renamed


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
