"""Timing that holds on a noisy machine: contestants take turns, medians are quoted as ratios."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUTS = ROOT / "outputs"
REFERENCE = Path(__file__).resolve().parent / "reference"

Row = tuple[str, ...]


def environment(**more: str) -> dict[str, str]:
    """The environment of measured processes: compiled modules may be kept, tables are found."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PIPELINE_OUTPUTS": str(OUTPUTS), **more}


def time_processes(commands: Mapping[str, list[str]], rounds: int = 30) -> dict[str, float]:
    """Median seconds of each command as a whole process, in turns, after one round unmeasured."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    env = environment()
    for measured in range(-1, rounds):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, env=env, stdout=subprocess.DEVNULL)
            if measured >= 0:
                seconds[name].append(time.perf_counter() - started)
    return {name: statistics.median(values) for name, values in seconds.items()}


def in_turns(calls: Mapping[str, Callable[[], float]], rounds: int = 5) -> dict[str, float]:
    """Median of what each call says it took, in turns, after one round unmeasured."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for measured in range(-1, rounds):
        for name, call in calls.items():
            took = call()
            if measured >= 0:
                seconds[name].append(took)
    return {name: statistics.median(values) for name, values in seconds.items()}


def time_call(work: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compile_reference(source: str, folder: Path, *options: str) -> str:
    """A reference program, compiled; its path."""
    program = folder / Path(source).stem
    compiler = "g++" if source.endswith(".cpp") else "gcc"
    subprocess.run([compiler, *(options or ["-O2"]), "-o", program, REFERENCE / source], check=True)
    return str(program)


def child_peak() -> float:
    """The largest memory of any child process so far, in MiB."""
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / scale


def machine() -> str:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        named = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = named[0].partition(":")[2].strip() if named else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def markdown(head: Row, rows: list[Row]) -> str:
    """A table, numbers to the right."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, tuple(ruler), *rows])
