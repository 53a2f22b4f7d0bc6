"""The tables in a store, with the readers of all puzzles: what a Python program opens.

>>> from puzzle_tablebase import open_tables
>>> tables = open_tables("outputs")
>>> tables.eight.probe("378546201").distance
27
>>> tables.senet.probe("ABAAABBB.B...A.").dice
'53'
>>> tables.knight.probe("b1", to="a3").closed
True

`probe` raises a TablebaseError if there is no answer; `get` returns a default instead. A single
lookup imports only the standard library.
"""

from __future__ import annotations

from _thread import allocate_lock  # `threading` takes longer to import

from puzzle_tablebase.errors import BadRequest, name_packages, quote, require_text
from puzzle_tablebase.queries.prober import open_prober, parse_query
from puzzle_tablebase.queries.questions import ALL, QUERY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from puzzle_tablebase.queries.prober import BaseProber
    from puzzle_tablebase.queries.questions import Answer
    from puzzle_tablebase.queries.readers import (
        BoardReader,
        EightReader,
        FifteenReader,
        GoalReader,
        KnightReader,
        SenetReader,
    )
    from puzzle_tablebase.stores import Store


def open_tables(location: str | Store | None = None) -> Tables:
    """Open the tables in a folder or store.

    The default location is that of `PIPELINE_OUTPUTS`, else `outputs`. Raises StoreEmpty if
    nothing is published there. Files are opened when they are first needed.
    """
    from puzzle_tablebase.errors import StoreEmpty
    from puzzle_tablebase.stores import MANIFEST, make_open_error, open_store

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
        self._probers: dict[str, BaseProber] = {}
        self._readers: dict[str, Any] = {}
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
            for prober in self._probers.values():
                prober.close()

    @name_packages
    def open(self, name: str) -> Any:
        """Return the reader of a puzzle's tables, which is opened once."""
        from puzzle_tablebase.queries import readers

        known = require_text(name, "a puzzle's name", "eight")
        prober = self._open_prober(known)
        if not prober.reader:
            from puzzle_tablebase.notation.sliding import EXAMPLE_BOARD

            problem = f"{prober.puzzle.title} have a reader for each board"
            raise BadRequest(problem, f"Call: tables.{known}({EXAMPLE_BOARD!r})")
        return self._cache_reader(known, getattr(readers, prober.reader), prober)

    def _open_prober(self, name: str) -> BaseProber:
        with self._lock:
            if name not in self._probers:
                self._probers[name] = prober = open_prober(name, self.store)
                if self._is_closed:
                    prober.close()
            return self._probers[name]

    def _cache_reader(self, name: str, reader_type: Any, prober: BaseProber) -> Any:
        """Return the reader of that name, which is made once."""
        with self._lock:
            if name not in self._readers:
                self._readers[name] = reader_type(prober)
            return self._readers[name]

    @name_packages
    def answer(self, puzzle: str, key: str | None = None, **options: object) -> Answer:
        """Answer as `pipeline query PUZZLE KEY` does, with its options by name."""
        known = require_text(puzzle, "a puzzle's name", "eight")
        prober, parsed = parse_query(
            self._open_prober(known), ALL if key is None else QUERY, options
        )
        return prober.answer(key, parsed)

    @property
    def eight(self) -> EightReader:
        """The tables of the 8-puzzle."""
        reader: EightReader = self.open("eight")
        return reader

    @name_packages
    def sliding(self, board: str) -> BoardReader:
        """Return the tables of a sliding board, given as rows x columns, such as 3x4."""
        from puzzle_tablebase.puzzles.sliding import parse_board
        from puzzle_tablebase.queries.readers import BoardReader
        from puzzle_tablebase.queries.sliding import SlidingProber

        boards = self._open_prober("sliding")
        assert isinstance(boards, SlidingProber)
        prober = boards.open_board(parse_board(board))
        reader: BoardReader = self._cache_reader(f"sliding {prober.board}", BoardReader, prober)
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
        """Return the table of a registered puzzle with goals; raise BadRequest for other names."""
        from puzzle_tablebase.queries.readers import GoalReader

        reader = self.open(name)
        if not isinstance(reader, GoalReader):
            raise BadRequest(f"{quote(name)} is not a puzzle with goals")
        return reader
