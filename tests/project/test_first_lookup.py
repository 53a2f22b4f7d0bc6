"""A lone lookup that only `make precompute` has prepared, measured beside starting Python.

The environment is new: no test, linter or earlier command has compiled a module of it.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pytest

from tests.support.shell import ROOT, SCRIPT

LOOKUPS = {"eight": "378546201", "knight": "b1"}
RUNS = 30
MOST = 1.7
"""The longest time of a lookup, as a multiple of Python's start; it is about 1.4."""


def prepare(folder: Path) -> Path:
    """Prepare a checkout as the first `make precompute` does; return its script."""
    listed = ["git", "ls-files", "puzzle_tablebase", "queries", "pipeline", "docs"]
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in tracked.stdout.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    (folder / "outputs").symlink_to(ROOT / "outputs")
    # the packages that a lookup does not import are not installed
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    (packages,) = (folder / "venv" / "lib").glob("*/site-packages")
    (packages / "_puzzle_tablebase.pth").write_text(str(folder))
    (options,) = re.findall("/python -m compileall (.*)", (ROOT / "Makefile").read_text("utf-8"))
    subprocess.run([python, "-m", "compileall", *options.split()], cwd=folder, check=True)
    script = python.with_name("pipeline")
    _, _, program = SCRIPT.read_text("utf-8").partition("\n")
    script.write_text(f"#!{python}\n{program}")
    script.chmod(0o755)
    return script


def measure(command: Sequence[str | Path], folder: Path) -> float:
    """Return the processor seconds of a command, which a busy machine hardly changes."""
    env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
def test_a_lookup_takes_little_longer_than_starting_python(tmp_path: Path) -> None:
    script = prepare(tmp_path)
    commands: dict[str, list[str | Path]] = {"": [script.with_name("python"), "-c", "pass"]}
    commands |= {name: [script, "query", name, key] for name, key in LOOKUPS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS):  # in turns, because the machine may be busy
        for name, command in commands.items():
            seconds[name].append(measure(command, tmp_path))
    for name in LOOKUPS:
        ratio = median(seconds[name]) / median(seconds[""])
        print(f"query {name}: {ratio:.2f} times as long as starting Python")
        assert ratio < MOST
