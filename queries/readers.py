"""Readers: the typed interface for programs, on top of the probers.

A reader of a puzzle has the methods of `docs/python.md`. Each parses its options and calls the
function that answers, judges or draws.
"""

from __future__ import annotations

from puzzle_tablebase.errors import (
    BadRequest,
    NoAnswer,
    NotationError,
    Undecided,
    name_packages,
    quote,
    require_text,
)
from puzzle_tablebase.queries.questions import ALL, BATCH, CHECK, PROBE, QUERY, SAMPLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Generic, overload

    import polars as pl
    from narwhals.typing import IntoFrameT
    from typing_extensions import TypeVar

    from puzzle_tablebase.puzzles import GoalPuzzle, Puzzle
    from puzzle_tablebase.puzzles.sliding import SlidingBoard
    from puzzle_tablebase.queries.answer_frames import Keys
    from puzzle_tablebase.queries.boards import BoardAnswer, BoardProber, EightProber
    from puzzle_tablebase.queries.fifteen import FifteenProber, FifteenSolution
    from puzzle_tablebase.queries.goals import GoalAnswer, GoalProber
    from puzzle_tablebase.queries.knight.prober import (
        KnightAnswer,  # noqa: F401
        KnightProber,
    )
    from puzzle_tablebase.queries.knight.table_scans import CountAnswer
    from puzzle_tablebase.queries.prober import (
        Prober,
        RecordAnswer,  # noqa: F401  # in quotes below
    )
    from puzzle_tablebase.queries.questions import Answer, Judgement
    from puzzle_tablebase.queries.senet import SenetAnswer  # noqa: F401
    from puzzle_tablebase.queries.state_arrays import BoardArrays, EightArrays
    from puzzle_tablebase.stores import Store

    Given = TypeVar("Given", bound=Answer, covariant=True)
    """The type of a reader's answers."""
    OfGoal = TypeVar("OfGoal", bound=GoalAnswer, covariant=True, default=GoalAnswer)
    Default = TypeVar("Default")
else:  # importing `typing` would take longer than opening the tables
    Given = OfGoal = Default = None

    class Generic:
        """Makes every class with parameters, such as `Reader[Given]`, the class itself."""

        def __class_getitem__(cls, _: object) -> type:
            return cls


class Reader(Generic[Given]):
    """Answers for one puzzle, from its tables in one store."""

    def __init__(self, prober: Prober) -> None:
        self._prober = prober

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        name_packages_in(cls)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._prober,)

    def __repr__(self) -> str:
        name, puzzle = type(self).__name__, self._prober.puzzle.name
        board = f", board={board!r}" if (board := self._name_board()) else ""
        return f"{name}(puzzle={puzzle!r}{board}, store={str(self._prober.files.store)!r})"

    @property
    def puzzle(self) -> Puzzle:
        """The puzzle or the board, with its rules, goals and tables."""
        return self._prober.puzzle

    @property
    def store(self) -> Store:
        """The store of the tables."""
        return self._prober.files.store

    def _name_board(self) -> str:
        """Return the board of all keys; "" if there are several or none."""
        return ""

    def probe(self, key: str, **options: Any) -> Given:
        """Return the answer for a key: the facts of its record, and those that the options add."""
        answer: Any = self._prober.answer(key, self._prober.parse(PROBE, options))
        return answer  # type: ignore[no-any-return]  # the prober of this reader's class

    if TYPE_CHECKING:

        @overload
        def get(self, key: str, default: None = None, **options: Any) -> Given | None: ...
        @overload
        def get(self, key: str, default: Default, **options: Any) -> Given | Default: ...

    def get(self, key: str, default: Any = None, **options: Any) -> Any:
        """Return the answer of `probe`, or the default if there is none or the key is invalid."""
        parsed = self._prober.parse(PROBE, options)
        try:
            return self._prober.answer(key, parsed)
        except (NotationError, NoAnswer, Undecided):
            return default

    if TYPE_CHECKING:

        @overload
        def annotate(
            self, frame: Keys, column: str | None = None, *, prefix: str = ..., errors: str = ...,
            **options: Any,
        ) -> pl.DataFrame: ...  # fmt: skip
        @overload
        def annotate(
            self, frame: IntoFrameT, column: str | None = None, *, prefix: str = ...,
            errors: str = ..., **options: Any,
        ) -> IntoFrameT: ...  # fmt: skip

    def annotate(
        self, frame: Any, column: str | None = None, *, prefix: str = "", errors: str = "null",
        **options: Any,
    ) -> Any:  # fmt: skip
        """Add the columns of answers to a frame that narwhals supports, or to a list of keys.

        A key without an answer gets nulls; `errors` may add a column `error` with the reason, or
        raise the first one. `prefix` begins the names of the added columns.
        """
        from puzzle_tablebase.queries.answer_frames import annotate

        return annotate(self._prober, frame, column, prefix, errors, options)


def name_packages_in(cls: type) -> None:
    """Make the public methods of a class raise PackageMissing if a package is not installed."""
    for name, value in [*vars(cls).items()]:
        if not name.startswith("_") and callable(value):
            setattr(cls, name, name_packages(value))


name_packages_in(Reader)


class JudgingReader(Reader[Given]):
    """Base class of readers of puzzles whose answers can be judged and whose keys can be drawn."""

    def check(self, key: str, answer: object, **options: Any) -> Judgement:
        """Judge an answer: is it legal, does it reach the goal, is it shortest?"""
        from puzzle_tablebase.queries.judging import judge

        return judge(self._prober, key, answer, self._prober.parse(CHECK, options))

    def check_frame(
        self, frame: IntoFrameT, column: str | None = None, answer_column: str = "answer", *,
        prefix: str = "", **options: Any,
    ) -> IntoFrameT:  # fmt: skip
        """Add the columns of judgements to a frame with a column of keys and one of answers."""
        from puzzle_tablebase.queries.judged_columns import judge_frame

        judged: IntoFrameT = judge_frame(
            self._prober, frame, column, answer_column, prefix, options
        )
        return judged

    def sample(self, size: int | None = None, seed: int = 0, **options: Any) -> pl.DataFrame:
        """Draw a uniform sample of rows; the same seed draws the same rows.

        A warning names distances that have fewer states than requested.
        """
        from warnings import warn

        import polars as pl

        from puzzle_tablebase.queries.samples import SampleRequest, draw_set

        request, parsed = SampleRequest(size, seed), self._prober.parse(SAMPLE, options)

        def note(text: str) -> None:
            warn(text, stacklevel=7)  # where a program calls `sample`

        return pl.concat(draw_set(self._prober, parsed, request, note))


class Scanned:
    """Base class of readers of tables with rows."""

    _prober: Prober

    @name_packages
    def scan(self, table: str) -> pl.LazyFrame:
        """Return the rows of a published table of this puzzle; its files are checked first."""
        puzzle = self._prober.puzzle
        require_text(table, "a table's name", puzzle.name)
        found = puzzle.find_table(table)
        if found is None or not found.columns:
            raise BadRequest(f"{puzzle.title} has no table {quote(table)} with rows")
        return self._prober.files.scan(found)


class Counted(Scanned):
    """Base class of readers of tables with depths."""

    @name_packages
    def histogram(self) -> pl.DataFrame:
        """Count the states by depth, and by goal if the puzzle has goals, as the manifest does."""
        from puzzle_tablebase.queries.published import count_states

        prober = self._prober
        prober.files.require_open()
        return count_states(prober.puzzle.name, prober.files.store, prober.board)


class RecordReader(Reader["RecordAnswer"], Counted):
    """The table of a state space without goals, which answers a state with its index record."""


class GoalReader(JudgingReader[OfGoal], Counted):
    """The tables of a puzzle with goals."""

    _prober: GoalProber

    @property
    def puzzle(self) -> GoalPuzzle:
        return self._prober.puzzle

    def probe(self, key: str, goal: str | None = None, **options: Any) -> OfGoal:
        """Return the answer for a state and a goal: a goal's name or a state."""
        return super().probe(key, goal=goal, **options)

    def distance(self, key: str, goal: str | None = None) -> int:
        """Return the fewest moves from a state to the goal."""
        return self._prober.find_distance(*self._parse_question(key, goal))[0]

    def solution(self, key: str, goal: str | None = None) -> str:
        """Return the letters of a shortest solution, the first in letter order."""
        return self._find_solution(key, goal)[0]

    def path(self, key: str, goal: str | None = None) -> list[str]:
        """Return every state on the shortest solution of `solution`, first to last."""
        return self._find_solution(key, goal)[1]

    def moves(self, key: str) -> list[tuple[str, str]]:
        """Return the letter of every legal move from a state, with the state it leads to."""
        puzzle = self._prober.puzzle
        return [*puzzle.moves(puzzle.parse(key))]

    def apply(self, key: str, moves: str) -> str:
        """Return the state after moves, written as for `check`; BadRequest if one is illegal."""
        puzzle = self._prober.puzzle
        state = puzzle.parse(key)
        steps, problem = puzzle.read_moves(require_text(moves, "moves", "UL"), state)
        if problem:
            raise BadRequest(problem)
        ends: list[str] = [state, *puzzle.follow(state, steps)]
        return ends[-1]

    def list_hardest(self, goal: str | None = None) -> pl.DataFrame:
        """Return all keys that are farthest from the goal, or from their named goals."""
        prober = self._prober
        return prober.list_hardest_rows(prober.parse(ALL, {"goal": goal, "hardest": True}))

    def _parse_question(self, key: str, goal: str | None) -> tuple[str, str]:
        return self._prober.parse_ends(key, self._prober.parse(PROBE, {"goal": goal}))

    def _find_solution(self, key: str, goal: str | None) -> tuple[str, list[str]]:
        ends = self._parse_question(key, goal)
        self._prober.find_distance(*ends)
        return self._prober.find_path(*ends)


class BoardReader(GoalReader["BoardAnswer"]):
    """The tables of a sliding board."""

    _prober: BoardProber

    @property
    def puzzle(self) -> SlidingBoard:
        return self._prober.puzzle

    def _name_board(self) -> str:
        return str(self.puzzle)

    def arrays(self, goal: str | None = None) -> BoardArrays:
        """Return the arrays of many states for a goal: distances, ranks and tiles."""
        from puzzle_tablebase.queries.state_arrays import RankedArrays

        return RankedArrays(self._prober, self._prober.parse(BATCH, {"goal": goal}))


class EightRecords:
    """The fields of the records of `eight.idx`; closing the tables empties them."""

    __slots__ = ("distances", "solutions")

    def __init__(self, records: bytearray) -> None:
        self.distances, self.solutions = records[0::2], records[1::2]

    def close(self) -> None:
        """Drop the records, also for methods that a program saved."""
        self.distances.clear()
        self.solutions.clear()


class EightReader(BoardReader):
    """The tables of the 8-puzzle; lookups without a goal are fast enough for millions of calls.

    >>> from puzzle_tablebase.queries.tables import open_tables
    >>> eight = open_tables("outputs").eight
    >>> eight
    EightReader(puzzle='eight', board='3x3', store='outputs')
    >>> eight.distance("378546201")
    27
    >>> eight.probe("152703846")
    BoardAnswer(state='152703846', goal='corner', distance=8, best_moves='D', solutions=1)
    >>> eight.path("123450786")
    ['123450786', '123456780']
    >>> eight.get("123", default="not a state")
    'not a state'
    """

    _prober: EightProber

    def probe(self, key: str, goal: str | None = None, **options: Any) -> BoardAnswer:
        """Return the answer for a state and a goal, as any reader of a puzzle with goals does."""
        if goal is None and not options:
            return self._probe(key)
        return super().probe(key, goal, **options)

    def distance(self, key: str, goal: str | None = None) -> int:
        """Return the fewest moves (0-31) from a state to the goal, or the named one it reaches."""
        self._load_lookups()
        return self.distance(key, goal)

    def _probe(self, key: str) -> BoardAnswer:
        self._load_lookups()
        return self._probe(key)

    def _load_lookups(self) -> None:
        """Read the records into memory, and replace the methods by fast lookups."""
        from types import MethodType

        prober = self._prober
        records = prober.files.keep(
            "lookups", lambda: EightRecords(prober.open_index("eight").read_records())
        )
        prober.files.require_open()
        distance, probe = make_fast_lookups(self, records.distances, records.solutions)
        # a bound method, because a function made here could not be sent to another process
        self.distance = MethodType(distance, self)  # type: ignore[method-assign]  # as fast
        self._probe = probe  # type: ignore[method-assign, assignment]

    def arrays(self, goal: str | None = None) -> EightArrays:
        """Return the arrays of many states for a goal, or for the named one that each reaches."""
        from puzzle_tablebase.queries.state_arrays import EightArrays

        return EightArrays(self._prober, self._prober.parse(BATCH, {"goal": goal}))


def make_fast_lookups(
    reader: EightReader, distances: bytearray, solutions: bytearray
) -> tuple[Callable[[object, str, str | None], int], Callable[[str], BoardAnswer]]:
    """Make the functions `distance` and `probe` over the fields of the records of `eight.idx`.

    A state's rank is the sum of two dictionaries' entries, for its first four digits and its last
    five. `distance` is a method, because a bound method can be sent to another process. With a
    goal, it calls the slow one. Both call the slow ones if fields are missing, as after closing.
    """
    from puzzle_tablebase.puzzles.board_numbers import (
        NUMBER_BITS,
        NUMBER_MASK,
        SET_SHIFT,
        make_number_parts,
    )
    from puzzle_tablebase.queries.boards import BoardAnswer

    puzzle, slow = reader._prober.puzzle, super(EightReader, reader).probe
    measure = super(EightReader, reader).distance
    half, width, parse = puzzle.cells // 2, puzzle.width, puzzle.parse
    head, tail = make_number_parts(puzzle.cells)
    all_digits = (1 << puzzle.cells) - 1
    slides = [
        [(letter, min(cell, to), max(cell, to)) for letter, to in puzzle.list_exits(cell)]
        for cell in range(puzzle.cells)
    ]

    def distance(table: object, key: str, goal: str | None = None) -> int:
        """Return the fewest moves (0-31) from a state to the goal, or the named one it reaches."""
        if goal is not None:
            return measure(key, goal)
        try:
            code = head[key[:half]] + tail[key[half:]]
        except (KeyError, TypeError):
            return distance(table, parse(key))
        if code >> SET_SHIFT != all_digits:
            return distance(table, parse(key))
        try:
            return distances[code & NUMBER_MASK]
        except IndexError:
            return measure(key, None)

    def probe(state: str) -> BoardAnswer:
        try:
            code = head[state[:half]] + tail[state[half:]]
        except (KeyError, TypeError):
            return probe(parse(state))
        if code >> SET_SHIFT != all_digits:
            return probe(parse(state))
        rank, blank, best = code & NUMBER_MASK, state.index("0"), ""
        try:
            depth, ways = distances[rank], solutions[rank]
            for letter, low, high in slides[blank]:
                moved = (
                    f"{state[:low]}{state[high]}{state[low + 1 : high]}{state[low]}"
                    f"{state[high + 1 :]}"
                )
                if distances[head[moved[:half]] + tail[moved[half:]] & NUMBER_MASK] < depth:
                    best += letter
        except IndexError:
            return slow(state)
        # the code's parity counts inversions with the blank too: as many as its cell's number
        is_odd = (code >> NUMBER_BITS) + blank & 1
        return BoardAnswer(
            _width=width,
            state=state,
            goal="centre" if is_odd else "corner",
            distance=depth,
            best_moves=best,
            solutions=ways,
        )

    return distance, probe


class FifteenReader(JudgingReader["FifteenSolution"]):
    """The tables of the 15-puzzle's patterns, and searches with them."""

    _prober: FifteenProber

    def probe(self, key: str, goal: str | None = None, **options: Any) -> FifteenSolution:
        """Return a shortest solution; the default goal has the blank in the last corner.

        After `time_limit` seconds, raise Undecided, which has the bound that is known by then.
        """
        return super().probe(key, goal=goal, **options)

    def heuristic(self, key: str, goal: str | None = None) -> int:
        """Return a lower bound of the number of moves, from the tables alone."""
        return self._prober.compute_heuristic(key, self._prober.parse(PROBE, {"goal": goal}))


class SenetReader(JudgingReader["SenetAnswer"], Counted):
    """The table of Senet.

    >>> from puzzle_tablebase.queries.tables import open_tables
    >>> open_tables("outputs").senet.probe("ABAAABBB.B...A.").moves
    '9-14 4x7'
    """

    def plies(self, key: str, turn: str | None = None) -> int:
        """Return the fewest plies after which a position is reached."""
        return self.probe(key, turn=turn).plies

    def line(self, key: str, turn: str | None = None) -> str:
        """Return the moves of a shortest line of play, as the column `moves` has them."""
        return self.probe(key, turn=turn).moves

    def list_hardest(self) -> pl.DataFrame:
        """Return all positions that are farthest from the opening."""
        return self._prober.list_hardest_rows(self._prober.parse(ALL, {"hardest": True}))


class KnightReader(JudgingReader["KnightAnswer"], Scanned):
    """The tables of the knight's tours: one for each pair of ends on 8x8, all on smaller boards.

    >>> from puzzle_tablebase.queries.tables import open_tables
    >>> knight = open_tables("outputs").knight
    >>> knight.probe("a1", to="b3").closed
    True
    >>> knight.count("c3", board="5x5")
    CountAnswer(board='5x5', start='c3', tours=64, closed=0)
    """

    _prober: KnightProber

    def count(
        self,
        start: str | None = None,
        board: str | None = None,
        *,
        to: str | None = None,
        closed: bool = False,
    ) -> CountAnswer:
        """Return the number of tours from a square, or from all squares; or `to` another square.

        The default board is 6x6; with `to` it is 8x8. `closed`: only closed tours, which are
        counted on larger boards.
        """
        given = {"board": board, "closed": closed, "count": True}
        verb, more = (ALL, {}) if to is None else (QUERY, {"to": to})
        options = self._prober.parse(verb, {**given, **more})
        return self._prober.answer(start, options)  # type: ignore[return-value]  # as asked

    def rank(self, squares: str, *, board: str = "8x8", closed: bool = False) -> int:
        """Return the rank of a tour among all open ones from its first square, or all closed ones.

        A closed tour may begin at any of its squares and go in either direction.
        """
        options = self._prober.parse(ALL, {"board": board, "closed": closed, "rank_of": squares})
        return self._prober.answer(None, options).rank  # type: ignore[union-attr, return-value]
