"""A small process that runs a command and prints its seconds and its own peak memory in MiB.

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
    """Run a command; print its seconds and peak memory after its output; return its exit code."""
    started = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    print(seconds, used.ru_maxrss * BYTES_PER_UNIT / (1 << 20), flush=True)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
