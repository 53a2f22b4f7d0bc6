"""Plugins: puzzles of other packages, each an entry point that names a module with a `PUZZLE`."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from puzzle_tablebase.errors import BadRequest, TablebaseError, quote
from puzzle_tablebase.puzzle import Puzzle, StateSpace

GROUP = "puzzle_tablebase.plugins"


class PluginError(TablebaseError):
    """A plugin that cannot be loaded."""

    __module__ = TablebaseError.__module__

    exit_code = 3

    def __init__(self, puzzle: str, packages: list[str], problem: str) -> None:
        super().__init__(
            f"The puzzle {quote(puzzle)} of {' and '.join(packages)} cannot be loaded: {problem}. "
            "Update or uninstall it."
        )


@cache
def find_entry_points() -> dict[str, list[EntryPoint]]:
    """Find the entry points by name, in alphabetical order."""
    points_by_name: dict[str, list[EntryPoint]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        points_by_name.setdefault(point.name, []).append(point)
    return points_by_name


def load_plugin(name: str, builtin: Collection[Puzzle]) -> StateSpace:
    """Load the plugin of a name; raise PluginError if that fails, BadRequest for no name.

    `builtin`: the puzzles whose tables it must not name.
    """
    points = find_entry_points().get(name)
    if points is None:
        known = ", ".join([*(own.name for own in builtin), *find_entry_points()])
        raise BadRequest(f"There is no puzzle {quote(name)}", f"Puzzles: {known}")
    try:
        if len(points) > 1:
            raise ValueError("only one package may have a puzzle of that name")
        puzzle = points[0].load().PUZZLE
        if not isinstance(puzzle, StateSpace):
            raise TypeError("PUZZLE is not a GoalPuzzle or another StateSpace")
        if puzzle.name != name:
            raise ValueError(f"PUZZLE is named {puzzle.name!r}")
        taken = [
            known.name for known in puzzle.tables for own in builtin if own.find_table(known.name)
        ]
        if taken:
            raise ValueError(f"the program itself has a table {taken[0]}")
    except (Exception, SystemExit) as error:  # foreign code may raise anything when imported
        packages = sorted({point.dist.name for point in points if point.dist})
        raise PluginError(name, packages, f"{type(error).__name__}: {error}") from error
    return puzzle
