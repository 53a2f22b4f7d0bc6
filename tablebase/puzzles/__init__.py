"""The registry: every puzzle by name. Ours are modules here, with their rules as `PUZZLE`.

A new puzzle of ours is one new module and one new line here. One of another package is an entry
point of it (`load_plugin`), which is looked for only where a name is not ours, or all are wanted.
"""

from __future__ import annotations

from tablebase.errors import PluginError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from tablebase.puzzle import Puzzle

    Result = TypeVar("Result")

MODULES = {
    "eight": "tablebase.puzzles.eight",
    "sliding": "tablebase.puzzles.sliding.definition",
    "senet": "tablebase.puzzles.senet",
    "knight": "tablebase.puzzles.knight.definition",
}

_load_errors: dict[str, PluginError] = {}


def import_object(where: str) -> Any:
    """What a module has under a name, imported only now: `module:name`."""
    module, _, name = where.partition(":")
    return getattr(__import__(module, fromlist=[name]), name)


def get_puzzle(name: str) -> Puzzle:
    """The puzzle registered under a name; PluginError where another package's is not usable.

    >>> get_puzzle("senet").title
    'Senet'
    """
    if name in MODULES:
        found: Puzzle = import_object(f"{MODULES[name]}:PUZZLE")
        return found
    from tablebase.puzzles.plugins import load_plugin

    return load_plugin(name, [get_puzzle(builtin) for builtin in MODULES])


def load_part(puzzle: Puzzle, where: str) -> Any:
    """What a puzzle brings beside its rules, by the place that it names: its reader, for example.

    PluginError where another package's place does not exist.
    """
    if puzzle.name in MODULES:
        return import_object(where)
    from tablebase.puzzles.plugins import load_object

    return load_object(puzzle.name, where)


def list_names() -> list[str]:
    """The names of all puzzles: ours, then those of other packages in alphabetical order."""
    from tablebase.puzzles.plugins import find_entry_points

    return [*MODULES, *(name for name in find_entry_points() if name not in MODULES)]


def is_registered(name: str) -> bool:
    """Whether a puzzle has that name."""
    return name in MODULES or name in list_names()


def collect_from_each(find: Callable[[Puzzle], Result]) -> list[Result]:
    """What is found for each puzzle that can be used; `get_load_errors` tells of the others."""
    from tablebase.puzzles.plugins import find_name_clashes

    _load_errors.update(find_name_clashes(MODULES))
    results = []
    for name in list_names():
        try:
            results.append(find(get_puzzle(name)))
        except PluginError as error:
            _load_errors[name] = error
    return results


def list_puzzles() -> list[Puzzle]:
    """All that can be used, in the order of their names."""
    return collect_from_each(lambda puzzle: puzzle)


def get_load_errors() -> list[PluginError]:
    """What was wrong with other packages' puzzles where all were wanted."""
    return list(_load_errors.values())


def list_puzzles_with_depths() -> list[str]:
    """Those whose states lie at depths, which can be counted.

    >>> list_puzzles_with_depths()
    ['eight', 'sliding', 'senet']
    """
    return [puzzle.name for puzzle in list_puzzles() if puzzle.depth]
