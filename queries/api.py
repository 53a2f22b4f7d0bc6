"""The Python interface to all tables in one store."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from queries.boards.eight import EightReader
from queries.boards.fifteen import FifteenReader
from queries.boards.sliding import BoardReader, SlidingReader
from queries.dispatch import Readers, get_reader_class
from queries.goal_reader import GoalReader
from queries.knight.reader import KnightReader
from queries.reader import Reader
from queries.senet.reader import SenetReader
from tablebase.errors import BadRequest, quote, require_text
from tablebase.puzzles import collect_from_each, is_registered, list_puzzles
from tablebase.tables import MANIFEST
from tablebase.tables.access import format_rebuild_command, make_open_error, open_store

if TYPE_CHECKING:
    from queries.answer import Answer


OpenedReader = TypeVar("OpenedReader", bound=Reader)


class Tables:
    """The tables in one store; a context manager that closes them.

    Once closed, any call that reads an index raises ValueError. Copies sent to other processes open
    the files for themselves.

    >>> from queries import open_tables
    >>> with open_tables("outputs") as tables:
    ...     tables.senet.probe("ABAAABBB.B...A.").plies
    2
    """

    def __init__(self, location: object = None) -> None:
        self.store = open_store(location)
        self._readers = Readers(self.store)
        try:
            self.store.get_size(MANIFEST)
        except OSError as error:
            is_missing = isinstance(error, FileNotFoundError)
            command = format_rebuild_command("", self.store) if is_missing else ""
            raise make_open_error(self.store.locate(MANIFEST), error, command) from error

    def __repr__(self) -> str:
        from queries.status import format_repr

        return format_repr(self, self.store)

    def _repr_html_(self) -> str:
        """List the published tables for a notebook."""
        from queries.status import format_html

        return format_html(self, self.store, list_puzzles(), has_all=True)

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs to open the tables there: no open file."""
        return {"store": self.store, "_readers": self._readers}

    def close(self) -> None:
        """Close all files."""
        self._readers.close()

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer(self, puzzle: str, key: str | None = None, **options: str | float) -> Answer:
        """Answer as `pipeline query PUZZLE KEY` does, with its options by name.

        >>> from queries import open_tables
        >>> open_tables("outputs").answer("eight", "123450786", path=True).to_dict()["path"]
        ['123450786', '123456780']
        """
        return self._readers.answer(puzzle, key, options)

    def _open_reader(self, name: str, kind: type[OpenedReader]) -> OpenedReader:
        reader = self._readers.open(name)
        assert isinstance(reader, kind)
        return reader

    @cached_property
    def eight(self) -> EightReader:
        """The tables of the 8-puzzle."""
        return self._open_reader("eight", EightReader)

    def sliding(self, board: str) -> BoardReader:
        """Return the table of a sliding board, given as rows x columns, such as 3x4.

        >>> from queries import open_tables
        >>> open_tables("outputs").sliding("2x3").get("not a state", default=0)
        0
        """
        return self._open_reader("sliding", SlidingReader).open_board(board)

    @cached_property
    def fifteen(self) -> FifteenReader:
        """The tables of the 15-puzzle."""
        return self._open_reader("fifteen", FifteenReader)

    @cached_property
    def senet(self) -> SenetReader:
        """The table of Senet."""
        return self._open_reader("senet", SenetReader)

    @cached_property
    def knight(self) -> KnightReader:
        """The tables of the knight's tours."""
        return self._open_reader("knight", KnightReader)

    def goals(self, name: str) -> GoalReader:
        """Return the table of any registered puzzle with goals; BadRequest for another name."""
        require_text(name, "a puzzle's name", "eight")
        if not (is_registered(name) and issubclass(get_reader_class(name), GoalReader)):
            classes = collect_from_each(lambda puzzle: (puzzle.name, get_reader_class(puzzle.name)))
            with_goals = [each for each, reader in classes if issubclass(reader, GoalReader)]
            hint = f"Choose one of: {', '.join(with_goals)}"
            raise BadRequest(f"{quote(name)} is not a puzzle with goals", hint)
        return self._open_reader(name, GoalReader)
