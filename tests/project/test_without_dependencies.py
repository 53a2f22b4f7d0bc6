"""The wheel in an environment without other packages: what works there, and what says it does not.

As `pip install --no-deps` and `uvx` install it, the program is its entry point's script.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer

from puzzle_tablebase import __version__
from puzzle_tablebase.errors import PackageMissing, raise_missing
from puzzle_tablebase.pipeline.commands import app
from puzzle_tablebase.pipeline.plain_help import print_plain_help
from puzzle_tablebase.registry import MODULES
from tests.support.shell import ROOT, Cli, Completed, run

LIGHT = {
    "query eight 378546201": "27 moves",
    "query eight 087654321 --goal 103245768 --path --json": '"distance": 29',
    "query eight 150423786 --solutions": "",
    "query senet ABAAABBB.B...A.": "A 9-14, B 4x7",
    "query knight b1 --closed": "closed",
}
"""Lookups that need the standard library alone, and what they print."""
HEAVY = [
    *("query eight --hardest", "query eight 378546201 --svg picture.svg", "query eight"),
    *("query knight b1 --board 5x5", "check eight", "no-such-command"),
]
"""What needs packages, beside the other commands."""
HELP = {
    "": "check PUZZLE KEY ANSWER",
    "--help": "query PUZZLE KEY",
    "verify -h": "query PUZZLE KEY",
    "query eight --help": "--goal GOAL",
    "check senet --help": "check senet POSITION ANSWER",
    "--version": __version__,
}
"""Commands that print help, each with a text in it."""
FLAG = re.compile("(?<![a-z-])--[a-z-]+")
QUERIES = """
import puzzle_tablebase as pt
tables = pt.open_tables()
eight, knight = tables.eight, tables.knight
print(eight.distance("378546201"), eight.apply("378546201", "U"))
print(eight.check("152703846", "DLURURDDUD").score, knight.check("b1", "a3c2").result)
for function in (
    lambda: eight.annotate(["378546201"]),
    lambda: eight.check_frame(["378546201"]),
    lambda: eight.sample(3),
    lambda: eight.histogram(),
    lambda: eight.scan("eight"),
    lambda: eight.list_hardest(),
    lambda: eight.arrays(),
    lambda: tables.senet.list_hardest(),
    lambda: knight.probe("b1", board="5x5"),
    lambda: knight.count(),
    lambda: tables.fifteen.probe("123456789abcdef0"),
    lambda: tables.answer("eight", hardest=True),
    lambda: pt.precompute,
    lambda: pt.copy_tables,
    lambda: pt.open_tables("https://localhost/tables"),
):
    try:
        print(function())
    except pt.PackageMissing as error:
        assert isinstance(error, pt.TablebaseError) and error.exit_code == 3
        completed = str(error)
print(completed)
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


def run_apart(command: Sequence[str | Path], outputs: Path) -> Completed:
    """Run a command away from this checkout, without a traceback of what is not installed."""
    env = {"PIPELINE_OUTPUTS": str(outputs), "PIPELINE_TRACEBACK": "", "PYTHONPATH": ""}
    return run(command, cwd=outputs.parent, env=env)


def test_lookups_need_no_package(program: Path, outputs: Path) -> None:
    for words, answer in LIGHT.items():
        completed = run_apart([program, *words.split()], outputs)
        assert (completed.code, completed.err) == (0, ""), words
        assert answer in completed.out
    no_table = "query sliding 123450 --board 2x3"
    assert run_apart([program, *no_table.split()], outputs).code == 3


def list_required() -> list[str]:
    """List the packages that `pyproject.toml` requires."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [line.partition(">=")[0] for line in project["dependencies"]]


def find_imported() -> set[str]:
    """Find the packages that the program imports, but not for type checkers alone."""
    found = set[str]()
    folders = ("puzzle_tablebase", "pipeline", "queries")
    paths = (path for name in folders for path in (ROOT / name).rglob("*.py"))
    for path in (path for path in paths if "node_modules" not in path.parts):
        nodes: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
        while nodes:
            node = nodes.pop()
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
                continue
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
            nodes += ast.iter_child_nodes(node)
    return found - sys.stdlib_module_names - {"puzzle_tablebase"}


def test_each_package_that_is_imported_is_required_and_no_other() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    names = {*list_required(), *(line.partition(">=")[0] for line in extras)}
    required = {name.replace("-python", "").replace("-", "_") for name in names}
    comes_with_numba, is_optional = "llvmlite", "boto3"
    assert find_imported() == required | {comes_with_numba, is_optional}


def test_whatever_needs_packages_names_all_and_what_to_type(program: Path, outputs: Path) -> None:
    group = typer.main.get_command(app)
    commands = [*group.commands]  # type: ignore[attr-defined]  # it has some
    assert len(commands) > 5
    missing = f"Missing packages: {', '.join(list_required())}. Run: pip install puzzle-tablebase\n"
    for words in (*commands, *HEAVY):
        completed = run_apart([program, *words.split()], outputs)
        assert completed == (3, "", f"pipeline: {missing}"), words
    python = program.with_name("python")
    completed = run_apart([python, "-c", QUERIES], outputs)
    assert completed == (0, f"27 378506241\n0.8 incomplete\n{missing}", "")
    module: list[str | Path] = [python, "-m", "puzzle_tablebase", "query", "knight", "b1"]
    assert run_apart(module, outputs).code == 0


def test_help_needs_no_package(program: Path, outputs: Path) -> None:
    for words, text in HELP.items():
        completed = run_apart([program, *words.split()], outputs)
        assert (completed.code, completed.err) == (0, ""), words
        assert text in completed.out
        assert words == "--version" or "Run: pip install puzzle-tablebase\n" in completed.out


@pytest.mark.parametrize("puzzle", MODULES)
@pytest.mark.parametrize("command", ["query", "check"])
def test_help_without_packages_lists_what_the_command_takes(
    command: str, puzzle: str, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_plain_help([command, puzzle, "-h"], ModuleNotFoundError("", name="typer"))
    plain = {*FLAG.findall(capsys.readouterr().out)}
    assert {"--json", "--outputs"} < plain
    assert plain <= {*FLAG.findall(cli(command, puzzle, "--help").out)}


def test_an_extra_and_a_plugins_package_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, command in {
        "vl_convert": "pip install 'puzzle-tablebase[report]'",
        "distributed.client": "pip install 'puzzle-tablebase[cluster]'",
        "their_package.part": "pip install their_package",
    }.items():
        with pytest.raises(PackageMissing) as caught:
            raise_missing(ModuleNotFoundError("", name=module))
        assert caught.value.command == command
    monkeypatch.setattr("puzzle_tablebase.errors.is_installed", lambda name: name == "altair")
    with pytest.raises(PackageMissing) as caught:
        raise_missing(ModuleNotFoundError("", name="vl_convert"))
    assert caught.value.packages == ["vl-convert-python"], "not what is installed"
    with pytest.raises(ModuleNotFoundError):  # a mistake of ours
        raise_missing(ModuleNotFoundError("", name="puzzle_tablebase.nothing"))


def measure(command: Sequence[str | Path], outputs: Path) -> float:
    """Return the processor seconds of a command."""
    env = {"PATH": os.environ["PATH"], "PIPELINE_OUTPUTS": str(outputs)}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


@pytest.mark.slow
def test_a_lookup_takes_little_longer_than_starting_python(program: Path, outputs: Path) -> None:
    """Expect less than twice as long: it is 1.4 to 1.7, depending on the machine and its load.

    An import of `re` or `typing` by mistake takes it beyond.
    """
    lookups = ("eight 378546201", "knight b1")
    commands: list[list[str | Path]] = [[program, "query", *each.split()] for each in lookups]
    commands.append([program.with_name("python"), "-c", "pass"])
    # in turns, and the least of each: on a busy machine, most runs take longer
    rounds = [[measure(command, outputs) for command in commands] for _ in range(30)]
    *seconds, bare = map(min, zip(*rounds, strict=True))
    assert max(seconds) / bare < 2
