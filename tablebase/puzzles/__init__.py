"""The registry: every puzzle by name, and the module that holds its rules as `PUZZLE`.

A new puzzle is one new module and one new line here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.puzzle import Puzzle

MODULES = {
    "eight": "tablebase.puzzles.eight",
    "sliding": "tablebase.puzzles.sliding",
    "senet": "tablebase.puzzles.senet",
    "knight": "tablebase.puzzles.knight",
}


def puzzle(name: str) -> Puzzle:
    """The puzzle registered under a name.

    >>> puzzle("senet").title
    'Senet'
    """
    found: Puzzle = __import__(MODULES[name], fromlist=["PUZZLE"]).PUZZLE
    return found


def with_depths() -> list[str]:
    """Those whose states lie at depths, which can be counted.

    >>> with_depths()
    ['eight', 'sliding', 'senet']
    """
    return [name for name in MODULES if puzzle(name).depth]


def puzzles() -> list[Puzzle]:
    """All of them, in the order of the registry."""
    return [puzzle(name) for name in MODULES]
