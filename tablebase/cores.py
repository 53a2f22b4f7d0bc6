"""What the machine has for this process: cores, by which things are done at once, and memory."""

from __future__ import annotations

import os


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def free_memory() -> int | None:
    """Bytes that are not in use, or could be freed; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            said = dict(line.split(":") for line in file)
        return int(said["MemAvailable"].split()[0]) << 10
    except (OSError, ValueError, KeyError):
        return None
