"""Columns of keys as texts, and their answers as a frame: looked up, or joined with the table.

Numbers become texts, and a leading 0 that they lost is restored. narwhals reads frames of other
libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.errors import (
    BadRequest,
    TablebaseError,
    TableError,
    explain_library_error,
    quote,
    require_choice,
    require_text,
)
from puzzle_tablebase.notation.sliding import BLANKS, SEPARATORS
from puzzle_tablebase.queries.questions import BATCH, Answer
from puzzle_tablebase.schema import Column

TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Null)
"""The types of columns that can hold keys; a column of nulls alone is allowed too."""


def can_hold_keys(dtype: pl.DataType | None, digits: int) -> bool:
    """Return whether a column of this type can hold keys.

    `digits`: the digits of a key that can be a number; 0 if keys cannot be numbers.
    """
    return dtype is not None and (dtype in TEXT or (digits > 0 and _is_number(dtype)))


def require_key_columns(
    schema: Mapping[str, pl.DataType | None], names: Sequence[str], digits: int
) -> None:
    """Raise BadRequest unless the first column can hold keys, and the others answers.

    Columns without a name in `names` may have no type.
    """
    for name, allowed in zip(names, (digits, 1), strict=False):
        require_text(name, "a column's name", "state")
        if not can_hold_keys(schema.get(name), allowed):
            note = f" (it has the type {schema[name]})" if name in schema else ""
            columns = ", ".join(map(quote, [*schema][:20])) or "none"
            raise BadRequest(f"There is no text column {quote(name)}{note}", f"Columns: {columns}")


def _is_number(dtype: pl.DataType) -> bool:
    return (
        dtype.is_integer()
        or dtype.is_float()
        or (isinstance(dtype, pl.Decimal) and not dtype.scale)
    )


def read_key_column(column: pl.Series, digits: int = 0, *, is_untyped: bool = False) -> pl.Series:
    """Return a column's keys as text.

    For `digits` see `can_hold_keys`. `is_untyped`: the column is of a format without types, whose
    texts may be numbers too.
    """
    dtype = column.dtype
    if dtype.is_float():  # integers with a missing value among them become floats in pandas
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        is_whole = (whole.cast(dtype) == column).fill_null(value=False)
        texts = whole.cast(pl.String).zip_with(is_whole, column.cast(pl.String))
    else:
        texts = column.cast(pl.String)
    return _restore_zeros(texts, digits) if is_untyped or _is_number(dtype) else texts


def _restore_zeros(keys: pl.Series, digits: int) -> pl.Series:
    """Prepend a 0 to the keys that have all digits of a key except 0."""
    if not digits or not (keys.str.len_bytes() == digits - 1).any():
        return keys
    is_short = keys.str.contains(rf"^[1-9]{{{digits - 1}}}$")
    is_short &= keys.str.split("").list.n_unique() == digits - 1
    return ("0" + keys).zip_with(is_short, keys)


WHITE_SPACE = r"[\s\x1c-\x1f]"
"""The characters that `str.split` takes for white space, as a pattern."""
BETWEEN_CELLS = rf"{WHITE_SPACE[:-1]}{re.escape(SEPARATORS)}]"
"""White space and the other characters between cells, as a pattern."""

NO_MARK = "~"
"""A character that no key has."""
Bytes = npt.NDArray[np.uint8]


def join_cells(texts: pl.Series) -> pl.Series:
    """Join the cells of each text: remove separators, and write the blank as 0."""
    bare = texts.str.replace_all(BETWEEN_CELLS, "")
    return bare.str.replace_all(f"[{re.escape(BLANKS)}]", "0")


def list_marks(texts: pl.Series, length: int) -> Bytes:
    """Return the characters of texts of this length in bytes, a row each.

    The row of any other text, or of a null, is filled with a character that no key has.
    """
    has_length = (texts.str.len_bytes() == length).fill_null(value=False)
    padded = texts if has_length.all() else texts.set(~has_length, NO_MARK * length)
    joined = padded.str.join("").cast(pl.Binary).item() if len(texts) else b""
    return np.frombuffer(joined, np.uint8).reshape(-1, length)


Keys = (
    list[str] | list[str | None] | list[int] | list[int | None] | tuple[str | None, ...] | pl.Series
)
"""Keys alone, for which `annotate` returns a polars frame."""

TYPES: dict[str, pl.DataType] = {
    "int16": pl.Int16(), "int32": pl.Int32(), "int64": pl.Int64(), "boolean": pl.Boolean()
}  # fmt: skip
"""The polars types of columns by their types; others are texts."""


def answer_each(
    keys: pl.Series, answer: Callable[[Any], Answer], columns: pl.Schema
) -> pl.DataFrame:
    """Answer each key, equal keys once: a row for each, with a column `error`.

    A null key gets nulls.
    """
    rows, unique = list[list[object]](), keys.drop_nulls().unique(maintain_order=True)
    for key in unique:
        try:
            facts = answer(key).to_dict()
            cells = (facts.get(name) for name in columns)
            rows.append([*(" ".join(x) if isinstance(x, list | tuple) else x for x in cells), None])
        except TableError:
            raise
        except TablebaseError as error:
            rows.append([*([None] * len(columns)), str(error)])
    answers = pl.DataFrame(rows, {**columns, "error": pl.String()}, orient="row")
    positions = keys.replace_strict(unique, pl.int_range(len(unique), eager=True), default=None)
    return answers.select(pl.all().gather(positions))


def make_answer_schema(names: Iterable[str], columns: Iterable[Column]) -> pl.Schema:
    """Return the columns with their declared types; a column without a declaration is text."""
    known = {
        column.name: pl.Enum(column.values) if column.type == "enum" else TYPES.get(column.type)
        for column in columns
    }
    return pl.Schema({name: known.get(name) or pl.String() for name in names})


def fill_answers(
    keys: pl.Series, joined: pl.DataFrame, answer: Callable[[pl.Series], pl.DataFrame]
) -> pl.DataFrame:
    """Complete the answers of a join: answer the keys that have neither answer nor error."""
    no_error = pl.lit(None, dtype=pl.String).alias("error")
    answers = joined if "error" in joined.columns else joined.with_columns(no_error)
    is_missing = answers.to_series(0).is_null() & answers["error"].is_null()
    missing = (is_missing & keys.is_not_null()).arg_true()
    if missing.is_empty():
        return answers
    row = pl.Series("row", missing, dtype=pl.UInt32)
    patch = answer(keys.gather(missing)).cast(answers.schema).insert_column(0, row)
    numbered = answers.with_row_index("row")
    return numbered.update(patch, on="row", include_nulls=True).drop("row")


def annotate(
    prober: Any,
    frame: Any,
    column: str | None,
    prefix: str,
    errors: str,
    given: Mapping[str, Any],
) -> Any:
    """Add the columns of answers to a frame or to keys; `given`: the options by name.

    `errors`: null, column or raise, as `docs/python.md` says. `prober` is a `Prober`, whose module
    imports this one.
    """
    require_choice(errors, "way to report errors", "null", "column", "raise")
    options = prober.parse(BATCH, given)

    def answer(keys: pl.Series) -> pl.DataFrame:
        if errors == "null":
            annotated: pl.DataFrame = prober.annotate_keys(keys, options)
            return annotated
        answers = prober.answer_keys(keys, options)
        for at in answers["error"].is_not_null().arg_true() if errors == "raise" else ():
            prober.answer(keys[at], options)  # raises the error itself, with its facts
            raise TablebaseError(answers["error"][at])  # a search with a time limit succeeded now
        chosen: pl.DataFrame = answers.select(added)
        return chosen

    added = (*prober.make_schema(options), *(("error",) if errors == "column" else ()))
    columns = (column or prober.columns[0],)
    return annotate_frame(frame, columns, prefix, added, answer, prober.key_digits)


def annotate_frame(
    frame: Any,
    columns: tuple[str, ...],
    prefix: str,
    added: Sequence[str],
    answer: Callable[..., pl.DataFrame],
    key_digits: int = 0,
) -> Any:
    """Add to a frame the answers for some of its columns, the keys' first; nulls without an answer.

    For `key_digits` see `can_hold_keys`.
    """
    if isinstance(frame, pl.LazyFrame):

        def annotate(rows: pl.DataFrame) -> Any:
            try:
                return annotate_frame(rows, columns, prefix, added, answer, key_digits)
            except TablebaseError as error:
                # polars raises a new error, with only a longer message
                raise TablebaseError(str(error)) from error

        empty = pl.DataFrame(schema=frame.collect_schema())
        schema = annotate_frame(empty, columns, prefix, added, answer, key_digits).schema
        # a filter may use an added column
        is_pushed = {"predicate_pushdown": False, "projection_pushdown": False}
        return frame.map_batches(annotate, schema=schema, streamable=True, **is_pushed)
    read, texts = _read_frame(frame, columns)
    existing = [*map(str, read.columns)]
    types = {**dict.fromkeys(existing), **texts.schema}
    require_key_columns(types, columns, key_digits)
    names = rename_columns(added, existing, prefix, 'prefix="..."')
    keys, *others = (texts[name] for name in columns)
    answers = answer(read_key_column(keys, key_digits), *map(read_key_column, others))
    return _join_answers(read, answers.rename(names))


def rename_columns(
    names: Iterable[str], existing: Iterable[str], prefix: str, option: str
) -> dict[str, str]:
    """Map the added columns' names to prefixed ones; raise BadRequest if one of these exists.

    `existing` are the names of the existing columns, `option` is how the user sets a prefix.

    >>> rename_columns(["distance"], ["state", "distance"], "my_", "--prefix TEXT")
    {'distance': 'my_distance'}
    """
    try:
        require_text(prefix, "a prefix", "my_").encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"The prefix {quote(prefix)} is not text in UTF-8") from error
    renamed = {name: f"{prefix}{name}" for name in names}
    duplicate = next((name for name in renamed.values() if name in existing), None)
    if duplicate is not None:
        problem = f"The column {quote(duplicate)} exists already, and the answer would add another"
        hint = f"Add a prefix to the names of the added columns: {option}"
        raise BadRequest(problem, hint)
    return renamed


SUPPORTED = "It takes a frame or a column of polars, pandas, pyarrow and others, or a list of keys"


def _read_frame(frame: Any, names: tuple[str, ...]) -> tuple[nw.DataFrame[Any], pl.DataFrame]:
    """Return a frame as narwhals reads it, and the named columns that it has.

    Keys alone become a frame with the first column. Other columns are never converted.
    """
    try:
        if isinstance(frame, list | tuple):
            frame = pl.Series(names[0], frame, None if frame else pl.String)
        read = nw.from_native(frame, eager_only=True, allow_series=True)
        if isinstance(read, nw.Series):
            read = read.alias(names[0]).to_frame()
        columns = {name: _to_polars(read[name]) for name in names if name in read.columns}
        return read, pl.DataFrame(columns)
    except BaseException as error:  # polars raises a BaseException when it panics
        problem = explain_library_error(error)
        if isinstance(error, TypeError | ValueError) and not problem:
            problem = " ".join(str(error).split())[:200]
        if not problem:
            raise
        raise BadRequest(f"The keys cannot be read ({problem})", SUPPORTED) from error


def _to_polars(column: nw.Series[Any]) -> pl.Series:
    if column.implementation.is_pyarrow():
        column.to_native().validate(full=True)  # polars would take any bytes for text
    return column.to_polars()


def _join_answers(frame: nw.DataFrame[Any], answers: pl.DataFrame) -> Any:
    """Return the frame, in its own library, with the answers as further columns."""
    if frame.implementation.is_polars():
        return frame.to_native().hstack(answers)
    if any("\0" in name for name in answers.columns):  # polars panics
        raise BadRequest("Such frames have no column whose name has a zero byte")
    added = nw.from_arrow(answers.to_arrow(), backend=frame.implementation)
    if frame.implementation.is_pandas():  # nullable integers, which do not become floats
        types = {name: str(dtype) for name, dtype in answers.schema.items() if dtype.is_integer()}
        added = nw.from_native(added.to_native().astype(types))
    return frame.with_columns(*added.iter_columns()).to_native()
