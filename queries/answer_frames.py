"""Answers to a column of keys as a frame: by looking each up, or by a join with the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import polars as pl

from tablebase.errors import BadRequest, NotationError, TablebaseError, TableError, quoted
from tablebase.puzzle import KINDS, Column

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)

TYPES: dict[str, type[pl.DataType]] = {kind: getattr(pl, kind.capitalize()) for kind in KINDS}
TYPES["boolean"] = pl.Boolean

TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Null)
"""The types of columns that can hold keys; that of nulls alone is as good."""

REPORTED = 64
"""Keys between two reports of progress; those of the slowest puzzle take a second."""

Answers = tuple[pl.DataFrame, list[int]]
"""One row a key, with a column `error`; and the rows whose key is not in the notation."""


def looked_up(
    keys: pl.Series,
    ask: Callable[[str], Mapping[str, object]],
    columns: pl.Schema,
    on_progress: Callable[[int], None],
) -> Answers:
    """Each key asked as a lone question; equal keys only once. A null has no answer."""
    none: list[object] = [None] * len(columns)
    known: dict[str | None, list[object]] = {None: [*none, None]}
    bad_keys = set()
    for done, key in enumerate(keys.drop_nulls().unique(maintain_order=True)):
        if done and done % REPORTED == 0:
            on_progress(done)
        try:
            facts = ask(key)
            known[key] = [*(_cell(facts[name]) for name in columns), None]
        except TableError:
            raise
        except TablebaseError as error:
            known[key] = [*none, str(error)]
            if isinstance(error, NotationError):
                bad_keys.add(key)
    schema = pl.Schema({**columns, "error": pl.String()})
    answers = pl.DataFrame([known[key] for key in keys], schema=schema, orient="row")
    return answers, [at for at, key in enumerate(keys) if key in bad_keys]


def typed(names: Iterable[str], declared: Mapping[str, Column]) -> pl.Schema:
    """Columns with their types: those that are declared, text for others."""
    return pl.Schema({name: _type(declared.get(name)) for name in names})


def _type(column: Column | None) -> pl.DataType:
    if column is not None and column.kind == "enum":
        return pl.Enum(column.values)
    return TYPES.get(column.kind if column else "", pl.String)()


def _cell(fact: object) -> object:
    return " ".join(fact) if isinstance(fact, list) else fact


def matched(keys: pl.Series, found: pl.DataFrame, alone: Callable[[pl.Series], Answers]) -> Answers:
    """Rows found for all keys at once; keys with neither an answer nor an error are asked alone."""
    none = pl.lit(None, dtype=pl.String).alias("error")
    answers = found if "error" in found.columns else found.with_columns(none)
    nothing = answers.to_series(0).is_null() & answers["error"].is_null()
    missing = (nothing & keys.is_not_null()).arg_true()
    if missing.is_empty():
        return answers, []
    mends, bad = alone(keys.gather(missing))
    row = pl.Series("row", missing, dtype=pl.UInt32)
    patch = mends.cast(answers.schema).insert_column(0, row)
    mended = answers.with_row_index("row").update(patch, on="row", include_nulls=True).drop("row")
    return mended, [int(missing[at]) for at in bad]


def annotated(
    frame: Frame,
    column: str,
    prefix: str,
    added: Iterable[str],
    ask: Callable[[pl.Series], pl.DataFrame],
) -> Frame:
    """The frame with the columns that answer for one of its own; null where there is no answer."""
    if not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        raise BadRequest(f"A polars frame is needed, not {quoted(str(frame))}")
    given = frame.lazy().collect_schema()
    if given.get(column) not in TEXT:
        raise BadRequest(f"There is no text column {quoted(column)} with keys")
    names = named(added, given.names(), prefix, 'prefix="..."')

    def answers(keys: pl.Series) -> pl.DataFrame:
        return ask(keys.cast(pl.String)).rename(names)

    if isinstance(frame, pl.DataFrame):
        return frame.hstack(answers(frame[column]))
    return frame.with_columns(
        pl.col(column)
        .map_batches(
            lambda keys: answers(keys).to_struct(),
            return_dtype=pl.Struct(answers(pl.Series(dtype=pl.String)).schema),
            is_elementwise=True,
        )
        .struct.unnest()
    )


def named(names: Iterable[str], given: Iterable[str], prefix: str, option: str) -> dict[str, str]:
    """What columns are called beside those that are there; BadRequest where two would be one.

    >>> named(["distance"], ["state", "distance"], "my_", "--prefix TEXT")
    {'distance': 'my_distance'}
    """
    found = {name: f"{prefix}{name}" for name in names}
    taken = next((name for name in found.values() if name in given), None)
    if taken is not None:
        problem = f"The column {quoted(taken)} exists already, and the answer would add another"
        hint = f"Add a prefix to the names of the added columns: {option}"
        raise BadRequest(problem, hint)
    return found
