"""The cores and the memory that this process can use, and the limits that stop its libraries."""

from __future__ import annotations

import errno
import os
import sys

from puzzle_tablebase.errors import MachineLimit, TablebaseError, TableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

GROUP_FILES = {
    "cgroup2": ("memory.max", "memory.current", "inactive_file"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""For each version of control groups: the files with the limit and the usage of memory, and the
field of `memory.stat` with the share of the usage that the system can reclaim."""

LIBRARIES = {"numba", "numpy", "polars", "pyarrow"}
"""Libraries that abort the process, or hang, when they do not get their threads and memory."""
ADDRESS_SPACE, ADDRESS_SPACE_A_CORE = 1 << 31, 1 << 29
"""Bytes of address space that the libraries take in all and for each core: measured, and mostly
only reserved."""
MAX_ALLOCATION = 1 << 30
"""Bytes that reading a table never asks for at once: a row group has 65,536 rows."""
POLARS_THREADS = "POLARS_MAX_THREADS"
MAX_POLARS_THREADS = 1_024
NUMBA_THREADS = "NUMBA_NUM_THREADS"


def count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def get_free_memory(root: str = "") -> int | None:
    """Return the bytes that this process can still use; None where the system does not say.

    It is the least of the machine's free memory and of the memory that remains below the limits of
    the process's control groups (a container's, for example) and of its address space. `root` is
    the folder in which `/proc` and the mount points lie.
    """
    limits = [*_read_machine(root), *_read_groups(root), *_read_address_space(root)]
    return min(limits, default=None)


def allocate_pages(size: int) -> mmap.mmap:
    """Allocate bytes that are 0, in large pages where the system has them."""
    import mmap
    from contextlib import suppress

    try:
        # shared pages, which are the default, would never be large
        memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except AttributeError:  # Windows
        memory = mmap.mmap(-1, max(size, 1))
    with suppress(AttributeError, OSError):  # the system has no large pages
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def measure_peak_memory() -> int | None:
    """Return the most bytes that this process has had in memory so far, if the system says.

    Not `getrusage`: that figure begins with the one of the process that started this one.
    """
    kibibytes = _read_fields("/proc/self/status").get("VmHWM:")
    return None if kibibytes is None else kibibytes << 10


def address_space_limit() -> int | None:
    """Return the bytes of address space that this process may have (`ulimit -v`), if limited."""
    try:
        import resource
    except ImportError:  # not on this system
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _read_machine(root: str) -> Iterator[int]:
    fields = _read_fields(f"{root}/proc/meminfo")
    if "MemAvailable:" in fields:
        yield fields["MemAvailable:"] << 10


def _read_address_space(root: str) -> Iterator[int]:
    limit, used = address_space_limit(), _read_fields(f"{root}/proc/self/status").get("VmSize:", 0)
    if limit is not None:
        yield max(0, limit - (used << 10))


def _read_groups(root: str) -> Iterator[int]:
    """Yield the bytes that remain below the limit of each control group of this process."""
    paths = dict[str, str]()
    for line in _read_lines(f"{root}/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers or "memory" in controllers.split(","):
            paths["cgroup" if controllers else "cgroup2"] = path
    for line in _read_lines(f"{root}/proc/self/mountinfo"):
        mount, _, kind = line.partition(" - ")
        version, _, options = kind.split(" ", 2)
        if version not in paths or (version == "cgroup" and "memory" not in options.split(",")):
            continue
        mounted, point = mount.split(" ")[3:5]
        # a container may see its own group alone, whose path outside is `mounted`
        inner = os.path.relpath(paths[version], mounted)
        group = os.path.normpath(f"{root}{point}/{'' if inner.startswith('..') else inner}")
        while len(group) >= len(f"{root}{point}"):
            yield from _read_group(group, *GROUP_FILES[version])
            group = os.path.dirname(group)


def _read_group(group: str, limit: str, usage: str, spare: str) -> Iterator[int]:
    try:
        allowed, used = (int(_read_lines(f"{group}/{name}")[0]) for name in (limit, usage))
    except (ValueError, IndexError):  # "max", or a group without a limit
        return
    yield max(0, allowed - used + _read_fields(f"{group}/memory.stat").get(spare, 0))


def _read_fields(path: str) -> dict[str, int]:
    """Read the lines of a file that are a name and a number, possibly with a unit."""
    lines = (line.split() for line in _read_lines(path))
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def _read_lines(path: str) -> list[str]:
    """Read the lines of a file; none if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


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
    """Return the exhausted resource that an error, or one that caused it, reports; else None.

    No part of a table needs as much memory at once as a damaged page may ask for.
    """
    import re  # only an error needs it, and a lookup loads this module

    is_of_table = isinstance(error, TableError)
    while error is not None:
        # a message of this program may quote what a user wrote
        message = "" if isinstance(error, TablebaseError) else str(error).lower()
        asked = re.fullmatch(r"\w+ of size (\d+) failed", message)
        if is_of_table and asked and int(asked[1]) >= MAX_ALLOCATION:
            return None
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
