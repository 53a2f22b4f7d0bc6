"""Mutation testing: which changes to the code would no test notice? `make mutants` (some hours).

mutmut writes every function beside its mutants, and an environment variable says which of them
runs. The tests chosen below for a file are collected once; for each mutant a process is forked that
runs them, those at the shell too, until one fails. As some functions run at import, and as tests
share what they build, what outlives them is tried once more in a process that has neither the
program nor such folders. What outlives that too is printed.

mutmut leaves alone what is decorated, so kernels are mutated as plain Python.
`python -m tests.support.mutants queries/index.py` is for the mutants of one file.
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

from tests.support.shell import ROOT
from tests.support.warm import warm

WORKERS = os.cpu_count() or 1
FIRST = ("numpy", "numba", "polars", "pyarrow.parquet", "typer", "rich.progress", "hypothesis")
"""Imported once, before all forks. None of them starts a thread by that."""
LEFT_OUT = (
    "imports_nothing_heavy",  # mutmut is heavy
    "without_table_libraries",
    "oracles",
    "every_state_of",
    "every_pair_of",
    "test_6x6",
    "tours_on_6x6",
    "memory",
    "a_path_is_found_where",
    "compiler_off",
    "two_builds",
    "depends_on_its_ends",
)
"""Tests that are not about the code, or too slow to be asked a thousand times."""
OPTIONS = [
    *("-x", "-q", "-p", "no:cacheprovider", "-o", "tmp_path_retention_policy=failed"),
    *("-W", "ignore:overflow", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("-k", f"not ({' or '.join(LEFT_OUT)})"),
]

RULES = {
    "tablebase/puzzle.py": "eight rebuilt[eight] golden[eight] golden[no] registry new",
    "tablebase/graph.py": "senet rebuilt[senet]",
    "tablebase/frontier.py": "numbered_tours",
    "tablebase/layers.py": "numbered_tours",
    "tablebase/puzzles/__init__.py": "golden[eight] registry",
    "tablebase/puzzles/numbered_tours.py": "numbered_tours queries/numbered",
    "tablebase/puzzles/eight.py": "eight rebuilt[eight] golden[eight] golden[bad] goals batch",
    "tablebase/puzzles/senet.py": "senet rebuilt[senet] golden[senet] golden[bad]",
    "tablebase/puzzles/knight.py": "knight rebuilt[knight] golden[knight] golden[no] golden[bad]",
    "tablebase/puzzles/knight_board.py": "knight golden[knight] golden[no] golden[bad]",
}
ANSWERS = {
    "queries/__init__.py": "queries",
    "queries/answers.py": "answers doors registry refusals queries drawings streams batch",
    "queries/batch.py": "batch inputs columns streams",
    "queries/eight/columns.py": "queries batch columns",
    "queries/eight/reader.py": "doors refusals queries drawings batch",
    "queries/forms.py": "answers doors page[docs/cli.md]",
    "queries/goals.py": "goals refusals index_contradicts registry queries/sliding batch",
    "queries/inputs.py": "inputs",
    "queries/index.py": "index_format doors index",
    "queries/knight/numbered.py": "queries/numbered queries/sampling golden[bad]",
    "queries/knight/jumps.py": "queries/jumps page[docs/jumps.svg]",
    "queries/knight/reader.py": "doors refusals index_contradicts queries drawings batch",
    "queries/knight/sampling.py": "queries/sampling",
    "queries/knight/tours.py": "queries/sampling",
    "queries/overview.py": "overview registry toys tables/sliding status golden[overview]",
    "queries/scans.py": "checked_file",
    "queries/eight/rapid.py": "queries",
    "queries/plain.py": "plain",
    "queries/reader.py": "answers registry queries drawings batch columns",
    "queries/rows.py": "batch columns",
    "queries/senet/reader.py": "doors refusals index_contradicts queries drawings batch",
    "queries/stretches.py": "inputs batch",
    "queries/eight/ways.py": "columns goals",
    "queries/tables.py": "refusals doors registry queries tables batch",
    "queries/words.py": "answers doors",
}
KERNELS = {
    "pipeline/search/breadth_first.py": "breadth_first",
    "pipeline/search/pairs.py": "pairs",
    "pipeline/search/tours.py": "tours",
    "pipeline/verify/knight/recount.py": "recount",
    "pipeline/verify/sliding/neighbours.py": "neighbours",
    "tablebase/packed.py": "packed",
}
"""Files whose kernels are mutated, too: their tests have small boards."""
MAKING = {
    "pipeline/build.py": "build build_troubles several_files removal",
    "pipeline/making/__init__.py": "work build",
    "pipeline/making/boards.py": "work build rebuilt[knight]",
    "pipeline/making/breadth_first.py": "build build_troubles",
    "pipeline/making/every_tour.py": "work build",
    "pipeline/making/tour_a_pair.py": "work rebuilt[knight]",
    "pipeline/making/tour_counts.py": "work removal rebuilt[knight]",
    "pipeline/pieces.py": "pieces",
    "pipeline/plan.py": "plan",
    "pipeline/samples.py": "queries/sampling",
    "pipeline/work.py": "work build",
    "tablebase/tables/kept.py": "work build",
}
PROOFS = {
    "pipeline/verify/eight/states.py": "verify/eight",
    "pipeline/verify/goals.py": "verify/new verify/eight",
    "pipeline/verify/knight/counts.py": "verify/counts verdicts",
    "pipeline/verify/knight/numbered.py": "verify/numbered verdicts",
    "pipeline/verify/knight/references.py": "verify/counts verify/knight",
    "pipeline/verify/knight/resweep.py": "recount",
    "pipeline/verify/knight/tours.py": "verify/knight",
    "pipeline/verify/senet/proof.py": "verify/senet",
    "pipeline/verify/sliding/proof.py": "verify/sliding",
    "pipeline/verify/walks.py": "verify/walks toys",
}
"""Nothing of these runs at import, or in what tests share."""
TRUST = {
    "pipeline/verify/claims.py": "claims told verify/eight verify/sliding",
    "pipeline/verify/listings.py": "verdicts toys",
    "pipeline/verify/verdicts.py": "verdicts",
    "tablebase/puzzles/installed.py": "installed",
    "tablebase/tables/manifest.py": "manifest store status pages build",
    "tablebase/tables/mending.py": "mending",
}
ROOMS = RULES, ANSWERS, KERNELS, MAKING, PROOFS, TRUST
TESTS = {source: tests for room in ROOMS for source, tests in room.items()}
"""For each file that is mutated: files of tests, or one test of a kind, the quickest first."""
KINDS = {
    "golden": "command/test_cli.py::test_golden",
    "page": "project/test_docs.py::test_page_is_what_the_program_writes",
    "rebuilt": "tables/test_rebuilt.py::test_a_table_built_again_is_the_one_published",
}


def main(*sources: str) -> None:
    for asked in ([source for source in room if source in (sources or TESTS)] for room in ROOMS):
        if not asked:
            continue
        with tempfile.TemporaryDirectory() as place:
            copy_of_the_project(Path(place))
            command = [sys.executable, "-m", "tests.support.mutants", "--here", *asked]
            subprocess.run(command, cwd=place, check=True, env={**os.environ, "PYTHONPATH": place})


def copy_of_the_project(folder: Path) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    tables = [f"outputs/{path.name}" for path in (ROOT / "outputs").iterdir() if path.suffix]
    for name in [*listed.stdout.decode().splitlines(), *tables]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)


def mutate_here(*sources: str) -> None:
    mutants = {source: mutants_of(source) for source in sources}
    for name in FIRST:
        importlib.import_module(name)
    warm("pipeline")  # one for all: each is told which mutant runs
    for source, names in mutants.items():
        with ProcessPoolExecutor(1, get_context("fork")) as apart:
            found, limit = apart.submit(collected, source, names).result()
        if code := found.pop(""):
            sys.exit(f"the tests of {source} end with {code} when nothing is changed")
        afresh = functools.partial(pytest.main, arguments(source), [Unshrunk()])
        again = [name for name in names if found[name] == 0 and source not in PROOFS]
        found |= verdicts(again, limit, afresh)
        outlived = [name for name, code in found.items() if code == 0]
        for name in outlived:
            print(difference(source, name))
        late = sum(code == -signal.SIGALRM for code in found.values())
        print(
            f"{source:<34} {len(found) - len(outlived):>5} of {len(found):>5} mutants noticed,"
            f" {late} of them by the time they took",
            flush=True,
        )


def mutants_of(source: str) -> list[str]:
    """The names of all its mutants, which from now on are in the file."""
    path = Path(source)
    text = path.read_text("utf-8")
    if source in KERNELS:
        text = text.replace("\n@compiled\n", "\n")
    mutated = mutate_file_contents(source, text)
    path.write_text(mutated.code, "utf-8")
    return [get_mutant_name(path, name) for name in mutated.mutant_names]


def verdicts(mutants: list[str], limit: float, trial: Callable[[], int]) -> dict[str, int]:
    """What the tests end with when each mutant runs: 0 if none notices it."""
    found: dict[str, int] = {}
    running: dict[int, str] = {}
    waiting = list(mutants)
    while waiting or running:
        while waiting and len(running) < WORKERS:
            name = waiting.pop()
            child = os.fork()
            if not child:
                try_out(name, limit, trial)
            running[child] = name
        ended, status = os.wait()
        with contextlib.suppress(ProcessLookupError):  # what a late one had started goes with it
            os.killpg(ended, signal.SIGKILL)
        found[running.pop(ended)] = os.waitstatus_to_exitcode(status)
    return found


def try_out(mutant: str, limit: float, trial: Callable[[], int]) -> NoReturn:
    code = 99
    os.setsid()
    try:
        signal.setitimer(signal.ITIMER_REAL, limit)  # its signal ends the process: noticed
        os.environ["MUTANT_UNDER_TEST"] = mutant
        silence()
        code = int(trial())
    finally:
        os._exit(code)


def silence() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def arguments(source: str) -> list[str]:
    return [*OPTIONS, source, *files(TESTS[source])]


def collected(source: str, mutants: list[str]) -> tuple[dict[str, int], float]:
    """The verdicts of processes that have all tests before them, and the time each was given."""
    silence()
    os.environ["MUTANT_UNDER_TEST"] = ""
    forking = Forking(mutants)
    code = pytest.main(arguments(source), [Unshrunk(), forking])
    return forking.found or {"": int(code)}, forking.limit


class Forking:
    """A plugin of pytest: for every mutant a process runs the tests that are collected."""

    def __init__(self, mutants: list[str]) -> None:
        self.mutants, self.limit = mutants, 3600.0
        self.found: dict[str, int] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        def trial() -> int:
            for item, following in zip_longest(session.items, session.items[1:]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.testsfailed:
                    return 1
            return 0

        # one place for all: what tests share there is made before anything is changed
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        begun = time.monotonic()
        self.found = verdicts([""], self.limit, trial)
        self.limit = 30 + 4 * (time.monotonic() - begun)
        if not self.found[""]:
            self.found |= verdicts(self.mutants, self.limit, trial)
        return True


class Unshrunk:
    """A plugin of pytest: hypothesis need not look for the smallest example of a mutant's fault."""

    def pytest_sessionstart(self) -> None:
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", settings.get_profile("tests"), phases=phases)
        settings.load_profile("mutants")


def files(tests: str) -> list[str]:
    """
    >>> files("batch golden[no]")
    ['tests/queries/test_batch.py', 'tests/command/test_cli.py::test_golden[no]']
    >>> [source for source, tests in TESTS.items() if not Path(source).exists() or not files(tests)]
    []
    """
    found = []
    for word in tests.split():
        kind, opened, which = word.partition("[")
        room, _, of = kind.rpartition("/")
        of_kind = sorted(str(path) for path in Path("tests").glob(f"{room or '*'}/test_{of}.py"))
        found.append(f"tests/{KINDS[kind]}[{which}" if opened else of_kind[0])
    return found


def difference(source: str, mutant: str) -> str:
    name = mutant.rpartition(".")[2]
    original = name.partition("__mutmut_")[0] + "__mutmut_orig"
    before, after = (
        ast.unparse(functions(source)[of]).replace(of, name).splitlines() for of in (original, name)
    )
    lines = difflib.unified_diff(before, after, lineterm="", n=1)
    return "\n".join([mutant, *list(lines)[2:]])


@functools.cache
def functions(source: str) -> dict[str, ast.FunctionDef]:
    found = ast.walk(ast.parse(Path(source).read_text("utf-8")))
    return {node.name: node for node in found if isinstance(node, ast.FunctionDef)}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        mutate_here(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
