"""Tests of `docs/your-puzzle.md`: its commands, run in an empty folder, print what it shows."""

import doctest
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tablebase.puzzle import GoalPuzzle, Puzzle, StateSpace
from tablebase.schema import Recipe
from tests import wide
from tests.support.shell import ROOT, environment

PAGE = (ROOT / "docs" / "your-puzzle.md").read_text("utf-8")
EXAMPLE = ROOT / "examples" / "pocket-cube"
SESSION = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A command of a session, and the lines below it."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PIP = f"""#!/bin/sh
# without network, and into a folder of the test
exec {sys.executable} -m pip "$@" --quiet --no-deps --no-build-isolation --no-index --target "$SITE"
"""
PIPELINE = f"""#!{sys.executable}
# without the puzzles of this program, which other tests build and prove
import sys
import tablebase.puzzles
from pipeline.run import main
tablebase.puzzles.MODULES.clear()
sys.exit(main())
"""


def find_code_blocks(kind: str) -> list[str]:
    return [text for result, text in BLOCK.findall(PAGE) if result == kind]


def run_commands(commands: list[str], folder: Path, env: dict[str, str]) -> list[str]:
    """Run commands in one shell; return the output of each."""
    result = subprocess.run(
        ["sh", "-c", "".join(f"{{ {command}; }} 2>&1; printf '\\0'\n" for command in commands)],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return result.stdout.split("\0")[:-1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with stand-ins for `pip` and `pipeline`, for packages to be installed in."""
    folder = tmp_path_factory.mktemp("your-puzzle")
    (folder / "bin").mkdir()
    for name, text in (("pip", PIP), ("pipeline", PIPELINE)):
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def env(place: Path) -> dict[str, str]:
    site = place / "site"
    result = environment({"SITE": str(site), "PYTHONPATH": str(site)})
    return {**result, "PATH": f"{place / 'bin'}:{result['PATH']}"}


@pytest.fixture(scope="module")
def typed_commands(place: Path, env: dict[str, str]) -> list[tuple[str, str, str]]:
    """Run every command of the page; return each with the output shown and the output printed."""
    first, *other_sessions = (SESSION.findall(text) for text in find_code_blocks("console"))
    text = run_commands([command for command, _ in first], place, env)
    cube = place / "pocket-cube"
    (cube / "pyproject.toml").write_text(find_code_blocks("toml")[0])
    (cube / "pocket_cube" / "__init__.py").write_text("\n".join(find_code_blocks("py")))
    later = [entry for session in other_sessions for entry in session]
    text += run_commands([command for command, _ in later], cube, env)
    return [(*entry, result) for entry, result in zip([*first, *later], text, strict=True)]


def test_the_files_in_the_page_are_those_of_the_example() -> None:
    assert find_code_blocks("toml") == [(EXAMPLE / "pyproject.toml").read_text()]
    written = re.sub(r"\n+", "\n", "".join(find_code_blocks("py")))
    assert written == re.sub(r"\n+", "\n", (EXAMPLE / "pocket_cube" / "__init__.py").read_text())


@pytest.mark.parametrize("owner", [Puzzle, StateSpace, GoalPuzzle, Recipe])
def test_the_reference_names_attributes_of_the_classes(owner: type) -> None:
    section = PAGE.partition(f"\n### {owner.__name__}\n")[2].partition("\n### ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert names
    inherited = inspect.signature(owner).parameters
    declared = {name for each in owner.__mro__ for name in vars(each).get("__annotations__", ())}
    assert names <= {*dir(owner), *declared, *inherited}


@wide
@pytest.mark.long
def test_the_commands_print_what_the_page_shows(typed_commands: list[tuple[str, str, str]]) -> None:
    assert typed_commands
    matches, flags = (
        doctest.OutputChecker().check_output,
        doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE,
    )
    for command, expected, printed in typed_commands:
        assert matches(expected, printed, flags), f"{command}:\n{printed}"


@wide
def test_the_report_has_its_histogram(
    typed_commands: list[tuple[str, str, str]], place: Path
) -> None:
    page = (place / "pocket-cube" / "outputs" / "report.html").read_text("utf-8")
    assert "<h2>Pocket cube</h2>" in page
    assert "3,674,160 states; the furthest: 276 at distance 14 from solved." in page
    assert 'id="pocket-cube-pocket_cube"' in page


@wide
def test_the_tests_of_the_example_pass(
    typed_commands: list[tuple[str, str, str]], place: Path, env: dict[str, str]
) -> None:
    tests = place / "tests"
    shutil.copytree(EXAMPLE / "tests", tests)
    module = place / "site" / "pocket_cube" / "__init__.py"
    shutil.copy(EXAMPLE / "pocket_cube" / "__init__.py", module)
    command = (
        f"{sys.executable} -m pytest -q --doctest-modules -p no:cacheprovider {tests} {module}"
    )
    (text,) = run_commands([command], place, env)
    assert re.search(r"\b16 passed in ", text), text
