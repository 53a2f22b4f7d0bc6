"""The base classes of readers of tables and of their queries, and a reader of records."""

from __future__ import annotations

from _thread import RLock  # `threading` takes longer to import

from puzzle_tablebase.errors import (
    BadRequest,
    NoAnswer,
    NotationError,
    TableDamaged,
    Undecided,
    quote,
    require_choice,
    require_text,
)
from puzzle_tablebase.puzzle import Puzzle, StateSpace
from puzzle_tablebase.puzzles import get_puzzle, import_object, is_registered
from puzzle_tablebase.queries.answer import (
    ANSWER_KINDS,
    Answer,
    HardestAnswer,
    Judgement,
    Option,
    align_rows,
    require_options,
    select_given,
)
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.schema import UNREACHED
from puzzle_tablebase.stores.folder import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Generic, Literal, overload

    import polars as pl
    from typing_extensions import TypeVar

    from puzzle_tablebase.queries.answer_frames import Frame, Keys
    from puzzle_tablebase.queries.batch_input import BatchQuery
    from puzzle_tablebase.queries.row_groups import RowGroups
    from puzzle_tablebase.queries.sampling import SampleRequest
    from puzzle_tablebase.schema import Table

    ProgressCallback = Callable[[int, int], None]
    Found = TypeVar("Found", bound=Answer, default=Answer, covariant=True)
    Default = TypeVar("Default")
    Kept = TypeVar("Kept")
else:  # a single lookup must not import `typing`
    Found = None

    class Generic:
        """A class that leaves out its parameters."""

        def __class_getitem__(cls, parameters):
            return cls


def ignore_progress(*counts: int) -> None:
    """Do nothing; the default progress callback."""


class Query:
    """A query of one puzzle: its options, parsed and checked once, and its answers for any keys.

    The options are given by name, as `Reader.options` declares them: a text for an option with a
    value, a boolean for a flag. Constructors of subclasses parse them.
    """

    distances: tuple[range, ...] = ()
    """The ranges of the depths of the rows that a sample draws; (): any."""
    judge_class = ""
    """The class that judges answers, as `module:name`; "": they cannot be judged."""
    second_column: str | None = None
    """The column that a batch reads beside that of the keys; None: no other."""

    def __init__(self, reader: Reader, **options: Any) -> None:
        reader.require_open()
        self.reader = reader
        self.given = select_given(options)
        """The options that are given, by name."""
        declared = (*reader.options, *(reader.sample_options or ()))
        require_options(reader.puzzle.title, declared, self.given)

    def answer(self, key: str) -> Answer:
        """Answer for one key; a TablebaseError if there is no answer."""
        raise NotImplementedError

    def look_up(self, key: str) -> Answer:
        """Look up one key of many: the answer has a batch's columns at least."""
        return self.answer(key)

    def has_key(self, text: str) -> bool:
        """Return whether a text is in the notation of keys."""
        try:
            self.parse_key(text)
        except NotationError:
            return False
        return True

    def parse_key(self, text: str) -> object:
        """Parse a key; NotationError for a text that is none."""
        return self.reader.puzzle.parse(text)  # type: ignore[attr-defined]  # of states

    def draw_samples(
        self,
        request: SampleRequest,
        wanted: range | None = None,
        on_progress: ProgressCallback = ignore_progress,
    ) -> Iterator[pl.DataFrame]:
        """Draw a uniform sample of rows, and yield it a chunk at a time.

        `wanted`: the depths of the rows; None: any. `on_progress(done, all)` gets the number of
        steps done of those to the next chunk.
        """
        reader = self.reader
        if reader.sample_options is None:
            raise BadRequest(f"{reader.puzzle.title} does not support sampling")
        from puzzle_tablebase.queries.sampling import select_depth

        rows = select_depth(self.list_depth_rows(), reader.puzzle.depth, wanted)
        for numbers in request.draw_numbers(len(rows), reader.key.lower()):
            yield rows[numbers]

    def count_depths(self) -> dict[int, int]:
        """Count the keys at each depth."""
        depths = self.list_depth_rows()[self.reader.puzzle.depth].drop_nulls()
        return dict(depths.value_counts().iter_rows())

    def list_hardest(self) -> pl.DataFrame:
        """Return a batch's columns of all keys that are farthest from the goal."""
        import polars as pl

        rows, depth = self.list_depth_rows(), self.reader.puzzle.depth
        return rows.filter(pl.col(depth) == pl.col(depth).max())

    def answer_without_key(self) -> Answer:
        """Answer an option of `Reader.keyless`: here with all keys farthest from the goal."""
        reader, rows = self.reader, self.list_hardest()
        depth = reader.puzzle.depth
        goals = rows["goal"].unique().to_list() if "goal" in rows.columns else []
        return HardestAnswer(
            goal=goals[0] if len(goals) == 1 else None,
            depth={depth: rows[depth][0]},
            named_keys={f"{reader.key.lower()}s": rows[reader.columns[0]].to_list()},
        )

    def list_depth_rows(self) -> pl.DataFrame:
        """Return a batch's columns of all keys; the depth of a key is null if it has none."""
        return self.reader.read_rows()

    def make_schema(self) -> pl.Schema:
        """Return the columns that a batch adds, with their types: those of the first table."""
        from puzzle_tablebase.queries.answer_frames import make_answer_schema

        return make_answer_schema(self.reader.columns[1:], self.reader.puzzle.tables[0].columns)

    def answer_keys(self, keys: pl.Series) -> pl.DataFrame:
        """Answer many keys, one row per key, with a column of errors."""
        from puzzle_tablebase.queries.answer_frames import answer_each

        return answer_each(keys, self.look_up, self.make_schema())

    def make_judge(self, answer_column: str = "answer", answers: str | None = None) -> Any:
        """Make the judge of answers to this query's keys.

        `answer_column` is the column of a batch's answers, `answers` their kind: moves if None.
        """
        if not self.judge_class:
            raise BadRequest(f"{self.reader.puzzle.title} does not support checking")
        return import_object(self.judge_class)(self, answer_column, answers or ANSWER_KINDS[0])

    def annotate_keys(self, keys: pl.Series, errors: str = "null") -> pl.DataFrame:
        """Answer many keys, one row per key; `errors` is that of `Reader.annotate`."""
        answers = self.answer_keys(keys)
        failed = answers["error"].is_not_null().arg_true() if errors == "raise" else ()
        for at in failed:
            self.look_up(keys[at])  # raises the error itself, with its facts
        return answers if errors == "column" else answers.drop("error")


class Reader(Generic[Found]):
    """A reader of one puzzle's tables in one store; indexes are opened when first needed.

    It is what Python programs have as `tables.eight` and the like. The options of `probe` and of
    the methods beside it are those of `pipeline query` and `pipeline sample`, by name.
    """

    query: type[Query]
    """The class of this reader's queries."""
    options: tuple[Option, ...] = ()
    """The options of a query."""
    has_pictures = False
    """Whether answers can be drawn."""
    key = "KEY"
    columns: tuple[str, ...]
    """A batch's columns, the key's first; options may add further ones."""
    sample_options: tuple[Option, ...] | None = None
    """The options of `pipeline sample`; None: there are no samples."""
    check_options: tuple[Option, ...] | None = None
    """The options of `pipeline check`; None: answers cannot be judged."""
    lookup_options: tuple[Option, ...] = ()
    """Further options of `probe` and `get`."""
    keyless: tuple[str, ...] = ()
    """The options that are answered without a key."""
    board: str | None = None
    """The board of all keys, if the puzzle has several."""
    sheet_options: Mapping[str, str] | None = None
    """The options that a sheet of boards to solve has by default; None: there are no sheets."""
    key_cells = 0
    """The number of cells of a key that a text input may have apart; 0: none."""
    key_digits = 0
    """The number of digits of a key that can be read as a number; 0: no key can."""
    explored: Mapping[str, int] = {}
    """The tables that the explorer's page contains, each with the number of bytes at the end of a
    record that the page computes itself: they would double its size."""

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        self.store = store
        self.puzzle = puzzle
        self._indexes: dict[str, IndexReader] = {}
        self._kept: dict[object, Any] = {}
        self._lock = RLock()
        """The lock under which something is read that threads then share."""
        self._closed = False

    def __repr__(self) -> str:
        from puzzle_tablebase.queries.status import format_repr

        return format_repr(self, self.store, self.puzzle)

    def _repr_html_(self) -> str:
        """List the puzzle's published tables for a notebook."""
        from puzzle_tablebase.queries.status import format_html

        return format_html(self, self.store, self.puzzle)

    def probe(self, key: str, **options: Any) -> Found:
        """Return the answer for a key: the facts of its record, and those that options add."""
        query = self._make_lookup(options)
        answer: Found = query.look_up(key)  # type: ignore[assignment]
        return answer

    def _make_lookup(self, options: Mapping[str, Any]) -> Query:
        for name in select_given(options):
            if name in self.keyless:
                raise BadRequest(f"{name} has an answer of another kind", "Use tables.answer")
        return self._make_query_of((*self.options, *self.lookup_options), options)

    def _make_query_of(
        self, declared: tuple[Option, ...] | None, options: Mapping[str, Any]
    ) -> Query:
        """Make a query; BadRequest for an option that is not declared for what is asked."""
        require_options(self.puzzle.title, declared or (), select_given(options))
        return self.make_query(**options)

    if TYPE_CHECKING:

        @overload
        def get(self, key: str, default: None = None, **options: Any) -> Found | None: ...
        @overload
        def get(self, key: str, default: Default, **options: Any) -> Found | Default: ...

    def get(self, key: str, default: Any = None, **options: Any) -> Any:
        """Return the answer of `probe`, or the default where the answer is no or the key is bad.

        A bad option raises, and so does trouble with the tables.
        """
        query = self._make_lookup(options)
        try:
            return query.look_up(key)
        except (NotationError, NoAnswer, Undecided):
            return default

    if TYPE_CHECKING:

        @overload
        def annotate(
            self, frame: Keys, column: str | None = None, *, prefix: str = "",
            errors: Literal["null", "column", "raise"] = "null", **options: Any,
        ) -> pl.DataFrame: ...  # fmt: skip
        @overload
        def annotate(
            self, frame: Frame, column: str | None = None, *, prefix: str = "",
            errors: Literal["null", "column", "raise"] = "null", **options: Any,
        ) -> Frame: ...  # fmt: skip

    def annotate(
        self, frame: Any, column: str | None = None, *, prefix: str = "", errors: str = "null",
        **options: Any,
    ) -> Any:  # fmt: skip
        """Add the columns of answers to a frame, for a column of keys.

        The frame is one that narwhals supports, as those of polars, pandas and pyarrow, and the
        result is of the same kind; a LazyFrame of polars stays lazy. A list of keys becomes a
        polars frame. A key without an answer gets nulls; `errors` may add a column `error` with the
        reason, or raise the first one. No column of the frame is replaced: `prefix` begins the
        names of the added columns.
        """
        from functools import partial

        from puzzle_tablebase.queries.answer_frames import annotate_frame

        require_choice(errors, "way to report errors", "null", "column", "raise")
        single = [option.name for option in self.options if option.is_single]
        if refused := [name for name in select_given(options) if name in single]:
            raise BadRequest(f"{refused[0]} works with a single key only", "Use probe")
        query, columns = self._make_query_of(self.options, options), (column or self.columns[0],)
        added = (*query.make_schema(), *(("error",) if errors == "column" else ()))
        answer = partial(query.annotate_keys, errors=errors)
        return annotate_frame(frame, columns, prefix, added, answer, self.key_digits)

    def _make_judge(self, options: dict[str, Any]) -> Any:
        require_options(self.puzzle.title, self.check_options or (), select_given(options))
        answers = options.pop("answers", None)
        return self.make_query(**options).make_judge(answers=answers)

    def check(self, key: str, answer: object, **options: Any) -> Judgement:
        """Judge an answer: is it legal, does it reach the goal, is it shortest?

        The options are those of `pipeline check`: `answers="distances"` judges a stated distance.
        An answer that cannot be read is judged, too.
        """
        judged: Judgement = self._make_judge(options).check(key, answer)
        return judged

    def check_frame(
        self, frame: Frame, column: str | None = None, answer_column: str = "answer", *,
        prefix: str = "", **options: Any,
    ) -> Frame:  # fmt: skip
        """Add the columns of judgements to a frame with a column of keys and one of answers.

        A key that is not in the notation gets nulls, and the reason in the column `error`. For
        frames and `prefix` see `annotate`.
        """
        from puzzle_tablebase.queries.answer_frames import annotate_frame

        judge = self._make_judge(options)
        columns, added = (column or self.columns[0], answer_column), (*judge.columns, "error")
        judged: Frame = annotate_frame(
            frame, columns, prefix, added, judge.judge_rows, self.key_digits
        )
        return judged

    def sample(
        self,
        size: int | None = None,
        seed: int = 0,
        *,
        replacement: bool | None = None,
        sorted: bool = False,  # the option's name
        **options: Any,
    ) -> pl.DataFrame:
        """Draw a uniform sample of rows; the same seed draws the same rows.

        The options select what is drawn. A row may be drawn twice, but not in a sample that is
        spread or split, unless `replacement` says so. A warning names distances that have fewer
        states than asked for. MemoryShort if the sample is too large for memory.
        """
        from warnings import warn

        from puzzle_tablebase.queries.sampling import SampleRequest, draw_frame, draw_set
        from puzzle_tablebase.resources import get_free_memory

        request = SampleRequest(size, seed, replacement, sorted)
        query = self._make_query_of(self.sample_options, options)
        samples = draw_set(query, request, ignore_progress, lambda note: warn(note, stacklevel=6))
        return draw_frame(request, samples, get_free_memory())

    def histogram(self) -> pl.DataFrame:
        """Count the states by depth, and by goal if the puzzle has goals, as the manifest does."""
        from puzzle_tablebase.queries.histogram import count_states

        return count_states(self.puzzle.name, self.store, self.board)

    def open_index(self, name: str) -> IndexReader:
        """Return the index of one of the puzzle's default tables, by the table's name."""
        index = self._indexes.get(name)  # without the lock, as a lookup does it each time
        if index is not None:
            return index
        return self.open_table_index(
            next(table for table in self.puzzle.tables if table.name == name)
        )

    def open_table_index(self, table: Table, request: str = "") -> IndexReader:
        """Return the index of any table of this puzzle.

        `request`: the name that builds it with the tables that it is read with.
        """
        with self._lock:
            self.require_open()
            if table.name not in self._indexes:
                self._indexes[table.name] = IndexReader(self.store, table, request)
            return self._indexes[table.name]

    def make_damage_error(self, name: str, problem: str, suffix: str = "idx") -> TableDamaged:
        """Make the error for a file that is as published, and yet contradicts itself."""
        from puzzle_tablebase.stores.access import make_damage_error

        return make_damage_error(self.store, name, problem, suffix)

    def scan(self, table: str) -> pl.LazyFrame:
        """Return the rows of a published table of this puzzle; its files are checked first.

        BadRequest for another name or a table without rows, TableMissing for an unpublished table.
        """
        require_text(table, "a table's name", self.puzzle.name)
        found = self.puzzle.find_table(table)
        if found is None or not found.columns:
            raise BadRequest(f"{self.puzzle.title} has no table {quote(table)} with rows")
        return self.scan_table(found)

    def scan_table(self, table: Table) -> pl.LazyFrame:
        """Return a table's rows; its files are checked against the manifest the first time."""
        from puzzle_tablebase.queries.scans import scan_table

        return self.keep(("scan", table.name), lambda: scan_table(self.store, table))

    def collect(self, table: Table, rows: pl.LazyFrame) -> pl.DataFrame:
        """Collect rows of a table's scan; TableDamaged if they cannot be decoded."""
        from puzzle_tablebase.queries.scans import collect_rows

        return collect_rows(self.store, table.name, rows)

    def keep(self, name: object, make: Callable[[], Kept]) -> Kept:
        """Return what is made of the tables the first time, and kept until they are closed."""
        with self._lock:
            self.require_open()
            if name not in self._kept:
                self._kept[name] = make()
            kept: Kept = self._kept[name]
            return kept

    def refresh(self) -> None:
        """Forget what was made of the tables, which may have been published anew."""
        self.store.refresh()
        with self._lock:
            self._kept.clear()

    def open_row_groups(self, table: Table) -> RowGroups:
        """Return the row groups of a table's file, which is opened once."""
        from puzzle_tablebase.queries.row_groups import RowGroups
        from puzzle_tablebase.queries.scans import list_row_files, retry_changed

        def make_groups() -> RowGroups:
            return RowGroups(self.store, table.name, list_row_files(self.store, table))

        return self.keep(("row groups", table.name), lambda: retry_changed(self.store, make_groups))

    def __reduce__(self) -> tuple[object, ...]:
        # another process opens the files when it needs them, and has the registered puzzles
        name = self.puzzle.name
        is_known = is_registered(name) and get_puzzle(name) is self.puzzle
        puzzle = name if is_known else self.puzzle
        return _restore_reader, (type(self), puzzle, self.store), {"_closed": self._closed}

    def require_open(self) -> None:
        """Raise ValueError if the tables are closed."""
        if self._closed:
            raise ValueError(f"the tables in {self.store} are closed")

    def close(self) -> None:
        """Close all files and forget what was read: later questions raise ValueError."""
        with self._lock:
            self._closed = True
            self._kept.clear()
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()

    def make_query(self, **options: Any) -> Query:
        """Make a query from its options by name, given as texts or as values."""
        return self.query(self, **options)

    def list_explorer_readers(self) -> list[Reader]:
        """Return the readers behind the explorer's page: this one, or one for each board."""
        return [self]

    def list_explored_tables(self) -> list[Table]:
        """Return the tables that the explorer's page contains."""
        return [table for table in self.puzzle.tables if table.name in self.explored]

    def list_values(self, option: str) -> tuple[str, ...]:
        """Return the values that a shell may suggest for an option; () if they cannot be listed."""
        return ()

    def make_signposts(self, table: Table) -> bytes:
        """Make the data that the explorer's page contains of a table without an index."""
        raise NotImplementedError

    def read_rows(self) -> pl.DataFrame:
        """Return a batch's columns of all rows of the first table, read once."""
        table = self.puzzle.tables[0]
        rows = self.scan_table(table).select(self.columns)
        return self.keep("rows", lambda: self.collect(table, rows))


def make_batch_query(query: Any) -> BatchQuery:
    """Make what a batch asks of its rows, from a query or a judge."""
    from puzzle_tablebase.queries.batch_input import BatchQuery

    reader, second = query.reader, query.second_column
    names = (reader.columns[0], *([second] if second else ()))
    cells, digits = reader.key_cells, reader.key_digits
    stream = None if second else getattr(query, "iter_answers", None)
    answer = query.judge_rows if second else query.answer_keys
    return BatchQuery(answer, names, query.make_schema(), query.has_key, cells, digits, stream)


def _restore_reader(kind: type[Reader], puzzle: Puzzle | str, store: Store) -> Reader:
    """Make a reader of a puzzle, or of the registered one of a name."""
    return kind(get_puzzle(puzzle) if isinstance(puzzle, str) else puzzle, store)


class RecordAnswer(Answer):
    """A record of an index: the values by the names of the columns."""

    fields: dict[str, object]

    def to_text(self) -> str:
        rows = ((name, "" if value is None else str(value)) for name, value in self.fields.items())
        return align_rows(list(rows))


class RecordQuery(Query):
    """A query of records, without options."""

    reader: RecordReader

    def answer(self, key: str) -> RecordAnswer:
        return RecordAnswer(fields=self.reader.find_record(key))

    def make_schema(self) -> pl.Schema:
        from puzzle_tablebase.queries.answer_frames import make_answer_schema

        return make_answer_schema(self.reader.columns[1:], self.reader.fields)


class RecordReader(Reader):
    """A reader of a state space without goals: it answers a state with its index record."""

    query = RecordQuery
    puzzle: StateSpace

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        table = self._table = puzzle.tables[0]
        self.fields = table.list_fields()
        self.columns = (table.columns[0].name, *(field.name for field in self.fields))
        nullable = {column.name for column in table.columns if column.nullable}
        self._unreached = {
            (name, UNREACHED) for name, letter in table.index if letter == "B" and name in nullable
        }
        """The fields and values that stand for null: a record has no other way to express it."""

    def find_record(self, key: str) -> dict[str, object]:
        """Find the record of a state; raise NotationError for a text that is none."""
        state = self.puzzle.parse(key)
        record = self.open_index(self._table.name).read_record(self.puzzle.rank(state))
        values = (
            None if (name, value) in self._unreached else value
            for name, value in zip(self.columns[1:], record, strict=True)
        )
        return dict(zip(self.columns, (state, *values), strict=True))
