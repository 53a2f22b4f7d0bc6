"""A batch's input as rows: the keys and all other columns, a chunk at a time.

Each format is a generator whose first frame has no rows: the columns are known before any row is
read. It yields nothing for an empty input.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from puzzle_tablebase.errors import BadRequest, quote
from puzzle_tablebase.queries.answer import INPUT_FORMATS, format_count
from puzzle_tablebase.queries.answer_frames import (
    KeyFormat,
    can_hold_answers,
    can_hold_keys,
    read_key_column,
)
from puzzle_tablebase.queries.batch_input import Input, translate_input_errors
from puzzle_tablebase.queries.json_lines import EXACT, read_objects, split_objects

CHUNK_BYTES = 1 << 21
"""Bytes of text read at a time."""
CHUNK_ROWS = 1 << 17
"""Rows of Parquet read at a time."""
MAX_ROW_BYTES = 1 << 22
"""The most bytes that a key or a row may have; an endless stream without a row's end is refused."""
NEW_LINE, NUL = b"\n", b"\0"
MAX_CELLS = 64
"""The most words of a line that are read as cells of its key."""
UNTYPED = ("csv", "tsv")
"""The formats in which every cell is a text."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive rows of the input; `place(at)` names the line or row of one, for messages.

    `objects`: the texts of JSON objects without their last brace, to which answers are added; the
    rows have the keys alone then, and `names` are those of all fields.
    """

    rows: pl.DataFrame
    place: Callable[[int], str] = str
    objects: pl.Series | None = None
    names: frozenset[str] = frozenset()


def read_chunks(
    source: Input,
    column: str | None,
    keys: KeyFormat,
    *,
    is_key: Callable[[str], bool],
    has_objects: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
) -> tuple[str, pl.DataFrame, Iterator[Chunk]]:
    """Return the name of the keys' column, a frame without rows, and the chunks of all rows.

    There is at least one chunk, even if it is empty. `is_key`: whether a text is a key.
    `has_objects`: JSON lines are copied as they are written. `chunk_bytes`: bytes of text read at a
    time.
    """
    key, second = keys.column, keys.second
    if source.format == "text":
        if column is not None:
            others = ", ".join(list(INPUT_FORMATS)[1:])
            raise BadRequest(
                f"{source.name} is read as text, which has no columns",
                f"Leave out --column, or add --input-format ({others})",
            )
        read_rows = _read_lines if second else _read_text
        chunks = read_rows(source.file, keys, chunk_bytes)
    elif source.format == "jsonl" and has_objects:
        chunks = _read_json_objects(source.file, column, keys, chunk_bytes)
    elif source.format == "jsonl":
        chunks = _read_json_lines(source.file, chunk_bytes)
    elif source.format == "parquet":
        chunks = _read_parquet(source.file)
    else:
        delimiter = b"," if source.format == "csv" else b"\t"
        chunks = _read_delimited(source.file, delimiter, chunk_bytes, has_answers=bool(second))
    chunks = _translate_errors(source.name, chunks)
    head = next(chunks, Chunk(pl.DataFrame())).rows
    if not head.width:
        if next(chunks, None) is not None:
            raise BadRequest(f"The rows of the input have no column, and {quote(key)} is needed")
        empty = [key if column is None else column, *([second] if second else [])]
        head = pl.DataFrame(schema=dict.fromkeys(empty, pl.String))
    if source.format in UNTYPED and column is None and key not in head.columns:
        _require_header(head.columns, keys, is_key)
    name = _choose_column(head.columns, column, key)
    if not can_hold_keys(head.schema.get(name), keys.key_digits):
        raise _make_type_error(head, name, "the keys with --column")
    if second and not can_hold_answers(head.schema.get(second)):
        raise _make_type_error(head, second, "the answers with --answer-column")
    return name, head, _ensure_one(chunks, head)


def _make_type_error(head: pl.DataFrame, name: str, what: str) -> BadRequest:
    """Make the error for a column that is missing or has no texts; `what` tells how to name it."""
    kind = head.schema.get(name)
    columns = ", ".join(quote(each) for each in head.columns[:20])
    type_note = "" if kind is None else f" (it has the type {kind})"
    return BadRequest(
        f"The input has no text column {quote(name)}{type_note}",
        f"Its columns: {columns}. Name the one that holds {what}",
    )


def _choose_column(names: list[str], requested: str | None, key: str) -> str:
    """Return the name of the keys' column: the requested one, the only one, or the puzzle's."""
    if requested is not None:
        return requested
    return names[0] if len(names) == 1 else key


def _require_header(names: list[str], keys: KeyFormat, is_key: Callable[[str], bool]) -> None:
    """Raise BadRequest if a column's name is a key: then the input's first row is no header.

    Nor may the only name hold what separates the columns of other files.
    """
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t"):
        raise BadRequest(
            f"The input has one column, {quote(names[0])}",
            "Separate columns with commas, or with tabs and --input-format tsv. "
            "If there is one, name it with --column",
        )
    texts = read_key_column(pl.Series(names, dtype=pl.String), keys.key_digits, is_untyped=True)
    for name, text in zip(names, texts, strict=True):
        if is_key(text):
            raise BadRequest(
                f"The first row of the input has the key {quote(name)}, and not the names of its "
                "columns",
                f"Add a row with the names above it, such as {keys.column}"
                + (", or write --input-format text" if len(names) == 1 else ""),
            )


def _ensure_one(chunks: Iterator[Chunk], head: pl.DataFrame) -> Iterator[Chunk]:
    yield next(chunks, Chunk(head))
    yield from chunks


def _translate_errors(name: str, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    with translate_input_errors(name):
        yield from chunks


def _iter_texts(
    file: BinaryIO,
    chunk_bytes: int,
    end_of: Callable[[bytes], int] = lambda text: text.rfind(NEW_LINE) + 1,
    *,
    has_answers: bool = False,
) -> Iterator[tuple[bytes, int]]:
    """Yield chunks of a text, each with the number of its first line.

    A chunk ends where `end_of` finds the last end of a row. `has_answers`: the text has answers to
    judge, which may have a NUL.
    """
    rest, line, has_more = b"", 1, True
    while has_more:
        data = file.read(chunk_bytes)
        has_more = len(data) == chunk_bytes
        text = rest + data
        cut = end_of(text) if has_more else len(text)
        text, rest = text[:cut], text[cut:]
        if NUL in text and not has_answers:
            raise BadRequest(
                f"Line {line + text.count(NEW_LINE, 0, text.find(NUL)):,} of the input has a NUL "
                "byte, so it is not text",
                "Save it as UTF-8",
            )
        if len(rest) > (limit := max(MAX_ROW_BYTES, chunk_bytes)):
            bad_line = line + text.count(NEW_LINE)
            raise BadRequest(
                f"The input is not a list of keys: the item that starts on line {bad_line:,} has "
                f"more than {limit:,} bytes"
            )
        try:
            text.decode()
        except UnicodeDecodeError as error:
            bad_line = line + text.count(NEW_LINE, 0, error.start)
            problem = f"Line {bad_line:,} of the input is not UTF-8"
            raise BadRequest(problem, "Save it as UTF-8") from error
        if text:
            yield text, line
        line += text.count(NEW_LINE)


def _format_row(first: int, at: int) -> str:
    return f"row {first + at:,}"


def _read_parquet(file: BinaryIO) -> Iterator[Chunk]:
    # with a buffer a row group of any size is read in small parts
    table = pq.ParquetFile(file, buffer_size=CHUNK_BYTES, pre_buffer=False)
    _require_distinct(table.schema_arrow.names)
    for column in table.schema_arrow:
        name = f"The column {quote(column.name)} of the input"
        for field in _iter_fields(column):
            if pa.types.is_decimal256(field.type):
                problem = f"{name} is of type {column.type}, which cannot be read"
                raise BadRequest(problem, "Save its numbers with 38 digits at most")
            if field is not column and "\0" in field.name:
                raise BadRequest(f"{name} has a NUL in a field's name", "Give it another name")
    yield Chunk(_make_frame(table.schema_arrow.empty_table()))
    first = 1
    for batch in table.iter_batches(CHUNK_ROWS):
        yield Chunk(_make_frame(pa.Table.from_batches([batch])), partial(_format_row, first))
        first += len(batch)


def _iter_fields(field: pa.Field) -> Iterator[pa.Field]:
    """Yield a field, and those of its elements at any depth.

    At 256-bit decimals polars panics, and a field's name ends for it at a NUL.
    """
    yield field
    for at in range(field.type.num_fields):
        yield from _iter_fields(field.type.field(at))


def _make_frame(table: pa.Table) -> pl.DataFrame:
    # the names are set last: polars would replace an empty one
    frame = pl.from_arrow(table.rename_columns([str(at) for at in range(table.num_columns)]))
    assert isinstance(frame, pl.DataFrame)
    frame.columns = table.column_names
    return frame


def _require_distinct(names: list[str]) -> None:
    known = set[str]()
    for name in names:
        if name in known:
            raise BadRequest(f"The input has two columns {quote(name)}", "Rename one of them")
        known.add(name)


def _read_delimited(
    file: BinaryIO, delimiter: bytes, chunk_bytes: int = CHUNK_BYTES, *, has_answers: bool = False
) -> Iterator[Chunk]:
    """Read CSV or TSV, every cell as text; an empty cell is a null, an empty line is skipped."""
    # a quote opens a cell only at its beginning; an incomplete row does not match
    cell = rb'(?:"[^"]*+(?:""[^"]*+)*+"[^%b\n]*+|[^"%b\n][^%b\n]*+)?+'.replace(b"%b", delimiter)
    whole_rows = re.compile(rb"(?:%b(?:%b%b)*+\n)*+" % (cell, delimiter, cell))
    whole_cells = re.compile(rb"(?:%b[%b\n])*+" % (cell, delimiter))

    def find_end(text: bytes) -> int:
        rows = whole_rows.match(text) if b'"' in text else None
        return rows.end() if rows else text.rfind(NEW_LINE) + 1

    names: list[str] = []
    first = 2
    for chunk, line in _iter_texts(file, chunk_bytes, find_end, has_answers=has_answers):
        cells = whole_cells.match(chunk + NEW_LINE) if b'"' in chunk else None
        if cells and cells.end() < len(chunk):
            bad_line = line + chunk.count(NEW_LINE, 0, cells.end())
            problem = f"The quote that opens on line {bad_line:,} of the input is never closed"
            raise BadRequest(problem)
        text = chunk
        if not names:
            names, text = _split_header(chunk, delimiter)
            if not names:
                continue
            _require_distinct(names)
            yield Chunk(pl.DataFrame(schema=dict.fromkeys(names, pl.String)))
        if text.strip(b"\r\n"):
            rows = _parse_cells(text, names, delimiter, first)
            yield Chunk(rows, partial(_format_row, first))
            first += len(rows)


def _split_header(text: bytes, delimiter: bytes) -> tuple[list[str], bytes]:
    """Return the names in the first row, and the text after that row."""
    lines = io.StringIO(text.decode(), newline="")
    names = next(filter(None, csv.reader(lines, delimiter=delimiter.decode())), [])
    return names, lines.read().encode()


def _parse_cells(text: bytes, names: list[str], delimiter: bytes, first: int) -> pl.DataFrame:
    invalid_rows: list[pa.csv.InvalidRow] = []

    def reject_row(row: pa.csv.InvalidRow) -> str:
        invalid_rows.append(row)
        return "error"

    # one block and one thread: otherwise pyarrow does not number the rows
    reading = pa.csv.ReadOptions(column_names=names, use_threads=False, block_size=len(text))
    parsing = pa.csv.ParseOptions(
        delimiter=delimiter, newlines_in_values=True, invalid_row_handler=reject_row
    )
    as_written = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    try:
        return _make_frame(pa.csv.read_csv(pa.BufferReader(text), reading, parsing, as_written))
    except pa.ArrowInvalid as error:
        if not invalid_rows:
            raise
        place = _format_row(first - 1, invalid_rows[0].number).capitalize()
        cells = format_count(invalid_rows[0].actual_columns, "column")
        raise BadRequest(f"{place} of the input has {cells}, its header {len(names)}") from error


def _read_json_lines(file: BinaryIO, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Read one object per line; the first chunk decides which columns there are."""
    head: pl.DataFrame | None = None
    first = 1
    for text, line in _iter_texts(file, chunk_bytes):
        if not text.strip():
            continue
        rows = read_objects(text, line)
        if head is None:
            head = rows.clear()
            yield Chunk(head)
        yield Chunk(_match_columns(rows, head, first), partial(_format_row, first))
        first += len(rows)


def _read_json_objects(
    file: BinaryIO, column: str | None, keys: KeyFormat, chunk_bytes: int
) -> Iterator[Chunk]:
    """Read the key of one object per line; all other fields are copied as they are written."""
    name: str | None = None
    first = 1
    for text, line in _iter_texts(file, chunk_bytes):
        objects = split_objects(text, line)
        if not objects.lines:
            continue
        names = frozenset[str]().union(*objects.fields)
        if name is None:
            head = [*dict.fromkeys(name for fields in objects.fields for name in fields)]
            name = _choose_column(head, column, keys.column)
            yield Chunk(pl.DataFrame(schema=dict.fromkeys(head, pl.String)))
        rows = _make_key_frame(name, objects.read_keys(name, keys.key_digits))
        if keys.second:
            answers = pl.Series(keys.second, objects.read_texts(keys.second), pl.String)
            rows = rows.with_columns(answers)
        yield Chunk(rows, partial(_format_row, first), objects.open_lines(), names)
        first += len(rows)


def _match_columns(rows: pl.DataFrame, head: pl.DataFrame, first: int) -> pl.DataFrame:
    """Return the rows with the first chunk's columns, null where a row lacks one.

    `first` is the number of the first row. BadRequest for a new field or another type.
    """
    types, head_types = dict(rows.schema), dict(head.schema)
    for name, kind in types.items():
        head_type = head_types.get(name)
        if kind in (head_type, pl.Null):
            continue
        is_exact = kind.is_integer() and not (rows[name].cast(pl.Float64).abs() > EXACT - 1).any()
        if head_type == pl.Float64 and is_exact:
            continue
        earlier = "not there" if head_type is None else f"of type {head_type}"
        raise BadRequest(
            f"The field {quote(name)} is of type {kind} from row {first:,} on, and {earlier} before"
        )
    return rows.select(
        (pl.col(name) if name in types else pl.lit(None)).cast(kind).alias(name)
        for name, kind in head_types.items()
    )


def _read_text(file: BinaryIO, form: KeyFormat, chunk_bytes: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Read keys between white space.

    Single cells are joined to keys where the puzzle's notation allows it.
    """
    key = form.column
    yield Chunk(_make_key_frame(key, []))
    waiting: list[str] = []
    end = 1
    for text, line in _iter_texts(
        file, chunk_bytes, lambda text: max(map(text.rfind, (b"\n", b" ", b"\t"))) + 1
    ):
        if line == 1:
            _require_no_columns(text, key, has_boards=form.joined_characters > 0)
        words = text.decode().split()
        if form.joined_characters and (waiting or form.may_have_cells(text, words)):
            joined = _join_cells(words, waiting, form)
            keys, ends = [word for word, _ in joined], [end for _, end in joined]
        else:
            keys, ends = words, list(range(len(words)))

        def place(at: int, text: bytes = text, ends: list[int] = ends, line: int = line) -> str:
            starts = [word.start() for word in re.finditer(rb"\S+", text)]
            here = starts[min(ends[at], len(starts) - 1)]
            return f"line {line + text.count(NEW_LINE, 0, here):,}"

        if keys:
            yield Chunk(_make_key_frame(key, keys), place)
        end = line + text.rstrip().count(b"\n") if words else end
    if waiting:
        yield Chunk(_make_key_frame(key, [form.join_key(waiting)]), lambda at: f"line {end:,}")


def _read_lines(file: BinaryIO, form: KeyFormat, chunk_bytes: int) -> Iterator[Chunk]:
    """Read a key from the beginning of each line that is not empty, and its answer from the rest.

    Single cells are joined to a key, as in `_read_text`.
    """
    schema = [(form.column, pl.String), (form.second or "", pl.String)]
    yield Chunk(pl.DataFrame(schema=schema))
    texts = _iter_texts(file, chunk_bytes, has_answers=True)
    for text, first in texts:
        lines = text.decode().split("\n")
        numbers = [at for at, line in enumerate(lines) if line.strip()]

        def place(at: int, first: int = first, numbers: list[int] = numbers) -> str:
            return f"line {first + numbers[at]:,}"

        pairs = [_split_line(lines[at], form) for at in numbers]
        if pairs:
            yield Chunk(pl.DataFrame(pairs, schema=schema, orient="row"), place)


def _split_line(line: str, form: KeyFormat) -> tuple[str, str]:
    """Split a line into its key and the rest."""
    words, cells = line.split(None, MAX_CELLS), list[str]()
    key, last = words[0], 0
    if form.joined_characters:
        joined = _join_cells(words, cells, form)
        key, last = joined[0] if joined else (form.join_key(cells), len(words))
    return key, "".join(line.split(None, last + 1)[last + 1 :])


def _make_key_frame(name: str, keys: Sequence[str | None]) -> pl.DataFrame:
    return pl.DataFrame({name: keys}, schema={name: pl.String})


def _join_cells(words: list[str], waiting: list[str], form: KeyFormat) -> list[tuple[str, int]]:
    """Join single cells to keys; return each key with the number of its last word.

    `waiting` holds the cells of an incomplete key, and is changed.
    """
    keys = []
    for at, word in enumerate(words):
        cell = form.strip_cell(word)
        if cell is None:
            if waiting:
                keys.append((form.join_key(waiting), at - 1))
                waiting.clear()
            keys.append((word, at))
            continue
        waiting += [cell] if cell else []
        if len(waiting) == form.joined_characters:
            keys.append((form.join_key(waiting), at))
            waiting.clear()
    return keys


def _require_no_columns(text: bytes, key: str, *, has_boards: bool) -> None:
    """Raise BadRequest if the first line looks like another format, whose words are not keys.

    `has_boards`: the rows of a board may be in brackets.
    """
    line = text.decode().lstrip().partition("\n")[0]
    kind = "jsonl" if line.startswith("{") else "tsv" if "\t" in line else "csv"
    cells = (cell.strip(' \r"') for cell in re.split("[,\t]", line))
    if has_boards and re.match(r"[\[{(][\[{(\s]*[\w.]", line) and '"' not in line:
        return
    if line.startswith(("<", "[")):
        raise BadRequest("Unknown input format", f"Supported: {', '.join(INPUT_FORMATS)}")
    if kind == "jsonl" or key in cells:
        raise BadRequest(f"The input looks like {kind}, not text", f"Add --input-format {kind}")
