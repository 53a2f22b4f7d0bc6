"""Puzzles of other packages: entry points, each naming a module that has a `PUZZLE`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from tablebase.errors import PluginError
from tablebase.puzzle import Puzzle

GROUP = "puzzle_tablebase.puzzles"


@cache
def find_entry_points() -> dict[str, list[EntryPoint]]:
    """The entry points by name, in alphabetical order; more than one where packages disagree."""
    points_by_name: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        points_by_name.setdefault(point.name, []).append(point)
    return points_by_name


def find_name_clashes(names: Iterable[str]) -> dict[str, PluginError]:
    """What is wrong with those that bear a name of ours."""
    problem = "the program has a puzzle of that name itself"
    return {name: _make_error(name, problem) for name in names if name in find_entry_points()}


def load_plugin(name: str, builtin: Iterable[Puzzle]) -> Puzzle:
    """The puzzle of that name; PluginError where it cannot be used beside ours."""
    if len(find_entry_points()[name]) > 1:
        raise _make_error(name, "only one package may bring a puzzle of that name")
    (point,) = find_entry_points()[name]
    plugin = load_object(name, f"{point.value}:PUZZLE")
    if not isinstance(plugin, Puzzle):
        raise _make_error(name, f"PUZZLE in {point.value} is of type {type(plugin).__name__}")
    if plugin.name != name:
        raise _make_error(name, f"the puzzle itself is named {plugin.name!r}")
    taken = [
        table.name
        for table in plugin.tables
        if any(puzzle.owns_table(table.name) for puzzle in builtin)
    ]
    if taken:
        raise _make_error(name, f"the program itself has a table {taken[0]}")
    return plugin


def load_object(name: str, where: str) -> Any:
    """What the package of a puzzle has at a place (`module:name`); PluginError where nothing."""
    point = EntryPoint(name, where, GROUP)
    try:
        return point.load()
    except Exception as error:  # whatever foreign code raises as it is imported
        problem = f"loading {where} failed ({type(error).__name__}: {error})"
        raise _make_error(name, problem) from error


def _make_error(name: str, problem: str) -> PluginError:
    packages = sorted({point.dist.name for point in find_entry_points()[name] if point.dist})
    return PluginError(name, packages, problem)
