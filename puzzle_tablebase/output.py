"""Outputs that a user names: a file, a device, standard output or a URL.

Either every byte is written, or OutputError is raised. A file appears only when it is complete, and
keeps its mode. A link's target is replaced, not the link. Devices and pipes are written to; URLs
are refused.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

from puzzle_tablebase.errors import OutputError, quote
from puzzle_tablebase.formats.manifest import is_own_file
from puzzle_tablebase.process import RawOutput, make_output_error
from puzzle_tablebase.stores import Address, Folder
from puzzle_tablebase.stores.new_files import ErrorMaker, name_temporary, write_new_files

STANDARD = "-"


def quote_name(name: str) -> str:
    """Return an output's name for messages."""
    return quote(str(Address(name)), limit=300)


def require_other_file(output: str, source: str) -> None:
    """Raise OutputError if the output is the input file, even under another name.

    `-` stands for standard output and for standard input.
    """
    try:
        output_status = os.stat(1 if output == STANDARD else os.path.expanduser(output))
        source_status = os.stat(0 if source == STANDARD else os.path.expanduser(source))
    except (OSError, ValueError):  # one of them is no file, or does not exist yet
        return
    if stat.S_ISREG(output_status.st_mode) and os.path.samestat(output_status, source_status):
        name = "Standard output" if output == STANDARD else quote_name(output)
        raise OutputError(name, "it is the input. Choose another file")


def require_possible_output(name: str) -> None:
    """Raise OutputError for an address or a file of the tables, before there is anything to write.

    Other errors show when the output is opened.
    """
    name = os.path.expanduser(name)
    _require_no_address(name)
    if name != STANDARD:
        with translate_output_errors(name):
            path = Path(os.path.realpath(name))
        _require_free(Folder(path.parent), path.name)


def _require_no_address(name: str) -> None:
    if "://" in name:
        problem = "it is an address. Name a file, and upload that"
        raise OutputError(quote_name(name), problem)


@contextlib.contextmanager
def open_output(name: str) -> Iterator[IO[bytes]]:
    """Open the output of a name for writing; it is complete once the block has ended."""
    name = os.path.expanduser(name)
    _require_no_address(name)
    with contextlib.ExitStack() as stack:
        with translate_output_errors(name):
            file = stack.enter_context(_open_target(name))
        yield file
        with translate_output_errors(name):
            stack.close()


def write_output(name: str, data: bytes) -> None:
    """Write all data to the output of a name."""
    with open_output(name) as file:
        file.write(data)


@contextlib.contextmanager
def translate_output_errors(name: str) -> Iterator[None]:
    """Turn the system's errors in the block into OutputError."""
    try:
        yield
    # a zero byte in the name is a ValueError, a number that no file has an OverflowError
    except OSError as error:
        raise make_output_error(quote_name(name), error) from error
    except (ValueError, OverflowError) as error:
        raise OutputError(quote_name(name), str(error)) from error


def _require_free(store: Folder, name: str) -> None:
    """Raise OutputError if the file belongs to published tables."""
    if is_own_file(store, name):
        raise OutputError(quote_name(store.locate(name)), "it belongs to the tables in that folder")


@contextlib.contextmanager
def _open_target(name: str) -> Iterator[IO[bytes]]:
    """Open a file, a device, a pipe or standard output for writing."""
    status = None if name == STANDARD else _find_status(name)
    is_file = status is None or stat.S_ISREG(status.st_mode)
    if name == STANDARD or (status is not None and is_file and _is_standard_output(status)):
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    make_error = partial(make_output_error, quote_name(name))
    if is_file:
        with _replace_file(Path(os.path.realpath(name)), status, make_error) as file:
            yield file
        return
    descriptor = os.open(name, os.O_WRONLY | os.O_NOCTTY)
    try:
        with io.BufferedWriter(RawOutput(descriptor, make_error)) as file:
            yield file
    finally:
        os.close(descriptor)


def _find_status(name: str) -> os.stat_result | None:
    """Return the status of a file, links followed; None if it does not exist yet."""
    try:
        return os.stat(name)
    except FileNotFoundError:
        if not name:
            raise
        return None


def _is_standard_output(status: os.stat_result) -> bool:
    """Return whether standard output is this file, which must then not be replaced."""
    try:
        return os.path.samestat(status, os.fstat(1))
    except OSError:  # it is closed
        return False


@contextlib.contextmanager
def _replace_file(
    path: Path, status: os.stat_result | None, make_error: ErrorMaker
) -> Iterator[IO[bytes]]:
    """Replace a file by a new one, with its mode."""
    if status is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "")
    _require_free(Folder(path.parent), path.name)
    temporary = path.with_name(name_temporary())
    with write_new_files([(str(path), str(temporary))], make_error) as files:
        if status is not None:
            temporary.chmod(stat.S_IMODE(status.st_mode))
        yield files[0]
        files.finish()
        files.publish()
