"""Tests of plugins: puzzle packages that are found by their entry points, or refused."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from puzzle_tablebase.errors import BadRequest, quote
from puzzle_tablebase.queries.tables import open_tables
from puzzle_tablebase.registry import (
    MODULES,
    PluginError,
    get_load_errors,
    get_puzzle,
    is_registered,
    list_names,
    list_puzzles,
)
from tests.support.build_recorder import build_tables
from tests.support.pancakes import PUZZLE as PANCAKE_PUZZLE
from tests.support.shell import ROOT, SCRIPT, Cli, run, run_here

PANCAKES = "from tests.support.pancakes import PUZZLE\n"
JUGS = "from tests.support.jugs import PUZZLE\n"


def install(site: Path, package: str, puzzle: str, code: str) -> None:
    """Install a package of one module, as installers do, with an entry point for one puzzle."""
    about = site / f"{package}-1.0.dist-info"
    about.mkdir()
    (site / f"{package}.py").write_text(code)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[puzzle_tablebase.plugins]\n{puzzle} = {package}\n")


@pytest.fixture
def cli() -> Cli:
    """Return a function that runs the program in a process, which finds packages at its start."""
    return lambda *words, **options: run([SCRIPT, *words], **options)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a folder where packages are found; unload what was imported from it afterwards."""
    before = {*sys.modules}
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr("puzzle_tablebase.registry._load_errors", {})
    monkeypatch.setattr("puzzle_tablebase.registry._points", {})
    yield folder
    for name in {*sys.modules} - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_plugins_are_found_by_name_and_listed_last(site: Path) -> None:
    install(site, "breakfast", "pancakes", PANCAKES)
    install(site, "water", "jugs", JUGS)
    install(site, "other", "eight", PANCAKES)
    assert get_puzzle("eight").title == "8-puzzle", "a built-in puzzle keeps its name"
    assert list_names() == [*MODULES, "jugs", "pancakes"]
    assert [puzzle.title for puzzle in list_puzzles()][-2:] == ["Two jugs", "Pancakes"]
    assert get_puzzle("pancakes") is list_puzzles()[-1]
    assert is_registered("jugs")
    assert not is_registered("hanoi")
    assert not get_load_errors()


CLASS = "import puzzle_tablebase.puzzles as t\n"
EIGHT = "PUZZLE.tables = (PUZZLE.make_goal_table('eight', '', ('stacked',)),)"
REFUSED = [
    ("stacks", PANCAKES),
    ("pancakes", "import nowhere"),
    ("pancakes", "1 / 0"),
    ("pancakes", "import sys\nsys.exit(3)"),
    ("pancakes", ""),
    ("pancakes", f"{CLASS}class Cakes(t.GoalPuzzle): pass\nPUZZLE = Cakes"),
    ("pancakes", f"{CLASS}class Cakes(t.StateSpace): name = 'pancakes'\nPUZZLE = Cakes()"),
    ("pancakes", f"{PANCAKES}{EIGHT}"),
]


@pytest.mark.parametrize(("name", "code"), REFUSED)
def test_a_plugin_that_cannot_be_loaded_is_refused_alone(
    site: Path, name: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PANCAKE_PUZZLE, "tables", PANCAKE_PUZZLE.tables)
    install(site, "bad", name, code)
    assert [puzzle.name for puzzle in list_puzzles()] == [*MODULES]
    (error,) = get_load_errors()
    assert error.exit_code == 3
    assert f"{name!r} of bad " in str(error)
    with pytest.raises(PluginError):
        get_puzzle(name)


def test_two_packages_with_one_name_are_both_refused(site: Path) -> None:
    for package in ("bakery", "breakfast"):
        install(site, package, "pancakes", PANCAKES)
    install(site, "water", "jugs", JUGS)
    assert [puzzle.name for puzzle in list_puzzles()] == [*MODULES, "jugs"]
    with pytest.raises(PluginError):
        get_puzzle("pancakes")


def test_a_plugin_at_the_shell(cli: Cli, site: Path, tmp_path: Path) -> None:
    install(site, "breakfast", "pancakes", PANCAKES)
    env = {"PYTHONPATH": f"{site}:{ROOT}", "PIPELINE_OUTPUTS": str(tmp_path)}
    assert cli("precompute", "pancakes", env=env).code == 0
    assert cli("query", "pancakes", "45321", "--path", env=env).out == "45321\n54321\n12345\n"
    assert open_tables(str(tmp_path)).goals("pancakes").probe("54321").distance == 1
    variables = {"_PIPELINE_COMPLETE": "complete_bash", "COMP_CWORD": "2", **env}
    words = {"COMP_WORDS": "pipeline histogram p"}
    assert cli(env={**variables, **words}).out.split() == ["pancakes"]
    # in this process, which finds packages in the same folders
    for words in ({"COMP_WORDS": f"pipeline {command} p"} for command in ("precompute", "query")):
        assert run_here(env={**variables, **words}).out.split() == ["pancakes"]
    batch = run_here("query", "pancakes", env=env, stdin="54321 11111")
    assert (batch.code, batch.out.splitlines()[1]) == (2, "54321,stacked,1,5,1,")
    assert "Built by pancakes:" in run_here("precompute", "--list", "pancakes", env=env).out
    states = json.loads(run_here("status", "--json", env=env).out)
    assert ("pancakes", "published", 120) in [(*row.values(),)[:3] for row in states]
    assert "pancakes  Pancakes: answer one key" in cli("query", "--help", env=env).out


LONG = "n" * 65
NAMES = [
    ("twin-table", "use ASCII letters, digits and underscores."),
    ("zwölf", "use ASCII letters, digits and underscores."),
    ("2pancakes", "use ASCII letters, digits and underscores, beginning with a letter."),
    (LONG, "65 characters are more than 64."),
]


@pytest.mark.parametrize(("table", "problem"), NAMES)
def test_an_invalid_table_name_is_refused_before_the_search(
    site: Path, table: str, problem: str, tmp_path: Path
) -> None:
    code = f"{CLASS}class Cakes(t.GoalPuzzle):\n"
    code += "    name, goals, letters, size, example = 'cakes', {'a': 'a'}, 'x', 1, 'a'\n"
    code += f"PUZZLE = Cakes()\nPUZZLE.tables = (PUZZLE.make_goal_table({table!r}, '', ('a',)),)"
    install(site, "breakfast", "cakes", code)
    with pytest.raises(BadRequest) as caught:  # its search would raise NotImplementedError
        build_tables(tmp_path / "outputs", get_puzzle("cakes"))
    assert str(caught.value) == f"Invalid table name {quote(table, 80)}: {problem}"
    assert not (tmp_path / "outputs").exists()


def test_a_broken_plugin_does_not_affect_other_puzzles(
    cli: Cli, site: Path, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, "bad", "pancakes", "import nowhere")
    env = {"PYTHONPATH": str(site), "PIPELINE_OUTPUTS": str(outputs)}
    completed = cli("query", "pancakes", "54321", env=env)
    assert (completed.code, completed.out) == (3, "")
    assert cli("precompute", "pancakes", env=env) == completed
    assert cli("query", "eight", "123456780", env=env).code == 0
    assert cli("query", "hanoi", "1", env=env).code == 3  # names that are near are looked for
    # in this process, which finds packages in the same folders
    status = run_here("status", env=env)
    assert (status.code, "knight_counts" in status.out, status.err) == (3, True, completed.err)
    monkeypatch.setattr("puzzle_tablebase.registry._load_errors", {})
    monkeypatch.setattr("puzzle_tablebase.registry._points", {})
    assert run_here("precompute", "eight", "--quiet", env=env) == (0, "", "")
