"""The registry of readers by puzzle, and the readers that are open in one store."""

from __future__ import annotations

from _thread import allocate_lock

from puzzle_tablebase.errors import BadRequest, quote, require_text
from puzzle_tablebase.puzzle import GoalPuzzle
from puzzle_tablebase.puzzles import get_puzzle, import_object, is_registered, list_names
from puzzle_tablebase.queries.answer import Answer, require_options, select_given
from puzzle_tablebase.stores.folder import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from puzzle_tablebase.queries.reader import Reader

READERS = {
    "eight": "puzzle_tablebase.queries.eight:EightReader",
    "sliding": "puzzle_tablebase.queries.sliding:SlidingReader",
    "fifteen": "puzzle_tablebase.queries.fifteen:FifteenReader",
    "senet": "puzzle_tablebase.queries.senet:SenetReader",
    "knight": "puzzle_tablebase.queries.knight.reader:KnightReader",
}
"""The readers of the built-in puzzles."""


def get_reader_class(name: str) -> type[Reader]:
    """Return the reader class of a puzzle."""
    default = (
        "puzzle_tablebase.queries.goal_reader:GoalReader"
        if isinstance(get_puzzle(name), GoalPuzzle)
        else "puzzle_tablebase.queries.reader:RecordReader"
    )
    reader_class: type[Reader] = import_object(READERS.get(name, default))
    return reader_class


def open_reader(name: str, store: Store) -> Reader:
    """Return a reader of a puzzle's tables in a store."""
    return get_reader_class(name)(get_puzzle(name), store)


class Readers:
    """The readers of the tables in one store. Each is opened once, and open between questions."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._opened: dict[str, Any] = {}
        self._lock = allocate_lock()
        self._is_closed = False

    def open(self, name: str) -> Any:
        """Return the reader of a puzzle's tables; it is opened the first time."""
        with self._lock:
            if name not in self._opened:
                self._opened[name] = open_reader(name, self.store)
                if self._is_closed:
                    self._opened[name].close()
            return self._opened[name]

    def answer(self, puzzle: str, key: str | None = None, **options: object) -> Answer:
        """Answer as `pipeline query PUZZLE KEY` does, with its options by name.

        Without a key, an option is answered. BadRequest for a puzzle or an option that does not
        exist.

        >>> from puzzle_tablebase.queries import open_tables
        >>> open_tables("outputs").answer("eight", "123450786", path=True).to_dict()["path"]
        ['123450786', '123456780']
        """
        if not is_registered(require_text(puzzle, "a puzzle's name", "eight")):
            hint = f"Choose one of: {', '.join(list_names())}"
            raise BadRequest(f"There is no puzzle {quote(puzzle)}", hint)
        reader: Reader = self.open(puzzle)
        given = select_given(options)
        require_options(reader.puzzle.title, reader.options, given)
        query = reader.make_query(**given)
        if key is None and not {*reader.keyless} & {*given}:
            raise BadRequest(f"A {reader.key} is needed", f"Example: {reader.puzzle.example}")
        return query.answer_without_key() if key is None else query.answer(key)

    def __reduce__(self) -> tuple[object, ...]:
        # another process opens the files when it needs them
        return type(self), (self.store,), {"_is_closed": self._is_closed}

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            self._is_closed = True
            for reader in self._opened.values():
                reader.close()
