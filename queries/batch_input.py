"""A batch's input: a generator of frames of rows, each with the texts that are asked about."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, islice
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple, cast

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from puzzle_tablebase.board_text import SEPARATORS
from puzzle_tablebase.errors import BadRequest, OutputError, quote, require_choice
from puzzle_tablebase.process import expand_path, explain_os_error, is_full_disk
from puzzle_tablebase.queries.answer import COMPRESSED_SUFFIXES, INPUT_FORMATS, format_count
from puzzle_tablebase.queries.answer_frames import can_hold_answers, can_hold_keys, read_key_column

CHUNK_BYTES = 1 << 21
"""Bytes of text read at a time, and the most that a row may have."""
CHUNK_ROWS = 1 << 17
"""Rows of Parquet read at a time."""
DELIMITERS = {"csv": ",", "tsv": "\t"}
"""What separates the cells of formats without types."""
PARQUET = b"PAR1"
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The first bytes of compressed files; a file's name does not matter."""
UNREADABLE = (
    *(OSError, EOFError, ValueError, csv.Error),
    *(pa.ArrowException, pl.exceptions.PolarsError),
)
CELL_CHARACTERS = 2
"""The most characters of a cell of a board."""
MAX_CHARACTERS = 100
"""The most characters of a key in text; no board needs as many."""
_WITHOUT_SEPARATORS = str.maketrans(dict.fromkeys(SEPARATORS, " "))


class BatchQuery(NamedTuple):
    """What a batch asks of its rows.

    `answer` gets the texts of the columns that `columns` names, the keys' first, and returns a row
    for each with the columns of `schema` and `error`. `is_key` tells whether a text is in the
    notation of keys. `cells`: how many a key has, if they may stand apart in text; `digits`: how
    many a key has, if it can be read as a number; 0: no key can. `stream` takes the place of
    `answer` where each key takes long: it yields rows in order as they are answered.
    """

    answer: Callable[..., pl.DataFrame]
    columns: tuple[str, ...]
    schema: pl.Schema
    is_key: Callable[[str], bool]
    cells: int = 0
    digits: int = 0
    stream: Callable[..., Iterator[pl.DataFrame]] | None = None


class Rows(NamedTuple):
    """Consecutive rows of the input; `place(at)` names the line or row of one, for messages.

    `texts`: the columns that are asked about. `lines`: the rows as JSON objects, if they are.
    """

    frame: pl.DataFrame
    place: Callable[[int], str] = str
    texts: tuple[pl.Series, ...] = ()
    lines: pl.Series | None = None

    def slice(self, first: int, count: int) -> Rows:
        """Return some of the rows."""
        lines = None if self.lines is None else self.lines[first : first + count]
        texts = tuple(column[first : first + count] for column in self.texts)
        frame = self.frame[first : first + count]
        return Rows(frame, lambda at: self.place(first + at), texts, lines)


def read_rows(
    source: str, query: BatchQuery, format: str | None = None, column: str | None = None,
    chunk_bytes: int = CHUNK_BYTES, *, keep_lines: bool = False,
) -> Iterator[Rows]:  # fmt: skip
    """Yield the rows of a file, or of standard input for -; once at least, if there are none, too.

    `column`: the name of the keys' column. `keep_lines`: JSON lines stay lines.
    """
    if format is not None:
        require_choice(format, "format", *INPUT_FORMATS)
    source = expand_path(source)
    name = "Standard input" if source == "-" else f"The input {quote(source)}"
    columns: list[str] = []
    with contextlib.ExitStack() as stack, translate_input_errors(name):
        stream = sys.stdin.buffer if source == "-" else stack.enter_context(open(source, "rb"))
        file, kind = _unpack(cast(io.BufferedReader, stream), source, format, stack)
        if kind == "parquet":
            parts = _read_parquet(file)
        elif kind in DELIMITERS:
            parts = _read_delimited(file, DELIMITERS[kind], chunk_bytes)
        elif kind == "jsonl":
            parts = _read_objects(_iter_texts(file, chunk_bytes), keep_lines=keep_lines)
        else:
            parts = _read_keys(_iter_texts(file, chunk_bytes), query)
        for rows in parts:
            columns = columns or _choose_columns(rows.frame.schema, kind, column, query)
            yield rows._replace(texts=_read_texts(rows.frame, columns, kind, query.digits))
    if not columns:
        keys = pl.DataFrame(schema=dict.fromkeys(query.columns, pl.String))
        yield Rows(keys, texts=tuple(keys))


@contextlib.contextmanager
def translate_input_errors(name: str) -> Iterator[None]:
    """Turn errors of reading an input into a BadRequest that states the problem in a sentence."""
    try:
        yield
    except MemoryError:  # Arrow's is of both kinds
        raise
    except UNREADABLE as error:
        if is_full_disk(error):
            raise OutputError("A temporary copy of the input", "no space", is_full=True) from error
        problem = (
            explain_os_error(error) if isinstance(error, OSError) else str(error).partition("\n")[0]
        )
        raise BadRequest(f"{name} cannot be read ({problem})") from error


def _unpack(
    file: io.BufferedReader, source: str, format: str | None, stack: contextlib.ExitStack
) -> tuple[BinaryIO, str]:
    """Return a file without compression or byte order mark, and its format."""
    magics = (magic for magic in COMPRESSIONS if file.peek().startswith(magic))
    if compression := COMPRESSIONS.get(next(magics, b"")):
        packed = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression)
        file = io.BufferedReader(stack.enter_context(packed))
    is_parquet = file.peek().startswith(PARQUET)
    kind = format or ("parquet" if is_parquet else _guess_format(source))
    if kind == "parquet" and not is_parquet:
        raise ValueError("it is no Parquet file")
    if kind == "parquet" and (compression or not file.seekable()):
        # Parquet is read from its end, so the file has to be seekable
        copy = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        shutil.copyfileobj(file, copy)
        return cast(BinaryIO, copy), kind
    if file.peek().startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
    return file, kind


def find_suffix(name: str) -> str:
    """Return the suffix of a file's name in lower case, that before one of a compressed file."""
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in COMPRESSED_SUFFIXES else path.suffix


def _guess_format(source: str) -> str:
    """Return the format that the suffix of a file's name stands for, else text."""
    suffix = find_suffix(source)
    return next((kind for kind, names in INPUT_FORMATS.items() if suffix in names), "text")


# ---- columns that are asked about ----------------------------------------------------------------


def _choose_columns(
    schema: pl.Schema, kind: str, requested: str | None, query: BatchQuery
) -> list[str]:
    """Return the names of the columns that are asked about, the keys' first.

    Keys are in the requested column, the only one, or the puzzle's. BadRequest if a column cannot
    hold what is needed.
    """
    names = schema.names()
    if kind in DELIMITERS and requested is None:
        _require_header(names, query)
    keys = requested or (names[0] if len(names) == 1 else query.columns[0])
    if not can_hold_keys(schema.get(keys), query.digits):
        raise _make_column_error(keys, schema, "keys with --column")
    for name in query.columns[1:]:
        if not can_hold_answers(schema.get(name)):
            raise _make_column_error(name, schema, "answers with --answer-column")
    return [keys, *query.columns[1:]]


def _make_column_error(name: str, schema: pl.Schema, what: str) -> BadRequest:
    note = f" (it has the type {schema[name]})" if name in schema else ""
    columns = ", ".join(map(quote, schema.names()[:20])) or "none"
    hint = f"Its columns: {columns}. Name the one that holds the {what}"
    return BadRequest(f"The input has no text column {quote(name)}{note}", hint)


def _require_header(names: list[str], query: BatchQuery) -> None:
    """Raise BadRequest if a column's name is a key: then the input's first row is no header."""
    texts = read_key_column(pl.Series(names, dtype=pl.String), query.digits, is_untyped=True)
    for name, text in zip(names, texts, strict=True):
        if query.is_key(text):
            raise BadRequest(
                f"The first row of the input has the key {quote(name)}, and not the names of its "
                "columns",
                f"Add a row with the names above it, such as {query.columns[0]}",
            )


def _read_texts(
    frame: pl.DataFrame, names: list[str], kind: str, digits: int
) -> tuple[pl.Series, ...]:
    """Return columns as texts; a field that some JSON objects have may have no column."""
    nothing = pl.Series([None] * len(frame), dtype=pl.String)
    columns = [frame[name] if name in frame.columns else nothing for name in names]
    keys = read_key_column(columns[0], digits, is_untyped=kind in DELIMITERS)
    return keys, *map(read_key_column, columns[1:])


def _require_distinct(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadRequest(f"The input has two columns {quote(name)}", "Rename one of them")


def _format_row(first: int, at: int) -> str:
    return f"row {first + at:,}"


# ---- Parquet, CSV and TSV ------------------------------------------------------------------------


def _read_parquet(file: BinaryIO) -> Iterator[Rows]:
    # with a buffer a row group of any size is read in small parts
    table = pq.ParquetFile(file, buffer_size=CHUNK_BYTES, pre_buffer=False)
    _require_distinct(table.schema_arrow.names)
    if "decimal256" in str(table.schema_arrow):  # polars panics
        raise ValueError("it has a column of type decimal256")
    if not table.metadata.num_rows:
        yield Rows(_make_frame(table.schema_arrow.empty_table()))
    first = 1
    for batch in table.iter_batches(CHUNK_ROWS):
        yield Rows(_make_frame(batch), partial(_format_row, first))
        first += len(batch)


def _make_frame(rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    frame = cast(pl.DataFrame, pl.from_arrow(rows))
    frame.columns = rows.schema.names  # polars replaces an empty one
    return frame


class _DelimitedText:
    """A file's text for pyarrow: it ends with a line end, whatever comes before."""

    closed = False

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file, self._end = head, file, b"\n"
        self.last = b""
        """The last character of the file that is no line end."""

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most so many; the last line end at the end."""
        data = self._head[:size] or self._file.read(size)
        self._head = self._head[size:]
        if not data:
            data, self._end = self._end, b""
        self.last = data.rstrip(b"\r\n")[-1:] or self.last
        return data


def _read_delimited(file: BinaryIO, delimiter: str, chunk_bytes: int) -> Iterator[Rows]:
    """Read CSV or TSV, every cell as text; an empty cell is a null, an empty line is skipped."""
    head = file.read(chunk_bytes)
    # the last character may be cut
    lines = io.StringIO(codecs.getincrementaldecoder("utf-8")().decode(head), newline="")
    names = next(filter(None, csv.reader(lines, delimiter=delimiter)), [])
    if not names:
        return
    _require_distinct(names)
    bad_rows: list[pa.csv.InvalidRow] = []

    def reject_row(row: pa.csv.InvalidRow) -> str:
        bad_rows.append(row)
        return "error"

    text = _DelimitedText(head, file)
    # without threads pyarrow numbers the rows
    reading = pa.csv.ReadOptions(use_threads=False, block_size=chunk_bytes)
    parsing = pa.csv.ParseOptions(
        delimiter=delimiter, newlines_in_values=True, invalid_row_handler=reject_row
    )
    as_written = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    first, frame = 2, None
    try:
        for batch in pa.csv.open_csv(pa.PythonFile(text, mode="r"), reading, parsing, as_written):
            if len(batch) or frame is None:
                frame = _make_frame(batch)
                yield Rows(frame, partial(_format_row, first))
                first += len(batch)
    except pa.ArrowInvalid as error:
        if bad_rows:
            cells = format_count(bad_rows[0].actual_columns, "column")
            problem = (
                f"Row {bad_rows[0].number:,} of the input has {cells}, its header {len(names)}"
            )
            raise BadRequest(problem) from error
        if "straddling" not in str(error):
            raise
        problem = f"A row after {_format_row(0, first - 1)} has more than {chunk_bytes:,} bytes"
        raise BadRequest(problem, "Look for a quote that is never closed") from error
    if frame is None:
        yield Rows(pl.DataFrame(schema=dict.fromkeys(names, pl.String)))
    elif len(frame) and text.last != b'"' and (frame[-1, -1] or "").endswith("\n"):
        # pyarrow takes all that follows an open quote for one cell, with the line end of the text
        raise BadRequest(f"A quote that opens in {_format_row(first, -1)} is never closed")


# ---- JSON lines and text -------------------------------------------------------------------------


def _iter_texts(file: BinaryIO, chunk_bytes: int) -> Iterator[tuple[str, int]]:
    """Yield a text in chunks of whole lines, each with the number of its first line."""
    rest, number, has_more = b"", 1, True
    while has_more:
        data = file.read(chunk_bytes)
        has_more = len(data) == chunk_bytes  # on a terminal another read would wait
        text, end, rest = (rest + data).rpartition(b"\n") if has_more else (rest + data, b"", b"")
        if len(rest) > max(CHUNK_BYTES, chunk_bytes):
            raise BadRequest(f"The input has a line of more than {len(rest):,} bytes")
        try:
            yield (text + end).decode(), number
        except UnicodeDecodeError as error:
            bad_line = number + text.count(b"\n", 0, error.start)
            problem = f"Line {bad_line:,} of the input is not UTF-8"
            raise BadRequest(problem, "Save it as UTF-8") from error
        number += (text + end).count(b"\n")


def _read_objects(texts: Iterator[tuple[str, int]], *, keep_lines: bool) -> Iterator[Rows]:
    """Read one JSON object per line; the first chunk decides which columns there are."""
    first, empty = 1, pl.DataFrame()
    for text, number in texts:
        lines = [line for line in text.split("\n") if line and not line.isspace()]
        if not lines:
            continue
        try:
            frame = pl.read_ndjson("\n".join(lines).encode(), infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            _require_objects(text, number)
            raise ValueError(f"from line {number:,} on: {error}") from error
        if keep_lines:
            yield Rows(frame, partial(_format_row, first), lines=pl.Series(lines))
        else:
            empty = empty if empty.width else frame.clear()
            frame = pl.concat([empty, frame], how="diagonal_relaxed")
            _require_same_types(empty.schema, frame.schema, first)
            yield Rows(frame, partial(_format_row, first))
        first += len(lines)


def _require_objects(text: str, number: int) -> None:
    """Raise BadRequest for the first line that is no JSON object, if there is one."""
    for at, line in enumerate(text.split("\n"), number):
        try:
            is_bad = bool(line) and not line.isspace() and not isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            is_bad = True
        if is_bad:
            raise BadRequest(f"Line {at:,} of the input is not a JSON object")


def _require_same_types(earlier: pl.Schema, later: pl.Schema, first: int) -> None:
    """Raise BadRequest if a field has changed its type, or is new."""
    for name, kind in later.items():
        known = earlier.get(name)
        if kind != known:
            before = "was not there before" if known is None else f"was {known} before"
            raise BadRequest(
                f"The field {quote(name)} is {kind} after row {first - 1:,}, and {before}",
                "Only --format jsonl keeps fields of any type",
            )


def _read_keys(texts: Iterator[tuple[str, int]], query: BatchQuery) -> Iterator[Rows]:
    """Read keys between white space, or from the beginning of each line if it has an answer, too.

    The cells of a board may be separate, all on one line.
    """
    split_line = _split_pair if len(query.columns) > 1 else _split_keys
    schema = dict.fromkeys(query.columns, pl.String)
    for text, number in texts:
        if number == 1:
            _require_no_columns(text, query.columns[0])
        words = text.split()
        # no word is one cell, or several
        has_cells = min(map(len, words), default=9) <= CELL_CHARACTERS
        is_plain = not has_cells and not any(mark in text for mark in SEPARATORS)
        if is_plain and split_line is _split_keys:
            frame = pl.DataFrame({query.columns[0]: words}, schema)
        else:
            rows = [row for line in text.split("\n") for row in split_line(line, query.cells)]
            frame = pl.DataFrame(rows, schema, orient="row")
        if len(frame):
            place = partial(_find_line, text, number, lambda line: split_line(line, query.cells))
            keys = pl.col(query.columns[0]).str.slice(0, MAX_CHARACTERS)
            yield Rows(frame.with_columns(keys.str.replace_all(r"\pC", "\ufffd")), place)


def _find_line(text: str, number: int, split_line: Callable[[str], list[Any]], at: int) -> str:
    """Return the line of a text that has one of its rows."""
    lines = enumerate(text.split("\n"), number)
    of_rows = (line for line, words in lines for _ in split_line(words))
    return f"line {next(islice(of_rows, at, None)):,}"


def _split_keys(line: str, count: int) -> list[tuple[str, ...]]:
    """Return the keys of a line: its words, or one of `count` cells."""
    words, cells = line.split(), _split_cells(line)
    if count and len(words) > 1 and max(map(len, cells), default=0) <= CELL_CHARACTERS:
        return [(_join(cells),)]
    return [(word,) for word in words]


def _split_pair(line: str, count: int) -> list[tuple[str, ...]]:
    """Return the key of a line, of one word or of `count` cells, and the rest."""
    words, end = line.split(), 1
    if not words:
        return []
    if count and len(words[0].strip(SEPARATORS)) <= CELL_CHARACTERS:
        counts = accumulate(len(_split_cells(word)) for word in words)
        end = next((at for at, cells in enumerate(counts, 1) if cells >= count), len(words))
    key = words[0] if end == 1 else _join(_split_cells(" ".join(words[:end])))
    return [(key, "".join(line.split(None, end)[end:]))]


def _split_cells(text: str) -> list[str]:
    return text.translate(_WITHOUT_SEPARATORS).split()


def _join(cells: list[str]) -> str:
    return ("" if all(len(cell) == 1 for cell in cells) else " ").join(cells)


def _require_no_columns(text: str, column: str) -> None:
    """Raise BadRequest if the first line looks like the header or an object of another format."""
    line = text.lstrip().partition("\n")[0]
    kind = "jsonl" if line.startswith('{"') else "tsv" if "\t" in line else "csv"
    cells = [cell.strip(' \r"') for cell in line.replace("\t", ",").split(",")]
    if kind == "jsonl" or column in cells:
        raise BadRequest(f"The input looks like {kind}, not text", f"Add --input-format {kind}")
