"""Files that appear whole or not at all, and a folder that one build at a time writes to."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from io import BufferedWriter
from pathlib import Path

from tablebase.errors import OutputsError
from tablebase.interrupts import Undone, making
from tablebase.streams import reason

LOCK = ".lock"
PART = ".part"


@contextlib.contextmanager
def appearing(
    path: Path, part: Path | None = None, *, durable: bool = True
) -> Iterator[BufferedWriter]:
    """A new file, `part`, that takes the path's name when the block ends well, else it goes."""
    part = part or path.with_name(f".{path.name}{PART}")
    with Undone(lambda: part.unlink(missing_ok=True)):
        try:
            with making:
                file = part.open("wb")
            with file:
                yield file
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def building_in(folder: Path) -> Iterator[None]:
    """Hold the folder for one build, made if missing; what a killed build left is cleared.

    The lock belongs to the process, so it is free again however the process ends.
    """
    path = str(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise OutputsError(path, *_explained(error)) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(lock, 32).decode("ascii", "replace").strip() or "unknown"
            problem = f"another build holds it (process {holder})"
            raise OutputsError(path, problem, "Wait until it has ended.") from error
        os.ftruncate(lock, 0)
        os.write(lock, f"{os.getpid()}\n".encode())
        for left in folder.glob(f".*{PART}"):
            left.unlink()
        yield
        os.ftruncate(lock, 0)
    except OSError as error:
        raise OutputsError(path, *_explained(error)) from error
    finally:
        os.close(lock)


def _explained(error: OSError) -> tuple[str, str]:
    why = reason(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return why, "Free some space, or choose another folder with --outputs."
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return "it is a file, not a folder", "Choose a folder with --outputs."
    return why, "Choose a folder that you may write to with --outputs."


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
