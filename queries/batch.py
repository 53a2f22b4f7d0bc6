"""Many questions at once: keys and what stands beside them in, the same with answers out."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from queries.answer_frames import named
from queries.batch_formats import stretches
from queries.batch_input import opened
from queries.query_options import FORMATS, Asked
from queries.reader import Reader
from tablebase.errors import BadRequest, quoted, required_choice
from tablebase.output import STANDARD, require_other_file, writing

PLAIN = {
    *(pl.Boolean, pl.Float16, pl.Float32, pl.Float64, pl.Decimal, pl.Null),
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    *(pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Time),
}
NESTED = {*PLAIN, pl.Duration, pl.List, pl.Array, pl.Struct, pl.Map}
PLACE = {
    "csv": {*PLAIN, pl.Int128, pl.UInt128},
    "jsonl": {*NESTED, pl.Int128, pl.UInt128},
    "parquet": {*NESTED, pl.Binary},
}
"""The types of columns that a format has a place for."""

Write = Callable[[pl.DataFrame], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """A request for many answers. `source` is a file, or - for standard input."""

    source: str
    format: str
    output: str | None = None
    strict: bool = False
    column: str | None = None
    prefix: str = ""
    input_format: str | None = None


def answer_all(
    reader: Reader,
    asked: Asked,
    batch: Batch,
    told: Callable[[int], None],
    printing: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
) -> int:
    """Answer every key of the input; returns how many were not in the puzzle's notation.

    `told(rows)` is called now and then with the rows answered so far; rows are written within
    `printing()`.
    """
    asked = reader.checked(asked)
    require_other_file(STANDARD if batch.output is None else batch.output, batch.source)
    refused = done = 0
    with opened(batch.source, batch.input_format) as source:
        key, head, parts = stretches(source, batch.column, reader.columns[0], joins=reader.joins)
        added = (*reader.added(asked), "error")
        names = named(added, head.columns, batch.prefix, "--prefix TEXT")
        _require_writable(head, batch.format)
        with rows_written(batch.output, batch.format) as write:
            for part in parts:
                keys, rows = part.rows[key].cast(pl.String), part.rows
                reader.on_progress = partial(_tell_sum, told, done)
                answers, bad = reader.answers(keys, asked)
                if bad and batch.strict:
                    problem = f"{part.place(bad[0])}: {answers['error'][bad[0]]}"
                    raise BadRequest(problem, "To answer the other rows, leave out --strict")
                if bad and source.format == "text":
                    rows = keys.scatter(bad, [printable(keys[at]) for at in bad]).to_frame()
                with printing():
                    write(rows.hstack(answers.rename(names)))
                refused += len(bad)
                done += len(answers)
                told(done)
    return refused


def _tell_sum(told: Callable[[int], None], before: int, done: int) -> None:
    told(before + done)


def output_format(output: str | None, asked: str | None) -> str:
    """The output's format: as asked, or as the file's name says, or CSV.

    >>> output_format("answers.parquet", None), output_format(None, "jsonl")
    ('parquet', 'jsonl')
    """
    named_so = Path(output or "").suffix.lstrip(".") or "csv"
    wanted = (named_so if asked is None else asked).lower()
    required_choice(wanted, "format", *FORMATS)
    return wanted


def printable(text: str) -> str:
    """A foreign key for a row of the output, without what would act on a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:100])


def _require_writable(head: pl.DataFrame, format: str) -> None:
    """BadRequest for a column of a type that the output's format has no place for."""
    for name, kind in head.schema.items():
        if any(part.base_type() not in PLACE[format] for part in _parts(kind)):
            raise BadRequest(
                f"{FORMATS[format]} cannot hold the column {quoted(name)}, which is of type {kind}",
                "Choose another --format, or leave the column out",
            )


def _parts(kind: pl.DataType) -> Iterator[pl.DataType]:
    """A type, and those of what it is made of."""
    yield kind
    inner = [getattr(kind, name, None) for name in ("inner", "key", "value")]
    for part in filter(None, [*inner, *(each.dtype for each in getattr(kind, "fields", []))]):
        yield from _parts(part)


@contextlib.contextmanager
def rows_written(output: str | None, format: str) -> Iterator[Write]:
    """Where rows go, in a format; each stretch of them is handed on at once."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(writing(STANDARD if output is None else output))
        tables: list[pq.ParquetWriter] = []
        headed = False

        def write(rows: pl.DataFrame) -> None:
            nonlocal headed
            if format == "parquet":
                table = rows.to_arrow()
                if not tables:
                    writer = pq.ParquetWriter(file, table.schema, compression="zstd")
                    tables.append(stack.enter_context(writer))
                tables[0].write_table(table)
            else:
                # not straight to the file: polars would write to its descriptor, past its checks
                text = io.BytesIO()
                if format == "jsonl":
                    rows.write_ndjson(text)
                else:
                    rows.write_csv(text, include_header=not headed)
                    headed = True
                file.write(text.getbuffer())
            file.flush()

        yield write
