"""Limits of the machine: checked before a library crashes on them, and recognized in errors."""

from __future__ import annotations

import errno
import os
import sys

from tablebase.errors import MachineLimit
from tablebase.resources import address_space_limit, count_cores

LIBRARIES = {"numba", "numpy", "polars", "pyarrow"}
"""Libraries that abort the process, or hang, when they do not get their threads and memory."""
ADDRESS_SPACE, ADDRESS_SPACE_A_CORE = 1 << 31, 1 << 29
"""Bytes of address space that the libraries take in all and for each core: measured, and mostly
only reserved."""
POLARS_THREADS = "POLARS_MAX_THREADS"
MAX_POLARS_THREADS = 1_024
NUMBA_THREADS = "NUMBA_NUM_THREADS"


class _Guard:
    """Module finder that finds nothing, and raises MachineLimit where the libraries would crash."""

    is_checked = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in LIBRARIES and not self.is_checked:
            if limit := find_limit():
                raise limit
            self.is_checked = True


def guard_libraries() -> None:
    """Make the import of the libraries raise MachineLimit on a machine where they would crash.

    Without it no exception is raised: they abort, hang, or print a backtrace.
    """
    if not any(isinstance(finder, _Guard) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Guard())


def find_limit() -> MachineLimit | None:
    """Return the limit that prevents the libraries from working, or None."""
    threads = os.environ.get(POLARS_THREADS, "").strip()
    if threads.isdecimal() and not 1 <= int(threads[:9]) <= MAX_POLARS_THREADS:
        return MachineLimit(
            f"{POLARS_THREADS} is {threads[:20]}",
            f"Set it to a number from 1 to {MAX_POLARS_THREADS:,}",
        )
    threads = os.environ.get(NUMBA_THREADS, "1").strip()
    if not (threads.isascii() and threads.isdecimal() and int(threads[:9]) >= 1):
        return MachineLimit(f"{NUMBA_THREADS} is {threads[:20]}", "Set it to a number from 1")
    limit, needed = address_space_limit(), ADDRESS_SPACE + count_cores() * ADDRESS_SPACE_A_CORE
    if limit is not None and limit < needed:
        return MachineLimit(
            f"This process may use {limit / 1e9:.2f} GB of address space (ulimit -v), and needs "
            f"{needed / 1e9:.2f} GB with {count_cores()} cores",
            "Raise the limit, or allow fewer cores (taskset)",
        )
    return None


def find_shortage(error: BaseException | None) -> MachineLimit | None:
    """Return the exhausted resource that an error, or one that caused it, reports; else None."""
    while error is not None:
        message = str(error).lower()
        is_panic = type(error).__name__ == "PanicException"  # by name: polars stays unloaded
        if (isinstance(error, RuntimeError) and "can't start new thread" in message) or (
            is_panic and "spawn" in message and "thread" in message
        ):
            problem = "The system starts no more threads for this process"
            hint = "Close other programs, or raise the limits on processes and memory"
            return MachineLimit(problem, hint)
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            problem = "The system opens no more files for this process"
            return MachineLimit(problem, "Raise the limit (ulimit -n)")
        if (
            isinstance(error, MemoryError)
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or (isinstance(error, ImportError | OSError) and "failed to map segment" in message)
            or "cannot allocate memory" in message
        ):
            hint = "Close other programs, or raise the limit (ulimit -v, or the container's)"
            return MachineLimit("There is not enough memory", hint)
        error = error.__cause__ or error.__context__
    return None
