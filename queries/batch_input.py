"""A batch's input: opened and decompressed, and read as rows with keys, a chunk at a time."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, islice
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple, cast

import msgspec
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from puzzle_tablebase.board_text import SEPARATORS
from puzzle_tablebase.errors import BadRequest, OutputError, quote, require_choice
from puzzle_tablebase.process import expand_path, explain_os_error, is_full_disk, is_unicode
from puzzle_tablebase.puzzle import write_cells
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
    *(OSError, EOFError, ValueError, OverflowError, RecursionError, csv.Error),
    *(pa.ArrowException, pl.exceptions.PolarsError),
)
CELL_CHARACTERS = 2
"""The most characters of a cell of a board."""
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode
MAX_WORDS = 64
"""The most words of a line that are read as cells of its key."""
_WITHOUT_SEPARATORS = str.maketrans(dict.fromkeys(SEPARATORS, " "))


@dataclass(frozen=True, slots=True)
class Input:
    """An open input; every format except Parquet is text without a byte order mark."""

    name: str
    format: str
    file: BinaryIO


class KeyFormat(NamedTuple):
    """The format of an input's keys; see the attributes of `Reader` with these names.

    `second`: the column that is read beside the keys; in text, the rest of a key's line.
    """

    column: str
    key_cells: int = 0
    key_digits: int = 0
    second: str | None = None


Objects = list[dict[str, Any]]
"""JSON objects, one a row."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive rows of the input; `place(at)` names the line or row of one, for messages."""

    rows: pa.Table | Objects
    place: Callable[[int], str] = str

    def list_names(self) -> list[str]:
        """Return the names of all columns, or of all fields of the objects."""
        if isinstance(self.rows, list):
            return [*dict.fromkeys(name for row in self.rows for name in row)]
        names: list[str] = self.rows.column_names
        return names


@contextlib.contextmanager
def open_input(source: str, format: str | None) -> Iterator[Input]:
    """Open the input at a path, or standard input for -."""
    if format is not None:
        require_choice(format, "format", *INPUT_FORMATS)
    source = expand_path(source)
    name = "Standard input" if source == "-" else f"The input {quote(source)}"
    with contextlib.ExitStack() as stack:
        with translate_input_errors(name):
            file = sys.stdin.buffer if source == "-" else stack.enter_context(open(source, "rb"))
            file = cast(io.BufferedReader, file)
            magics = (magic for magic in COMPRESSIONS if file.peek().startswith(magic))
            if compression := COMPRESSIONS.get(next(magics, b"")):
                packed = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression)
                file = io.BufferedReader(stack.enter_context(packed))
            is_parquet = file.peek().startswith(PARQUET)
            kind = format or ("parquet" if is_parquet else _guess_format(source))
            if kind == "parquet" and not is_parquet:
                raise BadRequest(f"{name} is not a Parquet file", "Choose --input-format")
            if kind == "parquet" and (compression or not file.seekable()):
                # Parquet is read from its end, so the file has to be seekable
                copy = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(file, copy)
                file = cast(io.BufferedReader, copy)
            elif file.peek().startswith(codecs.BOM_UTF8):
                file.read(len(codecs.BOM_UTF8))
        yield Input(name, kind, file)


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


def find_suffix(name: str) -> str:
    """Return the suffix of a file's name in lower case, that before one of a compressed file."""
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in COMPRESSED_SUFFIXES else path.suffix


def _guess_format(source: str) -> str:
    """Return the format that the suffix of a file's name stands for, else text."""
    suffix = find_suffix(source)
    return next((kind for kind, names in INPUT_FORMATS.items() if suffix in names), "text")


# ---- rows and their keys -------------------------------------------------------------------------


def read_chunks(
    source: Input, form: KeyFormat, *, as_objects: bool, chunk_bytes: int
) -> Iterator[Chunk]:
    """Yield the rows of an input, a chunk at a time; at least one, even if it is empty.

    `as_objects`: JSON lines stay objects. `chunk_bytes`: bytes of text read at a time.
    """
    file = source.file
    if source.format == "text":
        read_rows = _read_pairs if form.second else _read_keys
        chunks = read_rows(_iter_texts(file, chunk_bytes, b"\n \t"), form)
    elif source.format == "jsonl":
        chunks = _read_objects(_iter_texts(file, chunk_bytes))
        chunks = chunks if as_objects else _make_tables(chunks)
    elif source.format == "parquet":
        chunks = _read_parquet(file)
    else:
        chunks = _read_delimited(file, DELIMITERS[source.format], chunk_bytes)
    with translate_input_errors(source.name):
        yield next(chunks, Chunk(_make_key_table(form, [])))
        yield from chunks


def choose_key_column(
    source: Input, first: Chunk, requested: str | None, form: KeyFormat,
    is_key: Callable[[str], bool],
) -> str:  # fmt: skip
    """Return the name of the keys' column: the requested one, the only one, or the puzzle's.

    BadRequest if the columns of the first chunk cannot hold what is needed.
    """
    names = first.list_names()
    if requested is not None and source.format == "text":
        others = ", ".join(list(INPUT_FORMATS)[1:])
        raise BadRequest(
            f"{source.name} is read as text, which has no columns",
            f"Leave out --column, or add --input-format ({others})",
        )
    if source.format in DELIMITERS and requested is None and form.column not in names:
        _require_header(names, form, is_key)
    name = requested or (names[0] if len(names) == 1 else form.column)
    for each, what in ((name, "keys with --column"), (form.second, "answers with --answer-column")):
        if each is None:
            continue
        if isinstance(first.rows, list):
            kind, is_right = None, each in names
        else:
            kind = _read_column(first.rows, each).dtype if each in names else None
            can_hold = can_hold_keys(kind, form.key_digits)
            is_right = can_hold if each == name else can_hold_answers(kind)
        if not is_right:
            type_note = "" if kind is None else f" (it has the type {kind})"
            columns = ", ".join(map(quote, names[:20])) or "none"
            raise BadRequest(
                f"The input has no text column {quote(each)}{type_note}",
                f"Its columns: {columns}. Name the one that holds the {what}",
            )
    return name


def read_texts(source: Input, chunk: Chunk, name: str, digits: int = 0) -> pl.Series:
    """Return a column of a chunk as texts; for `digits` see `can_hold_keys`."""
    if not isinstance(chunk.rows, list):
        is_untyped = source.format in DELIMITERS
        return read_key_column(_read_column(chunk.rows, name), digits, is_untyped=is_untyped)
    values = [row.get(name) for row in chunk.rows]
    with contextlib.suppress(TypeError):  # other values than texts
        return pl.Series(values, dtype=pl.String)
    texts, numbers = list[str | None](), list[str | None]()
    for value in map(cast(Any, write_cells), values):
        is_whole = type(value) is int or (type(value) is float and value.is_integer())
        numbers.append(str(int(value)) if digits and is_whole else None)
        texts.append(value if isinstance(value, str | None) else json.dumps(value))
    whole = read_key_column(pl.Series(numbers, dtype=pl.String), digits, is_untyped=True)
    return pl.select(pl.coalesce(whole, pl.Series(texts, dtype=pl.String))).to_series()


def _read_column(rows: pa.Table, name: str) -> pl.Series:
    column = rows[name]
    if pa.types.is_decimal256(column.type):  # polars panics
        raise BadRequest(f"The column {quote(name)} of the input is of type {column.type}")
    return pl.Series(pl.from_arrow(column))


def _require_header(names: list[str], form: KeyFormat, is_key: Callable[[str], bool]) -> None:
    """Raise BadRequest if a column's name is a key: then the input's first row is no header.

    Nor may the only name hold what separates the columns of other files.
    """
    if len(names) == 1 and any(mark in names[0] for mark in ",;\t"):
        raise BadRequest(
            f"The input has one column, {quote(names[0])}",
            "Separate columns with commas, or with tabs and --input-format tsv. "
            "If there is one, name it with --column",
        )
    texts = read_key_column(pl.Series(names, dtype=pl.String), form.key_digits, is_untyped=True)
    for name, text in zip(names, texts, strict=True):
        if is_key(text):
            raise BadRequest(
                f"The first row of the input has the key {quote(name)}, and not the names of its "
                "columns",
                f"Add a row with the names above it, such as {form.column}"
                + (", or write --input-format text" if len(names) == 1 else ""),
            )


def _require_distinct(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise BadRequest(f"The input has two columns {quote(name)}", "Rename one of them")


def _format_row(first: int, at: int) -> str:
    return f"row {first + at:,}"


# ---- Parquet, CSV and TSV ------------------------------------------------------------------------


def _read_parquet(file: BinaryIO) -> Iterator[Chunk]:
    # with a buffer a row group of any size is read in small parts
    table = pq.ParquetFile(file, buffer_size=CHUNK_BYTES, pre_buffer=False)
    _require_distinct(table.schema_arrow.names)
    if not table.metadata.num_rows:
        yield Chunk(table.schema_arrow.empty_table())
    first = 1
    for batch in table.iter_batches(CHUNK_ROWS):
        yield Chunk(pa.Table.from_batches([batch]), partial(_format_row, first))
        first += len(batch)


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


def _read_delimited(file: BinaryIO, delimiter: str, chunk_bytes: int) -> Iterator[Chunk]:
    """Read CSV or TSV, every cell as text; an empty cell is a null, an empty line is skipped."""
    head = file.read(chunk_bytes)
    lines = io.StringIO(head.decode(errors="surrogateescape"), newline="")
    names = next(filter(None, csv.reader(lines, delimiter=delimiter)), [])
    if not names:
        return
    if not all(map(is_unicode, names)):
        raise BadRequest("Row 1 of the input is not UTF-8", "Save the input as UTF-8")
    _require_distinct(names)
    invalid_rows: list[pa.csv.InvalidRow] = []

    def reject_row(row: pa.csv.InvalidRow) -> str:
        invalid_rows.append(row)
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
    first, last_rows = 2, None
    try:
        reader = pa.csv.open_csv(pa.PythonFile(text, mode="r"), reading, parsing, as_written)
        for batch in reader:
            if not len(batch):
                continue
            yield Chunk(last_rows := pa.Table.from_batches([batch]), partial(_format_row, first))
            first += len(batch)
    except pa.ArrowInvalid as error:
        if "straddling" in str(error):
            problem = (
                f"A row after row {first - 1:,} of the input has more than {chunk_bytes:,} bytes"
            )
            raise BadRequest(problem, "Look for a quote that is never closed") from error
        if not invalid_rows:
            raise
        place = _format_row(0, invalid_rows[0].number).capitalize()
        cells = format_count(invalid_rows[0].actual_columns, "column")
        raise BadRequest(f"{place} of the input has {cells}, its header {len(names)}") from error
    if last_rows is None:
        yield Chunk(reader.schema.empty_table())
    elif text.last != b'"' and str(last_rows.columns[-1][-1]).endswith("\n"):
        # pyarrow takes all that follows an open quote for one cell, with the line end of the text
        place = _format_row(first, -1)
        raise BadRequest(f"A quote that opens in {place} of the input is never closed")


# ---- JSON lines and text -------------------------------------------------------------------------


def _iter_texts(file: BinaryIO, chunk_bytes: int, ends: bytes = b"\n") -> Iterator[tuple[str, int]]:
    """Yield a text in chunks, each with the number of its first line.

    A chunk ends with the first of the bytes `ends`; with another one if it has no line end.
    """
    rest, number, has_more = b"", 1, True
    while has_more:
        data = file.read(chunk_bytes)
        has_more = len(data) == chunk_bytes  # on a terminal another read would wait
        text = rest + data
        cuts = (text.rfind(end) + 1 for end in (ends if len(text) >= CHUNK_BYTES else ends[:1]))
        cut = next(filter(None, cuts), 0) if has_more else len(text)
        text, rest = text[:cut], text[cut:]
        if len(rest) > (limit := max(CHUNK_BYTES, chunk_bytes)):
            bad_line = number + text.count(b"\n")
            raise BadRequest(
                f"The input is not a list of keys: the item that starts on line {bad_line:,} has "
                f"more than {limit:,} bytes"
            )
        try:
            yield text.decode(), number
        except UnicodeDecodeError as error:
            bad_line = number + text.count(b"\n", 0, error.start)
            problem = f"Line {bad_line:,} of the input is not UTF-8"
            raise BadRequest(problem, "Save it as UTF-8") from error
        number += text.count(b"\n")


def _read_objects(texts: Iterator[tuple[str, int]]) -> Iterator[Chunk]:
    """Read one JSON object per line."""
    first = 1
    for text, number in texts:
        rows = Objects()
        for at, line in enumerate(text.split("\n"), number):
            if not line or line.isspace():
                continue
            try:
                row = _decode_object(line)
                if line.count(":") > len(row):  # a field may stand twice, at any depth
                    json.loads(line, object_pairs_hook=_require_once)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                problem = f"Line {at:,} of the input is not a JSON object ({error})"
                raise BadRequest(problem) from error
            rows.append(row)
        if rows:
            yield Chunk(rows, partial(_format_row, first))
            first += len(rows)


def _require_once(fields: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in fields]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"it has two fields {quote(name)}")


def _make_tables(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Make tables of objects; the first chunk decides which columns there are."""
    types: dict[str, pa.DataType] = {}
    for chunk in chunks:
        columns = dict[str, pa.Array]()
        for name in chunk.list_names():
            try:
                columns[name] = pa.array([row.get(name) for row in cast(Objects, chunk.rows)])
            except OverflowError as error:
                problem = f"The field {quote(name)} has a number of more than 64 bits"
                raise BadRequest(problem, "Only --format jsonl keeps it") from error
            except pa.ArrowException as error:
                raise BadRequest(f"The field {quote(name)} is not of one type: {error}") from error
        if not columns:
            raise BadRequest("The rows of the input have no column")
        types = types or {name: column.type for name, column in columns.items()}
        for name, column in columns.items():
            kind, known = column.type, types.get(name)
            # a number that the other type cannot hold is refused by the cast
            is_number = {kind, known} == {pa.int64(), pa.float64()}
            if kind not in (known, pa.null()) and not is_number:
                earlier = "not there" if known is None else f"of type {known}"
                raise BadRequest(
                    f"The field {quote(name)} is of type {kind} from {chunk.place(0)} on, and "
                    f"{earlier} before"
                )
        nothing = pa.nulls(len(chunk.rows))
        arrays = [columns.get(name, nothing).cast(kind) for name, kind in types.items()]
        yield Chunk(pa.table(arrays, names=[*types]), chunk.place)


def _make_key_table(form: KeyFormat, keys: list[str], *others: list[str]) -> pa.Table:
    names = [form.column, *([form.second] if form.second else [])]
    columns = [keys, *others] if keys else [[]] * len(names)
    return pa.table([pa.array(column, pa.large_string()) for column in columns], names=names)


def _read_keys(texts: Iterator[tuple[str, int]], form: KeyFormat) -> Iterator[Chunk]:
    """Read keys between white space, and boards whose cells are separate.

    A board has all its cells on one line, or each on a line of its own.
    """
    cells: list[str] = []
    last = 1
    for text, number in texts:
        if number == 1:
            _require_no_columns(text, form)
        place = partial(_find_line, text, number, [*cells], form)
        keys = text.split()
        # no word is short: none is a cell, with a separator or without one
        if cells or min(map(len, keys), default=0) <= CELL_CHARACTERS + 1:
            lines = text.split("\n")
            keys = [key for line in lines for key in _split_line(line, cells, form)]
        if keys:
            yield Chunk(_make_key_table(form, keys), place)
        last = number + text.rstrip().count("\n")
    if cells:
        yield Chunk(_make_key_table(form, [_join(cells)]), lambda at: f"line {last:,}")


def _split_line(line: str, waiting: list[str], form: KeyFormat) -> Iterator[str]:
    """Yield the keys of a line; `waiting` are the cells of the lines before it."""
    words, cells = line.split(), _split_cells(line)
    if not form.key_cells or not words:
        yield from words
        return
    are_cells = max(map(len, cells), default=form.key_cells) <= CELL_CHARACTERS
    if len(words) > 1 or not are_cells:
        if waiting:
            yield _join(waiting)
            waiting.clear()
        yield from [_join(cells)] if are_cells else words
        return
    waiting += cells
    if len(waiting) == form.key_cells:
        yield _join(waiting)
        waiting.clear()


def _find_line(text: str, number: int, waiting: list[str], form: KeyFormat, at: int) -> str:
    """Return the line of a text in which a key ends."""
    lines = enumerate(text.split("\n"), number)
    ends = (line for line, words in lines for _ in _split_line(words, waiting, form))
    return f"line {next(islice(ends, at, None)):,}"


def _read_pairs(texts: Iterator[tuple[str, int]], form: KeyFormat) -> Iterator[Chunk]:
    """Read a key from the beginning of each line that is not empty, and its answer from the rest.

    The cells of a board may be separate.
    """
    for text, number in texts:
        lines = {at: line for at, line in enumerate(text.split("\n"), number) if line.strip()}
        pairs = [_split_pair(line, form) for line in lines.values()]
        if pairs:
            keys, answers = zip(*pairs, strict=True)
            place = partial(_format_line, [*lines])
            yield Chunk(_make_key_table(form, [*keys], [*answers]), place)


def _format_line(numbers: list[int], at: int) -> str:
    return f"line {numbers[at]:,}"


def _split_pair(line: str, form: KeyFormat) -> tuple[str, str]:
    """Split a line into its key and the rest."""
    words, end = line.split(None, MAX_WORDS), 1
    if form.key_cells and len(words[0].strip(SEPARATORS)) <= CELL_CHARACTERS:
        counts = accumulate(len(_split_cells(word)) for word in words)
        end = next(
            (at for at, cells in enumerate(counts, 1) if cells >= form.key_cells), len(words)
        )
    key = words[0] if end == 1 else _join(_split_cells(" ".join(words[:end])))
    return key, "".join(line.split(None, end)[end:])


def _split_cells(text: str) -> list[str]:
    return text.translate(_WITHOUT_SEPARATORS).split()


def _join(cells: list[str]) -> str:
    return ("" if all(len(cell) == 1 for cell in cells) else " ").join(cells)


def _require_no_columns(text: str, form: KeyFormat) -> None:
    """Raise BadRequest if the first line looks like another format, whose words are not keys."""
    line = text.lstrip().partition("\n")[0]
    kind = "jsonl" if line.startswith("{") else "tsv" if "\t" in line else "csv"
    cells = (cell.strip(' \r"') for cell in re.split("[,\t]", line))
    is_in_brackets = form.key_cells and re.match(r"[\[{(][\[{(\s]*[\w.]", line)
    if is_in_brackets and '"' not in line:
        return
    if line.startswith(("<", "[")):
        raise BadRequest("Unknown input format", f"Supported: {', '.join(INPUT_FORMATS)}")
    if kind == "jsonl" or form.column in cells:
        raise BadRequest(f"The input looks like {kind}, not text", f"Add --input-format {kind}")
