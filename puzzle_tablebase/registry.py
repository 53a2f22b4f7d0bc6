"""The registry of all puzzles by name: built-in ones, and plugins.

A new built-in puzzle needs one module, with its rules as `PUZZLE`, and one line in `MODULES`. A
plugin is an entry point of its package (`load_plugin`); entry points are read only for names that
are not built in, and to list all puzzles.

Nothing heavy is imported here: a single lookup imports this module, and must take a few
milliseconds in all.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, TablebaseError, quote
from puzzle_tablebase.puzzles import Puzzle, StateSpace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from importlib.metadata import EntryPoint
    from typing import Any, TypeVar

    Result = TypeVar("Result")

MODULES = {
    "eight": "puzzle_tablebase.puzzles.sliding:EIGHT",
    "sliding": "puzzle_tablebase.puzzles.sliding",
    "fifteen": "puzzle_tablebase.puzzles.fifteen",
    "senet": "puzzle_tablebase.puzzles.senet",
    "knight": "puzzle_tablebase.puzzles.knight.tables",
}

GROUP = "puzzle_tablebase.plugins"
_points: dict[str, dict[str, list[EntryPoint]]] = {}
"""The entry points by group, once they have been looked for."""
_load_errors: dict[str, PluginError] = {}


class PluginError(TablebaseError):
    """A plugin that cannot be loaded."""

    __module__ = TablebaseError.__module__

    exit_code = 3

    def __init__(self, puzzle: str, packages: list[str], problem: str) -> None:
        super().__init__(
            f"The puzzle {quote(puzzle)} of {' and '.join(packages)} cannot be loaded: {problem}. "
            "Update or uninstall it."
        )


def import_object(where: str) -> Any:
    """Import a module and return an object of it: `module:name`."""
    module, _, name = where.partition(":")
    return getattr(__import__(module, fromlist=[name]), name)


def get_puzzle(name: str) -> Puzzle:
    """Return the puzzle of a name; raise PluginError if it is a plugin that cannot be loaded.

    >>> get_puzzle("senet").title
    'Senet'
    """
    if name in MODULES:
        where = MODULES[name]
        puzzle: Puzzle = import_object(where if ":" in where else f"{where}:PUZZLE")
        return puzzle
    return load_plugin(name, [*map(get_puzzle, MODULES)])


def list_names() -> list[str]:
    """List the names of all puzzles: built-in ones, then plugins in alphabetical order."""
    return [*MODULES, *(name for name in find_entry_points() if name not in MODULES)]


def is_registered(name: str) -> bool:
    """Return whether a puzzle has that name."""
    return name in MODULES or name in list_names()


def collect_from_each(find: Callable[[Puzzle], Result]) -> list[Result]:
    """Return the result of `find` for each puzzle that can be loaded.

    `get_load_errors` returns the errors of the others.
    """
    results = []
    for name in list_names():
        try:
            results.append(find(get_puzzle(name)))
        except PluginError as error:
            _load_errors[name] = error
    return results


def list_puzzles() -> list[Puzzle]:
    """List the puzzles that can be loaded, in the order of `list_names`."""
    return collect_from_each(lambda puzzle: puzzle)


def find_owner(table: str) -> Puzzle | None:
    """Find the puzzle that a table of that name belongs to; built-in puzzles are asked first."""
    builtin = (get_puzzle(name) for name in MODULES)
    owner = next((puzzle for puzzle in builtin if puzzle.find_table(table)), None)
    return owner or next((puzzle for puzzle in list_puzzles() if puzzle.find_table(table)), None)


def get_load_errors() -> list[PluginError]:
    """Return the errors of the plugins that could not be loaded when all puzzles were listed."""
    return list(_load_errors.values())


def list_puzzles_with_depths() -> list[str]:
    """List the names of the puzzles with a column of depths, whose states can be counted by it.

    >>> list_puzzles_with_depths()
    ['eight', 'sliding', 'senet']
    """
    return [puzzle.name for puzzle in list_puzzles() if puzzle.depth]


# ---- plugins: each an entry point of a package, that names a module with a `PUZZLE` ------------


def find_entry_points() -> dict[str, list[EntryPoint]]:
    """Find the entry points by name, in alphabetical order."""
    from importlib.metadata import entry_points  # it takes longer than an answer

    if GROUP not in _points:
        by_name: dict[str, list[EntryPoint]] = {}
        for point in sorted(entry_points(group=GROUP), key=lambda each: (each.name, each.value)):
            by_name.setdefault(point.name, []).append(point)
        _points[GROUP] = by_name
    return _points[GROUP]


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
