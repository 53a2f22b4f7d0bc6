"""The default reader, for puzzles without one of their own: it answers with a record or a row."""

from __future__ import annotations

from queries.answer import Answer, align_rows
from queries.reader import Query, Reader
from tablebase.errors import BadRequest, NoAnswer, quote
from tablebase.graph import UNREACHED
from tablebase.puzzle import Puzzle, StateSpace
from tablebase.schema import Column
from tablebase.tables.store import Store


class RecordAnswer(Answer):
    """A record of an index, or a row of a table: the values by the names of the columns."""

    fields: dict[str, object]

    def to_text(self) -> str:
        rows = ((name, "" if value is None else str(value)) for name, value in self.fields.items())
        return align_rows(list(rows))


class RecordQuery(Query):
    """A query of records, without options."""

    reader: DefaultReader

    def answer(self, key: str) -> RecordAnswer:
        return RecordAnswer(fields=self.reader.find_record(key))

    def list_answer_columns(self) -> dict[str, Column]:
        return {**super().list_answer_columns(), **self.reader.index_fields}


class DefaultReader(Reader):
    """A reader that answers a state with its index record, another key with its table row."""

    query = RecordQuery

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._space = puzzle if isinstance(puzzle, StateSpace) else None
        self._table = puzzle.tables[0]
        first, *others = (column.name for column in self._table.columns)
        fields = self._table.list_fields() if self._space else ()
        self.index_fields = {field.name: field for field in fields}
        """The fields of the index as columns, by name; none if keys have no ranks."""
        self.columns = (first, *(self.index_fields or others))
        nullable = {column.name for column in self._table.columns if column.nullable}
        self._unreached = {
            (name, UNREACHED)
            for name, letter in self._table.index
            if letter == "B" and name in nullable
        }
        """The fields and values that stand for null: a record has no other way to express it."""

    def find_record(self, key: str) -> dict[str, object]:
        """Find the record or the row of a key; a TablebaseError if there is none."""
        if self._space:
            key = self._space.parse(key)
            if self._table.index:
                record = self.open_index(self._table.name).read_record(self._space.rank(key))
                values = (
                    None if (name, value) in self._unreached else value
                    for name, value in zip(self.columns[1:], record, strict=True)
                )
                return dict(zip(self.columns, (key, *values), strict=True))
        import polars as pl

        rows = self.read_rows().filter(pl.col(self.columns[0]).cast(pl.String) == key)
        if rows.is_empty():
            raise NoAnswer(f"The table {self._table.name} has no row for {quote(key)}.")
        if len(rows) > 1:
            raise BadRequest(
                f"The table {self._table.name} has {len(rows):,} rows for {quote(key)}: its "
                f"{self.columns[0]} does not tell them apart",
                f"Read them from {self.store.locate(self._table.file)}",
            )
        return rows.row(0, named=True)
