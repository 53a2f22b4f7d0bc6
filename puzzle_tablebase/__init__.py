"""The public names of puzzle-tablebase, under a name that no folder of yours has by chance.

>>> import puzzle_tablebase as pt
>>> tables = pt.open_tables("outputs")
>>> tables.eight.probe("378546201").distance
27
>>> tables.eight.probe("123456780", goal="centre")
Traceback (most recent call last):
    ...
puzzle_tablebase.GoalUnreachable: 123804765 cannot be reached from 123456780: ...

The packages are `tablebase`, `queries` and `pipeline`. Those that were installed with this one are
loaded, even if the working directory has folders or modules of these names.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from queries import open_tables as open_tables
    from queries.answer import Answer as Answer
    from queries.api import Tables as Tables
    from queries.eight import EightReader as EightReader
    from queries.fifteen import FifteenReader as FifteenReader
    from queries.fifteen import FifteenSolution as FifteenSolution
    from queries.goal_reader import BoardAnswer as BoardAnswer
    from queries.goal_reader import GoalAnswer as GoalAnswer
    from queries.goal_reader import GoalReader as GoalReader
    from queries.knight.reader import KnightAnswer as KnightAnswer
    from queries.knight.reader import KnightReader as KnightReader
    from queries.knight.table_scans import CountAnswer as CountAnswer
    from queries.senet import SenetAnswer as SenetAnswer
    from queries.senet import SenetReader as SenetReader
    from queries.sliding import BoardReader as BoardReader
    from tablebase import __version__ as __version__
    from tablebase.errors import BadRequest as BadRequest
    from tablebase.errors import BoardTooLarge as BoardTooLarge
    from tablebase.errors import ClusterError as ClusterError
    from tablebase.errors import DiskShort as DiskShort
    from tablebase.errors import GoalUnreachable as GoalUnreachable
    from tablebase.errors import IllegalMove as IllegalMove
    from tablebase.errors import MachineLimit as MachineLimit
    from tablebase.errors import MemoryShort as MemoryShort
    from tablebase.errors import NoAnswer as NoAnswer
    from tablebase.errors import NoSuchTour as NoSuchTour
    from tablebase.errors import NotationError as NotationError
    from tablebase.errors import NotCounted as NotCounted
    from tablebase.errors import OutputError as OutputError
    from tablebase.errors import PositionUnreachable as PositionUnreachable
    from tablebase.errors import ReaderGone as ReaderGone
    from tablebase.errors import SearchError as SearchError
    from tablebase.errors import StoreError as StoreError
    from tablebase.errors import TablebaseError as TablebaseError
    from tablebase.errors import TableDamaged as TableDamaged
    from tablebase.errors import TableError as TableError
    from tablebase.errors import TableMissing as TableMissing
    from tablebase.errors import TableOutdated as TableOutdated
    from tablebase.errors import TableUnreadable as TableUnreadable
    from tablebase.errors import TableVersionError as TableVersionError
    from tablebase.errors import Undecided as Undecided
    from tablebase.puzzles.plugins import PluginError as PluginError

PACKAGES = ("tablebase", "queries", "pipeline")
MODULES = {
    "queries": "open_tables",
    "queries.api": "Tables",
    "queries.eight": "EightReader",
    "queries.sliding": "BoardReader",
    "queries.fifteen": "FifteenReader FifteenSolution",
    "queries.knight.reader": "KnightAnswer KnightReader",
    "queries.answer": "Answer",
    "queries.goal_reader": "BoardAnswer GoalAnswer GoalReader",
    "queries.senet": "SenetAnswer SenetReader",
    "queries.knight.table_scans": "CountAnswer",
    "tablebase": "__version__",
    "tablebase.errors": "BadRequest BoardTooLarge ClusterError DiskShort GoalUnreachable "
    "IllegalMove MachineLimit MemoryShort NoAnswer NoSuchTour NotationError NotCounted OutputError "
    "PositionUnreachable ReaderGone SearchError StoreError TablebaseError TableDamaged "
    "TableError TableMissing TableOutdated TableUnreadable TableVersionError Undecided",
    "tablebase.puzzles.plugins": "PluginError",
}
"""The public names by the module that defines them; each is imported when first used."""
__all__ = [name for names in MODULES.values() for name in names.split()]  # names only


if not TYPE_CHECKING:  # a type checker would take every name for one of this module

    def __getattr__(name: str) -> object:
        for module, names in MODULES.items():
            if name in names.split():
                value: object = getattr(__import__(module, fromlist=[name]), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'puzzle_tablebase' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def _import_packages(root: str) -> None:
    """Import the packages in the folder `root`, before any others of their names.

    Their own modules are then found there too, whenever they are imported.
    """
    sys.path.insert(0, root)
    try:
        for name in PACKAGES:
            package = __import__(name)
            places = [*getattr(package, "__path__", ()), getattr(package, "__file__", None)]
            expected = os.path.realpath(os.path.join(root, name))
            if not places[0] or os.path.realpath(places[0]) != expected:
                raise ImportError(
                    f"Another module named {name} is imported already ({places[0]}). Import "
                    "puzzle_tablebase before it, or give yours another name."
                )
    finally:
        sys.path.remove(root)


_import_packages(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
