"""Commands in processes of their own that import nothing, as the imports take longer than most."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from tests.support.shell import ROOT, Completed, environment, require_no_bug

FORKS = """
import json, os, sys, threading
import polars, pyarrow.csv, pyarrow.parquet
import puzzle_tablebase.pipeline.commands, puzzle_tablebase.queries.batch
from puzzle_tablebase.pipeline.run import run_command
from puzzle_tablebase.resources import measure_peak_memory

assert threading.active_count() == 1  # a fork has no others
for line in sys.stdin:
    out, err, folder, *words = json.loads(line)
    process = os.fork()
    if process == 0:
        for number, path in enumerate((os.devnull, out, err)):
            os.dup2(os.open(path, os.O_RDWR), number)
        os.chdir(folder)
        code = run_command(words)
        sys.stdout.flush()
        print(f"peak {measure_peak_memory()}", file=sys.stderr, flush=True)
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""
"""Script that runs each command in a fork of one process, which has imported what commands need."""


class Measure(Protocol):
    """A function that runs a command; it returns its result, and its most memory in bytes."""

    def __call__(self, *words: str | Path, cwd: Path = ROOT) -> tuple[Completed, int]: ...


@contextmanager
def fork_commands(folder: Path) -> Iterator[Measure]:
    """Yield a function that runs a command, whose output it keeps in files of a folder."""
    files = [folder / name for name in ("out", "err")]
    with subprocess.Popen(
        [sys.executable, "-c", FORKS],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as commands:
        assert commands.stdin
        assert commands.stdout
        requests, results = commands.stdin, commands.stdout

        def measure(*words: str | Path, cwd: Path = ROOT) -> tuple[Completed, int]:
            for file in files:
                file.write_bytes(b"")
            print(json.dumps([*map(str, (*files, cwd, *words))]), file=requests, flush=True)
            code = int(results.readline())
            out, err = (file.read_text("utf-8") for file in files)
            require_no_bug(err)
            errors, has_ended, peak = err.rpartition("peak ")
            assert has_ended, f"it crashed: {code}, {err}"
            return Completed(code, out, errors), int(peak)

        yield measure
        requests.close()
