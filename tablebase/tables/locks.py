"""A folder that one build at a time writes to."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from filelock import FileLock, Timeout

from tablebase.errors import OutputsError
from tablebase.stdio import reason


@contextlib.contextmanager
def locked(folder: str, name: str) -> Iterator[None]:
    """Hold the folder by a lock on a file in it that says which process has it.

    The lock belongs to the process, so it is free again however the process ends.
    """
    path = os.path.join(folder, name)
    lock = FileLock(path, blocking=False, preserve_lock_file=True, on_acquired=_signed)
    with contextlib.ExitStack() as stack:
        with refusing(folder):
            try:
                stack.enter_context(lock)
            except Timeout as error:
                problem = f"another build holds it (process {_holder(path)})"
                raise OutputsError(folder, problem, "Wait until it has ended.") from error
        yield


@contextlib.contextmanager
def refusing(folder: str) -> Iterator[None]:
    """What the system refuses here is an OutputsError."""
    try:
        yield
    except OSError as error:
        raise OutputsError(folder, *_explained(folder, error)) from error


def _signed(file: int) -> None:
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())


def _holder(lock: str) -> str:
    with contextlib.suppress(OSError), open(lock, "rb") as file:
        return file.read(32).decode("ascii", "replace").strip() or "unknown"
    return "unknown"


def _explained(folder: str, error: OSError) -> tuple[str, str]:
    why = reason(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return why, "Free some space, or choose another folder with --outputs."
    if os.path.islink(folder) and not os.path.exists(folder):
        return f"it is a link to {os.readlink(folder)!r}, which does not exist", "Make that folder."
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return "it is a file, not a folder", "Choose a folder with --outputs."
    return why, "Choose a folder that you may write to with --outputs."
