"""What the machine has for this process: cores, by which things are done at once, and memory."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP_FILES = {
    "cgroup2": ("memory.max", "memory.current", "inactive_file"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""For each version of control groups: the files with the limit and the usage of memory, and the
part of the usage, in `memory.stat`, that the system gives back when it is needed."""


def count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def get_free_memory(root: str = "") -> int | None:
    """Return the bytes that this process can still use; None where the system does not say.

    It is the least of what the machine has free, and of what the process's control groups (a
    container's, for example) and its own limit on address space leave. `root` is where the files
    of the system begin.
    """
    return min([*_machine(root), *_groups(root), *_address_space(root)], default=None)


def address_space_limit() -> int | None:
    """Return the bytes of address space that this process may have (`ulimit -v`), if limited."""
    try:
        import resource
    except ImportError:  # not on this system
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _machine(root: str) -> Iterator[int]:
    fields = _fields(f"{root}/proc/meminfo")
    if "MemAvailable:" in fields:
        yield fields["MemAvailable:"] << 10


def _address_space(root: str) -> Iterator[int]:
    limit, used = address_space_limit(), _fields(f"{root}/proc/self/status").get("VmSize:", 0)
    if limit is not None:
        yield max(0, limit - (used << 10))


def _groups(root: str) -> Iterator[int]:
    """What each control group around this process leaves of its limit."""
    paths = dict[str, str]()
    for line in _lines(f"{root}/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers or "memory" in controllers.split(","):
            paths["cgroup" if controllers else "cgroup2"] = path
    for line in _lines(f"{root}/proc/self/mountinfo"):
        mount, _, kind = line.partition(" - ")
        version, _, options = kind.split(" ", 2)
        if version not in paths or (version == "cgroup" and "memory" not in options.split(",")):
            continue
        shown, point = mount.split(" ")[3:5]
        # what is mounted in a container may be its own group alone, which is `shown` outside
        inner = os.path.relpath(paths[version], shown)
        group = os.path.normpath(f"{root}{point}/{'' if inner.startswith('..') else inner}")
        while len(group) >= len(f"{root}{point}"):
            yield from _group(group, *GROUP_FILES[version])
            group = os.path.dirname(group)


def _group(group: str, limit: str, usage: str, spare: str) -> Iterator[int]:
    try:
        allowed, used = (int(_lines(f"{group}/{name}")[0]) for name in (limit, usage))
    except (ValueError, IndexError):  # "max", or a group without a limit
        return
    yield max(0, allowed - used + _fields(f"{group}/memory.stat").get(spare, 0))


def _fields(path: str) -> dict[str, int]:
    """The lines of a file that are a name and a number, perhaps with a unit."""
    lines = (line.split() for line in _lines(path))
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
