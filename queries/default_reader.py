"""The reader of puzzles that have none of their own: a record of the index, or a row."""

from __future__ import annotations

from queries.facts import Facts, aligned
from queries.query_options import Asked
from queries.reader import Reader
from tablebase.errors import BadRequest, NoAnswer, quoted
from tablebase.graph import UNREACHED
from tablebase.puzzle import Column, Puzzle, StateSpace
from tablebase.tables.store import Store


class PlainFacts(Facts):
    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, object]) -> None:
        self.fields = fields

    def words(self, asked: Asked) -> str:
        rows = ((name, "" if value is None else str(value)) for name, value in self.fields.items())
        return aligned(list(rows))


class PlainReader(Reader):
    """A state is answered with its record in the index, another key with its row of the table."""

    def __init__(self, asked_of: Puzzle, store: Store) -> None:
        super().__init__(asked_of, store)
        self._space = asked_of if isinstance(asked_of, StateSpace) else None
        self._table = asked_of.tables[0]
        first, *others = (column.name for column in self._table.columns)
        fields = [name for name, _ in self._table.index] if self._space else []
        self.columns = (first, *(fields or others))
        nullable = {column.name for column in self._table.columns if column.nullable}
        self._unreached = {
            (name, UNREACHED)
            for name, letter in self._table.index
            if letter == "B" and name in nullable
        }
        """What stands in a record for a null: it has no other way to say it."""

    def facts(self, key: str, asked: Asked) -> PlainFacts:
        if self._space:
            key = self._space.parse(key)
            if self._table.index:
                record = self.index(self._table.name).record(self._space.rank(key))
                values = (
                    None if (name, value) in self._unreached else value
                    for name, value in zip(self.columns[1:], record, strict=True)
                )
                return PlainFacts(dict(zip(self.columns, (key, *values), strict=True)))
        import polars as pl

        rows = self.rows().filter(pl.col(self.columns[0]).cast(pl.String) == key)
        if rows.is_empty():
            raise NoAnswer(f"The table {self._table.name} has no row for {quoted(key)}.")
        if len(rows) > 1:
            raise BadRequest(
                f"The table {self._table.name} has {len(rows):,} rows for {quoted(key)}: its "
                f"{self.columns[0]} does not tell them apart",
                f"Read them from {self.store.full(self._table.file)}",
            )
        return PlainFacts(rows.row(0, named=True))

    def declared(self, asked: Asked) -> dict[str, Column]:
        fields = self._table.fields() if self._space else ()
        return {**super().declared(asked), **{field.name: field for field in fields}}
