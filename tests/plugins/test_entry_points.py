"""Tests of plugins: puzzle packages that are found by their entry points, or refused."""

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.pipeline.single_query import answer_as_text
from puzzle_tablebase.pipeline.verify import TableVerdict, VerifyFailed, prove
from puzzle_tablebase.pipeline.verify.claims import Claim
from puzzle_tablebase.pipeline.verify.files import list_tables
from puzzle_tablebase.puzzles import (
    MODULES,
    get_load_errors,
    get_puzzle,
    is_registered,
    list_names,
    list_puzzles,
)
from puzzle_tablebase.puzzles.plugins import PluginError, find_entry_points
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.dispatch import get_reader_class
from puzzle_tablebase.tables.store import Folder
from tests.support.build_recorder import build_tables
from tests.support.plugin_packages import install
from tests.support.shell import ROOT, Cli, python
from tests.support.tampered import TABLES, cell, rewrite

PANCAKES = "from tests.support.pancakes import PUZZLE\n"
SQUARES = '''
"""A puzzle with all parts of its own: recipe, builder, reader and proof."""

import numpy as np

from puzzle_tablebase.queries.reader import DefaultReader
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Column, Recipe, Table


class Upto(Recipe):
    search = "squares"
    builder = "art:make"

    def list_parameters(self):
        return {"search": self.search, "up to": 9}


def make(recipe, puzzle, table, work):
    numbers = np.arange(10)
    columns = {"number": numbers, "square": numbers**2}
    return (chunk for chunk in [columns]), (chunk for chunk in ()), 0


class Reader(DefaultReader):
    key = "NUMBER"


def prove(listed, seen):
    from puzzle_tablebase.pipeline.verify.files import read_rows
    from puzzle_tablebase.pipeline.verify.claims import Verdict

    rows = read_rows(listed)
    with listed.begin_claim("every square is one") as fact:
        rows.require_column(fact, "square", rows.read_numbers("number") ** 2)
    return listed.make_proof(Verdict.PROVED, "every number was squared again")


class Squares(Puzzle):
    name = "squares"
    title = "Squares"
    reader = "art:Reader"
    proof = "art:prove"
    tables = (
        Table(
            "squares",
            "Squares",
            "rows by number",
            (Column("number", "int64", "a number"), Column("square", "int64", "its square")),
            Upto(),
        ),
    )


PUZZLE = Squares()
'''


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder where packages are found; unload what was imported from it afterwards."""
    before = {*sys.modules}
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr("puzzle_tablebase.puzzles._load_errors", {})
    find_entry_points.cache_clear()
    yield place
    find_entry_points.cache_clear()
    for name in {*sys.modules} - before:
        if str(place) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_plugins_are_found_by_name_and_listed_last(site: Path) -> None:
    install(site, "breakfast", "pancakes", PANCAKES)
    install(site, "art", "squares", SQUARES)
    assert list_names() == [*MODULES, "pancakes", "squares"]
    assert [puzzle.title for puzzle in list_puzzles()][-2:] == ["Pancakes", "Squares"]
    assert get_puzzle("pancakes") is list_puzzles()[-2]
    assert is_registered("squares")
    assert not is_registered("hanoi")
    assert not get_load_errors()


def test_all_parts_of_a_plugin_are_used(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "art", "squares", SQUARES)
    puzzle, folder = get_puzzle("squares"), tmp_path / "out"
    assert build_tables(folder, puzzle).finished == ["squares"]
    assert pl.read_parquet(folder / "squares.parquet").rows() == [(n, n * n) for n in range(10)]
    assert get_reader_class("squares").key == "NUMBER"
    assert answer_as_text("squares", "7", {"outputs": str(folder)}) == "number  7\nsquare  49\n"
    assert read_last_claim(folder) == [
        "every square is one", "squares: proved: every number was squared again"
    ]  # fmt: skip
    monkeypatch.setitem(TABLES, "squares", puzzle.tables[0])
    rewrite(folder, "squares", cell("square", 7, 48))
    with pytest.raises(VerifyFailed, match=r"every square is one.*48"):
        read_last_claim(folder)


def read_last_claim(folder: Path) -> list[str]:
    """Verify the tables of plugins in a folder; return the last proved claim and the verdicts."""
    claims: list[Claim] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("puzzle_tablebase.puzzles.MODULES", {})
        tables = list_tables(Folder(folder), lambda claim, _: claims.append(claim))
    verdicts: list[TableVerdict] = []
    prove(tables, verdicts.extend)
    lines = [f"{verdict.table}: {verdict.verdict}: {verdict.how}" for verdict in verdicts]
    return [*[claim.claim for claim in claims if claim.passed][-1:], *lines]


CLASS = "import puzzle_tablebase.puzzle as t\n"
REFUSED = [
    ("eight", PANCAKES, "the program has a puzzle of that name itself"),
    ("stacks", PANCAKES, "the puzzle itself is named 'pancakes'"),
    (
        "pancakes",
        "class Puzzle: pass\nPUZZLE = Puzzle()",
        (
            "PUZZLE in bad is an object of bad.Puzzle, "
            "which does not inherit puzzle_tablebase.puzzle.Puzzle"
        ),
    ),
    (
        "pancakes",
        f"{CLASS}class Cakes(t.Puzzle): pass\nPUZZLE = Cakes",
        "PUZZLE in bad is the class Cakes, not an object of it: write PUZZLE = Cakes()",
    ),
    (
        "pancakes",
        f"{CLASS}class Cakes(t.Puzzle): name = title = tables = 'pancakes'\nPUZZLE = Cakes()",
        "PUZZLE.tables in bad is not a tuple of puzzle_tablebase.schema.Table",
    ),
    ("pancakes", "import nowhere", "No module named 'nowhere'"),
    ("pancakes", "1 / 0", "ZeroDivisionError: division by zero"),
    ("pancakes", "import sys\nsys.exit(3)", "bad calls sys.exit when it is imported"),
    (
        "pancakes",
        f"{CLASS}class Cakes(t.Puzzle): name = 'pancakes'\nPUZZLE = Cakes()",
        "PUZZLE in bad has no title and no tables",
    ),
    ("pancakes", "", "no attribute 'PUZZLE'"),
    (
        "squares",
        SQUARES.replace('Table(\n            "squares"', 'Table(\n            "eight"'),
        "the program itself has a table eight",
    ),
]


@pytest.mark.parametrize(("name", "code", "problem"), REFUSED)
def test_a_plugin_that_cannot_be_used_is_refused_alone(
    site: Path, name: str, code: str, problem: str
) -> None:
    install(site, "bad", name, code)
    assert [puzzle.name for puzzle in list_puzzles()] == [*MODULES]
    (error,) = get_load_errors()
    assert (error.puzzle, error.packages, error.exit_code) == (name, ["bad"], 3)
    assert problem in error.problem
    assert str(error) == (
        f"The puzzle {name!r} of the package bad cannot be used: {error.problem}. "
        "Update or uninstall it."
    )
    if name in MODULES:
        assert error.problem == problem
    else:
        with pytest.raises(PluginError):
            get_puzzle(name)


def test_two_packages_with_one_name_are_both_refused(site: Path) -> None:
    for package in ("bakery", "breakfast"):
        install(site, package, "pancakes", PANCAKES)
    install(site, "art", "squares", SQUARES)
    assert [puzzle.name for puzzle in list_puzzles()] == [*MODULES, "squares"]
    problem = "cannot be used: only one package may bring a puzzle of that name"
    with pytest.raises(PluginError, match=f"of the packages bakery and breakfast {problem}"):
        get_puzzle("pancakes")


@pytest.mark.parametrize("part", ["reader", "proof"])
def test_a_missing_part_of_a_plugin_is_refused(site: Path, tmp_path: Path, part: str) -> None:
    install(site, "art", "squares", SQUARES.replace(f'{part} = "art:', f'{part} = "art:No'))
    folder = tmp_path / "out"
    build_tables(folder, get_puzzle("squares"))
    sentence = "package art cannot be used: loading art:No"
    if part == "reader":
        with pytest.raises(PluginError, match=sentence):
            answer_as_text("squares", "7", {"outputs": str(folder)})
    else:
        with pytest.raises(PluginError, match=sentence):
            read_last_claim(folder)


def test_help_lists_the_other_puzzles_if_a_reader_is_missing(cli: Cli, site: Path) -> None:
    install(site, "art", "squares", SQUARES.replace("art:Reader", "art:No"))
    result = cli("query", "--help", env={"PYTHONPATH": str(site)})
    assert result.code == 3
    assert "Knight's tour: answer one key" in result.out
    assert "squares" not in result.out
    assert "package art cannot be used: loading art:No" in result.err


def test_a_plugin_at_the_shell(cli: Cli, site: Path, tmp_path: Path) -> None:
    install(site, "breakfast", "pancakes", PANCAKES)
    env = {"PYTHONPATH": f"{site}:{ROOT}", "PIPELINE_OUTPUTS": str(tmp_path)}
    assert cli("precompute", "pancakes", env=env).code == 0
    assert cli("query", "pancakes", "45321", "--path", env=env).out == "45321\n54321\n12345\n"
    assert open_tables(str(tmp_path)).goals("pancakes").probe("54321").distance == 1
    batch = cli("query", "pancakes", env=env, stdin="54321 11111")
    assert (batch.code, batch.out.splitlines()[1]) == (2, "54321,stacked,1,5,1,")
    assert "pancakes  Pancakes: answer one key" in cli("query", "--help", env=env).out
    assert "--goal" in cli("query", "pancakes", "--help", env=env).out
    assert "knight, pancakes\n" in cli("precompute", "--help", env=env).out
    assert "Built by pancakes:" in cli("precompute", "pancakes", "--help", env=env).out
    assert cli("histogram", "pancakes", env=env).out.split()[-1] == "120"
    assert "pancakes           120" in cli("status", env=env).out
    for line in ("precompute p", "query p", "histogram p"):
        words = f"pipeline {line}"
        variables = {"_PIPELINE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "2"}
        assert cli(env={**env, **variables}).out.split() == ["pancakes"]


def test_a_broken_plugin_does_not_affect_other_puzzles(cli: Cli, site: Path, outputs: Path) -> None:
    install(site, "bad", "pancakes", "import nowhere")
    env = {"PYTHONPATH": str(site), "PIPELINE_OUTPUTS": str(outputs)}
    sentence = (
        "pipeline: The puzzle 'pancakes' of the package bad cannot be used: loading bad:PUZZLE "
        "failed (ModuleNotFoundError: No module named 'nowhere'). Update or uninstall it.\n"
    )
    status = cli("status", env=env)
    assert (status.code, status.err) == (3, sentence)
    assert "knight_counts" in status.out
    assert cli("query", "pancakes", "54321", env=env) == (3, "", sentence)
    assert cli("precompute", "pancakes", env=env) == (3, "", sentence)
    assert cli("precompute", "eight", "--quiet", env=env) == (0, "", "")
    assert cli("query", "eight", "123456780", env=env).code == 0
    assert cli("query", "hanoi", "1", env=env).code == 2


IMPORT_SCRIPT = """
import os, sys
import numpy, polars, rich.progress, typer.rich_utils  # imported once, as they take long
from puzzle_tablebase.pipeline.run import run_command

for words in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    sys.argv = ["pipeline", *words.split()]
    run_command(sys.argv[1:])
    print("looked" if "puzzle_tablebase.puzzles.plugins" in sys.modules else "did not look", words)
    sys.stdout.flush()
    os._exit(0)
"""


def test_plugins_are_searched_for_only_when_needed(place: Path) -> None:
    """Expect no search for plugins in help, or if all named puzzles are of this program."""
    commands = ["--help", "query eight --help", "precompute eight --help", "histogram --help"]
    commands += ["query eight", "precompute eight senet --quiet", "histogram eight"]
    result = python(IMPORT_SCRIPT, *commands, env={"PIPELINE_OUTPUTS": str(place / "outputs")})
    searches = [line for line in result.out.splitlines() if line.startswith(("looked", "did not"))]
    assert searches == [f"did not look {words}" for words in commands]
