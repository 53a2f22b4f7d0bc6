"""Test of the memory of a batch: it does not grow with the keys, nor with the answers."""

import subprocess
from pathlib import Path
from subprocess import DEVNULL, PIPE

import polars as pl

from tests.support.shell import SCRIPT, environment

WARM_UP, MEASURED = 12, 24
"""The rounds that fill buffers and caches, and those after them; a round has all 362,880 keys."""
ALLOWANCE = 20 << 20
"""Bytes by which the peak may grow: the keys are 4 times as many, the answers 10 times."""


def read_peak(process: subprocess.Popen[bytes]) -> int:
    """Return the most memory that a process has had so far, in bytes, without its children."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def test_memory_does_not_grow_with_the_input(outputs: Path, tmp_path: Path) -> None:
    """Measure one process twice, as it answers: what it needs at any rate does not count."""
    rows = pl.read_parquet(outputs / "eight.parquet", columns=["state"]).sample(
        fraction=1, shuffle=True, seed=1
    )
    keys, target = rows.write_csv(include_header=False).encode(), tmp_path / "answers.csv"
    assert MEASURED * len(keys) > 4 * ALLOWANCE
    command: list[str | Path] = [SCRIPT, "query", "eight", "--output", target, "--outputs", outputs]
    # each thread of polars has memory of its own
    environ = environment({"POLARS_MAX_THREADS": "2"})
    with subprocess.Popen(command, env=environ, stdin=PIPE, stdout=DEVNULL) as process:
        assert process.stdin
        peaks = []
        for rounds in (WARM_UP, MEASURED):
            for _ in range(rounds):
                process.stdin.write(keys)
            peaks.append(read_peak(process))
        process.stdin.close()
    assert process.returncode == 0
    assert peaks[1] - peaks[0] < ALLOWANCE
    with target.open("rb") as answers:
        lines = sum(part.count(b"\n") for part in iter(lambda: answers.read(1 << 20), b""))
    assert lines == 1 + (WARM_UP + MEASURED) * rows.height
