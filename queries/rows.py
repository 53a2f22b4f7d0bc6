"""Answers to a column of keys as a frame: by looking each up, or by a join with the table."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.errors import NotationError, TablebaseError, TableError
from pipeline.puzzle import Table
from queries.answers import Reader
from queries.forms import Asked

TYPES: dict[str, Any] = {
    "uint8": pl.UInt8,
    "uint16": pl.UInt16,
    "uint32": pl.UInt32,
    "uint64": pl.UInt64,
    "boolean": pl.Boolean,
}

Answers = tuple[pl.DataFrame, list[int]]
"""One row a key, with a column `error`; and the rows whose key is not in the notation."""


def looked_up(reader: Reader, table: Table, keys: pl.Series, asked: Asked) -> Answers:
    """Each key asked as a lone question; equal keys only once."""
    known: dict[str, tuple[object, ...]] = {}
    bad_keys = set()
    for key in keys.unique(maintain_order=True):
        try:
            facts = reader.facts(key, asked)
            known[key] = (*(facts[name] for name in reader.columns), None)
        except TableError:
            raise
        except TablebaseError as error:
            known[key] = (printable(key), *[None] * (len(reader.columns) - 1), str(error))
            if isinstance(error, NotationError):
                bad_keys.add(key)
    kinds = {column.name: column.kind for column in table.columns}
    schema = {name: TYPES.get(kinds.get(name, ""), pl.String) for name in reader.columns}
    answers = pl.DataFrame(
        [known[key] for key in keys], schema={**schema, "error": pl.String}, orient="row"
    )
    return answers, [at for at, key in enumerate(keys) if key in bad_keys]


def matched(reader: Reader, keys: pl.Series, found: pl.DataFrame) -> Answers:
    """Rows found for all keys at once, null where there were none: those keys are asked alone.

    `found` has the reader's columns, but for the key's.
    """
    name, depth = reader.columns[0], reader.columns[1]
    answers = found.insert_column(0, keys.alias(name)).select(
        *reader.columns, pl.lit(None, dtype=pl.String).alias("error")
    )
    missing = answers[depth].is_null().arg_true()
    if missing.is_empty():
        return answers, []
    alone, bad = looked_up(reader, reader.table, keys.gather(missing), {})
    row = pl.Series("row", missing, dtype=pl.UInt32)
    patch = alone.cast(answers.schema).insert_column(0, row)
    mended = answers.with_row_index("row").update(patch, on="row", include_nulls=True).drop("row")
    return mended, [int(missing[at]) for at in bad]


def printable(text: str) -> str:
    """A foreign key for a row of the output, without what would act on a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:100])
