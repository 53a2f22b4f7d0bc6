"""Locks on folders, so that one build at a time writes to each."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from filelock import FileLock, Timeout

from tablebase.build_errors import StoreError
from tablebase.stdio import explain_os_error, is_full_disk
from tablebase.tables.store_errors import MOVE_FILE, name_file_on_way


@contextlib.contextmanager
def lock_folder(folder: str, name: str) -> Iterator[None]:
    """Lock a folder by a file in it, which holds the id of the process.

    The lock belongs to the process, so the system releases it however the process ends.
    """
    path = os.path.join(folder, name)
    lock = FileLock(path, blocking=False, preserve_lock_file=True, on_acquired=_write_owner)
    with contextlib.ExitStack() as stack:
        with translate_store_errors(folder):
            try:
                stack.enter_context(lock)
            except Timeout as error:
                problem = f"it is locked by another build (process {_read_owner(path)})"
                raise StoreError(folder, problem, "Wait until it has ended.") from error
        yield


@contextlib.contextmanager
def translate_store_errors(folder: str) -> Iterator[None]:
    """Turn the system's errors in the block into StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(folder, *_explain_error(folder, error)) from error


def _write_owner(file: int) -> None:
    os.ftruncate(file, 0)
    os.write(file, f"{os.getpid()}\n".encode())


def _read_owner(lock: str) -> str:
    with contextlib.suppress(OSError), open(lock, "rb") as file:
        return file.read(32).decode("ascii", "replace").strip() or "unknown"
    return "unknown"


def _explain_error(folder: str, error: OSError) -> tuple[str, str]:
    """Return the reason of an error and a hint."""
    reason = explain_os_error(error)
    if is_full_disk(error):
        return reason, "Free some space, or choose another folder with --outputs."
    if not error.errno:  # our own
        return reason, "Move it away."
    if os.path.islink(folder) and not os.path.exists(folder):
        return f"it is a link to {os.readlink(folder)!r}, which does not exist", "Make that folder."
    obstacle = error.filename2 or error.filename
    if error.errno == errno.EISDIR and obstacle:
        return f"{os.path.basename(obstacle)} is a folder, not a file", "Move it away."
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return name_file_on_way(folder), f"{MOVE_FILE}."
    return reason, "Choose a folder that you may write to with --outputs."
