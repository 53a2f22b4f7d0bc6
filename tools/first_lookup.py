"""A check of a lone lookup in an environment that only `make precompute` has made.

It prints how long the lookup takes beside starting Python, and fails if the launcher or the program
imports a module that is slow to import. It needs the standard library alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

SLOW = {"asyncio", "dataclasses", "inspect", "json", "logging", "pathlib", "random", "re", "typing"}
"""Modules that take milliseconds to import."""
LOOKUPS = {
    "query eight": ["query", "eight", "378546201"],
    "query knight": ["query", "knight", "b1"],
}
IMPORT_LINE = re.compile(r"import time:\s+\d+ \|\s+\d+ \|\s+(\S+)")
RUNS = 60


def list_imports(command: Sequence[str]) -> set[str]:
    """List the modules that a command imports."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", *command], capture_output=True, text=True, check=True
    )
    return set(IMPORT_LINE.findall(ended.stderr))


def find_slow_imports(launcher: Path, words: Sequence[str]) -> set[str]:
    """Find the slow modules that a lookup imports and Python itself does not."""
    return (list_imports([str(launcher), *words]) - list_imports(["-c", "pass"])) & SLOW


def measure_ratios(launcher: Path, runs: int) -> dict[str, float]:
    """Return how long each lookup takes beside starting Python, as a ratio of medians."""
    bare = [sys.executable, "-c", "pass"]
    commands = {"": bare} | {name: [str(launcher), *words] for name, words in LOOKUPS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            started = time.perf_counter()
            pid = os.posix_spawn(
                command[0],
                command,
                os.environ,
                file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
            )
            _, status = os.waitpid(pid, 0)
            seconds[name].append(time.perf_counter() - started)
            if status:
                raise SystemExit(f"{' '.join(command)} failed")
    return {name: median(seconds[name]) / median(seconds[""]) for name in LOOKUPS}


def main(launcher: Path, runs: int = RUNS) -> int:
    """Print each lookup's ratio and its slow imports; return 1 if there are any."""
    ratios = measure_ratios(launcher, runs)
    code = 0
    for name, words in LOOKUPS.items():
        print(f"{name}: {ratios[name]:.2f} times as long as starting Python")
        if slow := find_slow_imports(launcher, words):
            print(f"{name}: imports {', '.join(sorted(slow))}", file=sys.stderr)
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.executable).with_name("pipeline")))
