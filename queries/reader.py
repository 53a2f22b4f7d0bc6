"""What answers for one puzzle: the facts of one key, and the columns of many."""

from __future__ import annotations

from queries.facts import Facts
from queries.index_reader import Index
from queries.query_options import Asked, Option
from tablebase.errors import BadRequest, TableDamaged
from tablebase.puzzle import Puzzle
from tablebase.tables.repair import mending
from tablebase.tables.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from queries.answer_frames import Answers
    from tablebase.puzzle import Column, Table
    from tablebase.tables.manifest import Entry

    Told = Callable[[int, int], None]


def unheard(done: int, total: int) -> None:
    """Tells nobody."""


def ignore_progress(done: int) -> None:
    """Do nothing with the number of keys that are done."""


class Reader:
    """Answers for one puzzle from the tables in one store; indexes open when first needed."""

    options: tuple[Option, ...] = ()
    key = "KEY"
    columns: tuple[str, ...]
    """A batch's columns, the key's first; options may add some."""
    keyless: tuple[str, ...] = ()
    """The options that are answered where no key is given."""
    joins = 0
    """The single characters, with white space between them, that may come for a key."""
    explored: Mapping[str, int] = {}
    """The tables that the explorer's page answers from, each with the bytes at the end of a record
    that the page works out again: they would double its size."""

    def __init__(self, asked_of: Puzzle, store: Store) -> None:
        self.store = store
        self.puzzle = asked_of
        self._indexes: dict[str, Index] = {}
        self._scans: dict[str, pl.LazyFrame] = {}
        self._entries: dict[str, Entry] = {}
        self._rows: pl.DataFrame | None = None
        self._closed = False
        self.on_progress: Callable[[int], None] = ignore_progress
        """Called now and then, while keys are looked up one by one, with how many are done."""

    def index(self, name: str) -> Index:
        """The index of one of the puzzle's own tables."""
        return self.index_of(next(table for table in self.puzzle.tables if table.name == name))

    def index_of(self, table: Table) -> Index:
        """The index of any table of this puzzle."""
        if self._closed:
            raise ValueError(f"the tables in {self.store} are closed")
        if table.name not in self._indexes:
            self._indexes[table.name] = Index(self.store, self.puzzle.stage(table.name), table)
        return self._indexes[table.name]

    def damaged(self, name: str, problem: str, suffix: str = "idx") -> TableDamaged:
        """What is said of a file that is whole, as published, and contradicts itself."""
        command = mending(self.puzzle.stage(name), self.store, force=True)
        return TableDamaged(self.store.full(f"{name}.{suffix}"), problem, command)

    def scanned(self, table: Table) -> pl.LazyFrame:
        """A table's rows; its files are checked when they are first asked for."""
        if table.name not in self._scans:
            from queries.scans import scanned

            stage = self.puzzle.stage(table.name)
            self._scans[table.name] = scanned(self.store, stage, table)
        return self._scans[table.name]

    def scans(self, table: Table, value: str, number: int | None = None) -> Iterator[pl.LazyFrame]:
        """The rows of each file that may have some of a value within which rows are numbered, and
        of a number among these; a file is checked when it is first asked for."""
        from queries.scans import check, files_with, listed, rows_in

        stage = self.puzzle.stage(table.name)
        if table.name not in self._entries:
            self._entries[table.name] = listed(self.store, stage, table)
        for file in files_with(table, self._entries[table.name], value, number):
            if file.file not in self._scans:
                check(self.store, stage, file)
                self._scans[file.file] = rows_in(self.store, table, file)
            yield self._scans[file.file]

    def listed_rows(self, table: Table) -> int | None:
        """How many rows a list has or would have, if another table tells."""
        return None

    def close(self) -> None:
        """Let go of the indexes' files."""
        self._closed = True
        for index in self._indexes.values():
            index.close()

    def meant(self, asked: Asked) -> Reader:
        """Who answers what is asked: this one, or one of its own for a board."""
        return self

    def explorers(self) -> list[Reader]:
        """Who answers in the explorer's page: this one, or one for each board."""
        return [self]

    def checked(self, asked: Asked) -> Asked:
        """The options in their one notation; a TablebaseError for what no key could be asked."""
        return asked

    def facts(self, key: str, asked: Asked) -> Facts:
        """The answer as facts; a TablebaseError where there is none."""
        raise NotImplementedError

    def facts_of_all(self, asked: Asked) -> Facts:
        """The answer to an option that needs no key."""
        raise NotImplementedError

    def values(self, option: str) -> tuple[str, ...]:
        """What a shell may offer for an option; nothing where that cannot be listed."""
        return ()

    def samples(
        self, asked: Asked, size: int, seed: int, *, replacement: bool, told: Told = unheard
    ) -> Iterator[pl.DataFrame]:
        """So many rows by chance, each as likely as any other, some at a time.

        `told` hears how many steps are done of those to the next rows.
        """
        raise BadRequest(f"No samples are drawn from {self.puzzle.title}")

    def signposts(self, table: Table) -> bytes:
        """What the explorer's page carries of a table that has no index."""
        raise NotImplementedError

    def declared(self, asked: Asked) -> dict[str, Column]:
        """The first table's columns, by name, that can hold what is answered."""
        return {column.name: column for column in self.puzzle.tables[0].columns}

    def rows(self) -> pl.DataFrame:
        """A batch's columns of the whole first table, read once."""
        if self._rows is None:
            rows = self.scanned(self.puzzle.tables[0])
            self._rows = rows.select(self.columns).collect()
        return self._rows

    def added(self, asked: Asked) -> tuple[str, ...]:
        """The columns that answers to many keys have."""
        more = (option.columns for option in self.options if asked.get(option.name))
        return (*self.columns[1:], *(name for names in more for name in names))

    def schema(self, asked: Asked) -> pl.Schema:
        """The same columns with their types."""
        from queries.answer_frames import typed

        return typed(self.added(asked), self.declared(asked))

    def answers(self, keys: pl.Series, asked: Asked) -> Answers:
        """A batch's answers, one row a key."""
        from queries.answer_frames import looked_up

        def ask(key: str) -> dict[str, object]:
            return self.facts(key, asked).named()

        return looked_up(keys, ask, self.schema(asked), self.on_progress)

    def annotations(self, keys: pl.Series, asked: Asked) -> pl.DataFrame:
        """The same for whom a null is reason enough."""
        return self.answers(keys, asked)[0].drop("error")
