"""The input of a batch: a generator of frames of rows, each with the texts of its keys."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from puzzle_tablebase.errors import (
    BadRequest,
    OutputError,
    explain_library_error,
    quote,
    require_choice,
)
from puzzle_tablebase.formats.parquet import scan_rows
from puzzle_tablebase.formats.row_groups import open_rows
from puzzle_tablebase.notation.sliding import SEPARATORS
from puzzle_tablebase.process import explain_os_error, is_full_disk
from puzzle_tablebase.queries.answer_frames import read_key_column, require_key_columns
from puzzle_tablebase.queries.questions import COMPRESSED_SUFFIXES, INPUT_FORMATS, format_count
from puzzle_tablebase.stores import Address, RandomAccessFile

if TYPE_CHECKING:
    from puzzle_tablebase.queries.prober import Prober

CHUNK_BYTES = 1 << 21
"""Bytes of text read at a time, and the maximum of a row."""
CHUNK_ROWS = 1 << 17
"""The most rows of Parquet read at a time."""
MAX_PART_BYTES = 1 << 26
"""The most bytes of texts and lists in the rows that are read or written at a time."""
MAX_COLUMNS = 10_000
"""The most columns of an input; also the most names in the objects of a chunk."""
MAX_CELLS = 1 << 24
"""The most cells of a chunk of objects: a row has a cell for each name in the chunk."""
MAX_DEPTH = 64
"""The most levels of objects and lists in a line of JSON; polars follows them by recursion."""
MAX_GROUP_ROWS, MAX_GROUP_VALUES = 1 << 26, 1 << 25
"""The most rows of a row group, and the most values that a column of lists has in it."""
MEASURED_ROWS = 1 << 22
"""Rows whose bytes are counted at a time."""
NAMES = re.compile(
    rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"\s*+:|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL
)
"""Matches the strings of JSON, and captures those that are names."""
BRACKETS, NO_BRACKETS = bytes.maketrans(b"{}", b"[]"), bytes({*range(256)} - {*b"{}[]"})
"""For the depth of nested objects: braces become brackets, other characters are removed."""
DELIMITERS = {"csv": ",", "tsv": "\t"}
"""The separators of cells in formats without types."""
PARQUET = b"PAR1"
COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
"""The first bytes of compressed files; a file's name does not matter."""
CELL_BYTES = 16
"""Bytes of a cell without its text."""
CELL_CHARACTERS = 2
"""The most characters of a cell of a board."""


class Rows(NamedTuple):
    """Consecutive rows of the input; `texts`: the columns of keys and answers.

    `has_header`: the first row of the file has the names.
    """

    frame: pl.DataFrame
    texts: tuple[pl.Series, ...]
    has_header: bool = False

    def slice(self, first: int, count: int) -> Rows:
        """Return some of the rows."""
        texts = tuple(column[first : first + count] for column in self.texts)
        return Rows(self.frame[first : first + count], texts, self.has_header)


def read_rows(
    source: str,
    prober: Prober,
    format: str | None = None,
    column: str | None = None,
    others: tuple[str, ...] = (),
) -> Iterator[Rows]:
    """Yield the rows of a file, or of standard input for -: at least one part, even if empty.

    `column`: the name of the keys' column; `others`: the names of further columns to read.
    """
    if format is not None:
        require_choice(format, "format", *INPUT_FORMATS)
    source = os.path.expanduser(source)
    name = "Standard input" if source == "-" else f"The input {quote(str(Address(source)))}"
    names, is_empty = (column or prober.columns[0], *others), True
    with contextlib.ExitStack() as stack, translate_input_errors(name):
        stream = sys.stdin.buffer if source == "-" else stack.enter_context(open(source, "rb"))
        file, found_format = _decompress(cast(io.BufferedReader, stream), source, format, stack)
        if found_format == "parquet":
            parts = _read_parquet(file)
        elif found_format in DELIMITERS:
            parts = _read_delimited(file, DELIMITERS[found_format])
        elif found_format == "jsonl":
            parts = _read_objects(file)
        else:
            parts = _read_keys(file, (prober.columns[0], *others), prober.key_cells)
        for frame in parts:
            if is_empty:
                require_key_columns(frame.schema, names, prober.key_digits)
            keys, *texts = (frame[name] for name in names)
            keys = read_key_column(keys, prober.key_digits, is_untyped=found_format in DELIMITERS)
            yield Rows(frame, (keys, *map(read_key_column, texts)), found_format in DELIMITERS)
            is_empty = False
    if is_empty:
        frame = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        yield Rows(frame, tuple(frame))


@contextlib.contextmanager
def translate_input_errors(name: str) -> Iterator[None]:
    """Turn errors of reading an input into a BadRequest that states the problem in a sentence."""
    try:
        yield
    except BaseException as error:  # polars raises a BaseException when it panics
        if is_full_disk(error):
            raise OutputError("A temporary copy of the input", "no space", is_full=True) from error
        problem = explain_library_error(error)
        if isinstance(error, OSError):
            problem = explain_os_error(error)
        elif isinstance(error, ValueError | EOFError | csv.Error) and not problem:
            problem = str(error).partition("\n")[0]
        if not problem:
            raise
        raise BadRequest(f"{name} cannot be read ({problem})") from error


def _decompress(
    file: io.BufferedReader, source: str, format: str | None, stack: contextlib.ExitStack
) -> tuple[BinaryIO, str]:
    """Return a decompressed file without a byte order mark, and its format."""
    magics = (magic for magic in COMPRESSIONS if file.peek().startswith(magic))
    if compression := COMPRESSIONS.get(next(magics, b"")):
        packed = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression)
        file = io.BufferedReader(stack.enter_context(packed))
    is_parquet = file.peek().startswith(PARQUET)
    found_format = format or ("parquet" if is_parquet else _guess_format(source))
    if found_format == "parquet" and not is_parquet:
        raise ValueError("it is no Parquet file")
    is_file = isinstance(getattr(file, "raw", None), io.FileIO) and file.seekable()
    if found_format == "parquet" and not is_file:
        # Parquet is read from its end, and by libraries, so it has to be a file
        copy = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        shutil.copyfileobj(file, copy)
        copy.flush()
        return cast(BinaryIO, copy), found_format
    if file.peek().startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
    return file, found_format


def find_suffix(name: str) -> str:
    """Return the suffix of a file's name in lower case, without that of a compressed file."""
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in COMPRESSED_SUFFIXES else path.suffix


def _guess_format(source: str) -> str:
    """Return the format that the suffix of a file's name stands for, else text."""
    suffix = find_suffix(source)
    return next((each for each, names in INPUT_FORMATS.items() if suffix in names), "text")


def _require_columns(names: list[str]) -> None:
    """Raise BadRequest if there are too many columns, or two of a name."""
    if len(names) > MAX_COLUMNS:
        problem = f"The input has {len(names):,} columns, and at most {MAX_COLUMNS:,} are read"
        raise BadRequest(problem, "Leave out those that you do not need")
    counts = Counter(names)
    for name in names:
        if counts[name] > 1:
            raise BadRequest(f"The input has two columns {quote(name)}", "Rename one of them")


def _make_frame(rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    rows.validate(full=True)  # polars would take any bytes for text
    frame = cast(pl.DataFrame, pl.from_arrow(rows))
    frame.columns = rows.schema.names  # polars replaces an empty one
    return frame


# ---- the formats ---------------------------------------------------------------------------------


def _read_parquet(file: BinaryIO) -> Iterator[pl.DataFrame]:
    opened = RandomAccessFile(os.fdopen(os.dup(file.fileno()), "rb"))
    # with a buffer a row group of any size is read in small parts
    table = open_rows(opened.open_stream(buffer=0), buffer_size=CHUNK_BYTES, pre_buffer=False)
    _require_columns(table.schema_arrow.names)
    if _has_type(table.schema_arrow.types, pa.types.is_decimal256):  # polars panics
        raise ValueError("it has a column of type decimal256")
    batches = table.iter_batches(_choose_size(opened, table))
    parts = batches if table.metadata.num_rows else [table.schema_arrow.empty_table()]
    return map(_make_frame, parts)


def _choose_size(opened: RandomAccessFile, table: pq.ParquetFile) -> int:
    """Return how many rows to read at a time, so that their texts and lists fit MAX_PART_BYTES.

    A text that is stored once may be in any number of rows, so the rows are measured first.
    """
    columns = range(len(table.schema))
    first, largest = 0, CELL_BYTES * len(columns)
    for group in map(table.metadata.row_group, range(table.num_row_groups)):
        chunks = [(group.column(at), table.schema.column(at)) for at in columns]
        values = max(
            (each.num_values for each, schema in chunks if schema.max_repetition_level), default=0
        )
        for count, most, what in (
            (group.num_rows, MAX_GROUP_ROWS, "rows"),
            (values, MAX_GROUP_VALUES, "values of lists"),
        ):
            if count > most:
                raise ValueError(f"a row group has {count:,} {what}, and at most {most:,} are read")
        stored = sum(
            each.total_uncompressed_size
            for each, schema in chunks
            if each.has_dictionary_page or schema.max_repetition_level
        )
        if stored * min(group.num_rows, CHUNK_ROWS) > MAX_PART_BYTES:
            largest = max(largest, _measure_rows(scan_rows(opened), first, group.num_rows))
        first += group.num_rows
    if largest > MAX_PART_BYTES:
        raise ValueError(f"a row has {largest:,} bytes, and at most {MAX_PART_BYTES:,} are read")
    return min(CHUNK_ROWS, MAX_PART_BYTES // max(1, largest))


def _measure_rows(rows: pl.LazyFrame, first: int, count: int) -> int:
    """Return the bytes of the largest of some rows; polars does not copy a text for each row."""
    types = rows.collect_schema().items()
    measured = pl.sum_horizontal(count_bytes(pl.col(name), dtype) for name, dtype in types)
    largest = 0
    for at in range(first, first + count, MEASURED_ROWS):
        part = rows.slice(at, min(MEASURED_ROWS, first + count - at))
        largest = max(largest, part.select(measured.max()).collect().item() or 0)
    return largest


def count_bytes(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return the bytes of each row of a column, which may be of lists.

    >>> frame = pl.DataFrame({"a": [["x", "yz"], []]})
    >>> frame.select(count_bytes(pl.col("a"), frame.schema["a"]))["a"].to_list()
    [35, 0]
    """
    if dtype == pl.Binary:
        size = column.bin.size()
    elif isinstance(dtype, pl.Array):
        return count_bytes(column.arr.to_list(), pl.List(dtype.inner))
    elif isinstance(dtype, pl.List):
        inner = count_bytes(pl.element(), cast(pl.DataType, dtype.inner))
        return column.list.eval(inner).list.sum().fill_null(0)
    elif isinstance(dtype, pl.Struct):
        fields = ((column.struct.field(field.name), field.dtype) for field in dtype.fields)
        return pl.sum_horizontal(count_bytes(each, cast(pl.DataType, of)) for each, of in fields)
    elif isinstance(dtype, pl.Enum | pl.Categorical):  # as texts, each row would have its own
        size = column.cat.len_bytes()
    elif dtype == pl.String:
        size = column.str.len_bytes()
    else:
        size = column.is_null().cast(pl.UInt64)
    return size.cast(pl.UInt64).fill_null(0) + CELL_BYTES


def _has_type(types: Iterable[pa.DataType], is_wanted: Callable[[pa.DataType], bool]) -> bool:
    """Return whether any of these types is wanted, or contains a wanted one.

    >>> _has_type([pa.list_(pa.int8()), pa.string()], pa.types.is_int8)
    True
    """
    return any(
        is_wanted(each)
        or _has_type((each.field(at).type for at in range(each.num_fields)), is_wanted)
        for each in types
    )


class _NewlineTerminatedText:
    """A file for pyarrow whose text always ends with a newline."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._end = file, b"\n"
        self.last = b""
        """The last character of the file that is not part of a newline."""

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes; after the end of the file, a newline once."""
        data = self._file.read(size)
        self.last = data.rstrip(b"\r\n")[-1:] or self.last
        if not data:
            data, self._end = self._end, b""
        return data


def _read_delimited(file: BinaryIO, delimiter: str) -> Iterator[pl.DataFrame]:
    """Read CSV or TSV, every cell as text; an empty cell is a null, an empty line is skipped."""
    lines = map(bytes.decode, iter(lambda: file.readline(CHUNK_BYTES), b""))
    # a quoted name may have line ends
    names = next(filter(None, csv.reader(lines, delimiter=delimiter, strict=True)), [])
    if not names:
        return
    _require_columns(names)
    bad_rows: list[pa.csv.InvalidRow] = []

    def reject_row(row: pa.csv.InvalidRow) -> str:
        bad_rows.append(row)
        return "error"

    text, frame = _NewlineTerminatedText(file), pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    # without threads pyarrow numbers the rows
    reading = pa.csv.ReadOptions(use_threads=False, block_size=CHUNK_BYTES, column_names=names)
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
        for batch in pa.csv.open_csv(pa.PythonFile(text, mode="r"), reading, parsing, as_written):
            if len(batch):
                frame = _make_frame(batch)
                yield frame
    except pa.ArrowInvalid as error:
        if not bad_rows:
            raise
        number, cells = bad_rows[0].number + 1, format_count(bad_rows[0].actual_columns, "column")
        problem = f"Row {number:,} of the input has {cells}, its header {len(names)}"
        raise BadRequest(problem) from error
    if frame.is_empty():
        yield frame
    elif text.last != b'"' and (frame[-1, -1] or "").endswith("\n"):
        # pyarrow takes all that follows an open quote for one cell, with the line end of the text
        raise BadRequest("The last quote of the input is never closed")


def _iter_lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield a text in chunks of whole lines, each with the number of its first line."""
    rest, number, has_more = b"", 1, True
    while has_more:
        data = file.read(CHUNK_BYTES)
        has_more = len(data) == CHUNK_BYTES  # on a terminal another read would wait
        text, end, rest = (rest + data).rpartition(b"\n") if has_more else (rest + data, b"", b"")
        if len(rest) > CHUNK_BYTES:
            raise BadRequest(f"The input has a line of more than {CHUNK_BYTES:,} bytes")
        yield text + end, number
        number += (text + end).count(b"\n")


def _read_objects(file: BinaryIO) -> Iterator[pl.DataFrame]:
    """Read one JSON object per line; the first chunk decides which columns there are."""
    empty = None
    for text, number in _iter_lines(file):
        if text.isspace() or not text:
            continue
        _require_similar_objects(text)
        _require_flat_objects(text)
        try:
            frame = pl.read_ndjson(text, infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"from line {number:,} on: {error}") from error
        empty = frame.clear() if empty is None else empty
        frame = pl.concat([empty, frame], how="diagonal_relaxed")
        if frame.schema != empty.schema:
            problem = f"The fields of the input, or their types, change after line {number - 1:,}"
            raise BadRequest(problem)
        yield frame


def _require_similar_objects(text: bytes) -> None:
    """Raise BadRequest if the objects have too many different names, as each becomes a column."""
    names, lines = len({*NAMES.findall(text)} - {b""}), text.count(b"\n") + 1
    if names > MAX_COLUMNS or names * lines > MAX_CELLS:
        problem = f"The objects of {lines:,} lines have {names:,} names: too many for columns"
        raise BadRequest(problem, "Give all objects the same names")


def _require_flat_objects(text: bytes) -> None:
    """Raise BadRequest if objects or lists are nested too deeply for libraries."""
    brackets = NAMES.sub(b"", text).translate(BRACKETS, NO_BRACKETS)
    for _ in range(MAX_DEPTH + 1):
        outer = brackets.replace(b"[]", b"")
        if outer == brackets:
            return
        brackets = outer
    raise BadRequest(f"An object of the input has more than {MAX_DEPTH} levels of lists or objects")


def _read_keys(file: BinaryIO, names: tuple[str, ...], cells: int) -> Iterator[pl.DataFrame]:
    """Read keys between white space, or, with answers, from the beginning of each line.

    `cells`: the cells of a key that may be separate, all on one line; 0: none may.
    """
    schema, is_paired = dict.fromkeys(names, pl.String), len(names) > 1
    pattern = _compile_keys(cells, is_paired=is_paired)
    for data, _ in _iter_lines(file):
        text = data.decode()
        words = text.split()
        has_cells = min(map(len, words), default=9) <= CELL_CHARACTERS
        if is_paired:
            frame = pl.DataFrame(pattern.findall(text), schema, orient="row")
        elif has_cells or any(mark in text for mark in SEPARATORS):
            frame = pl.DataFrame([[key.strip() for key in pattern.findall(text)]], schema)
        else:  # as the pattern would, but in a third of the time
            frame = pl.DataFrame([words], schema)
        if len(frame):
            yield frame


def _compile_keys(cells: int, *, is_paired: bool) -> re.Pattern[str]:
    """Compile the pattern of a key: the cells of a board, all on one line, or a word.

    `is_paired`: an answer follows on the line, so a board has exactly this number of cells.
    """
    marks = re.escape(SEPARATORS)
    gap, cell = rf"(?:[^\S\n]|[{marks}])", rf"[^\s{marks}]{{1,{CELL_CHARACTERS}}}"
    if not is_paired:
        board = rf"^{gap}*{cell}(?:{gap}+{cell})+{gap}*$|" if cells else ""
        return re.compile(rf"(?m){board}\S+")
    board = rf"{gap}*{cell}(?:{gap}+{cell}){{{cells - 1}}}[{marks}]*(?!\S)|" if cells else ""
    return re.compile(rf"(?m)^[^\S\n]*({board}\S+)[^\S\n]*(.*)$")
