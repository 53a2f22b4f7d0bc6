"""What a user names for output: a file, a device or a stream. Every byte is written, or NotWritten.

A file appears whole or not at all, and keeps its mode; a link's target is replaced, not the link.
A device or a pipe is written into, and so is a stream of the process's own: `-`, `/dev/stdout`,
`/dev/fd/3`. A URL leads into an object store.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tablebase.atomic_write import appearing
from tablebase.errors import BadRequest, NotWritten, OutputsError, quoted
from tablebase.paths import expand_path
from tablebase.stdio import Whole, reason
from tablebase.tables.manifest import own_files
from tablebase.tables.store import Folder, Store
from tablebase.tables.store_factory import tables_store
from tablebase.write_lock import is_being_written

STANDARD = "-"
LONGEST = 300
"""Characters of a name that a message shows."""
NEW = ".new"
"""How the name of an output ends that is being written."""
MOST_LINKS = 40
"""As many as the system itself follows."""
SVG = ".svg"
OTHER_PICTURES = (
    *(".ai", ".avif", ".bmp", ".emf", ".eps", ".gif", ".heic", ".ico", ".jpeg", ".jpg", ".pdf"),
    *(".png", ".ps", ".tif", ".tiff", ".webp"),
)
"""How names end that promise a picture in another format."""


def require_svg_name(name: str) -> None:
    """BadRequest for a name that promises a picture in another format than SVG."""
    suffix = Path(name).suffix.lower()
    if suffix in OTHER_PICTURES:
        problem = f"{_said(name)} cannot hold an SVG picture: {suffix} is another format"
        raise BadRequest(problem, f"Choose a name that ends in {SVG}")


def require_other_file(output: str, source: str) -> None:
    """NotWritten where an output is the file that is read, by whatever names; `-`: the streams."""
    try:
        written = os.stat(_place(expand_path(output)))
        read = os.stat(0 if source == STANDARD else expand_path(source))
    except (OSError, ValueError):  # one of them is no file, or not there yet
        return
    if stat.S_ISREG(written.st_mode) and os.path.samestat(written, read):
        said = "Standard output" if output == STANDARD else _said(output)
        raise NotWritten(said, "it is the input. Choose another file")


@contextlib.contextmanager
def writing(name: str) -> Iterator[IO[bytes]]:
    """A file to write to that is what the name says; complete when the block has ended well."""
    name = expand_path(name)
    if "://" in name:
        with _uploaded(name) as file:
            yield file
        return
    with contextlib.ExitStack() as stack:
        with refusing(name):
            file = stack.enter_context(_opened(name))
        yield file
        with refusing(name):
            stack.close()


def write(name: str, made: bytes) -> None:
    """Write all of it."""
    with writing(name) as file:
        file.write(made)


@contextlib.contextmanager
def refusing(name: str) -> Iterator[None]:
    """What the system refuses here is NotWritten."""
    try:
        yield
    except (OSError, ValueError) as error:  # a zero byte in the name is a ValueError
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise NotWritten(_said(name), why) from error


@contextlib.contextmanager
def _uploaded(name: str) -> Iterator[IO[bytes]]:
    """A new file in an object store."""
    place, _, own = name.rpartition("/")
    try:
        store = tables_store(place)
        store.ready()
        _require_free(store, own)
        with store.appearing(own) as (file,):
            yield file
    except OutputsError as error:
        raise NotWritten(_said(name), error.problem) from error


def _require_free(store: Store, name: str) -> None:
    if name in own_files(store):
        raise NotWritten(_said(store.full(name)), "it belongs to the tables in that folder")


@contextlib.contextmanager
def _opened(name: str) -> Iterator[IO[bytes]]:
    place = _place(name)
    if place == 1:
        yield sys.stdout.buffer
        sys.stdout.flush()
        return
    with contextlib.ExitStack() as stack:
        if isinstance(place, Path):
            found = place.stat() if place.exists() else None
            if found is None or stat.S_ISREG(found.st_mode):
                descriptor = stack.enter_context(_replaced(place, found)).fileno()
            else:
                descriptor = os.open(place, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
                stack.callback(os.close, descriptor)
        else:
            descriptor = place
        yield stack.enter_context(io.BufferedWriter(Whole(descriptor, _said(name))))


@contextlib.contextmanager
def _replaced(path: Path, before: os.stat_result | None) -> Iterator[IO[bytes]]:
    """A new file in the place of the one before, with its mode and, where that may be, owner."""
    if before is not None and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "")
    _require_free(Folder(path.parent), path.name)
    begin = f".{zlib.crc32(os.fsencode(path.name)):08x}-"  # short: a name has an end
    for dead in path.parent.glob(f"{begin}*{NEW}"):
        if not is_being_written(str(dead)):  # its writer was killed
            dead.unlink(missing_ok=True)
    part = path.with_name(f"{begin}{os.urandom(8).hex()}{NEW}")
    with appearing((str(path), str(part))) as (file,):
        if before is not None:
            if hasattr(os, "chown"):
                with contextlib.suppress(PermissionError):
                    os.chown(part, before.st_uid, before.st_gid)
            part.chmod(stat.S_IMODE(before.st_mode))
        yield file


def _said(name: str) -> str:
    return quoted(name, LONGEST)


def _place(name: str) -> Path | int:
    """The file that a name leads to by all its links, or the number of a stream of our own."""
    if not name:
        raise FileNotFoundError(errno.ENOENT, "")
    own = {STANDARD: 1, "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
    path = name
    for _ in range(MOST_LINKS):
        folder, base = os.path.split(path)
        if path in own:
            return own[path]
        if folder in ("/dev/fd", "/proc/self/fd") and base.isdecimal():
            return int(base)
        if not os.path.islink(path):
            return Path(path)
        path = os.path.join(folder, os.readlink(path))
    raise OSError(errno.ELOOP, "")
