"""Plugins: puzzles of other packages, each an entry point that names a module with a `PUZZLE`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from puzzle_tablebase.errors import TablebaseError, quote
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.schema import Table

GROUP = "puzzle_tablebase.plugins"


class PluginError(TablebaseError):
    """A plugin that cannot be used."""

    __module__ = TablebaseError.__module__

    exit_code = 3

    def __init__(self, puzzle: str, packages: list[str], problem: str) -> None:
        many = len(packages) > 1
        origin = f"package{'s' * many} {' and '.join(packages)}"
        hint = f"Update or uninstall {'one of them' if many else 'it'}."
        super().__init__(
            f"The puzzle {quote(puzzle)} of the {origin} cannot be used: {problem}. {hint}"
        )
        self.puzzle = puzzle
        self.packages = packages
        self.problem = problem


@cache
def find_entry_points() -> dict[str, list[EntryPoint]]:
    """Find the entry points by name, in alphabetical order; several packages may use one name."""
    points_by_name: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        points_by_name.setdefault(point.name, []).append(point)
    return points_by_name


def find_name_clashes(names: Iterable[str]) -> dict[str, PluginError]:
    """Return an error for each plugin that has one of these names, which are built in."""
    problem = "the program has a puzzle of that name itself"
    return {name: _make_error(name, problem) for name in names if name in find_entry_points()}


def load_plugin(name: str, builtin: Iterable[Puzzle]) -> Puzzle:
    """Load the plugin of a name; raise PluginError if it cannot be used beside built-in puzzles."""
    if len(find_entry_points()[name]) > 1:
        raise _make_error(name, "only one package may bring a puzzle of that name")
    (point,) = find_entry_points()[name]
    plugin = load_object(name, f"{point.value}:PUZZLE")
    if not isinstance(plugin, Puzzle):
        raise _make_error(name, f"PUZZLE in {point.value} is {_explain_type(plugin)}")
    missing = [part for part in ("name", "title", "tables") if not hasattr(plugin, part)]
    if missing:
        raise _make_error(name, f"PUZZLE in {point.value} has no {' and no '.join(missing)}")
    tables: object = plugin.tables
    if not isinstance(tables, tuple) or not all(isinstance(table, Table) for table in tables):
        wanted = f"{Table.__module__}.{Table.__qualname__}"
        raise _make_error(name, f"PUZZLE.tables in {point.value} is not a tuple of {wanted}")
    if plugin.name != name:
        raise _make_error(name, f"the puzzle itself is named {plugin.name!r}")
    clashes = [
        table.name
        for table in plugin.tables
        if any(puzzle.find_table(table.name) for puzzle in builtin)
    ]
    if clashes:
        raise _make_error(name, f"the program itself has a table {clashes[0]}")
    return plugin


def load_object(name: str, where: str) -> Any:
    """Load an object of a plugin by `module:name`; raise PluginError if that fails."""
    point = EntryPoint(name, where, GROUP)
    try:
        return point.load()
    except SystemExit as error:
        problem = f"{point.module} calls sys.exit when it is imported"
        raise _make_error(name, problem) from error
    except Exception as error:  # foreign code may raise anything when imported
        problem = f"loading {where} failed ({type(error).__name__}: {error})"
        raise _make_error(name, problem) from error


def _explain_type(value: object) -> str:
    """Say what a plugin's `PUZZLE` is, and what it should be."""
    if isinstance(value, type) and issubclass(value, Puzzle):
        return f"the class {value.__name__}, not an object of it: write PUZZLE = {value.__name__}()"
    kind = type(value)
    wanted = f"{Puzzle.__module__}.{Puzzle.__qualname__}"
    return f"an object of {kind.__module__}.{kind.__qualname__}, which does not inherit {wanted}"


def _make_error(name: str, problem: str) -> PluginError:
    packages = sorted({point.dist.name for point in find_entry_points()[name] if point.dist})
    return PluginError(name, packages, problem)
