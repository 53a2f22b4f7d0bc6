"""Locks on files that are being written, which tell a killed writer's file from a live one's.

A lock belongs to the open file, so that it is free again however its writer ends. Where there are
no locks (Windows, some network file systems), every file counts as being written.
"""

from __future__ import annotations

import os


def lock_file(descriptor: int) -> bool:
    """Lock an open file for its writer; return whether that could be done."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def is_being_written(path: str) -> bool:
    """Return whether a file's writer is alive; True where nobody can know."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return True
    try:
        return not lock_file(descriptor)
    finally:
        os.close(descriptor)
