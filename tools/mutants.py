"""Mutation testing, which lists code changes that no test notices: `make mutants` (some hours).

mutmut writes every function next to its mutants, and an environment variable selects the one that
runs. The tests chosen below for a file are collected once. For each mutant a forked process runs
them, those at the shell too, until one fails. Some functions run at import, and tests share the
tables they build, so a mutant that survives is tried once more in a process that has imported
nothing of the program and shares no folder. Mutants that survive this too are printed.

mutmut skips decorated functions, so kernels are mutated as plain Python.
`python -m tools.mutants queries/index_reader.py` runs the mutants of one file. Their numbers
go to `docs/mutants.md`, where each file has those of its last run.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import importlib
import json
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
from tools.mutants_page import Result, update_page

WORKERS = os.cpu_count() or 1
RESULTS = Path("results.jsonl")
"""File of a copy of the project with a line for each file whose mutants were run."""
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

RULE_TESTS = {
    "puzzle_tablebase/puzzle.py": (
        "eight rebuilt[eight] golden[eight] golden[no] goal_puzzle verify/state_proofs"
    ),
    "puzzle_tablebase/graph.py": "senet rebuilt[senet]",
    "puzzle_tablebase/frontier/layers.py": "tour_ranker",
    "puzzle_tablebase/puzzles/__init__.py": "golden[eight] goal_puzzle",
    "puzzle_tablebase/puzzles/knight/tour_ranker.py": "tour_ranker queries/ranked_tours",
    "puzzle_tablebase/puzzles/eight.py": (
        "eight rebuilt[eight] golden[eight] golden[bad] readers batch"
    ),
    "puzzle_tablebase/puzzles/senet.py": "senet rebuilt[senet] golden[senet] golden[bad]",
    "puzzle_tablebase/puzzles/knight/tables.py": (
        "knight rebuilt[knight] golden[knight] golden[no] golden[bad]"
    ),
    "puzzle_tablebase/puzzles/knight/board.py": "knight golden[knight] golden[no] golden[bad]",
}
QUERY_TESTS = {
    "queries/__init__.py": "queries",
    "queries/dispatch.py": "dispatch fast_path goal_puzzle errors queries svg streams batch",
    "queries/batch.py": "batch batch_input vectorized streams golden[usage]",
    "queries/eight_columns.py": "queries batch vectorized readers",
    "queries/eight.py": "fast_path errors queries svg batch",
    "pipeline/single_query.py": "dispatch fast_path page[docs/cli.md]",
    "queries/goal_reader.py": "readers errors index_contradictions goal_puzzle queries/sliding "
    "batch",
    "queries/batch_input.py": "batch_input",
    "queries/index_reader.py": "index_format fast_path index_reader",
    "queries/knight/ranked_tours.py": "queries/ranked_tours queries/sampling golden[bad]",
    "queries/knight/reader.py": "fast_path errors index_contradictions queries svg batch",
    "queries/knight/sampling.py": "queries/sampling golden[bad] golden[no]",
    "queries/histogram.py": (
        "status_histogram state_counts goal_puzzle published/sliding golden[overview] golden[bad]"
    ),
    "queries/status.py": (
        "status_histogram goal_puzzle published/sliding damaged_files golden[missing]"
    ),
    "queries/scans.py": "damaged_files",
    "queries/reader.py": "readers dispatch goal_puzzle queries svg batch vectorized",
    "queries/answer_frames.py": "batch vectorized",
    "queries/senet.py": "fast_path errors index_contradictions queries svg batch",
    "queries/api.py": "errors fast_path goal_puzzle queries table_files batch",
    "queries/answer.py": "dispatch fast_path",
    "queries/fifteen_compiled.py": "fifteen_search queries/fifteen",
    "queries/fifteen_search.py": "fifteen_search",
    "queries/fifteen.py": "queries/fifteen",
}
KERNEL_TESTS = {
    "pipeline/search/breadth_first.py": "breadth_first",
    "pipeline/search/tour_listing.py": "path_per_pair hamiltonian_paths",
    "pipeline/verify/knight_counts.py": (
        "verify/knight_counts verify/knight verdicts verify/false_values"
    ),
    "pipeline/verify/sliding.py": "verify/sliding verify/false_values",
    "pipeline/verify/board_layers.py": "board_layers",
    "pipeline/verify/knight_ranks.py": "verify/ranking",
    "pipeline/verify/tour_walker.py": "verify/tour_walker verify/knight_counts",
    "puzzle_tablebase/frontier/compiled.py": "layer_codec",
}
"""Files whose kernels are mutated too, because their tests use small boards."""
BUILD_TESTS = {
    "pipeline/build.py": "build build_errors removal",
    "pipeline/builders/__init__.py": "tasks build",
    "pipeline/builders/tour_lists.py": "tasks build rebuilt[knight]",
    "pipeline/builders/graph_table.py": "build build_errors",
    "pipeline/builders/tour_sweeps.py": "tasks removal rebuilt[knight]",
    "pipeline/plan.py": "build dry_run",
    "pipeline/commands/puzzle_commands.py": "queries/sampling",
    "pipeline/tasks.py": "tasks build",
    "puzzle_tablebase/tables/checkpoints.py": "tasks build",
}
PROOF_TESTS = {
    "pipeline/verify/state_proofs.py": (
        "verify/state_proofs verify/false_values other_kinds verdicts"
    ),
    "pipeline/verify/fifteen.py": "verify/fifteen",
    "pipeline/verify/knight_tours.py": "verify/ranking verify/knight verdicts verify/false_values",
    "pipeline/verify/senet.py": "verify/senet",
}
"""Files without code that runs at import or builds what tests share."""
TRUST_TESTS = {
    "pipeline/verify/claims.py": (
        "claims verdicts verify_output verify/state_proofs verify/sliding verify/false_values"
    ),
    "puzzle_tablebase/puzzles/plugins.py": "entry_points",
    "puzzle_tablebase/tables/manifest.py": (
        "manifest removal state_counts verify/footer hash_notes recovery store build"
    ),
    "puzzle_tablebase/tables/access.py": (
        "store repair unreachable unreadable write_lock index_contradictions manifest build_errors "
        "output_places golden[bad]"
    ),
}
GROUPS = RULE_TESTS, QUERY_TESTS, KERNEL_TESTS, BUILD_TESTS, PROOF_TESTS, TRUST_TESTS
TESTS = {source: tests for group in GROUPS for source, tests in group.items()}
"""The tests of each mutated file, the fastest first: names of test files, or tests of a kind."""
TESTS_OF_KINDS = {
    "golden": "command/test_cli.py::test_golden",
    "page": "project/test_docs.py::test_page_is_what_the_program_writes",
    "rebuilt": "builds/test_rebuild.py::test_a_table_built_again_is_the_one_published",
}


def main(*sources: str) -> None:
    """Run the mutants of some files, or of all, in copies of the project."""
    for group in GROUPS:
        chosen = [source for source in group if source in (sources or TESTS)]
        if not chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder)
            copy_project(copy)
            command = [sys.executable, "-m", "tools.mutants", "--here", *chosen]
            env = {**os.environ, "PYTHONPATH": folder}
            done = subprocess.run(command, cwd=copy, check=False, env=env)
            update_page(read_results(copy / RESULTS))
            done.check_returncode()


def read_results(file: Path) -> dict[str, Result]:
    """Return the results of the files that were run, also if the run then failed."""
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return {source: Result(*counts) for source, *counts in map(json.loads, lines)}


def copy_project(folder: Path) -> None:
    """Copy the files that git tracks, and the built tables."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    tables = [f"outputs/{path.name}" for path in (ROOT / "outputs").iterdir() if path.suffix]
    for name in [*tracked.stdout.decode().splitlines(), *tables]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)


def mutate_here(*sources: str) -> None:
    """Mutate files in the working directory, and print the mutants that survive."""
    mutants = {source: write_mutants(source) for source in sources}
    for name in FIRST:
        importlib.import_module(name)
    warm("pipeline")  # one server for all tests: each command is sent the name of its mutant
    for source, names in mutants.items():
        with ProcessPoolExecutor(1, get_context("fork")) as pool:
            codes, limit = pool.submit(collect_verdicts, source, names).result()
        if code := codes.pop(""):
            sys.exit(f"the tests of {source} end with {code} when nothing is changed")
        run_tests = functools.partial(pytest.main, make_arguments(source), [WithoutShrinking()])
        retried = [name for name in names if codes[name] == 0 and source not in PROOF_TESTS]
        codes |= run_mutants(retried, limit, run_tests)
        survivors = [name for name, code in codes.items() if code == 0]
        for name in survivors:
            print(format_difference(source, name))
        late = sum(code == -signal.SIGALRM for code in codes.values())
        killed = len(codes) - len(survivors) - late
        result = Result(len(codes), killed, late, len(survivors))
        print(
            f"{source:<34} {result.killed:>5} of {result.mutants:>5} mutants killed,"
            f" {result.timed_out} timed out, {result.survived} survived",
            flush=True,
        )
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([source, *result])}\n")


def write_mutants(source: str) -> list[str]:
    """Write the mutants of a file into it, and return their names."""
    path = Path(source)
    text = path.read_text("utf-8")
    if source in KERNEL_TESTS:
        text = text.replace("\n@compiled\n", "\n")
    mutated = mutate_file_contents(source, text)
    path.write_text(mutated.code, "utf-8")
    return [get_mutant_name(path, name) for name in mutated.mutant_names]


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


def make_arguments(source: str) -> list[str]:
    return [*OPTIONS, source, *find_tests(TESTS[source])]


def collect_verdicts(source: str, mutants: list[str]) -> tuple[dict[str, int], float]:
    """Return the exit code for each mutant, in processes forked after the tests are collected.

    The code for the name "" is that of the unchanged program. Also return the time limit of a
    process, in seconds.
    """
    silence_output()
    os.environ["MUTANT_UNDER_TEST"] = ""
    forker = MutantForker(mutants)
    code = pytest.main(make_arguments(source), [WithoutShrinking(), forker])
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


def find_tests(tests: str) -> list[str]:
    """Return the pytest arguments for the tests of a file.

    >>> find_tests("batch golden[no]")
    ['tests/queries/test_batch.py', 'tests/command/test_cli.py::test_golden[no]']
    >>> [source for source in TESTS if not Path(source).exists() or not find_tests(TESTS[source])]
    []
    >>> len(TESTS) == sum(map(len, GROUPS))  # each file is mutated once
    True
    """
    arguments = []
    for word in tests.split():
        kind, bracket, case = word.partition("[")
        folder, _, name = kind.rpartition("/")
        files = sorted(str(path) for path in Path("tests").glob(f"{folder or '*'}/test_{name}.py"))
        arguments.append(f"tests/{TESTS_OF_KINDS[kind]}[{case}" if bracket else files[0])
    return arguments


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
    if sys.argv[1:2] == ["--here"]:
        mutate_here(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
