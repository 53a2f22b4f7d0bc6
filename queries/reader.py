"""The reader of a puzzle's tables, which each kind of puzzle extends, and that of plain records."""

from __future__ import annotations

from _thread import RLock, allocate_lock  # `threading` takes longer to import

from puzzle_tablebase.errors import (
    BadRequest,
    IllegalMove,
    NoAnswer,
    NotationError,
    TablebaseError,
    TableDamaged,
    Undecided,
    name_packages,
    quote,
    require_choice,
    require_text,
)
from puzzle_tablebase.puzzle import Puzzle, Rules, StateSpace
from puzzle_tablebase.queries.answer import Answer, HardestAnswer, Judgement
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.queries.options import ALL, BATCH, CHECK, PROBE, SAMPLE, parse_options
from puzzle_tablebase.schema import UNREACHED
from puzzle_tablebase.stores.folder import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, TypeVar

    import polars as pl

    from puzzle_tablebase.queries.answer_frames import Frame
    from puzzle_tablebase.queries.options import Option, Options
    from puzzle_tablebase.queries.samples import SampleRequest
    from puzzle_tablebase.schema import Table

    Kept = TypeVar("Kept")


class Reader:
    """A reader of one puzzle's tables in one store; indexes are opened when first needed.

    Documented methods parse their options, and call the others, which take them parsed.
    """

    documented: tuple[str, ...] = (
        *("probe", "get", "annotate", "check", "check_frame", "sample", "histogram", "scan"),
    )
    """The methods of `docs/python.md`: what `dir` lists."""
    options: tuple[Option, ...] = ()
    commands: tuple[str, ...] = ("query", "sample", "check")
    """The commands of the command line that the puzzle has."""
    has_pictures = False
    """Whether answers can be drawn."""
    key = "KEY"
    columns: tuple[str, ...]
    """A batch's columns, the key's first; options may add further ones."""
    long_work = ""
    """What a single query does that may take seconds, in words."""
    board: str | None = None
    """The board of all keys, if the puzzle has several."""
    iter_answers: Any = None
    """A method that yields the rows of many keys as they are answered, if each takes long."""
    key_cells = 0
    """The number of cells of a key that a text input may have apart; 0: none."""
    key_digits = 0
    """The number of digits of a key that can be read as a number; 0: no key can."""
    explored: Mapping[str, int] = {}
    """The tables in the explorer's page, each with the number of trailing bytes of a record that
    the page omits and recomputes: they would double its size."""

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        self.store = store
        self.puzzle = puzzle
        self._kept: dict[object, Any] = {}
        """What was made of the tables, by name, for all threads."""
        self._making: dict[object, Any] = {}
        """A lock for each name that something is being made for."""
        self._lock = RLock()
        """The lock of these dictionaries: it is never held while something is read or made."""
        self._closed = False

    def __init_subclass__(cls) -> None:
        name_packages_in(cls)

    def __dir__(self) -> list[str]:
        return [*self.documented]

    def probe(self, key: str, **options: Any) -> Answer:
        """Return the answer for a key: the facts of its record, and those that options add."""
        return self.answer(key, self.parse(PROBE, options))

    def get(self, key: str, default: Any = None, **options: Any) -> Any:
        """Return the answer of `probe`, or the default where the answer is no or the key is bad."""
        parsed = self.parse(PROBE, options)
        try:
            return self.answer(key, parsed)
        except (NotationError, NoAnswer, Undecided):
            return default

    def annotate(
        self, frame: Any, column: str | None = None, *, prefix: str = "", errors: str = "null",
        **options: Any,
    ) -> Any:  # fmt: skip
        """Add the columns of answers to a frame that narwhals supports, or to a list of keys.

        A key without an answer gets nulls; `errors` may add a column `error` with the reason, or
        raise the first one. `prefix` begins the names of the added columns.
        """
        from puzzle_tablebase.queries.answer_frames import annotate_frame

        require_choice(errors, "way to report errors", "null", "column", "raise")
        parsed = self.parse(BATCH, options)

        def answer(keys: pl.Series) -> pl.DataFrame:
            if errors == "null":
                return self.annotate_keys(keys, parsed)
            answers = self.answer_keys(keys, parsed)
            for at in answers["error"].is_not_null().arg_true() if errors == "raise" else ():
                self.answer(keys[at], parsed)  # raises the error itself, with its facts
                raise TablebaseError(answers["error"][at])  # a search had a longer time now
            return answers.select(added)

        added = (*self.make_schema(parsed), *(("error",) if errors == "column" else ()))
        columns = (column or self.columns[0],)
        return annotate_frame(frame, columns, prefix, added, answer, self.key_digits)

    def check(self, key: str, answer: object, **options: Any) -> Judgement:
        """Judge an answer: is it legal, does it reach the goal, is it shortest?"""
        from puzzle_tablebase.queries.judging import judge

        return judge(self, key, answer, self.parse(CHECK, options))

    def check_frame(
        self, frame: Frame, column: str | None = None, answer_column: str = "answer", *,
        prefix: str = "", **options: Any,
    ) -> Frame:  # fmt: skip
        """Add the columns of judgements to a frame with a column of keys and one of answers."""
        from puzzle_tablebase.queries.answer_frames import annotate_frame
        from puzzle_tablebase.queries.judged_columns import judge_rows

        parsed = self.parse(CHECK, options)

        def judge(keys: pl.Series, answers: pl.Series) -> pl.DataFrame:
            return judge_rows(self, keys, answers, parsed)

        columns, added = (column or self.columns[0], answer_column), (*Judgement.facts, "error")
        judged: Frame = annotate_frame(frame, columns, prefix, added, judge, self.key_digits)
        return judged

    def sample(self, size: int | None = None, seed: int = 0, **options: Any) -> pl.DataFrame:
        """Draw a uniform sample of rows; the same seed draws the same rows.

        A warning names distances that have fewer states than asked for.
        """
        from warnings import warn

        import polars as pl

        from puzzle_tablebase.queries.samples import SampleRequest, draw_set

        request, parsed = SampleRequest(size, seed), self.parse(SAMPLE, options)
        return pl.concat(draw_set(self, parsed, request, lambda note: warn(note, stacklevel=7)))

    def histogram(self) -> pl.DataFrame:
        """Count the states by depth, and by goal if the puzzle has goals, as the manifest does."""
        from puzzle_tablebase.queries.published import count_states

        self.require_open()
        return count_states(self.puzzle.name, self.store, self.board)

    def scan(self, table: str) -> pl.LazyFrame:
        """Return the rows of a published table of this puzzle; its files are checked first."""
        require_text(table, "a table's name", self.puzzle.name)
        found = self.puzzle.find_table(table)
        if found is None or not found.columns:
            raise BadRequest(f"{self.puzzle.title} has no table {quote(table)} with rows")
        return self.scan_table(found)

    def parse(self, verb: str, given: Mapping[str, Any]) -> Options:
        """Parse the options of a question; ValueError if the tables are closed."""
        self.require_open()
        return parse_options(self, verb, given)

    def select(self, options: Options) -> Reader:
        """Return the reader that answers a question with these options: this one."""
        return self

    def answer(self, key: Any, options: Options) -> Answer:
        """Answer for one key, or without one (None); a TablebaseError if there is no answer."""
        raise NotImplementedError

    def parse_key(self, text: str, options: Options) -> object:
        """Parse a key; NotationError for a text that is none."""
        puzzle: Any = self.puzzle
        return puzzle.parse(text)

    def has_key(self, text: str, options: Options) -> bool:
        """Return whether a text is in the notation of keys."""
        try:
            self.parse_key(text, options)
        except NotationError:
            return False
        return True

    def make_schema(self, options: Options) -> pl.Schema:
        """Return the columns that a batch adds, with their types: those of the first table."""
        from puzzle_tablebase.queries.answer_frames import make_answer_schema

        return make_answer_schema(self.columns[1:], self.puzzle.tables[0].columns)

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        """Answer many keys, one row per key, with a column of errors: here one by one."""
        from puzzle_tablebase.queries.answer_frames import answer_each

        return answer_each(keys, lambda key: self.answer(key, options), self.make_schema(options))

    def annotate_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        """Answer many keys, one row per key, without errors."""
        return self.answer_keys(keys, options).drop("error")

    def complete_answers(
        self, keys: pl.Series, answers: pl.DataFrame, options: Options
    ) -> pl.DataFrame:
        """Look up those keys one by one that have neither an answer nor an error yet."""
        from puzzle_tablebase.queries.answer_frames import fill_answers

        return fill_answers(keys, answers, lambda some: Reader.answer_keys(self, some, options))

    def parse_answer(self, key: str, options: Options) -> tuple[Any, Any, int | None]:
        """Parse a key; return where answers start and should end, and the fewest moves or None."""
        raise BadRequest(f"{self.puzzle.title} does not support checking")

    def choose_rules(self, options: Options) -> Rules:
        """Return the rules by which the moves of an answer are read and made."""
        assert isinstance(self.puzzle, Rules)
        return self.puzzle

    def walk(
        self, rules: Rules, start: Any, moves: Iterable[str], goal: Any, table: str, problem: str,
        suffix: str = "idx",
    ) -> list[Any]:  # fmt: skip
        """Follow a solution by the rules before it is told; return every place on the way.

        TableDamaged, with this problem, if it does not lead to the goal: the file that it comes
        from may be forged, with right checksums.
        """
        try:
            places = [start, *rules.follow(start, moves)]
        except IllegalMove:
            places = []
        if places[-1:] != [goal]:
            raise self.make_damage_error(table, problem, suffix)
        return places

    def is_at(self, here: Any, goal: Any, distance: int) -> bool:
        """Return whether a place is at a distance from the goal, as far as that is known."""
        return True

    def judges_together(self, count: int, options: Options) -> bool:
        """Return whether so many answers are judged together, not one by one."""
        return False

    def judge_distance(
        self, stated: str, start: Any, shortest: int | None, options: Options
    ) -> Judgement:
        """Judge a number of moves that an answer states, or that there are none."""
        truth = "unreachable" if shortest is None else str(shortest)
        if stated.lstrip("0") == truth.lstrip("0"):
            return Judgement(result="right", shortest=shortest, score=1.0)
        problem = "no moves lead there" if shortest is None else f"the fewest moves are {truth}"
        return Judgement(result="wrong", shortest=shortest, problem=problem, score=0.0)

    def complete(self, judged: Judgement, start: Any, last: Any, options: Options) -> Judgement:
        """Return the judgement of moves to `last`, with what only that puzzle knows of it."""
        if judged.result == "incomplete" and judged.shortest is None:
            problem = "no moves lead to the goal"
            return Judgement(result="incomplete", length=judged.length, problem=problem, score=0.0)
        return judged

    def draw(
        self, request: SampleRequest, wanted: range | None, options: Options
    ) -> Iterator[pl.DataFrame]:
        """Draw a uniform sample of rows, at some depths or any, and yield it a chunk at a time."""
        from puzzle_tablebase.queries.samples import select_depth

        rows = select_depth(self.list_depth_rows(options), self.puzzle.depth, wanted)
        for numbers in request.draw_numbers(len(rows), self.key.lower()):
            yield rows[numbers]

    def count_depths(self, options: Options) -> dict[int, int]:
        """Count the keys at each depth."""
        depths = self.list_depth_rows(options)[self.puzzle.depth].drop_nulls()
        return dict(depths.value_counts().iter_rows())

    def list_hardest_rows(self, options: Options) -> pl.DataFrame:
        """Return a batch's columns of all keys that are farthest from the goal."""
        import polars as pl

        rows, depth = self.list_depth_rows(options), self.puzzle.depth
        return rows.filter(pl.col(depth) == pl.col(depth).max())

    def list_hardest(self, goal: str | None = None) -> pl.DataFrame:
        """Return all keys that are farthest from the goal, or from the named goals they reach."""
        return self.list_hardest_rows(self.parse(ALL, {"goal": goal, "hardest": True}))

    def answer_hardest(self, options: Options) -> HardestAnswer:
        """Answer with all keys that are farthest from the goal."""
        rows, depth = self.list_hardest_rows(options), self.puzzle.depth
        goals = rows["goal"].unique().to_list() if "goal" in rows.columns else []
        return HardestAnswer(
            goal=goals[0] if len(goals) == 1 else None,
            depth={depth: rows[depth][0]},
            named_keys={f"{self.key.lower()}s": rows[self.columns[0]].to_list()},
        )

    def list_depth_rows(self, options: Options) -> pl.DataFrame:
        """Return a batch's columns of all keys; the depth of a key is null if it has none."""
        return self.read_rows()

    def read_rows(self) -> pl.DataFrame:
        """Return a batch's columns of all rows of the first table, read once."""
        table = self.puzzle.tables[0]
        rows = self.scan_table(table).select(self.columns)
        return self.keep("rows", lambda: self.collect(table, rows))

    def open_index(self, name: str) -> IndexReader:
        """Return the index of one of the puzzle's default tables, by the table's name."""
        index: IndexReader | None = self._kept.get(("index", name))
        if index is not None:
            return index
        return self.open_table_index(
            next(table for table in self.puzzle.tables if table.name == name)
        )

    def open_table_index(self, table: Table, request: str = "") -> IndexReader:
        """Return the index of any table of this puzzle; `request` is the name that builds it."""
        name = "index", table.name
        return self.keep(name, lambda: IndexReader(self.store, table, request))

    def make_damage_error(self, name: str, problem: str, suffix: str = "idx") -> TableDamaged:
        """Make the error for a file that is as published, and yet contradicts itself."""
        from puzzle_tablebase.stores.access import make_damage_error

        return make_damage_error(self.store, name, problem, suffix)

    def scan_table(self, table: Table) -> pl.LazyFrame:
        """Return a table's rows; its files are checked against the manifest the first time."""
        from puzzle_tablebase.queries.scans import scan_table

        return self.keep(("scan", table.name), lambda: scan_table(self.store, table))

    def collect(self, table: Table, rows: pl.LazyFrame) -> pl.DataFrame:
        """Collect rows of a table's scan; TableDamaged if they cannot be decoded."""
        from puzzle_tablebase.queries.scans import collect_rows

        return collect_rows(self.store, table.name, rows)

    def keep(self, name: object, make: Callable[[], Kept]) -> Kept:
        """Return what is made of the tables the first time, and kept until they are closed.

        Only threads that ask for the same thing wait for it.
        """
        kept: Kept | None = self._kept.get(name)
        if kept is not None:
            return kept
        with self._lock:
            making = self._making.setdefault(name, allocate_lock())
        with making:
            kept = self._kept.get(name)  # another thread may have made it meanwhile
            try:
                if kept is None:
                    self.require_open()
                    kept = make()
                    with self._lock:
                        self.require_open()  # closed tables keep nothing
                        self._kept[name] = kept
            finally:
                self._making.pop(name, None)
        return kept

    def __reduce__(self) -> tuple[object, ...]:
        # another process opens the files when it needs them
        return type(self), (self.puzzle, self.store), {"_closed": self._closed}

    def require_open(self) -> None:
        """Raise ValueError if the tables are closed."""
        if self._closed:
            raise ValueError(f"the tables in {self.store} are closed")

    def close(self) -> None:
        """Close all files and forget what was read: later questions raise ValueError."""
        with self._lock:
            self._closed = True
            for kept in self._kept.values():
                if isinstance(kept, IndexReader):
                    kept.close()
            self._kept.clear()

    def iter_explored(self) -> Iterator[tuple[Reader, Table]]:
        """Yield the tables that the explorer's page contains, each with its reader."""
        for table in self.puzzle.tables:
            if table.name in self.explored:
                yield self, table


def name_packages_in(kind: type[Reader]) -> None:
    """Make the documented methods of a class raise PackageMissing if a package is not installed."""
    for name in kind.documented:
        method = getattr(kind, name, None)  # none, if an instance makes it
        if method and not hasattr(method, "__wrapped__"):
            setattr(kind, name, name_packages(method))


name_packages_in(Reader)


class RecordAnswer(Answer):
    """A record of an index: the values by the names of the columns."""

    fields: dict[str, object]


class RecordReader(Reader):
    """A reader of a state space without goals: it answers a state with its index record."""

    documented = ("probe", "get", "annotate", "histogram", "scan")
    commands = ("query",)
    puzzle: StateSpace

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        table = self._table = puzzle.tables[0]
        self._fields = table.list_fields()
        self.columns = (table.columns[0].name, *(field.name for field in self._fields))
        nullable = {column.name for column in table.columns if column.nullable}
        self._unreached = {
            (name, UNREACHED) for name, letter in table.index if letter == "B" and name in nullable
        }
        """The fields and values that stand for null: a record has no other way to express it."""

    def answer(self, key: str, options: Options) -> RecordAnswer:
        state = self.puzzle.parse(key)
        record = self.open_index(self._table.name).read_record(self.puzzle.rank(state))
        values = (
            None if (name, value) in self._unreached else value
            for name, value in zip(self.columns[1:], record, strict=True)
        )
        return RecordAnswer(fields=dict(zip(self.columns, (state, *values), strict=True)))

    def make_schema(self, options: Options) -> pl.Schema:
        from puzzle_tablebase.queries.answer_frames import make_answer_schema

        return make_answer_schema(self.columns[1:], self._fields)
