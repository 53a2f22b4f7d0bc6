"""Locks on files that are being written: files without one were left by a killed writer.

A lock belongs to the open file, so the system releases it however its writer ends. Where there are
no locks (Windows, some network file systems), every file counts as being written.
"""

from __future__ import annotations

import os


def lock_file(descriptor: int) -> bool:
    """Lock an open file for its writer; return whether the lock was obtained."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


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
