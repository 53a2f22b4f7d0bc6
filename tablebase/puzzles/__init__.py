"""The registry: every puzzle by name. Ours are modules here, with their rules as `PUZZLE`.

A new puzzle of ours is one new module and one new line here. One of another package is an entry
point of it (`installed`), which is looked for only where a name is not ours, or all are wanted.
"""

from __future__ import annotations

from tablebase.errors import PuzzleRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from tablebase.puzzle import Puzzle

    Found = TypeVar("Found")

MODULES = {
    "eight": "tablebase.puzzles.eight",
    "sliding": "tablebase.puzzles.sliding.definition",
    "senet": "tablebase.puzzles.senet",
    "knight": "tablebase.puzzles.knight.definition",
}

_refused: dict[str, PuzzleRefused] = {}


def imported(where: str) -> Any:
    """What a module has under a name, imported only now: `module:name`."""
    module, _, name = where.partition(":")
    return getattr(__import__(module, fromlist=[name]), name)


def puzzle(name: str) -> Puzzle:
    """The puzzle registered under a name; PuzzleRefused where another package's is not usable.

    >>> puzzle("senet").title
    'Senet'
    """
    if name in MODULES:
        found: Puzzle = imported(f"{MODULES[name]}:PUZZLE")
        return found
    from tablebase.puzzles.plugins import installed

    return installed(name, [puzzle(own) for own in MODULES])


def part_of(asked: Puzzle, where: str) -> Any:
    """What a puzzle brings beside its rules, by the place that it names: its reader, for example.

    PuzzleRefused where another package's place does not exist.
    """
    if asked.name in MODULES:
        return imported(where)
    from tablebase.puzzles.plugins import loaded

    return loaded(asked.name, where)


def names() -> list[str]:
    """The names of all puzzles: ours, then those of other packages in alphabetical order."""
    from tablebase.puzzles.plugins import named

    return [*MODULES, *(name for name in named() if name not in MODULES)]


def registered(name: str) -> bool:
    """Whether a puzzle has that name."""
    return name in MODULES or name in names()


def of_each(find: Callable[[Puzzle], Found]) -> list[Found]:
    """What is found for each puzzle that can be used; `refused` tells of the others."""
    from tablebase.puzzles.plugins import clashes

    _refused.update(clashes(MODULES))
    found = []
    for name in names():
        try:
            found.append(find(puzzle(name)))
        except PuzzleRefused as error:
            _refused[name] = error
    return found


def puzzles() -> list[Puzzle]:
    """All that can be used, in the order of their names."""
    return of_each(lambda asked: asked)


def refused() -> list[PuzzleRefused]:
    """What was wrong with other packages' puzzles where all were wanted."""
    return list(_refused.values())


def with_depths() -> list[str]:
    """Those whose states lie at depths, which can be counted.

    >>> with_depths()
    ['eight', 'sliding', 'senet']
    """
    return [asked.name for asked in puzzles() if asked.depth]
