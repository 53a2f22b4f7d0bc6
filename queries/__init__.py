"""The package that answers queries from published tables: the Python interface, and all readers.

>>> from puzzle_tablebase.queries import open_tables
>>> tables = open_tables("outputs")
>>> tables.eight.probe("378546201").distance
27
>>> tables.senet.probe("ABAAABBB.B...A.").dice
'53'
>>> tables.knight.probe("b1", to="a3").closed
True

`probe` raises a TablebaseError where it has no answer; `get` returns a default instead. A single
lookup imports only the standard library.
"""

from __future__ import annotations

from _thread import allocate_lock  # `threading` takes longer to import

from puzzle_tablebase.errors import BadRequest, name_packages, quote, require_text
from puzzle_tablebase.puzzle import GoalPuzzle
from puzzle_tablebase.puzzles import get_puzzle, import_object
from puzzle_tablebase.queries.options import ALL, QUERY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from puzzle_tablebase.queries.answer import Answer
    from puzzle_tablebase.queries.batch_input import BatchQuery
    from puzzle_tablebase.queries.boards import BoardReader, EightReader
    from puzzle_tablebase.queries.fifteen import FifteenReader
    from puzzle_tablebase.queries.goals import GoalReader
    from puzzle_tablebase.queries.knight.reader import KnightReader
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.queries.reader import Reader
    from puzzle_tablebase.queries.senet import SenetReader
    from puzzle_tablebase.stores.folder import Store

READERS = {
    "eight": "puzzle_tablebase.queries.boards:EightReader",
    "sliding": "puzzle_tablebase.queries.sliding:SlidingReader",
    "fifteen": "puzzle_tablebase.queries.fifteen:FifteenReader",
    "senet": "puzzle_tablebase.queries.senet:SenetReader",
    "knight": "puzzle_tablebase.queries.knight.reader:KnightReader",
}
"""The readers of the built-in puzzles."""


def get_reader_class(name: str) -> type[Reader]:
    """Return the reader class of a puzzle."""
    default = (
        "puzzle_tablebase.queries.goals:GoalReader"
        if isinstance(get_puzzle(name), GoalPuzzle)
        else "puzzle_tablebase.queries.reader:RecordReader"
    )
    reader_class: type[Reader] = import_object(READERS.get(name, default))
    return reader_class


def open_reader(name: str, store: Store) -> Reader:
    """Return a reader of a puzzle's tables in a store."""
    return get_reader_class(name)(get_puzzle(name), store)


def make_batch_query(reader: Reader, options: Options) -> BatchQuery:
    """Make what a batch asks of its rows."""
    from functools import partial

    from puzzle_tablebase.queries.batch_input import BatchQuery

    return BatchQuery(
        partial(reader.answer_keys, options=options),
        reader.columns[:1],
        reader.make_schema(options),
        partial(reader.has_key, options=options),
        reader.key_cells,
        reader.key_digits,
        partial(reader.iter_answers, options=options) if reader.iter_answers else None,
    )


def pose(reader: Reader, verb: str, given: Mapping[str, Any]) -> tuple[Reader, Options]:
    """Parse the options of a question; return the reader that answers it, of one board maybe."""
    options = reader.parse(verb, given)
    return reader.select(options), options


def open_tables(location: str | Store | None = None) -> Tables:
    """Open the tables in a folder or store.

    The default location is that of `PIPELINE_OUTPUTS`, else `outputs`. Raises StoreEmpty if
    nothing is published there. Files are opened when they are first needed.
    """
    from puzzle_tablebase.errors import StoreEmpty
    from puzzle_tablebase.stores import MANIFEST
    from puzzle_tablebase.stores.access import make_open_error, open_store

    store = open_store(location)
    try:
        store.get_size(MANIFEST)
    except FileNotFoundError as error:
        raise StoreEmpty(store, MANIFEST) from error
    except OSError as error:
        raise make_open_error(store, MANIFEST, error) from error
    return Tables(store)


class Tables:
    """The tables in one store; a context manager that closes them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._opened: dict[str, Any] = {}
        self._lock = allocate_lock()
        self._is_closed = False

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        # another process opens the files when it needs them
        return type(self), (self.store,), {"_is_closed": self._is_closed}

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            self._is_closed = True
            for reader in self._opened.values():
                reader.close()

    @name_packages
    def open(self, name: str) -> Any:
        """Return the reader of a puzzle's tables, which is opened the first time."""
        known = require_text(name, "a puzzle's name", "eight")
        with self._lock:
            if known not in self._opened:
                self._opened[known] = reader = open_reader(known, self.store)
                if self._is_closed:
                    reader.close()
            return self._opened[known]

    @name_packages
    def answer(self, puzzle: str, key: str | None = None, **options: object) -> Answer:
        """Answer as `pipeline query PUZZLE KEY` does, with its options by name."""
        reader, parsed = pose(self.open(puzzle), ALL if key is None else QUERY, options)
        return reader.answer(key, parsed)

    @property
    def eight(self) -> EightReader:
        """The tables of the 8-puzzle."""
        reader: EightReader = self.open("eight")
        return reader

    def sliding(self, board: str) -> BoardReader:
        """Return the tables of a sliding board, given as rows x columns, such as 3x4."""
        reader: BoardReader = self.open("sliding").open_board(board)
        return reader

    @property
    def fifteen(self) -> FifteenReader:
        """The tables of the 15-puzzle."""
        reader: FifteenReader = self.open("fifteen")
        return reader

    @property
    def senet(self) -> SenetReader:
        """The table of Senet."""
        reader: SenetReader = self.open("senet")
        return reader

    @property
    def knight(self) -> KnightReader:
        """The tables of the knight's tours."""
        reader: KnightReader = self.open("knight")
        return reader

    def goals(self, name: str) -> GoalReader:
        """Return the table of any registered puzzle with goals; BadRequest for another name."""
        from puzzle_tablebase.queries.goals import GoalReader

        reader = self.open(name)
        if not isinstance(reader, GoalReader):
            raise BadRequest(f"{quote(name)} is not a puzzle with goals")
        return reader
