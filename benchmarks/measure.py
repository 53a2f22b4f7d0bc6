"""Timing for noisy machines: programs run in turns, and medians are compared as ratios."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OUTPUTS = ROOT / "outputs"
REFERENCE = Path(__file__).resolve().parent / "reference"
CHILD = Path(__file__).resolve().parent / "child.py"

Row = tuple[str, ...]


def make_environment(**extra: str) -> dict[str, str]:
    """Return the environment of measured processes: bytecode is cached, and tables are found."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**env, "PIPELINE_OUTPUTS": str(OUTPUTS), **extra}


def time_processes(commands: Mapping[str, list[str]], rounds: int = 30) -> dict[str, float]:
    """Return the median seconds of each command as a process, run in turns."""
    run = partial(subprocess.run, check=True, env=make_environment(), stdout=subprocess.DEVNULL)
    return measure_in_turns(
        {name: partial(time_call, partial(run, command)) for name, command in commands.items()},
        rounds,
    )


def measure_in_turns(calls: Mapping[str, Callable[[], float]], rounds: int = 5) -> dict[str, float]:
    """Return the median of the seconds that each call returns, run in turns.

    The first round is not measured.
    """
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for measured in range(-1, rounds):
        for name, call in calls.items():
            duration = call()
            if measured >= 0:
                seconds[name].append(duration)
    return {name: statistics.median(values) for name, values in seconds.items()}


def time_call(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def time_processor(work: Callable[[], object]) -> float:
    """Return the processor seconds of a call, of all threads and of processes that end meanwhile.

    Other work on the machine changes them less than wall time.
    """
    started = _read_processor_time()
    work()
    return _read_processor_time() - started


def _read_processor_time() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def compile_reference(source: str, folder: Path, *options: str) -> str:
    """Compile a reference program and return its path."""
    program = folder / Path(source).stem
    subprocess.run(["gcc", *(options or ["-O2"]), "-o", program, REFERENCE / source], check=True)
    return str(program)


class MeasuredProcess(NamedTuple):
    """A finished process: its output, time and peak memory.

    `read` and `written`: bytes, from and to caches too.
    """

    output: str
    seconds: float
    processor_seconds: float
    peak_mib: float
    read: int
    written: int


def measure_process(command: Sequence[str], **extra: str) -> MeasuredProcess:
    """Run a command and measure it and its children alone; `extra`: environment variables."""
    done = subprocess.run(
        [sys.executable, str(CHILD), *command],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=make_environment(**extra),
        cwd=ROOT,
    )
    output, _, figures = done.stdout.rstrip("\n").rpartition("\n")
    seconds, processor_seconds, peak_mib, read, written = map(float, figures.split())
    amounts = int(read), int(written)
    return MeasuredProcess(output, seconds, processor_seconds, peak_mib, *amounts)


def describe_machine() -> str:
    """Return the machine's cores, memory, system and Python."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return (
        f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def format_table(head: Row, rows: list[Row]) -> str:
    """Return a Markdown table, all columns but the first aligned to the right."""
    ruler = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, tuple(ruler), *rows])
