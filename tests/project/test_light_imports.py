"""What answers one key, completes a word or draws a picture imports nothing slow."""

import ast
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import ROOT, python

PROGRAM = """
import sys
before = {{*sys.modules}}
{code}
print(*sorted({{*sys.modules}} - before), file=sys.stderr)
"""
RUN = "from puzzle_tablebase.pipeline.run import run_command; assert run_command({words}) == 0"
PICTURES = """
from puzzle_tablebase.queries.tables import open_tables
for key in ("eight", "867254301"), ("senet", "ABAAABBB.B...A."), ("knight", "b1"):
    open_tables().answer(*key).to_svg()
"""
PLAIN = {
    "eight 378546201": ("outputs", 16),
    "senet ABAAABBB.B...A.": ("outputs", 15),
    "knight b1": ("outputs", 16),
    "sliding 0369147a258b --board 3x4": ("large_boards", 17),
}
"""A single lookup of each puzzle, with the fixture that has its tables, and the most modules of
ours with content that it loads: of a package without any, nothing is read but its docstring."""
CHECKS = {
    "eight 378546201 UULDDRURULLDDRRULDLURULDDRR": "outputs",
    "eight 378546201 Up,Left": "outputs",
    "senet ABAAABBB.B...A. 9-14 4x7": "outputs",
    "knight b1 a3c2": "outputs",
    "sliding 12345670a98b D --board 3x4": "large_boards",
    "sliding 9876543210 U L --board 2x5 --json": "large_boards",
}
"""Judgements of one answer."""
WITH_OPTIONS = {
    "eight 087654321 --goal 103245768 --json": "outputs",
    "eight 150423786 --boards": "outputs",
    "senet ABAAABBB.B...A. --json --path": "outputs",
    "knight e4 --closed --json": "outputs",
    "knight b1 --closed --rank 77 --board 6x6": "ranked_boards",
    "sliding 9876543210 --board 2x5": "large_boards",
    "sliding 1234567809 --board 5x2 --path --json": "large_boards",
}


def read_contract() -> dict[str, Any]:
    """Read what `pyproject.toml` says of the light path."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (light,) = (each for each in contracts if each["name"].startswith("the light path"))
    return dict(light)


HEAVY = {*read_contract()["forbidden_modules"], "typing"}
"""What no lookup may load. The contract leaves out `typing`, which is imported for checkers."""


def list_imported(code: str, folder: Path, **more: str) -> set[str]:
    """Return the modules that some code imports."""
    ended = python(PROGRAM.format(code=code), env={"PIPELINE_OUTPUTS": str(folder), **more})
    assert ended.code == 0, ended.err
    return {*ended.err.split()}


def has_content(module: str) -> bool:
    """Return whether a module has more than a docstring."""
    path = ROOT / module.replace(".", "/")
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return len(ast.parse(source.read_text("utf-8")).body) > 1


def list_packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_the_listed_modules_are_those_that_lookups_load(request: pytest.FixtureRequest) -> None:
    listed, loaded = read_contract()["source_modules"], set[str]()
    assert listed == sorted(listed)
    for words, (fixture, most) in PLAIN.items():
        code = RUN.format(words=["query", *words.split()])
        modules = list_imported(code, request.getfixturevalue(fixture))
        ours = {name for name in modules if name.partition(".")[0] == "puzzle_tablebase"}
        assert not list_packages(modules) & HEAVY, words
        with_content = sorted(filter(has_content, ours))
        assert len(with_content) <= most, (words, with_content)
        loaded |= ours
    for words, fixture in CHECKS.items():
        code = RUN.format(words=["check", *words.split()])
        modules = list_imported(code, request.getfixturevalue(fixture))
        assert not list_packages(modules) & HEAVY, words
        loaded |= {name for name in modules if name.partition(".")[0] == "puzzle_tablebase"}
    assert loaded == {*listed}


def test_options_and_the_package_import_nothing_heavy(request: pytest.FixtureRequest) -> None:
    code = "import puzzle_tablebase"
    for words, fixture in WITH_OPTIONS.items():
        folder = str(request.getfixturevalue(fixture))
        code += f"\n{RUN.format(words=['query', *words.split(), '--outputs', folder])}"
    assert not list_packages(list_imported(code, ROOT)) & HEAVY


def test_opening_all_readers_imports_nothing_heavy(outputs: Path) -> None:
    code = "import puzzle_tablebase as pt; tables = pt.open_tables()\n"
    opened = f"{code}tables.eight, tables.senet, tables.knight, tables.fifteen"
    assert not list_packages(list_imported(opened, outputs)) & HEAVY


def test_a_listed_tour_needs_neither_polars_nor_numpy(outputs: Path) -> None:
    words = ["query", "knight", "a1", "--board", "6x6", "--number", "12345", "--json"]
    imported = list_packages(list_imported(RUN.format(words=words), outputs))
    assert "pyarrow" in imported
    assert not imported & {"numpy", "polars", "pandas", "typer"}


def test_what_reads_no_rows_imports_no_frames(outputs: Path) -> None:
    """Ask for the state of the tables, and build what is up to date."""
    words = ["status"], ["precompute", "--quiet"]
    code = "\n".join(RUN.format(words=each) for each in words)
    assert not list_packages(list_imported(code, outputs)) & {"numba", "polars", "pyarrow"}


def test_a_picture_needs_the_standard_library_alone(outputs: Path) -> None:
    assert not list_packages(list_imported(PICTURES, outputs)) & HEAVY - sys.stdlib_module_names


READ = """
import polars as pl
from puzzle_tablebase.queries.tables import open_tables
tables = open_tables()
eight, senet, knight = tables.eight, tables.senet, tables.knight
keys = pl.DataFrame({"state": ["378546201"] * 2_000, "answer": ["U"] * 2_000})
assert eight.annotate(keys).height == eight.check_frame(keys).height == 2_000
assert eight.arrays().distances(["378546201"]).tolist() == [27]
for reader in (eight, senet, knight):
    assert reader.sample(5).height == 5
assert senet.annotate(["ABAAABBB.B...A."])["plies"].to_list() == [2]
assert knight.count("a1", board="6x6").tours == 524_486
assert knight.probe("b1", board="6x6", number=5).path
"""


def test_batches_checks_and_samples_need_no_compiler(outputs: Path) -> None:
    assert not list_packages(list_imported(READ, outputs)) & {"numba", "llvmlite"}


@pytest.mark.parametrize("line", ["remove ", "query knight b1 --board ", "query eight --goal "])
def test_a_completion_imports_nothing_heavy(line: str, ranked_boards: Path) -> None:
    code = "from puzzle_tablebase.pipeline.run import run_command; run_command([])"
    words = {"COMP_WORDS": f"pipeline {line}", "COMP_CWORD": str(len(line.split(" ")))}
    imported = list_imported(code, ranked_boards, _PIPELINE_COMPLETE="complete_bash", **words)
    assert not list_packages(imported) & {"numba", "numpy", "polars", "pyarrow", "pandas"}
