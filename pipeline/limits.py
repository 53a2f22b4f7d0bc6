"""Limits of the machine: found before a library crashes on them, and recognized in its errors."""

from __future__ import annotations

import errno
import os
import sys

from tablebase.errors import MachineLimit
from tablebase.resources import address_space_limit, count_cores

LIBRARIES = {"numba", "numpy", "polars", "pyarrow"}
"""What ends the process, or waits for ever, where it does not get its threads and memory."""
ADDRESS_SPACE, ADDRESS_SPACE_A_CORE = 1 << 31, 1 << 29
"""Bytes of address space, most of it only reserved, that the libraries take: measured."""
THREADS, THREADS_A_CORE = 8, 6
"""Threads that they start: measured, and two more."""
POLARS_THREADS = "POLARS_MAX_THREADS"
MAX_POLARS_THREADS = 1_024


class _Guard:
    """A finder of modules that finds none, and refuses the libraries where they would crash."""

    is_checked = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in LIBRARIES and not self.is_checked:
            if limit := find_limit():
                raise limit
            self.is_checked = True


def guard_libraries() -> None:
    """Have the libraries refused in a sentence, when they are imported, if they would crash.

    What they do otherwise is no exception: they abort, wait for ever, or print a backtrace.
    """
    if not any(isinstance(each, _Guard) for each in sys.meta_path):
        sys.meta_path.insert(0, _Guard())


def find_limit() -> MachineLimit | None:
    """Return the limit that keeps the libraries from working, if there is one."""
    threads = os.environ.get(POLARS_THREADS, "").strip()
    if threads.isdecimal() and not 1 <= int(threads[:9]) <= MAX_POLARS_THREADS:
        return MachineLimit(
            f"{POLARS_THREADS} is {threads[:20]}",
            f"Set it to a number from 1 to {MAX_POLARS_THREADS:,}",
        )
    limit, needed = address_space_limit(), ADDRESS_SPACE + count_cores() * ADDRESS_SPACE_A_CORE
    if limit is not None and limit < needed:
        return MachineLimit(
            f"This process may use {limit / 1e9:.2f} GB of address space (ulimit -v), and needs "
            f"{needed / 1e9:.2f} GB with {count_cores()} cores",
            "Raise the limit, or allow fewer cores (taskset)",
        )
    return None if _can_start(THREADS + count_cores() * THREADS_A_CORE) else _few_threads()


def _can_start(count: int) -> bool:
    """Start so many threads, and end them."""
    import threading  # no lone lookup waits for it

    end, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(count):
            thread = threading.Thread(target=end.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        return False
    finally:
        end.set()
        for thread in started:
            thread.join()
    return True


def _few_threads() -> MachineLimit:
    return MachineLimit(
        "The system starts no more threads for this process",
        "Close other programs, or raise the limits on processes and memory",
    )


def find_shortage(error: BaseException | None) -> MachineLimit | None:
    """Return what ran out if that is what an error, or one behind it, is about."""
    while error is not None:
        said = str(error).lower()
        is_panic = type(error).__name__ == "PanicException"  # polars is not to be loaded for it
        if (isinstance(error, RuntimeError) and "can't start new thread" in said) or (
            is_panic and "spawn" in said and "thread" in said
        ):
            return _few_threads()
        if (
            isinstance(error, MemoryError)
            or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
            or (isinstance(error, ImportError | OSError) and "failed to map segment" in said)
            or "cannot allocate memory" in said
        ):
            hint = "Close other programs, or raise the limit (ulimit -v, or the container's)"
            return MachineLimit("There is not enough memory", hint)
        error = error.__cause__ or error.__context__
    return None
