"""All tables in one place as Python objects."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from queries.dispatch import reader, reader_class
from queries.eight.table import EightTable
from queries.goal_reader import GoalReader
from queries.knight.table import KnightTable
from queries.reader import Reader
from queries.senet.table import SenetTable
from queries.sliding.table import BoardTable
from queries.typed_tables import GoalTable, format_repr
from tablebase.errors import BadRequest, quoted, required_text
from tablebase.puzzles import of_each, registered
from tablebase.puzzles.sliding.definition import parse_board
from tablebase.tables import MANIFEST
from tablebase.tables.repair import ABSENT, mending, unopened
from tablebase.tables.store_factory import tables_store

if TYPE_CHECKING:
    from queries.query_options import Asked


class Tables:
    """The tables in one place; a context manager that closes them.

    Once closed, what would read an index raises ValueError.

    >>> from queries import open_tables
    >>> with open_tables("outputs") as tables:
    ...     tables.senet.probe("ABAAABBB.B...A.").plies
    2
    """

    def __init__(self, place: object = None) -> None:
        self.store = tables_store(place)
        self._readers: dict[str, Reader] = {}
        self._closed = False
        try:
            self.store.size(MANIFEST)
        except OSError as error:
            command = mending("", self.store) if isinstance(error, ABSENT) else ""
            raise unopened(self.store.full(MANIFEST), error, command) from error

    def __repr__(self) -> str:
        return format_repr(self, self.store, lambda _: True)

    def close(self) -> None:
        """Let go of all files."""
        self._closed = True
        for found in self._readers.values():
            found.close()

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reader(self, name: str, asked: Asked | None = None) -> Reader:
        known = f"{name} {asked}"
        if known not in self._readers:
            self._readers[known] = reader(name, self.store).meant(asked or {})
            if self._closed:
                self._readers[known].close()
        return self._readers[known]

    @cached_property
    def eight(self) -> EightTable:
        return EightTable(self._reader("eight"))

    def sliding(self, board: str) -> BoardTable:
        """A sliding board of so many rows and columns, such as 3x4.

        >>> from queries import open_tables
        >>> open_tables("outputs").sliding("2x3").get("not a state", default=0)
        0
        """
        return BoardTable(self._reader("sliding", {"board": str(parse_board(board))}))

    @cached_property
    def senet(self) -> SenetTable:
        return SenetTable(self._reader("senet"))

    @cached_property
    def knight(self) -> KnightTable:
        return KnightTable(self._reader("knight"))

    def goals(self, name: str) -> GoalTable:
        """Any registered puzzle that has goals; BadRequest for another name."""
        required_text(name, "a puzzle's name", "eight")
        if not (registered(name) and issubclass(reader_class(name), GoalReader)):
            kinds = of_each(lambda each: (each.name, reader_class(each.name)))
            known = [each for each, kind in kinds if issubclass(kind, GoalReader)]
            hint = f"Choose one of: {', '.join(known)}"
            raise BadRequest(f"{quoted(name)} is not a puzzle with goals", hint)
        return GoalTable(self._reader(name))
