"""Mutation testing: which changes to the code would no test notice? `make mutants` (some hours).

First mutmut changes each function in turn and runs the tests that call it, in processes forked
after all imports. What runs at import, and in processes that tests start, stays as it was. So every
mutant that is left is then run afresh: the tests of its file, the shell's too, in a process that is
told of the mutant from its start. What outlives both is printed.

mutmut leaves alone what is decorated, so the search is mutated with its kernels as plain Python.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.shell import ROOT

WORKERS = os.cpu_count() or 1
SECONDS = 400
"""A mutant that keeps its tests busy for longer has been noticed."""
ALIVE = (0, 33)
"""mutmut's words for: all tests passed, no test calls it."""
PACKAGES = ("pipeline", "queries", "mutants")
LEFT_OUT = (
    "imports_nothing_heavy",  # mutmut is heavy
    "at_the_shell",
    "oracles",
    "every_state_of",
    "6x6",
    "memory",
    "killed",
    "path_is_found",
    "depends_on_its_ends",
)
"""Tests that are not about the code, or too slow to be asked a thousand times."""
OPTIONS = [
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore:overflow",
    "-k",
    f"not ({' or '.join(LEFT_OUT)})",
]

AFRESH = {
    "pipeline/puzzle.py": "rebuilt[eight] golden[eight] golden[no] registry verify_new",
    "pipeline/graph.py": "rebuilt[senet]",
    "pipeline/puzzles/__init__.py": "golden[eight] registry",
    "pipeline/puzzles/eight.py": "rebuilt[eight] golden[eight] golden[bad] batch",
    "pipeline/puzzles/senet.py": "rebuilt[senet] golden[senet] golden[bad]",
    "pipeline/puzzles/knight.py": "rebuilt[knight] golden[knight] golden[no] golden[bad]",
    "pipeline/search/breadth_first.py": "breadth_first",
    "pipeline/search/pairs.py": "pairs",
    "pipeline/search/tours.py": "tours",
    "queries/__init__.py": "queries",
    "queries/answers.py": "golden[eight] golden[senet] golden[knight] golden[no] golden[help]",
    "queries/batch.py": "batch streams",
    "queries/columns.py": "batch queries",
    "queries/eight.py": "golden[eight] golden[no] batch",
    "queries/forms.py": "golden[bad] golden[help]",
    "queries/goals.py": "golden[eight] golden[no] registry",
    "queries/index.py": "golden[missing]",
    "queries/knight.py": "golden[knight] golden[no] golden[bad] batch",
    "queries/overview.py": "golden[overview] pages precompute",
    "queries/published.py": "batch",
    "queries/rapid.py": "queries",
    "queries/rows.py": "batch",
    "queries/senet.py": "golden[senet] golden[no] batch",
    "queries/tables.py": "registry",
}
"""For each file that is mutated what is run afresh: files of tests, or one test of a kind."""
KINDS = {
    "golden": "tests/test_cli.py::test_golden",
    "rebuilt": "tests/test_rebuilt.py::test_a_table_built_again_is_the_one_published",
}


class Part(NamedTuple):
    """Files that are mutated together, and the tests that call them."""

    name: str
    sources: list[str]
    tests: str


IN_PROCESS = "eight senet knight queries doors index goals refusals registry tables"
PARTS = [
    Part("answers", [source for source in AFRESH if "search" not in source], IN_PROCESS),
    Part(
        "search", [source for source in AFRESH if "search" in source], "breadth_first tours pairs"
    ),
]


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        for part in PARTS:
            folder = Path(place) / part.name
            copy_of_the_project(folder, part)
            run(folder, "-m", "mutmut", "run", "--max-children", str(WORKERS))
            report(folder)


def copy_of_the_project(folder: Path, part: Part) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, check=True)
    tables = [f"outputs/{path.name}" for path in (ROOT / "outputs").iterdir() if path.suffix]
    for name in [*listed.stdout.decode().splitlines(), *tables]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    for name in part.sources:
        if "/search/" in name:
            path = folder / name
            path.write_text(path.read_text("utf-8").replace("\n@compiled\n", "\n"), "utf-8")
    settings = {
        "source_paths": ["pipeline", "queries"],
        "only_mutate": list(part.sources),
        "also_copy": [path.name for path in folder.iterdir() if path.name not in PACKAGES],
        "pytest_add_cli_args_test_selection": files(part.tests),
        "pytest_add_cli_args": OPTIONS,
        "process_isolation": "forkserver",  # polars does not outlive a fork
        "timeout_multiplier": 3.0,
        "timeout_constant": 5.0,
    }
    with (folder / "pyproject.toml").open("a") as file:
        lines = (f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
        file.writelines(["\n[tool.mutmut]\n", *lines])


def files(tests: str) -> list[str]:
    """
    >>> files("batch golden[no]")
    ['tests/test_batch.py', 'tests/test_cli.py::test_golden[no]']
    """
    found = []
    for word in tests.split():
        kind, opened, which = word.partition("[")
        found.append(KINDS[kind] + opened + which if opened else f"tests/test_{kind}.py")
    return found


def run(folder: Path, *words: str, mutant: str = "", seconds: float | None = None) -> int:
    ended = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "MUTANT_UNDER_TEST": mutant},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    )
    return ended.returncode


def noticed_afresh(folder: Path, source: str, mutant: str) -> bool:
    words = ("-m", "pytest", "-x", "-q", *OPTIONS, *files(AFRESH[source]))
    try:
        return run(folder / "mutants", *words, mutant=mutant, seconds=SECONDS) != 0
    except subprocess.TimeoutExpired:
        return True


def report(folder: Path) -> None:
    made: Counter[str] = Counter()
    suspects = []
    for path in sorted((folder / "mutants").rglob("*.meta")):
        source = str(path.relative_to(folder / "mutants").with_suffix(""))
        codes = json.loads(path.read_text())["exit_code_by_key"]
        made[source] = len(codes)
        suspects += [(source, name) for name, code in codes.items() if code in ALIVE]
    outlived: Counter[str] = Counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        verdicts = pool.map(lambda suspect: noticed_afresh(folder, *suspect), suspects)
        for (source, name), noticed in zip(suspects, verdicts, strict=True):
            if not noticed:
                outlived[source] += 1
                subprocess.run(
                    [sys.executable, "-m", "mutmut", "show", name], cwd=folder, check=True
                )
    for source, count in made.items():
        if count:
            print(f"{source:<34} {count - outlived[source]:>5} of {count:>5} mutants noticed")


if __name__ == "__main__":
    main()
