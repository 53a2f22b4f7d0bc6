"""Batches: rows with keys are read, and written again with the answers as further columns."""

from __future__ import annotations

import contextlib
import gzip
import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from puzzle_tablebase.errors import BadRequest, quote, require_choice
from puzzle_tablebase.output import STANDARD, open_output, require_other_file
from puzzle_tablebase.queries.answer import FORMATS
from puzzle_tablebase.queries.answer_frames import concatenate_answers, rename_columns
from puzzle_tablebase.queries.batch_input import (
    CHUNK_BYTES,
    Chunk,
    KeyFormat,
    Objects,
    choose_key_column,
    find_suffix,
    open_input,
    read_chunks,
    read_texts,
)
from puzzle_tablebase.queries.reader import Query

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from puzzle_tablebase.queries.judges import Judge

_encode_object = msgspec.json.Encoder().encode
PREFIX = "--prefix TEXT"


class RowWriter(Protocol):
    """A function that writes answers after the rows that were asked for, if there are any."""

    def __call__(self, answers: pl.DataFrame, rows: pa.Table | Objects | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Batch:
    """The options of a batch, by their names. `input` is a file, or - for standard input.

    `chunk_bytes`: bytes of text read at a time.
    """

    input: str
    format: str
    output: str | None = None
    strict: bool = False
    column: str | None = None
    prefix: str = ""
    input_format: str | None = None
    chunk_bytes: int = CHUNK_BYTES


def run_batch(
    query: Query | Judge,
    batch: Batch,
    on_progress: Callable[[int], None],
    printing: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
) -> int:
    """Answer every key of the input; return how many were not in the puzzle's notation.

    `on_progress(rows)` is called now and then with the rows answered so far. Rows are written
    within the context manager `printing()`.
    """
    reader, added = query.reader, (*query.make_schema(), "error")
    require_other_file(STANDARD if batch.output is None else batch.output, batch.input)
    form = KeyFormat(reader.columns[0], reader.key_cells, reader.key_digits, query.second_column)
    invalid = done = 0
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open_input(batch.input, batch.input_format))
        key, is_decoded, write = "", False, None
        for chunk in read_chunks(
            source, form, as_objects=batch.format == "jsonl", chunk_bytes=batch.chunk_bytes
        ):
            if write is None:
                key = choose_key_column(source, chunk, batch.column, form, query.has_key)
                is_decoded = _require_writable(chunk, key, batch.format)
                write = stack.enter_context(open_row_writer(batch.output, batch.format))
            names = rename_columns(added, chunk.list_names(), batch.prefix, PREFIX)
            keys = read_texts(source, chunk, key, form.key_digits)
            others = [read_texts(source, chunk, name) for name in [form.second] if name]
            query.on_progress = partial(lambda earlier, count: on_progress(earlier + count), done)
            parts = query.iter_answers(keys, *others)
            if batch.format == "parquet":  # each part would be a row group
                parts = iter([concatenate_answers(parts)])
            first = 0
            for answers, bad in parts:
                if bad and batch.strict:
                    problem = f"{chunk.place(first + bad[0])}: {answers['error'][bad[0]]}"
                    raise BadRequest(problem, "To answer the other rows, leave out --strict")
                rows = chunk.rows[first : first + len(answers)]
                part = keys[first : first + len(answers)]
                if source.format == "text" and bad:
                    printable = part.scatter(bad, [*map(make_printable, part.gather(bad))])
                    rows = _replace_column(rows, key, printable)
                elif is_decoded:
                    rows = _replace_column(rows, key, part)
                with printing():
                    write(answers.rename(names), rows)
                invalid += len(bad)
                first += len(answers)
            done += first
            on_progress(done)
    return invalid


def _replace_column(rows: pa.Table, name: str, values: pl.Series) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, values.to_arrow())


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


def make_printable(text: str) -> str:
    """Cut an invalid key to 100 characters and replace those that would control a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text[:100])


def _is_binary(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view,
            pa.types.is_fixed_size_binary,
        )
    )  # fmt: skip


def _require_writable(chunk: Chunk, key: str, format: str) -> bool:
    """Return whether the keys are bytes that the output's format has no type for.

    BadRequest for another column of a type on which polars panics.
    """
    if isinstance(chunk.rows, list) or format == "parquet":
        return False
    for field in chunk.rows.schema:
        kinds = [*_iter_types(field.type)]
        is_bad = any(pa.types.is_decimal256(kind) or _is_binary(kind) for kind in kinds)
        if is_bad and not (field.name == key and _is_binary(field.type)):
            raise BadRequest(
                f"{FORMATS[format]} cannot hold the column {quote(field.name)}, which is of type "
                f"{field.type}",
                "Choose another --format, or leave the column out",
            )
    return _is_binary(chunk.rows.schema.field(key).type)


def _iter_types(kind: pa.DataType) -> Iterator[pa.DataType]:
    """Yield a type, and the types of its elements or fields at any depth."""
    yield kind
    for at in range(kind.num_fields):
        yield from _iter_types(kind.field(at).type)


@contextlib.contextmanager
def open_row_writer(output: str | None, format: str) -> Iterator[RowWriter]:
    """Open an output and yield a function that writes rows to it; each call is flushed at once."""
    with contextlib.ExitStack() as stack:
        name = STANDARD if output is None else output
        file = stack.enter_context(open_output(name))
        file = stack.enter_context(compress_output(file, Path(name).suffix.lower()))
        writer: pq.ParquetWriter | None = None
        has_header = False

        def write(answers: pl.DataFrame, rows: pa.Table | Objects | None = None) -> None:
            nonlocal has_header, writer
            with _translate_errors(format):
                if format == "parquet":
                    table = _join_columns(rows, answers.to_arrow())
                    writer = writer or stack.enter_context(
                        pq.ParquetWriter(file, table.schema, compression="zstd")
                    )
                    writer.write_table(table)
                elif isinstance(rows, list):
                    file.write(_format_objects(rows, answers))
                else:
                    # through memory: polars would write to the file's descriptor, and so bypass
                    # the checks of `open_output`
                    text = io.BytesIO()
                    frame = answers if rows is None else _make_frame(rows).hstack(answers)
                    if format == "jsonl":
                        frame.write_ndjson(text)
                    else:
                        frame.write_csv(text, include_header=not has_header)
                        has_header = True
                    file.write(text.getbuffer())
            file.flush()

        yield write


@contextlib.contextmanager
def _translate_errors(format: str) -> Iterator[None]:
    """Turn a library's error about rows that a format cannot hold into a BadRequest."""
    try:
        yield
    except (ValueError, OverflowError, pa.ArrowException, pl.exceptions.PolarsError) as error:
        problem = str(error).partition("\n")[0]
        raise BadRequest(f"{FORMATS[format]} cannot hold the rows ({problem})") from error


def _join_columns(rows: pa.Table | None, answers: pa.Table) -> pa.Table:
    if rows is None:
        return answers
    for field, column in zip(answers.schema, answers.columns, strict=True):
        rows = rows.append_column(field, column)
    return rows


def _make_frame(table: pa.Table) -> pl.DataFrame:
    # the names are set last: polars would replace an empty one
    frame = pl.DataFrame(pl.from_arrow(table.rename_columns([*map(str, range(table.num_columns))])))
    frame.columns = table.column_names
    return frame


def _format_objects(rows: Objects, answers: pl.DataFrame) -> bytes:
    """Format JSON objects with the answers' fields after their own."""
    text = io.BytesIO()
    answers.write_ndjson(text)
    added = text.getvalue().split(b"\n")
    return b"".join(
        _encode_object(row)[:-1] + (b"," if row else b"") + fields[1:] + b"\n"
        for row, fields in zip(rows, added, strict=False)
    )


GZIP_LEVEL = 6
"""As the command gzip: level 9 takes twice as long, for one percent."""


def _open_zstd(file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), "w"), "zstd"))


COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0),
    ".zst": _open_zstd,
    ".zstd": _open_zstd,
}
"""The functions that open a compressor of a file, by the ends of names."""


def compress_output(file: IO[bytes], suffix: str) -> AbstractContextManager[IO[bytes]]:
    """Return a file that compresses what is written to it, as its name's suffix says.

    For another suffix it is the file itself. No time or name is stored: the same data gives the
    same bytes. The file itself stays open.
    """
    compress: Callable[[IO[bytes]], Any] = COMPRESSORS.get(suffix, contextlib.nullcontext)
    packed: AbstractContextManager[IO[bytes]] = compress(file)
    return packed


class _KeptOpen(io.RawIOBase):
    """A writable file that leaves the file behind it open when it is closed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        return self._file.write(data)

    def flush(self) -> None:
        if not self.closed:
            self._file.flush()
