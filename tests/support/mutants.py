"""Mutation testing: which changes to the code would no test notice? `make mutants` (some hours).

mutmut writes every function beside its mutants, and an environment variable says which of them
runs. For each mutant a process is forked that imports the program afresh and runs the tests chosen
below for its file, those at the shell too, until one fails. What outlives them is printed.

mutmut leaves alone what is decorated, so the search is mutated with its kernels as plain Python.
`python -m tests.support.mutants queries/index.py` is for the mutants of one file.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
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
    "oracles",
    "every_state_of",
    "every_pair_of",
    "6x6",
    "memory",
    "path_is_found",
    "two_builds",
    "depends_on_its_ends",
)
"""Tests that are not about the code, or too slow to be asked a thousand times."""
OPTIONS = [
    *("-x", "-q", "-p", "no:cacheprovider"),
    *("-W", "ignore:overflow", "-W", "ignore::pytest.PytestAssertRewriteWarning"),
    *("-k", f"not ({' or '.join(LEFT_OUT)})"),
]

RULES = {
    "tablebase/puzzle.py": "eight rebuilt[eight] golden[eight] golden[no] registry new",
    "tablebase/graph.py": "senet rebuilt[senet]",
    "tablebase/puzzles/__init__.py": "golden[eight] registry",
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
    "queries/goals.py": "doors refusals index_contradicts goals registry batch",
    "queries/inputs.py": "inputs",
    "queries/index.py": "index_format doors index",
    "queries/knight/reader.py": "doors refusals index_contradicts queries drawings batch",
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
SEARCH = {
    "pipeline/search/breadth_first.py": "breadth_first",
    "pipeline/search/pairs.py": "pairs",
    "pipeline/search/tours.py": "tours",
}
MAKING = {
    "pipeline/build.py": "build build_troubles several_files removal",
    "pipeline/making/__init__.py": "work build",
    "pipeline/making/boards.py": "work build rebuilt[knight]",
    "pipeline/making/breadth_first.py": "build build_troubles",
    "pipeline/making/every_tour.py": "work build",
    "pipeline/making/tour_a_pair.py": "work rebuilt[knight]",
    "pipeline/making/tour_counts.py": "work removal rebuilt[knight]",
    "pipeline/work.py": "work build",
    "tablebase/tables/kept.py": "work build",
}
TRUST = {
    "pipeline/verify/claims.py": "claims told verify/eight verify/sliding",
    "tablebase/puzzles/installed.py": "installed",
    "tablebase/tables/manifest.py": "manifest store status pages build",
}
ROOMS = RULES, ANSWERS, SEARCH, MAKING, TRUST
TESTS = {source: tests for room in ROOMS for source, tests in room.items()}
"""For each file that is mutated: files of tests, or one test of a kind, the quickest first."""
KINDS = {
    "golden": "command/test_cli.py::test_golden",
    "page": "project/test_docs.py::test_page_is_what_the_program_writes",
    "rebuilt": "tables/test_rebuilt.py::test_a_table_built_again_is_the_one_published",
}


def main(*sources: str) -> None:
    for room in ROOMS:
        asked = [source for source in room if source in (sources or TESTS)]
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
    mutants = [(source, name) for source in sources for name in mutants_of(source)]
    for name in FIRST:
        importlib.import_module(name)
    warm("pipeline")  # one for all: each is told which mutant runs
    for source in sources:
        begun = time.monotonic()
        if code := verdicts([(source, "")], limit=3600)[""]:
            sys.exit(f"the tests of {source} end with {code} when nothing is changed")
        limit = 30 + 4 * (time.monotonic() - begun)
        found = verdicts([mutant for mutant in mutants if mutant[0] == source], limit)
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
    if source in SEARCH:
        text = text.replace("\n@compiled\n", "\n")
    mutated = mutate_file_contents(source, text)
    path.write_text(mutated.code, "utf-8")
    return [get_mutant_name(path, name) for name in mutated.mutant_names]


def verdicts(mutants: list[tuple[str, str]], limit: float) -> dict[str, int]:
    """What the tests end with when each mutant runs: 0 if none notices it."""
    found: dict[str, int] = {}
    running: dict[int, str] = {}
    waiting = list(mutants)
    while waiting or running:
        while waiting and len(running) < WORKERS:
            source, name = waiting.pop()
            child = os.fork()
            if not child:
                try_out(source, name, limit)
            running[child] = name
        ended, status = os.wait()
        with contextlib.suppress(ProcessLookupError):  # what a late one had started goes with it
            os.killpg(ended, signal.SIGKILL)
        found[running.pop(ended)] = os.waitstatus_to_exitcode(status)
    return found


def try_out(source: str, mutant: str, limit: float) -> NoReturn:
    code = 99
    os.setsid()
    try:
        signal.setitimer(signal.ITIMER_REAL, limit)  # its signal ends the process: noticed
        os.environ["MUTANT_UNDER_TEST"] = mutant
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        code = int(pytest.main([*OPTIONS, source, *files(TESTS[source])], [Unshrunk()]))
    finally:
        os._exit(code)


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
    functions = {
        node.name: ast.unparse(node).replace(node.name, name).splitlines()
        for node in ast.walk(ast.parse(Path(source).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    lines = difflib.unified_diff(functions[original], functions[name], lineterm="", n=1)
    return "\n".join([mutant, *list(lines)[2:]])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        mutate_here(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
