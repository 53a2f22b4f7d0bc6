"""Batches: rows with keys are read, and written with the answers as further columns."""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from puzzle_tablebase.errors import BadRequest, explain_library_error, require_choice
from puzzle_tablebase.output import STANDARD, open_output, require_other_file
from puzzle_tablebase.queries.answer_frames import rename_columns
from puzzle_tablebase.queries.batch_input import (
    CHUNK_ROWS,
    MAX_PART_BYTES,
    Rows,
    count_bytes,
    find_suffix,
    read_rows,
)
from puzzle_tablebase.queries.questions import FORMATS

if TYPE_CHECKING:
    from puzzle_tablebase.queries.prober import Prober
    from puzzle_tablebase.queries.questions import Options

FIRST_ROWS = 16
"""The rows that are answered first, to find out how long they take."""
PART_SECONDS = 0.5
"""Seconds after which answered rows are written: an interrupt does not lose them."""
LAST_DAY = 95_000_000
"""The last day, from 1970 on, that polars can write as text."""
GZIP_LEVEL = 6
"""As the command gzip: level 9 takes twice as long, for one percent."""

WriteRows = Callable[[pl.DataFrame], None]


class Judging(NamedTuple):
    """How to judge the answers of a batch.

    `judge` gets the prober, keys, their answers and the options; it returns a row for each, with
    the columns of `schema` and `error`. `column`: the input's column of answers.
    """

    judge: Callable[[Prober, pl.Series, pl.Series, Options], pl.DataFrame]
    column: str
    schema: pl.Schema


def run_batch(
    prober: Prober,
    options: Options,
    on_progress: Callable[[int], None],
    printing: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
    *,
    input: str,
    format: str,
    output: str | None = None,
    column: str | None = None,
    prefix: str = "",
    input_format: str | None = None,
    judging: Judging | None = None,
) -> int:
    """Answer every key of the input, or judge its answers; return how many keys were invalid.

    `on_progress(rows)` is called from time to time with the rows answered so far. Rows are written
    within the context manager `printing()`. The other arguments are the options of a batch.
    """
    require_other_file(output or STANDARD, input)
    schema = judging.schema if judging else prober.make_schema(options)
    added, write, done, invalid = (*schema, "error"), None, 0, 0
    others = (judging.column,) if judging else ()
    chunks = read_rows(input, prober, input_format, column, others)
    with contextlib.ExitStack() as stack:
        for rows, answers in iter_answers(prober, options, chunks, judging):
            names = rename_columns(added, rows.frame.columns, prefix, "--prefix TEXT")
            if write is None:  # after the first rows, because an input that is bad leaves no file
                write = stack.enter_context(open_row_writer(output, format))
            with printing():
                write(rows.frame.hstack(answers.select(added).rename(names)))
            invalid += count_invalid(prober, options, rows.texts[0], answers["error"])
            done += len(answers)
            on_progress(done)
    return invalid


def iter_answers(
    prober: Prober, options: Options, chunks: Iterable[Rows], judging: Judging | None = None
) -> Iterator[tuple[Rows, pl.DataFrame]]:
    """Answer rows, and yield them with their answers in parts of about `PART_SECONDS` each."""
    size = FIRST_ROWS
    for rows in chunks:
        first, count = 0, len(rows.frame)
        if prober.iter_answers and not judging:
            for answers in prober.iter_answers(rows.texts[0], options):
                yield rows.slice(first, len(answers)), answers
                first += len(answers)
            continue
        while first < count or not first:
            begin, part = monotonic(), rows.slice(first, size)
            keys, texts = part.texts[0], part.texts[-1]
            if judging:
                yield part, judging.judge(prober, keys, texts, options)
            else:
                yield part, prober.answer_keys(keys, options)
            first += size
            seconds = max(monotonic() - begin, 1e-3)
            size = max(1, min(8 * size, int(size * PART_SECONDS / seconds)))


def count_invalid(prober: Prober, options: Options, keys: pl.Series, errors: pl.Series) -> int:
    """Count the keys with an error that are not in the notation."""
    failed = keys.filter(errors.is_not_null())
    return len(failed) - sum(prober.has_key(key, options) for key in failed)


def choose_output_format(output: str | None, requested: str | None) -> str:
    """Return the requested format, else that of the file's suffix, else CSV.

    >>> choose_output_format("answers.parquet", None), choose_output_format(None, "jsonl")
    ('parquet', 'jsonl')
    >>> choose_output_format("answers.jsonl.gz", None)
    'jsonl'
    """
    suffix = find_suffix(output or "").lstrip(".") or "csv"
    chosen_format = suffix if requested is None else requested.lower()
    require_choice(chosen_format, "format", *FORMATS)
    return chosen_format


@contextlib.contextmanager
def open_row_writer(output: str | None, format: str) -> Iterator[WriteRows]:
    """Open an output and yield a function that writes rows to it; each call is flushed at once.

    Only Parquet keeps rows until they fill a row group.
    """
    name = STANDARD if output is None else output
    with (
        open_output(name) as raw,
        compress_output(raw, Path(name).suffix.lower()) as file,
        _write_parquet(file) if format == "parquet" else _write_text(file, format) as write,
    ):

        def write_and_flush(rows: pl.DataFrame) -> None:
            with _translate_errors(format):
                write(rows)
            file.flush()

        yield write_and_flush


@contextlib.contextmanager
def _write_text(file: IO[bytes], format: str) -> Iterator[WriteRows]:
    """Yield a function that writes rows as CSV or as JSON lines."""
    has_header = False

    def write(rows: pl.DataFrame) -> None:
        nonlocal has_header
        _require_text(rows)
        # through memory: polars would write to the file's descriptor, and so bypass the checks of
        # `open_output`
        text = io.BytesIO()
        if format == "csv":
            rows.write_csv(text, include_header=not has_header)
            has_header = True
        else:
            rows.write_ndjson(text)
        file.write(text.getbuffer())

    yield write


def _has_bytes(dtype: pl.DataType) -> bool:
    """Return whether a column of this type holds bytes."""
    if isinstance(dtype, pl.Struct):
        return any(_has_bytes(cast(pl.DataType, field.dtype)) for field in dtype.fields)
    if isinstance(dtype, pl.List | pl.Array):
        return _has_bytes(cast(pl.DataType, dtype.inner))
    return dtype == pl.Binary


def _require_text(rows: pl.DataFrame) -> None:
    """Raise a ComputeError where polars would panic: at bytes, and at dates without a text."""
    if any(map(_has_bytes, rows.dtypes)):
        raise pl.exceptions.ComputeError("a column has bytes")
    for days in rows.select(pl.col(pl.Date).to_physical().cast(pl.Int64).abs()):
        if (days > LAST_DAY).any():
            raise pl.exceptions.ComputeError("a date is out of range")


@contextlib.contextmanager
def _write_parquet(file: IO[bytes]) -> Iterator[WriteRows]:
    """Yield a function that writes rows as Parquet, in row groups of `CHUNK_ROWS` or more.

    Long texts make a row group smaller.
    """
    waiting = list[pl.DataFrame]()
    with contextlib.ExitStack() as stack:
        writer: pq.ParquetWriter | None = None
        size = 0

        def write_group() -> None:
            nonlocal writer
            rows = pl.concat(waiting)
            if any("\0" in name for name in rows.columns):  # polars panics
                raise pl.exceptions.ComputeError("a column's name has a zero byte")
            table = rows.to_arrow()
            writer = writer or stack.enter_context(
                pq.ParquetWriter(file, table.schema, compression="zstd")
            )
            writer.write_table(table)
            waiting.clear()

        def write(rows: pl.DataFrame) -> None:
            nonlocal size
            waiting.append(rows)
            size += sum(
                rows.select(count_bytes(pl.col(name), dtype).sum()).item()
                for name, dtype in rows.schema.items()
            )
            if sum(map(len, waiting)) >= CHUNK_ROWS or size >= MAX_PART_BYTES:
                write_group()
                size = 0

        yield write
        if waiting:
            with _translate_errors("parquet"):
                write_group()


@contextlib.contextmanager
def _translate_errors(format: str) -> Iterator[None]:
    """Turn a library's error about rows that a format cannot hold into a BadRequest."""
    try:
        yield
    except BaseException as error:  # polars raises a BaseException when it panics
        if not (problem := explain_library_error(error)):
            raise
        raise BadRequest(f"{FORMATS[format]} cannot hold the rows ({problem})") from error


def compress_output(file: IO[bytes], suffix: str) -> AbstractContextManager[IO[bytes]]:
    """Return a file that compresses its data according to its suffix, or else the file itself.

    No time or name is stored, so the same data gives the same bytes. The underlying file stays
    open.
    """
    packed: Any = contextlib.nullcontext(file)
    if suffix == ".gz":
        packed = gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0)
    elif suffix in (".zst", ".zstd"):
        kept_open = SimpleNamespace(
            write=file.write, flush=file.flush, close=lambda: None, closed=False
        )
        packed = pa.CompressedOutputStream(pa.PythonFile(kept_open, "w"), "zstd")
    return cast("AbstractContextManager[IO[bytes]]", packed)
