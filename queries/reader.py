"""What answers for one puzzle: the facts of one key, and the columns of many."""

from __future__ import annotations

from queries.facts import Facts
from queries.index_reader import IndexReader
from queries.query_options import Option, OptionValues
from tablebase.errors import BadRequest, TableDamaged
from tablebase.puzzle import Puzzle
from tablebase.tables.repair import format_rebuild_command
from tablebase.tables.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from queries.answer_frames import Answers
    from tablebase.puzzle import Column, Table
    from tablebase.tables.manifest import Entry

    ProgressCallback = Callable[[int, int], None]


def ignore_progress(*counts: int) -> None:
    """Do nothing with the numbers of keys that are done, and of all keys."""


class Reader:
    """Answers for one puzzle from the tables in one store; indexes open when first needed."""

    options: tuple[Option, ...] = ()
    key = "KEY"
    columns: tuple[str, ...]
    """A batch's columns, the key's first; options may add some."""
    keyless: tuple[str, ...] = ()
    """The options that are answered where no key is given."""
    joined_characters = 0
    """The single characters, with white space between them, that may come for a key."""
    explored: Mapping[str, int] = {}
    """The tables that the explorer's page answers from, each with the bytes at the end of a record
    that the page works out again: they would double its size."""

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        self.store = store
        self.puzzle = puzzle
        self._indexes: dict[str, IndexReader] = {}
        self._scans: dict[str, pl.LazyFrame] = {}
        self._entries: dict[str, Entry] = {}
        self._rows: pl.DataFrame | None = None
        self._closed = False
        self.on_progress: Callable[[int], None] = ignore_progress
        """Called now and then, while keys are looked up one by one, with how many are done."""

    def open_index(self, name: str) -> IndexReader:
        """The index of one of the puzzle's own tables."""
        return self.open_table_index(
            next(table for table in self.puzzle.tables if table.name == name)
        )

    def open_table_index(self, table: Table) -> IndexReader:
        """The index of any table of this puzzle."""
        if self._closed:
            raise ValueError(f"the tables in {self.store} are closed")
        if table.name not in self._indexes:
            self._indexes[table.name] = IndexReader(
                self.store, self.puzzle.format_build_arguments(table.name), table
            )
        return self._indexes[table.name]

    def make_damage_error(self, name: str, problem: str, suffix: str = "idx") -> TableDamaged:
        """What is said of a file that is whole, as published, and contradicts itself."""
        command = format_rebuild_command(
            self.puzzle.format_build_arguments(name), self.store, force=True
        )
        return TableDamaged(self.store.locate(f"{name}.{suffix}"), problem, command)

    def scan_table(self, table: Table) -> pl.LazyFrame:
        """A table's rows; its files are checked when they are first asked for."""
        if table.name not in self._scans:
            from queries.scans import scan_table

            stage = self.puzzle.format_build_arguments(table.name)
            self._scans[table.name] = scan_table(self.store, stage, table)
        return self._scans[table.name]

    def scan_files(
        self, table: Table, value: str, number: int | None = None
    ) -> Iterator[pl.LazyFrame]:
        """The rows of each file that may have some of a value within which rows are numbered, and
        of a number among these; a file is checked when it is first asked for."""
        from queries.scans import check_file, find_files, require_published, scan_file

        stage = self.puzzle.format_build_arguments(table.name)
        if table.name not in self._entries:
            self._entries[table.name] = require_published(self.store, stage, table)
        for file in find_files(table, self._entries[table.name], value, number):
            if file.file not in self._scans:
                check_file(self.store, stage, file)
                self._scans[file.file] = scan_file(self.store, table, file)
            yield self._scans[file.file]

    def count_listed_rows(self, table: Table) -> int | None:
        """How many rows a list has or would have, if another table tells."""
        return None

    def close(self) -> None:
        """Let go of the indexes' files."""
        self._closed = True
        for index in self._indexes.values():
            index.close()

    def select_reader(self, options: OptionValues) -> Reader:
        """Who answers what is asked: this one, or one of its own for a board."""
        return self

    def list_explorer_readers(self) -> list[Reader]:
        """Who answers in the explorer's page: this one, or one for each board."""
        return [self]

    def normalize_options(self, options: OptionValues) -> OptionValues:
        """The options in their one notation; a TablebaseError for what no key could be asked."""
        return options

    def probe(self, key: str, options: OptionValues) -> Facts:
        """The answer as facts; a TablebaseError where there is none."""
        raise NotImplementedError

    def answer_without_key(self, options: OptionValues) -> Facts:
        """The answer to an option that needs no key."""
        raise NotImplementedError

    def list_values(self, option: str) -> tuple[str, ...]:
        """What a shell may offer for an option; nothing where that cannot be listed."""
        return ()

    def draw_samples(
        self,
        options: OptionValues,
        size: int,
        seed: int,
        *,
        replacement: bool,
        on_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[pl.DataFrame]:
        """So many rows by chance, each as likely as any other, some at a time.

        `on_progress` hears how many steps are done of those to the next rows.
        """
        raise BadRequest(f"{self.puzzle.title} does not support sampling")

    def make_signposts(self, table: Table) -> bytes:
        """What the explorer's page carries of a table that has no index."""
        raise NotImplementedError

    def list_answer_columns(self, options: OptionValues) -> dict[str, Column]:
        """The first table's columns, by name, that can hold what is answered."""
        return {column.name: column for column in self.puzzle.tables[0].columns}

    def read_rows(self) -> pl.DataFrame:
        """A batch's columns of the whole first table, read once."""
        if self._rows is None:
            rows = self.scan_table(self.puzzle.tables[0])
            self._rows = rows.select(self.columns).collect()
        return self._rows

    def list_added_columns(self, options: OptionValues) -> tuple[str, ...]:
        """The columns that answers to many keys have."""
        more = (option.columns for option in self.options if options.get(option.name))
        return (*self.columns[1:], *(name for names in more for name in names))

    def make_schema(self, options: OptionValues) -> pl.Schema:
        """The same columns with their types."""
        from queries.answer_frames import make_answer_schema

        return make_answer_schema(
            self.list_added_columns(options), self.list_answer_columns(options)
        )

    def answer_keys(self, keys: pl.Series, options: OptionValues) -> Answers:
        """A batch's answers, one row a key."""
        from queries.answer_frames import look_up_keys

        def ask(key: str) -> dict[str, object]:
            return self.probe(key, options).to_dict()

        return look_up_keys(keys, ask, self.make_schema(options), self.on_progress)

    def annotate_keys(self, keys: pl.Series, options: OptionValues) -> pl.DataFrame:
        """The same for whom a null is reason enough."""
        return self.answer_keys(keys, options)[0].drop("error")
