"""Locks on files that are being written: files without one were left by a killed writer.

A lock belongs to the open file, so the system releases it however its writer ends. Where there are
no locks (Windows, some network file systems), every file counts as being written.
"""

from __future__ import annotations

import contextlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def lock_file(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file; return whether the lock was obtained.

    A writer waits, since others hold the lock for a moment to find out whether it is free.
    """
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def open_new_file(path: str) -> int:
    """Open a new file for writing, in place of one that a killed writer left under its name.

    No link is followed, and nothing else that somebody put there is written to.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    while True:
        try:
            return os.open(path, flags, 0o666)
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


@contextlib.contextmanager
def hold_file(path: str) -> Iterator[None]:
    """Create a file and lock it while the block lasts; then remove it."""
    descriptor = open_new_file(path)
    try:
        lock_file(descriptor, wait=True)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        os.close(descriptor)


def remove_abandoned(path: str) -> None:
    """Remove a file whose writer was killed; a file that is being written stays.

    So does a file that this user may not open or remove: it is somebody else's. The lock is held
    until the file is removed, so that no writer can take the file meanwhile.
    """
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            if lock_file(descriptor) and os.path.samestat(os.fstat(descriptor), os.stat(path)):
                os.unlink(path)
        finally:
            os.close(descriptor)


def is_being_written(path: str) -> bool:
    """Return whether a file's writer is alive; True where that is unknown."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return True
    try:
        return not lock_file(descriptor)
    finally:
        os.close(descriptor)
