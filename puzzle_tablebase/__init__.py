"""Tablebases for the 8-puzzle, Senet and the knight's tour: the public names.

>>> import puzzle_tablebase as pt
>>> tables = pt.open_tables("outputs")
>>> tables.eight.probe("378546201").distance
27
>>> tables.eight.probe("123456780", goal="centre")
Traceback (most recent call last):
    ...
puzzle_tablebase.GoalUnreachable: 123804765 cannot be reached from 123456780: ...

A public name is imported when it is first used, so that a single lookup loads little. Puzzles,
tables and stores are in this package, readers in `puzzle_tablebase.queries`, and builds, proofs and
the command line in `puzzle_tablebase.pipeline`.
"""

from __future__ import annotations

from puzzle_tablebase.errors import *  # noqa: F403
from puzzle_tablebase.errors import TablebaseError, name_packages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.pipeline.build import precompute as precompute
    from puzzle_tablebase.pipeline.copy import copy_tables as copy_tables
    from puzzle_tablebase.queries.boards import BoardAnswer as BoardAnswer
    from puzzle_tablebase.queries.fifteen import FifteenSolution as FifteenSolution
    from puzzle_tablebase.queries.goals import GoalAnswer as GoalAnswer
    from puzzle_tablebase.queries.knight.prober import KnightAnswer as KnightAnswer
    from puzzle_tablebase.queries.knight.table_scans import CountAnswer as CountAnswer
    from puzzle_tablebase.queries.questions import Answer as Answer
    from puzzle_tablebase.queries.readers import BoardReader as BoardReader
    from puzzle_tablebase.queries.readers import EightReader as EightReader
    from puzzle_tablebase.queries.readers import FifteenReader as FifteenReader
    from puzzle_tablebase.queries.readers import GoalReader as GoalReader
    from puzzle_tablebase.queries.readers import KnightReader as KnightReader
    from puzzle_tablebase.queries.readers import SenetReader as SenetReader
    from puzzle_tablebase.queries.senet import SenetAnswer as SenetAnswer
    from puzzle_tablebase.queries.state_arrays import BoardArrays as BoardArrays
    from puzzle_tablebase.queries.state_arrays import EightArrays as EightArrays
    from puzzle_tablebase.queries.tables import Tables as Tables
    from puzzle_tablebase.queries.tables import open_tables as open_tables
    from puzzle_tablebase.registry import PluginError as PluginError

__version__ = "1.0.0"
FORMAT_VERSION = 5
"""Version of the manifest and of the metadata in Parquet files."""
MADE_BY = f"puzzle-tablebase {__version__}"
"""The program that built the tables, as named in the manifest and the files."""

MODULES = {
    "queries.tables": "Tables open_tables",
    "queries.boards": "BoardAnswer",
    "queries.fifteen": "FifteenSolution",
    "queries.knight.prober": "KnightAnswer",
    "queries.questions": "Answer",
    "queries.goals": "GoalAnswer",
    "queries.readers": "BoardReader EightReader FifteenReader GoalReader KnightReader SenetReader",
    "queries.senet": "SenetAnswer",
    "queries.state_arrays": "BoardArrays EightArrays",
    "queries.knight.table_scans": "CountAnswer",
    "pipeline.copy": "copy_tables",
    "pipeline.build": "precompute",
    "registry": "PluginError",
}
"""The public names by the module that defines them; each is imported when first used."""
ERRORS = " ".join(
    name
    for name, value in globals().items()
    if isinstance(value, type) and issubclass(value, TablebaseError)
)
__all__ = [name for names in ("__version__", ERRORS, *MODULES.values()) for name in names.split()]


if not TYPE_CHECKING:  # a type checker would take every name for one of this module

    def __getattr__(name: str) -> object:
        for module, names in MODULES.items():
            if name in names.split():
                load = name_packages(__import__)
                value: object = getattr(load(f"{__name__}.{module}", fromlist=[name]), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'puzzle_tablebase' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
