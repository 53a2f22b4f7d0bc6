"""Batches: rows with keys are read, and written again with the answers as further columns."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from puzzle_tablebase.errors import BadRequest, quote, require_choice
from puzzle_tablebase.output import STANDARD, open_output, require_other_file
from puzzle_tablebase.queries.answer import FORMATS
from puzzle_tablebase.queries.answer_frames import (
    KeyFormat,
    concatenate_answers,
    read_key_column,
    rename_columns,
)
from puzzle_tablebase.queries.batch_formats import CHUNK_BYTES, read_chunks
from puzzle_tablebase.queries.batch_input import find_suffix, open_input
from puzzle_tablebase.queries.reader import Query

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


SCALAR_TYPES = {
    *(pl.Boolean, pl.Float16, pl.Float32, pl.Float64, pl.Decimal, pl.Null),
    *(pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    *(pl.String, pl.Categorical, pl.Enum, pl.Date, pl.Datetime, pl.Time),
}
NESTED_TYPES = {*SCALAR_TYPES, pl.Duration, pl.List, pl.Array, pl.Struct, pl.Map}
COLUMN_TYPES = {
    "csv": {*SCALAR_TYPES, pl.Int128, pl.UInt128},
    "jsonl": {*NESTED_TYPES, pl.Int128, pl.UInt128},
    "parquet": {*NESTED_TYPES, pl.Binary},
}
"""The types of columns that each output format can hold."""
TABLE_WRITERS = {"parquet": partial(pq.ParquetWriter, compression="zstd")}
"""What makes the writer of each output format that is not text, from a file and a schema."""
PREFIX = "--prefix TEXT"


class RowWriter(Protocol):
    """A function that writes rows; `objects` are JSON objects that get the columns as fields."""

    def __call__(self, rows: pl.DataFrame, objects: pl.Series | None = None) -> None: ...


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
    query: Query,
    batch: Batch,
    on_progress: Callable[[int], None],
    printing: Callable[[], AbstractContextManager[object]] = contextlib.nullcontext,
) -> int:
    """Answer every key of the input; return how many were not in the puzzle's notation.

    `on_progress(rows)` is called now and then with the rows answered so far. Rows are written
    within the context manager `printing()`.
    """
    reader = query.reader
    require_other_file(STANDARD if batch.output is None else batch.output, batch.input)
    invalid = done = 0
    with open_input(batch.input, batch.input_format) as source:
        form = KeyFormat(
            reader.columns[0],
            reader.joined_characters,
            reader.long_cells,
            reader.key_digits,
            query.second_column,
        )
        key, head, chunks = read_chunks(
            source,
            batch.column,
            form,
            is_key=query.has_key,
            has_objects=batch.format == "jsonl",
            chunk_bytes=batch.chunk_bytes,
        )
        added = (*query.make_schema(), "error")
        names = rename_columns(added, head.columns, batch.prefix, PREFIX)
        # bytes are written as text where the format has no bytes
        is_decoded = head.schema[key] == pl.Binary and pl.Binary not in COLUMN_TYPES[batch.format]
        _require_writable(head.drop(key) if is_decoded else head, batch.format)
        with open_row_writer(batch.output, batch.format) as write:
            for chunk in chunks:
                rows = chunk.rows
                rename_columns(added, chunk.names, batch.prefix, PREFIX)
                keys = read_key_column(
                    rows[key], form.key_digits, is_untyped=source.format in ("csv", "tsv")
                )
                query.on_progress = partial(
                    lambda earlier, count: on_progress(earlier + count), done
                )
                if is_decoded:
                    rows = rows.with_columns(keys.alias(key))
                parts = query.iter_answers(
                    keys, *(read_key_column(rows[name]) for name in [form.second] if name)
                )
                if batch.format in TABLE_WRITERS:  # each part would be a row group
                    parts = iter([concatenate_answers(parts)])
                first = 0
                for answers, bad in parts:
                    if bad and batch.strict:
                        problem = f"{chunk.place(first + bad[0])}: {answers['error'][bad[0]]}"
                        raise BadRequest(problem, "To answer the other rows, leave out --strict")
                    part = rows[first : first + len(answers)]
                    if bad and source.format == "text":
                        part = part.with_columns(
                            part[key].scatter(bad, [*map(make_printable, part[key].gather(bad))])
                        )
                    named = answers.rename(names)
                    with printing():
                        if chunk.objects is None:
                            write(part.hstack(named))
                        else:
                            write(named, chunk.objects[first : first + len(named)])
                    invalid += len(bad)
                    first += len(answers)
                done += first
                on_progress(done)
    return invalid


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


def _require_writable(head: pl.DataFrame, format: str) -> None:
    """Raise BadRequest for a column of a name or type that the output's format cannot hold."""
    for name, kind in head.schema.items():
        parts = [*_iter_types(kind)]
        problem = ""
        if any(part.base_type() not in COLUMN_TYPES[format] for part in parts):
            problem = f"which is of type {kind}"
        elif format in TABLE_WRITERS:
            structs = [part for part in parts if isinstance(part, pl.Struct)]
            names = [name, *(field.name for part in structs for field in part.fields)]
            if any("\0" in each for each in names):
                problem = "whose name has a NUL" if "\0" in name else "with a NUL in a field's name"
            elif not all(part.fields for part in structs):
                problem = "whose objects have no fields"
        if problem:
            raise BadRequest(
                f"{FORMATS[format]} cannot hold the column {quote(name)}, {problem}",
                "Choose another --format, or leave the column out",
            )


def _iter_types(kind: pl.DataType) -> Iterator[pl.DataType]:
    """Yield a type, and the types of its elements or fields at any depth."""
    yield kind
    inner = [getattr(kind, name, None) for name in ("inner", "key", "value")]
    for part in filter(None, [*inner, *(field.dtype for field in getattr(kind, "fields", []))]):
        yield from _iter_types(part)


def _add_fields(objects: pl.Series, added: io.BytesIO) -> io.BytesIO:
    """Return JSON objects that lack their last brace, with the fields of others at their ends."""
    ends = pl.Series(added.getvalue().decode().split("\n")[:-1], dtype=pl.String)
    lines = (objects + ends.str.slice(1)).to_list()
    return io.BytesIO("".join(f"{line}\n" for line in lines).encode())


@contextlib.contextmanager
def open_row_writer(output: str | None, format: str) -> Iterator[RowWriter]:
    """Open an output and yield a function that writes rows to it; each call is flushed at once."""
    with contextlib.ExitStack() as stack:
        name = STANDARD if output is None else output
        file = stack.enter_context(open_output(name))
        file = stack.enter_context(compress_output(file, Path(name).suffix.lower()))
        make_writer = TABLE_WRITERS.get(format)
        writer: pq.ParquetWriter | None = None
        has_header = False

        def write(rows: pl.DataFrame, objects: pl.Series | None = None) -> None:
            nonlocal has_header, writer
            if make_writer:
                table = rows.to_arrow()
                writer = writer or stack.enter_context(make_writer(file, table.schema))
                writer.write_table(table)
            else:
                # through memory: polars would write to the file's descriptor, and so bypass the
                # checks of `open_output`
                text = io.BytesIO()
                if format == "jsonl":
                    rows.write_ndjson(text)
                    if objects is not None:
                        text = _add_fields(objects, text)
                else:
                    rows.write_csv(text, include_header=not has_header)
                    has_header = True
                file.write(text.getbuffer())
            file.flush()

        yield write


GZIP_LEVEL = 6
"""As the command gzip: level 9 takes twice as long, for one percent."""


def _open_zstd(file: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), "w"), "zstd"))


COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0),
    ".bz2": partial(bz2.BZ2File, mode="wb"),
    ".xz": partial(lzma.LZMAFile, mode="wb"),
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
