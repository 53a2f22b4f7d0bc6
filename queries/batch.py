"""Many questions at once: keys from text, CSV or Parquet, a stretch at a time, answers in rows."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import polars as pl
import pyarrow.parquet as pq

from pipeline.errors import BadRequest, quoted
from pipeline.tables.publish import appearing
from queries.answers import Reader
from queries.forms import FORMATS, Asked

STRETCH = 1 << 21
"""Bytes of text read at a time."""
ROWS = 1 << 17
"""Rows of CSV or Parquet read at a time."""
LONGEST_WORD = 1 << 22
"""Bytes without white space that may still be a key; an endless stream of them is none."""
NEW_LINE = b"\n"
SEPARATE = 9
"""Characters that may stand apart, as a contest writes an 8-puzzle state."""

Write = Callable[[pl.DataFrame], None]


@dataclass(frozen=True, slots=True)
class Batch:
    """A request for many answers. `source` is a file, or - for standard input."""

    source: str
    format: str
    output: str | None = None
    strict: bool = False
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some of the input: its keys, whatever else stood in their rows, and where each key stands."""

    keys: pl.Series
    rows: pl.DataFrame
    place: Callable[[int], str]


def answer_all(reader: Reader, asked: Asked, batch: Batch, told: Callable[[int], None]) -> int:
    """Answer every key of the input; returns how many were not in the puzzle's notation.

    `told(rows)` is called after each stretch with the rows answered so far.
    """
    refused = done = 0
    with _writing(batch) as write:
        for stretch in _stretches(reader, batch):
            answers, bad = reader.answers(stretch.keys, asked)
            if bad and batch.strict:
                problem = f"{stretch.place(bad[0])}: {answers['error'][bad[0]]}"
                raise BadRequest(problem, "Without --strict the other rows are answered")
            carried = stretch.rows.drop(answers.columns, strict=False)
            write(carried.hstack(answers) if carried.width else answers)
            refused += len(bad)
            done += len(answers)
            told(done)
    return refused


def output_format(output: str | None, asked: str | None) -> str:
    """The output's format: as asked, or as the file's name says, or CSV.

    >>> output_format("answers.parquet", None), output_format(None, "jsonl")
    ('parquet', 'jsonl')
    """
    named = (asked or Path(output or "").suffix.lstrip(".") or "csv").lower()
    if named not in FORMATS:
        raise BadRequest(f"There is no format {quoted(named)}", f"One of: {', '.join(FORMATS)}")
    return named


def _stretches(reader: Reader, batch: Batch) -> Iterator[Stretch]:
    if batch.source == "-":
        yield from _from_text(reader, sys.stdin.buffer)
        return
    path = Path(batch.source)
    try:
        if not path.exists() or path.is_dir():
            what = "is a folder" if path.is_dir() else "does not exist"
            raise BadRequest(f"The input {quoted(batch.source)} {what}")
        if path.suffix == ".parquet":
            yield from _from_frame(reader, batch, pl.scan_parquet(path, glob=False), 1)
        elif path.suffix == ".csv":
            texts = pl.scan_csv(path, glob=False, infer_schema=False)
            yield from _from_frame(reader, batch, texts, 2)
        else:
            with path.open("rb") as file:
                yield from _from_text(reader, file)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise BadRequest(f"The input {quoted(batch.source)} cannot be read ({reason})") from error


def _from_frame(reader: Reader, batch: Batch, frame: pl.LazyFrame, first: int) -> Iterator[Stretch]:
    schema = frame.collect_schema()
    name = batch.column or (schema.names()[0] if len(schema) == 1 else reader.columns[0])
    if schema.get(name) not in (pl.String, pl.Categorical, pl.Enum):
        columns = ", ".join(quoted(column) for column in schema.names()[:20])
        raise BadRequest(
            f"The input has no text column {quoted(name)}",
            f"Its columns: {columns}. Name the one that holds the keys with --column",
        )
    for rows in frame.collect_batches(chunk_size=ROWS, maintain_order=True):
        keys = rows[name].cast(pl.String).fill_null("")
        yield Stretch(keys, rows.drop(name), partial(_row, first))
        first += len(rows)


def _row(first: int, at: int) -> str:
    return f"row {first + at:,}"


def _from_text(reader: Reader, file: IO[bytes]) -> Iterator[Stretch]:
    """Keys between white space; single characters are put together where a key may come so."""
    waiting: list[str] = []
    rest, line, more = b"", 1, True
    while more:
        data = file.read(STRETCH)
        # less than was asked for is the end: a terminal would have to be told twice
        more = len(data) == STRETCH
        text = rest + data
        # the last word may go on in the next stretch
        cut = max(text.rfind(space) for space in (b"\n", b" ", b"\t")) + 1 if more else len(text)
        text, rest = text[:cut], text[cut:]
        if len(rest) > LONGEST_WORD:
            at = line + text.count(NEW_LINE)
            raise BadRequest(
                f"The input is no list of keys: line {at:,} goes on for more than "
                f"{LONGEST_WORD:,} bytes without white space"
            )
        words = text.decode("utf-8", "replace").split()
        if reader.joins_characters and (waiting or any(len(word) == 1 for word in words)):
            joined = _joined(words, waiting, last=not more)
            keys, ends = [key for key, _ in joined], [end for _, end in joined]
        else:
            keys, ends = words, list(range(len(words)))

        def place(at: int, text: bytes = text, ends: list[int] = ends, line: int = line) -> str:
            starts = [word.start() for word in re.finditer(rb"\S+", text)]
            here = starts[min(ends[at], len(starts) - 1)]
            return f"line {line + text.count(NEW_LINE, 0, here):,}"

        if keys:
            yield Stretch(pl.Series(keys, dtype=pl.String), pl.DataFrame(), place)
        line += text.count(b"\n")


def _joined(words: list[str], waiting: list[str], *, last: bool) -> list[tuple[str, int]]:
    """Keys, each with the number of its last word; `waiting` holds a run that is not yet a key."""
    keys = []
    for at, word in enumerate(words):
        if len(word) > 1:
            if waiting:
                keys.append(("".join(waiting), at - 1))
                waiting.clear()
            keys.append((word, at))
            continue
        waiting.append(word)
        if len(waiting) == SEPARATE:
            keys.append(("".join(waiting), at))
            waiting.clear()
    if last and waiting:
        keys.append(("".join(waiting), len(words) - 1))
        waiting.clear()
    return keys


@contextlib.contextmanager
def _writing(batch: Batch) -> Iterator[Write]:
    """Where rows go: standard output, or a file that appears when all of them are written."""
    with contextlib.ExitStack() as stack:
        if batch.output is None:
            file: IO[bytes] = sys.stdout.buffer
        else:
            try:
                part = stack.enter_context(appearing(Path(batch.output)))
                file = stack.enter_context(part.open("wb"))
            except OSError as error:
                reason = (error.strerror or "").lower()
                raise BadRequest(f"{quoted(batch.output)} cannot be written: {reason}") from error
        tables: list[pq.ParquetWriter] = []
        headed = False

        def write(rows: pl.DataFrame) -> None:
            nonlocal headed
            if batch.format == "parquet":
                table = rows.to_arrow()
                if not tables:
                    writer = pq.ParquetWriter(file, table.schema, compression="zstd")
                    tables.append(stack.enter_context(writer))
                tables[0].write_table(table)
                return
            text = io.BytesIO()
            if batch.format == "jsonl":
                rows.write_ndjson(text)
            else:
                rows.write_csv(text, include_header=not headed)
                headed = True
            file.write(text.getvalue())

        yield write
        if batch.output is None:
            file.flush()
