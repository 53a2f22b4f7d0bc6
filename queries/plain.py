"""Puzzles that nobody wrote a reader for: a state's record in the index, a key's row of a table."""

from __future__ import annotations

from queries.forms import Asked
from queries.reader import Reader
from queries.words import Facts, aligned
from tablebase.errors import NoAnswer, quoted
from tablebase.puzzle import HOLDS, Column, Puzzle, StateSpace
from tablebase.tables.store import Store


class PlainFacts(Facts):
    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, object]) -> None:
        self.fields = fields

    def words(self, asked: Asked) -> str:
        return aligned([(name, str(value)) for name, value in self.fields.items()])


class RowReader(Reader):
    """The key is looked up in the first column of the puzzle's first table."""

    def __init__(self, asked_of: Puzzle, store: Store) -> None:
        super().__init__(asked_of, store)
        self.columns = tuple(column.name for column in asked_of.tables[0].columns)

    def facts(self, key: str, asked: Asked) -> PlainFacts:
        import polars as pl

        rows = self.rows().filter(pl.col(self.columns[0]).cast(pl.String) == key)
        if rows.is_empty():
            raise NoAnswer(f"The table {self._of.tables[0].name} has no row for {quoted(key)}.")
        return PlainFacts(rows.row(0, named=True))


class RecordReader(Reader):
    """The key is a state, its answer the record of its rank."""

    def __init__(self, asked_of: StateSpace, store: Store) -> None:
        super().__init__(asked_of, store)
        self._space, self._table = asked_of, next(table for table in asked_of.tables if table.index)
        self._kinds = [(name, HOLDS.get(letter, "string")) for name, letter in self._table.index]
        self.columns = (self._table.columns[0].name, *(name for name, _ in self._kinds))

    def facts(self, key: str, asked: Asked) -> PlainFacts:
        state = self._space.parse(key)
        record = self.index(self._table.name).record(self._space.rank(state))
        return PlainFacts(dict(zip(self.columns, (state, *record), strict=True)))

    def declared(self, asked: Asked) -> dict[str, Column]:
        return {name: Column(name, kind, "") for name, kind in self._kinds}
