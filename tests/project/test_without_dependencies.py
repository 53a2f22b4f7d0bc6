"""The wheel in an environment without other packages: what works there, and what says it does not.

As `pip install --no-deps` and `uvx` install it, the program is its entry point's script.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pytest
import typer

from puzzle_tablebase.pipeline.commands import app
from tests.support.shell import Said, run

LIGHT = {
    "query eight 378546201": "27 moves",
    "query eight 087654321 --goal 103245768 --path --json": '"distance": 29',
    "query eight 150423786 --solutions": "",
    "query senet ABAAABBB.B...A.": "A 9-14, B 4x7",
    "query knight b1 --closed": "closed",
}
"""Lookups that need the standard library alone, and what they print."""
HEAVY = {
    "query eight --hardest": "polars",
    "query eight 378546201 --svg picture.svg": "msgspec",
    "query knight b1 --board 5x5": "numpy",
    "query eight": "typer",
    "--version": "typer",
    "no-such-command": "typer",
}
"""What needs a package, and which one is missed first."""
ASK = """
import puzzle_tablebase as pt
tables = pt.open_tables()
print(tables.eight.probe("378546201").distance)
try:
    tables.eight.annotate(["378546201"])
except ModuleNotFoundError:
    print("no packages")
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the installed script of the wheel that this checkout makes."""
    folder = tmp_path_factory.mktemp("bare")
    python, wheels = folder / "venv" / "bin" / "python", folder / "wheels"
    module = (sys.executable, "-m")
    build = (*module, "hatchling", "build", "--target", "wheel", "--directory", wheels)
    assert run(build).code == 0
    assert run((*module, "venv", "--without-pip", folder / "venv")).code == 0
    pip = (*module, "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps")
    assert run((*pip, *wheels.iterdir())).code == 0
    return python.with_name("pipeline")


def run_apart(command: Sequence[str | Path], outputs: Path) -> Said:
    """Run a command away from this checkout, without a traceback of what is not installed."""
    env = {"PIPELINE_OUTPUTS": str(outputs), "PIPELINE_TRACEBACK": "", "PYTHONPATH": ""}
    return run(command, cwd=outputs.parent, env=env)


def test_lookups_need_no_package(program: Path, outputs: Path) -> None:
    for words, answer in LIGHT.items():
        said = run_apart([program, *words.split()], outputs)
        assert (said.code, said.err) == (0, ""), words
        assert answer in said.out
    no_table = "query sliding 123450 --board 2x3"
    assert run_apart([program, *no_table.split()], outputs).code == 3


def test_every_command_names_the_package_that_it_needs(program: Path, outputs: Path) -> None:
    group = typer.main.get_command(app)
    commands = [*group.commands]  # type: ignore[attr-defined]  # it has some
    assert len(commands) > 5
    for words, package in {**dict.fromkeys(commands, "typer"), **HEAVY}.items():
        said = run_apart([program, *words.split()], outputs)
        assert (said.code, said.out, said.err.count("\n")) == (3, "", 1), words
        assert f"pip install {package}\n" in said.err, words


def test_python_answers_one_key_and_raises_for_columns(program: Path, outputs: Path) -> None:
    python = program.with_name("python")
    assert run_apart([python, "-c", ASK], outputs) == (0, "27\nno packages\n", "")
    module: list[str | Path] = [python, "-m", "puzzle_tablebase", "query", "knight", "b1"]
    assert run_apart(module, outputs).code == 0


def measure(command: Sequence[str | Path], outputs: Path) -> float:
    """Return the processor seconds of a command, which a busy machine hardly changes."""
    env = {"PATH": os.environ["PATH"], "PIPELINE_OUTPUTS": str(outputs)}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
def test_a_lookup_takes_little_longer_than_starting_python(program: Path, outputs: Path) -> None:
    """Expect at most 1.7 times as long; it is about 1.4."""
    lookups = ("eight 378546201", "knight b1")
    commands: list[list[str | Path]] = [[program, "query", *each.split()] for each in lookups]
    commands.append([program.with_name("python"), "-c", "pass"])
    # in turns, because the machine may be busy
    rounds = [[measure(command, outputs) for command in commands] for _ in range(30)]
    *seconds, bare = map(median, zip(*rounds, strict=True))
    assert max(seconds) / bare < 1.7
