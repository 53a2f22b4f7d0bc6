"""The Python interface to all tables in one store."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from puzzle_tablebase.errors import BadRequest, quote, require_text
from puzzle_tablebase.queries import open_reader, pose
from puzzle_tablebase.queries.answer import Answer
from puzzle_tablebase.queries.options import ALL, QUERY

if TYPE_CHECKING:
    from puzzle_tablebase.queries.boards import BoardReader, EightReader
    from puzzle_tablebase.queries.fifteen import FifteenReader
    from puzzle_tablebase.queries.goals import GoalReader
    from puzzle_tablebase.queries.knight.reader import KnightReader
    from puzzle_tablebase.queries.senet import SenetReader
    from puzzle_tablebase.stores.folder import Store


class Tables:
    """The tables in one store; a context manager that closes them."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._opened: dict[str, Any] = {}
        self._lock = Lock()
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

    def open(self, name: str) -> Any:
        """Return the reader of a puzzle's tables, which is opened the first time."""
        with self._lock:
            if name not in self._opened:
                known = require_text(name, "a puzzle's name", "eight")
                self._opened[name] = reader = open_reader(known, self.store)
                if self._is_closed:
                    reader.close()
            return self._opened[name]

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
