"""Probers, which answer questions about a puzzle from the files of its tables.

Each puzzle has a subclass of `BaseProber`, which declares its options. Most are a `Prober`,
which answers with parsed options; a few choose another prober. Programs call `readers`.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, IllegalMove, NotationError
from puzzle_tablebase.process import watch_signals
from puzzle_tablebase.puzzles import GoalPuzzle, Puzzle, Rules, StateSpace
from puzzle_tablebase.queries.files import TableFiles
from puzzle_tablebase.queries.questions import (
    ALL,
    CHECK,
    JSON,
    OUTPUTS,
    QUERY,
    SVG,
    Answer,
    HardestAnswer,
    Judgement,
    parse_options,
)
from puzzle_tablebase.registry import get_puzzle, import_object
from puzzle_tablebase.schema import UNREACHABLE
from puzzle_tablebase.stores import open_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Any

    import polars as pl

    from puzzle_tablebase.queries.files import IndexReader
    from puzzle_tablebase.queries.questions import Option, Options
    from puzzle_tablebase.queries.samples import SampleRequest
    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.stores import Store


class BaseProber:
    """Base class of probers: declares the options of questions, and selects who answers."""

    options: tuple[Option, ...] = ()
    commands: tuple[str, ...] = ("query", "sample", "check")
    """The commands of the command line that the puzzle has."""
    reader = ""
    """The class of `readers` that programs call; "" if each board has a reader."""
    has_pictures = False
    """Whether answers can be drawn."""
    key = "KEY"
    columns: tuple[str, ...]
    """A batch's columns, the key's first; options may add further ones."""

    def __init__(self, puzzle: Puzzle, files: TableFiles) -> None:
        self.puzzle = puzzle
        self.files = files

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.puzzle, self.files)

    def parse(self, verb: str, given: Mapping[str, Any]) -> Options:
        """Parse the options of a question; ValueError if the tables are closed."""
        self.files.require_open()
        return parse_options(self, verb, given)

    def select(self, options: Options) -> Prober:
        """Return the prober that answers a question with these options."""
        raise NotImplementedError

    def iter_explored(self) -> Iterator[tuple[Prober, Table]]:
        """Yield the tables that the explorer's page contains, each with its prober."""
        raise NotImplementedError

    def close(self) -> None:
        """Close all files and drop what was read; later questions raise ValueError."""
        self.files.close()


class Prober(BaseProber):
    """Answers questions about a puzzle, or about one of its boards."""

    long_work = ""
    """The activity of a query that may take seconds, in words."""
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

    def __init__(self, puzzle: Puzzle, files: TableFiles) -> None:
        super().__init__(puzzle, files)
        self._tables = {table.name: table for table in puzzle.tables}

    def select(self, options: Options) -> Prober:
        return self

    def answer(self, key: Any, options: Options) -> Answer:
        """Answer for a key, or without one (None); raise a TablebaseError if there is no answer."""
        raise NotImplementedError

    def parse_key(self, text: str, options: Options) -> object:
        """Parse a key; raise NotationError for an invalid text."""
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

        return fill_answers(keys, answers, lambda some: Prober.answer_keys(self, some, options))

    def parse_answer(self, key: str, options: Options) -> tuple[Any, Any, int | None]:
        """Parse a key; return the start and the goal of answers, and the fewest moves or None."""
        raise BadRequest(f"{self.puzzle.title} does not support checking")

    def choose_rules(self, options: Options) -> Rules:
        """Return the rules that read and make the moves of an answer."""
        assert isinstance(self.puzzle, Rules)
        return self.puzzle

    def walk(
        self, rules: Rules, start: Any, moves: Iterable[str], goal: Any, table: str, problem: str,
        suffix: str = "idx",
    ) -> list[Any]:  # fmt: skip
        """Check a solution by the rules, and return every state on the way.

        Raise TableDamaged, with this problem, if it does not lead to the goal: the file may be
        forged, with valid checksums.
        """
        try:
            states = [start, *rules.follow(start, moves)]
        except IllegalMove:
            states = []
        if states[-1:] != [goal]:
            raise self.files.make_error(table, problem, suffix)
        return states

    def is_at(self, here: Any, goal: Any, distance: int) -> bool:
        """Return whether a state is at a distance from the goal, as far as is known."""
        return True

    def can_judge_together(self, count: int, options: Options) -> bool:
        """Return whether to judge answers together, not one by one."""
        return False

    def judge_distance(
        self, stated: str, start: Any, shortest: int | None, options: Options
    ) -> Judgement:
        """Judge a stated number of moves, or the statement that the goal is unreachable."""
        truth = "unreachable" if shortest is None else str(shortest)
        if stated.lstrip("0") == truth.lstrip("0"):
            return Judgement(result="right", shortest=shortest, score=1.0)
        problem = "no moves lead there" if shortest is None else f"the fewest moves are {truth}"
        return Judgement(result="wrong", shortest=shortest, problem=problem, score=0.0)

    def complete(self, judged: Judgement, start: Any, last: Any, options: Options) -> Judgement:
        """Complete the judgement of moves that lead to `last`, with facts of this puzzle."""
        if judged.result == "incomplete" and judged.shortest is None:
            problem = "no moves lead to the goal"
            return Judgement(result="incomplete", length=judged.length, problem=problem, score=0.0)
        return judged

    def draw(
        self, request: SampleRequest, wanted: range | None, options: Options
    ) -> Iterator[pl.DataFrame]:
        """Draw a uniform sample of rows, at given depths or any, and yield it in chunks."""
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
        rows = self.files.scan(table).select(self.columns)
        return self.files.keep("rows", lambda: self.files.collect(table, rows))

    def open_index(self, name: str) -> IndexReader:
        """Return the index of one of the puzzle's default tables, by the table's name."""
        return self.files.open_index(self._tables[name])

    def iter_explored(self) -> Iterator[tuple[Prober, Table]]:
        for table in self.puzzle.tables:
            if table.name in self.explored:
                yield self, table


class RecordAnswer(Answer):
    """A record of an index: the values by the names of the columns."""

    fields: dict[str, object]


class RecordProber(Prober):
    """A prober of a state space without goals: it answers a state with its index record."""

    commands = ("query",)
    reader = "RecordReader"
    puzzle: StateSpace

    def __init__(self, puzzle: Puzzle, files: TableFiles) -> None:
        super().__init__(puzzle, files)
        table = self._table = puzzle.tables[0]
        self._fields = table.list_fields()
        self.columns = (table.columns[0].name, *(field.name for field in self._fields))
        nullable = {column.name for column in table.columns if column.nullable}
        self._null_values = {
            (name, UNREACHABLE)
            for name, letter in table.index
            if letter == "B" and name in nullable
        }
        """The fields and values that stand for null: a record has no other way to express it."""

    def answer(self, key: str, options: Options) -> RecordAnswer:
        state = self.puzzle.parse(key)
        record = self.open_index(self._table.name).read_record(self.puzzle.rank(state))
        values = (
            None if (name, value) in self._null_values else value
            for name, value in zip(self.columns[1:], record, strict=True)
        )
        return RecordAnswer(fields=dict(zip(self.columns, (state, *values), strict=True)))

    def make_schema(self, options: Options) -> pl.Schema:
        from puzzle_tablebase.queries.answer_frames import make_answer_schema

        return make_answer_schema(self.columns[1:], self._fields)


# ---- the probers of all puzzles ---------------------------------------------------------------

PROBERS = {
    "eight": "puzzle_tablebase.queries.boards:EightProber",
    "sliding": "puzzle_tablebase.queries.sliding:SlidingProber",
    "fifteen": "puzzle_tablebase.queries.fifteen:FifteenProber",
    "senet": "puzzle_tablebase.queries.senet:SenetProber",
    "knight": "puzzle_tablebase.queries.knight.prober:KnightProber",
}
"""The classes of the built-in puzzles' probers."""


def get_prober_class(name: str) -> type[BaseProber]:
    """Return the class of a puzzle's prober."""
    default = (
        "puzzle_tablebase.queries.goals:GoalProber"
        if isinstance(get_puzzle(name), GoalPuzzle)
        else "puzzle_tablebase.queries.prober:RecordProber"
    )
    prober_class: type[BaseProber] = import_object(PROBERS.get(name, default))
    return prober_class


def open_prober(name: str, store: Store) -> BaseProber:
    """Return a puzzle's prober for the tables in a store."""
    return get_prober_class(name)(get_puzzle(name), TableFiles(store))


def parse_query(prober: BaseProber, verb: str, given: Mapping[str, Any]) -> tuple[Prober, Options]:
    """Parse the options of a question; return the prober that answers it, and the options."""
    options = prober.parse(verb, given)
    return prober.select(options), options


# ---- one question of the command line ---------------------------------------------------------


def list_options(prober: type[BaseProber], *verbs: str) -> list[Option]:
    """List the options of a prober's puzzle for some commands."""
    return [option for option in prober.options if {*verbs} & {*option.verbs}]


def list_query_options(prober: type[BaseProber]) -> tuple[Option, ...]:
    """List all options of the queries of a prober's puzzle."""
    own = list_options(prober, QUERY, ALL)
    return (*own, *((SVG,) if prober.has_pictures else ()), JSON, OUTPUTS)


def list_check_options(prober: type[BaseProber]) -> tuple[Option, ...]:
    """List the options of the judgement of one answer; none if the puzzle has no answers."""
    own = list_options(prober, CHECK)
    return (*own, JSON, OUTPUTS) if "check" in prober.commands else ()


def answer_as_text(
    name: str,
    key: str | None,
    given: Mapping[str, str | bool],
    announcing: Callable[[str], AbstractContextManager[object]] | None = None,
) -> str:
    """Answer a query as text to print, and write its picture if the options name a file.

    `announcing` makes the context of an answer that may take seconds, from its activity in words.
    """
    if key is None or given:
        # the answer may go to a file, which must be whole or not there; or it may need polars,
        # which takes over the interrupt and waits for its own work
        watch_signals()
    options = {**given}
    svg, is_json, outputs = (options.pop(own.name, None) for own in (SVG, JSON, OUTPUTS))
    if svg == "-" and is_json:
        problem = "--json cannot be combined with --svg -: only one can be printed"
        raise BadRequest(problem, "Write the picture to a file with --svg FILE")
    opened = open_prober(name, open_store(outputs))
    prober, parsed = parse_query(opened, ALL if key is None else QUERY, options)
    work = "reading all states" if key is None else prober.long_work
    if work and announcing:
        with announcing(work):
            answer = prober.answer(key, parsed)
    else:
        answer = prober.answer(key, parsed)
    text = f"{answer.to_json()}\n" if is_json else answer.to_text()
    if svg is not None:
        from puzzle_tablebase.output import write_output

        # after the text: an answer that cannot be printed leaves no picture behind
        write_output(str(svg), answer.to_svg().encode())
        if svg == "-":
            return ""
    return text


def judge_as_text(
    name: str, words: list[str], given: Mapping[str, str | bool]
) -> tuple[str, Judgement]:
    """Judge one answer, the words after its key; return the judgement as text to print, too."""
    from puzzle_tablebase.queries.judging import judge  # a query does not need it

    if given:
        watch_signals()  # as for a query
    options = {**given}
    is_json, outputs = (options.pop(own.name, None) for own in (JSON, OUTPUTS))
    prober, parsed = parse_query(open_prober(name, open_store(outputs)), CHECK, options)
    judged = judge(prober, words[0], " ".join(words[1:]), parsed)
    return f"{judged.to_json()}\n" if is_json else judged.to_text(), judged
