"""Registry of all puzzles by name. Built-in ones are modules here, with their rules as `PUZZLE`, or
as the object that is named after the module.

A new built-in puzzle needs one module and one line here. A plugin is an entry point of its package
(`load_plugin`); entry points are read only for names that are not built in, or to list all puzzles.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from puzzle_tablebase.puzzle import Puzzle
    from puzzle_tablebase.puzzles.plugins import PluginError

    Result = TypeVar("Result")

MODULES = {
    "eight": "puzzle_tablebase.puzzles.sliding:EIGHT",
    "sliding": "puzzle_tablebase.puzzles.sliding",
    "fifteen": "puzzle_tablebase.puzzles.fifteen",
    "senet": "puzzle_tablebase.puzzles.senet",
    "knight": "puzzle_tablebase.puzzles.knight.tables",
}

_load_errors: dict[str, PluginError] = {}


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
    from puzzle_tablebase.puzzles.plugins import load_plugin

    return load_plugin(name, [*map(get_puzzle, MODULES)])


def list_names() -> list[str]:
    """List the names of all puzzles: built-in ones, then plugins in alphabetical order."""
    from puzzle_tablebase.puzzles.plugins import find_entry_points

    return [*MODULES, *(name for name in find_entry_points() if name not in MODULES)]


def is_registered(name: str) -> bool:
    """Return whether a puzzle has that name."""
    return name in MODULES or name in list_names()


def collect_from_each(find: Callable[[Puzzle], Result]) -> list[Result]:
    """Return the result of `find` for each puzzle that can be loaded.

    `get_load_errors` returns the errors of the others.
    """
    from puzzle_tablebase.puzzles.plugins import PluginError

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
