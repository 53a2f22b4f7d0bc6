"""Mutation testing of one file: list the code changes that none of some tests notice.

`python -m tools.mutants FILE TESTS`, such as `puzzle_tablebase/pipeline/proofs/senet.py` and
`tests/proofs/test_senet.py`, changes the file in one place at a time, and runs the tests, the
fastest first, until one fails. Run it by hand when a proof changes.

mutmut writes every function next to its mutants, and an environment variable selects the one that
runs. The tests are collected once. For each mutant a forked process runs them, those at the shell
too. Some functions run at import, and tests share the tables they build, so a mutant that survives
is tried once more in a process that has imported nothing of the program and shares no folder.
mutmut skips decorated functions, so kernels are mutated as plain Python: choose small boards.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import Phase, settings
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name

from tests.support.preloaded import warm
from tests.support.shell import ROOT

WORKERS = os.cpu_count() or 1
FIRST = ("numpy", "numba", "polars", "pyarrow.parquet", "typer", "rich.progress", "hypothesis")
"""Modules imported once, before all forks. None of them starts a thread when imported."""
EXCLUDED_TESTS = (
    "imports_nothing_heavy",  # mutmut is heavy
    "without_table_libraries",
    "oracles",
    "every_state_of",
    "every_pair_of",
    "test_6x6",
    "tours_on_6x6",
    "memory",
    "compiler_off",
    "two_builds",
)
"""Tests that do not test the code, or are too slow to run a thousand times."""
OPTIONS = [
    *("-x", "-q", "-p", "no:cacheprovider", "-o", "tmp_path_retention_policy=failed"),
    *("-W", "ignore:overflow", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("-k", f"not ({' or '.join(EXCLUDED_TESTS)})"),
]


def main(source: str, *tests: str) -> int:
    """Run the mutants of a file in a copy of the project; return 1 if any survive."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_project(copy)
        command = [sys.executable, "-m", "tools.mutants", "--here", source, *tests]
        env = {**os.environ, "PYTHONPATH": folder}
        return subprocess.run(command, cwd=copy, check=False, env=env).returncode


def copy_project(folder: Path) -> None:
    """Copy the files that git tracks, and the built tables."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    tables = [f"outputs/{path.name}" for path in (ROOT / "outputs").iterdir() if path.suffix]
    for name in [*tracked.stdout.decode().splitlines(), *tables]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def mutate_here(source: str, *tests: str) -> int:
    """Mutate a file in the working directory, and print the mutants that survive."""
    mutants, arguments = write_mutants(source), [*OPTIONS, *tests]
    for name in FIRST:
        importlib.import_module(name)
    warm("pipeline")  # one server for all tests: each command is sent the name of its mutant
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        codes, limit = pool.submit(collect_verdicts, mutants, arguments).result()
    if code := codes.pop(""):
        sys.exit(f"the tests end with {code} when nothing is changed")
    run_tests = functools.partial(pytest.main, arguments, [WithoutShrinking()])
    codes |= run_mutants([name for name in mutants if codes[name] == 0], limit, run_tests)
    survivors = [name for name, code in codes.items() if code == 0]
    for name in survivors:
        print(format_difference(source, name))
    late = sum(code == -signal.SIGALRM for code in codes.values())
    killed = len(codes) - len(survivors) - late
    print(f"{len(codes)} mutants: {killed} killed, {late} timed out, {len(survivors)} survived")
    return int(bool(survivors))


def write_mutants(source: str) -> list[str]:
    """Write the mutants of a file into it, and return their names."""
    path = Path(source)
    text = path.read_text("utf-8")
    mutated = mutate_file_contents(source, text.replace("\n@compiled\n", "\n"))
    path.write_text(mutated.code, "utf-8")
    names = [get_mutant_name(path, name) for name in mutated.mutant_names]
    step = int(os.environ.get("SAMPLE", "1"))
    print(len(names), "mutants in all", flush=True)
    return names[::step]


def run_mutants(mutants: list[str], limit: float, run_tests: Callable[[], int]) -> dict[str, int]:
    """Run the tests for each mutant and return the exit codes: 0 for a mutant that survives.

    A process that takes longer than `limit` seconds is killed.
    """
    codes: dict[str, int] = {}
    running: dict[int, str] = {}
    waiting = list(mutants)
    while waiting or running:
        while waiting and len(running) < WORKERS:
            name = waiting.pop()
            child = os.fork()
            if not child:
                run_in_child(name, limit, run_tests)
            running[child] = name
        ended, status = os.wait()
        with contextlib.suppress(
            ProcessLookupError
        ):  # also ends the processes that a late one started
            os.killpg(ended, signal.SIGKILL)
        codes[running.pop(ended)] = os.waitstatus_to_exitcode(status)
    return codes


def run_in_child(mutant: str, limit: float, run_tests: Callable[[], int]) -> NoReturn:
    """Run the tests for one mutant in a new process group, and exit with their code."""
    code = 99
    os.setsid()
    try:
        signal.setitimer(
            signal.ITIMER_REAL, limit
        )  # the signal ends the process and kills the mutant
        os.environ["MUTANT_UNDER_TEST"] = mutant
        silence_output()
        code = int(run_tests())
    finally:
        os._exit(code)


def silence_output() -> None:
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, 1)
    os.dup2(null_device, 2)


def collect_verdicts(mutants: list[str], arguments: list[str]) -> tuple[dict[str, int], float]:
    """Return the exit code for each mutant, in processes forked after the tests are collected.

    The code for the name "" is that of the unchanged program. Also return the time limit of a
    process, in seconds.
    """
    silence_output()
    os.environ["MUTANT_UNDER_TEST"] = ""
    forker = MutantForker(mutants)
    code = pytest.main(arguments, [WithoutShrinking(), forker])
    return forker.codes or {"": int(code)}, forker.limit


class MutantForker:
    """A pytest plugin that runs the collected tests in a forked process for every mutant."""

    def __init__(self, mutants: list[str]) -> None:
        self.mutants, self.limit = mutants, 3600.0
        self.codes: dict[str, int] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        def run_tests() -> int:
            for item, following in zip_longest(session.items, session.items[1:]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    return 1
            return 0

        # one folder for all: the files that tests share are written before any mutant runs
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        started = time.monotonic()
        self.codes = run_mutants([""], self.limit, run_tests)
        self.limit = 30 + 4 * (time.monotonic() - started)
        if not self.codes[""]:
            self.codes |= run_mutants(self.mutants, self.limit, run_tests)
        return True


class WithoutShrinking:
    """A pytest plugin that keeps hypothesis from minimizing the examples that fail."""

    def pytest_sessionstart(self) -> None:
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings.get_profile("tests"), phases=phases)
        settings.load_profile("mutants")


def format_difference(source: str, mutant: str) -> str:
    """Return the lines in which a mutant differs from the original function."""
    name = mutant.rpartition(".")[2]
    original = name.partition("__mutmut_")[0] + "__mutmut_orig"
    before, after = (
        ast.unparse(read_functions(source)[function]).replace(function, name).splitlines()
        for function in (original, name)
    )
    lines = difflib.unified_diff(before, after, lineterm="", n=1)
    return "\n".join([mutant, *list(lines)[2:]])


@functools.cache
def read_functions(source: str) -> dict[str, ast.FunctionDef]:
    nodes = ast.walk(ast.parse(Path(source).read_text("utf-8")))
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


if __name__ == "__main__":
    if sys.argv[1] == "--here":
        sys.exit(mutate_here(*sys.argv[2:]))
    sys.exit(main(*sys.argv[1:]))
