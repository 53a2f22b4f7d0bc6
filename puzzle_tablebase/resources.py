"""The cores and the memory that this process can use, and the limits that stop its libraries."""

from __future__ import annotations

import os

from puzzle_tablebase.errors import MachineLimit

TYPE_CHECKING = False
if TYPE_CHECKING:
    import mmap
    from collections.abc import Iterator

CONTROL_GROUPS = "/sys/fs/cgroup"
"""The folder of the control groups (version 2)."""
ADDRESS_SPACE, ADDRESS_SPACE_PER_CORE = 1 << 31, 1 << 29
"""Bytes of address space that the libraries reserve in all and for each core, as measured; they use
little of it."""
PROCESS_BYTES = 340_000_000
"""Bytes of a process that builds or proves any table: the measured maximum, with a margin."""
ADDRESS_SPACE_PER_BYTE = 3
"""Bytes of address space for each byte of memory that libraries use: as measured, most of all for
polars."""


def count_cores(root: str = "") -> int:
    """Count the cores that this process may use, by its affinity and its control groups' quotas.

    `root` is the folder in which `/proc` and `/sys` lie.
    """
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [own]
    for group in _list_groups(root):
        quota, _, period = "".join(_read_lines(f"{group}/cpu.max")).partition(" ")
        if quota.isdigit() and period.isdigit():
            limits.append(max(1, -(-int(quota) // int(period))))
    return min(limits)


def limit_cores(count: int | None) -> None:
    """Limit the cores of this process and its libraries, where the system can."""
    if count is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])


def get_free_memory(root: str = "") -> int | None:
    """Return the bytes that this process can still use; None where the system does not say.

    This is the least of the machine's free memory and the rest below the limits of the process's
    control groups (a container's, for example) and of its address space, beyond which an allocation
    aborts the process. `root`: see `count_cores`.
    """
    limits = [*_read_group_memory(root)]
    available = _read_fields(f"{root}/proc/meminfo").get("MemAvailable:")
    if available is not None:
        limits.append(available << 10)
    if (limit := get_address_space_limit()) is not None:
        used = _read_fields(f"{root}/proc/self/status").get("VmSize:", 0)
        limits.append(max(0, limit - (used << 10)) // ADDRESS_SPACE_PER_BYTE)
    return min(limits, default=None)


def allocate_pages(size: int) -> mmap.mmap:
    """Allocate bytes that are 0, in large pages where the system has them."""
    import mmap
    from contextlib import suppress

    # shared pages, which are the default, would never be large
    memory = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(AttributeError, OSError):  # the system has no large pages
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def measure_peak_memory() -> int | None:
    """Return the peak memory of this process in bytes, if the system says.

    `getrusage` is no alternative: its figure includes that of the parent process.
    """
    kibibytes = _read_fields("/proc/self/status").get("VmHWM:")
    return None if kibibytes is None else kibibytes << 10


def get_address_space_limit() -> int | None:
    """Return the bytes of address space that this process may have (`ulimit -v`), if limited."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _read_group_memory(root: str) -> Iterator[int]:
    """Yield the bytes that remain below the limit of each control group of this process."""
    for group in _list_groups(root):
        limit, used = ("".join(_read_lines(f"{group}/memory.{of}")) for of in ("max", "current"))
        if limit.isdigit() and used.isdigit():  # "max": no limit
            cache = _read_fields(f"{group}/memory.stat").get("inactive_file", 0)
            yield max(0, int(limit) - int(used) + cache)


def _list_groups(root: str) -> Iterator[str]:
    """Yield the folders of this process's control group and of those that contain it.

    In a container, the top folder may be its own group, which has another path outside.
    """
    top = f"{root}{CONTROL_GROUPS}"
    for line in _read_lines(f"{root}/proc/self/cgroup"):
        if line.startswith("0::/"):
            group = os.path.normpath(f"{top}{line[3:]}")
            while group.startswith(top):
                yield group
                group = os.path.dirname(group)


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


def require_room_for_libraries() -> None:
    """Raise MachineLimit if the libraries would abort or hang for want of address space."""
    limit, needed = (
        get_address_space_limit(),
        ADDRESS_SPACE + count_cores() * ADDRESS_SPACE_PER_CORE,
    )
    if limit is not None and limit < needed:
        raise MachineLimit(
            f"This process may use {limit / 1e9:.2f} GB of address space (ulimit -v), and needs "
            f"{needed / 1e9:.2f} GB with {count_cores()} cores",
            "Raise the limit, or allow fewer cores (taskset)",
        )
