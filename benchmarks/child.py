"""A small process that runs a command and prints its cost.

The cost is wall and processor seconds, peak memory in MiB, and bytes read and written (from and to
caches too; on Linux).

A child's peak memory begins with that of the process that starts it. Benchmarks have hundreds of
megabytes in memory, so they start commands through this script, which has few and needs the
standard library alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

BYTES_PER_UNIT = 1 if sys.platform == "darwin" else 1 << 10


def main(command: list[str]) -> int:
    """Run a command; print its cost after its output; return its exit code."""
    started = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    peak_mib = used.ru_maxrss * BYTES_PER_UNIT / (1 << 20)
    print(seconds, used.ru_utime + used.ru_stime, peak_mib, *read_bytes(), flush=True)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


def read_bytes() -> tuple[int, int]:
    """Return the bytes that this process and those that it waited for have read and written."""
    try:
        with open("/proc/self/io") as file:
            fields = dict(line.split(": ") for line in file)
    except FileNotFoundError:
        return 0, 0
    return int(fields["rchar"]), int(fields["wchar"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
