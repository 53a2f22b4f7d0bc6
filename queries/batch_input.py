"""A batch's input as bytes: opened, decompressed, its format recognised, and decoded to UTF-8."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import lzma
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO, cast

import polars as pl
import pyarrow as pa

from puzzle_tablebase.errors import BadRequest, OutputError, quote, require_choice
from puzzle_tablebase.process import expand_path, explain_os_error, is_full_disk
from puzzle_tablebase.queries.answer import COMPRESSED_SUFFIXES, INPUT_FORMATS

PARQUET = b"PAR1"
COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
}
"""The first bytes of compressed files; a file's name does not matter."""
WIDE_ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # first: the mark of UTF-16 is the beginning of this one
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""The encodings other than UTF-8, by the byte order marks that Windows programs write."""
HEAD_BYTES = 1 << 16
"""The bytes at the beginning of an input that decide its format and encoding."""
UNREADABLE = (
    OSError,
    EOFError,
    ValueError,
    csv.Error,
    lzma.LZMAError,
    pa.ArrowException,
    pl.exceptions.PolarsError,
)


@dataclass(frozen=True, slots=True)
class Input:
    """An open input; every format except Parquet is UTF-8 without a byte order mark."""

    name: str
    format: str
    file: BinaryIO


@contextlib.contextmanager
def open_input(source: str, format: str | None) -> Iterator[Input]:
    """Open the input at a path, or standard input for -."""
    if format is not None:
        require_choice(format, "format", *INPUT_FORMATS)
    source = expand_path(source)
    name = "Standard input" if source == "-" else f"The input {quote(source)}"
    with contextlib.ExitStack() as stack:
        with translate_input_errors(name):
            raw_file = _open_source(source, stack)
            head, file = _peek(raw_file)
            compression = next(
                (kind for magic, kind in COMPRESSIONS.items() if head.startswith(magic)), None
            )
            if compression:
                head, file = _peek(stack.enter_context(_decompress(file, compression)))
            kind = format or ("parquet" if head.startswith(PARQUET) else _guess_format(source))
            if kind != "parquet":
                file = _decode(head, file)
            elif not head.startswith(PARQUET):
                raise BadRequest(f"{name} is not a Parquet file", "Choose --input-format")
            elif compression or not raw_file.seekable():
                # Parquet is read from its end, so the file has to be seekable
                copy = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(file, copy, HEAD_BYTES)
                file = cast(BinaryIO, copy)
            else:
                file = raw_file
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


def _open_source(source: str, stack: contextlib.ExitStack) -> BinaryIO:
    if source != "-":
        path = Path(source)
        exists = path.exists() and bool(source)
        if not exists or path.is_dir():
            problem = "is a folder" if exists else "does not exist"
            step = "Give the path of a file, or - for standard input"
            raise BadRequest(f"The input {quote(source)} {problem}", step)
        return stack.enter_context(path.open("rb"))
    return sys.stdin.buffer


class _ChunkReader(io.RawIOBase):
    """A read-only file whose bytes come from an iterator of chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # any buffer will do
        while not self._ready:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._ready = memoryview(chunk)
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count


def _peek(file: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Return a file's first bytes, and a file that still begins with them."""
    head = file.read(HEAD_BYTES)

    def read_again() -> Iterator[bytes]:
        yield (data := head)
        # a short read is the end: on a terminal the user would have to end the input twice
        while len(data) == HEAD_BYTES:
            yield (data := file.read(HEAD_BYTES))

    return head, io.BufferedReader(_ChunkReader(read_again()))


def _decompress(file: BinaryIO, kind: str) -> BinaryIO:
    if kind == "xz":
        return io.BufferedReader(_ChunkReader(_decompress_xz(file)))
    stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), kind)
    return cast(BinaryIO, io.BufferedReader(stream))


def _decompress_xz(file: BinaryIO) -> Iterator[bytes]:
    """Yield the data of all streams of an xz file; zeros may follow each stream.

    `lzma.LZMAFile` takes a damaged stream after a whole one for the end of the file.
    """
    data = file.read(HEAD_BYTES)
    while data:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        while not stream.eof:
            if stream.needs_input and not data and not (data := file.read(HEAD_BYTES)):
                raise EOFError("Truncated compressed stream")
            yield stream.decompress(data, HEAD_BYTES)
            data = b""
        data = stream.unused_data.lstrip(b"\0")
        while not data and (more := file.read(HEAD_BYTES)):
            data = more.lstrip(b"\0")


def _recode(file: BinaryIO, encoding: str) -> Iterator[bytes]:
    """Yield the file's text as UTF-8, decoded from another encoding."""
    decode = codecs.getincrementaldecoder(encoding)().decode
    while data := file.read(HEAD_BYTES):
        yield decode(data).encode()
    yield decode(b"", final=True).encode()


def _decode(head: bytes, file: BinaryIO) -> BinaryIO:
    """Return the file as UTF-8 without the byte order mark that Windows programs write."""
    for mark, encoding in WIDE_ENCODINGS.items():
        if head.startswith(mark):
            file.read(len(mark))
            return io.BufferedReader(_ChunkReader(_recode(file, encoding)))
    if head.startswith(codecs.BOM_UTF8):
        file.read(len(codecs.BOM_UTF8))
    return file
