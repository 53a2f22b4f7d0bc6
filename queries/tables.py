"""The tables as Python objects: typed results, `probe` that raises and `get` that does not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from queries.answers import reader, reader_class
from queries.eight.rapid import Probe, rapid_eight
from queries.goals import GoalReader
from queries.reader import Reader
from queries.results import (
    BoardAnswer,
    CountAnswer,
    CycleAnswer,
    GoalAnswer,
    KnightAnswer,
    SenetAnswer,
    TourAnswer,
)
from queries.sliding.reader import BoardReader
from queries.words import Facts
from tablebase.errors import BadRequest, TablebaseError, quoted, required_text
from tablebase.puzzles import of_each, registered
from tablebase.puzzles.sliding import parse_board
from tablebase.tables import MANIFEST
from tablebase.tables.mending import ABSENT, mending, unopened
from tablebase.tables.places import tables_store

if TYPE_CHECKING:
    import polars as pl
    from _typeshed import DataclassInstance

    from queries.forms import Asked
    from queries.rows import Frame
    from tablebase.tables.store import Store

Answer = TypeVar("Answer", bound="DataclassInstance")
Default = TypeVar("Default")


class PuzzleTable:
    """The tables of one puzzle."""

    def __init__(self, found: Reader) -> None:
        self._reader = found

    def __repr__(self) -> str:
        return _shown(self, self._reader.store, self._reader.puzzle.owns)

    def _annotated(self, frame: Frame, column: str, prefix: str, asked: Asked) -> Frame:
        from queries.rows import annotated

        asks = self._reader
        asked = asks.checked(asked)
        added = asks.added(asked)
        return annotated(frame, column, prefix, added, lambda keys: asks.annotations(keys, asked))


class WalkedTable(PuzzleTable):
    """A puzzle whose states are walked to a goal."""

    _reader: GoalReader

    def _asked(self, goal: str | None) -> Asked:
        return {} if goal is None else self._reader.checked({"goal": goal})

    def solution(self, state: str, goal: str | None = None) -> str:
        """The letters of a shortest solution, the first in letter order."""
        return "".join(letter for letter, _ in self._walk(state, goal)[1:])

    def path(self, state: str, goal: str | None = None) -> list[str]:
        """Every state on the way of that solution, first to last."""
        return [step for _, step in self._walk(state, goal)]

    def _walk(self, state: str, goal: str | None) -> list[tuple[str, str]]:
        start, to = self._reader.ends(state, goal)
        self._reader.to_goal(start, to)
        return self._reader.path(start, to)


class BoardTable(WalkedTable):
    """A sliding board."""

    _reader: BoardReader

    def probe(self, state: str, goal: str | None = None) -> BoardAnswer:
        """The answer for a state: to the blank in the last corner, or to a goal."""
        return BoardAnswer(*self._reader.brief(state, goal))

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> BoardAnswer | Default | None:
        """`probe`, or the default where it raises; what is no goal raises here too."""
        self._asked(goal)
        return _or(default, lambda: self.probe(state, goal))

    def annotate(self, frame: Frame, column: str = "state", *, prefix: str = "") -> Frame:
        """A polars frame with goal, distance and best_moves for a column of states."""
        return self._annotated(frame, column, prefix, {})


class GoalTable(WalkedTable):
    """A puzzle with goals."""

    def probe(self, state: str, goal: str | None = None) -> GoalAnswer:
        """The answer for a state: to the layout that it reaches, or to a goal, layout or state."""
        return _answer(GoalAnswer, self._reader.facts(state, self._asked(goal)))

    def get(
        self, state: str, default: Default | None = None, *, goal: str | None = None
    ) -> GoalAnswer | Default | None:
        """`probe`, or the default where it raises; what is no goal raises here too."""
        self._asked(goal)
        return _or(default, lambda: self.probe(state, goal))


class EightTable(GoalTable):
    """The 8-puzzle; its plain lookups are made for calling a million times.

    >>> from queries import open_tables
    >>> eight = open_tables("outputs").eight
    >>> eight.distance("378546201")
    27
    >>> eight.probe("152703846")
    GoalAnswer(state='152703846', goal='corner', distance=8, best_moves='D', solutions=1)
    >>> eight.path("123450786")
    ['123450786', '123456780']
    >>> eight.get("123", default="not a state")
    'not a state'
    """

    def __init__(self, found: Reader) -> None:
        super().__init__(found)
        self.distance: Callable[[str], int] = self._first_distance
        """Fewest moves (0-31) from a state to the layout that it reaches."""

    def _first_distance(self, state: str) -> int:
        self.distance, _ = self._rapid
        return self.distance(state)

    @cached_property
    def _rapid(self) -> tuple[Callable[[str], int], Callable[[str], Probe]]:
        return rapid_eight(self._reader.index("eight").records())

    def probe(self, state: str, goal: str | None = None) -> GoalAnswer:
        if goal is None:
            return GoalAnswer(*self._rapid[1](state))
        return super().probe(state, goal)

    def annotate(self, frame: Frame, column: str = "state", *, prefix: str = "") -> Frame:
        """A polars frame with goal, distance, best_moves and solutions for a column of states.

        A LazyFrame stays lazy. What is not a state gets nulls. No column of the frame is replaced:
        `prefix` begins the names of those that are added.
        """
        return self._annotated(frame, column, prefix, {})


class SenetTable(PuzzleTable):
    """Senet.

    >>> from queries import open_tables
    >>> open_tables("outputs").senet.probe("ABAAABBB.B...A.").moves
    '9-14 4x7'
    """

    def probe(self, position: str) -> SenetAnswer:
        """The answer for a position; NotReached if no line of play leads to it."""
        return _answer(SenetAnswer, self._reader.facts(position, {}))

    def get(self, position: str, default: Default | None = None) -> SenetAnswer | Default | None:
        """`probe`, or the default where it raises."""
        return _or(default, lambda: self.probe(position))

    def annotate(self, frame: Frame, column: str = "position", *, prefix: str = "") -> Frame:
        """A polars frame with the table's columns for a column of positions, as `eight` has it."""
        return self._annotated(frame, column, prefix, {})


class KnightTable(PuzzleTable):
    """The knight's tours: 8x8 has one for each pair of ends, smaller boards have all.

    >>> from queries import open_tables
    >>> knight = open_tables("outputs").knight
    >>> knight.probe("a1", to="b3").closed
    True
    >>> knight.count("c3", board="5x5")
    CountAnswer(board='5x5', start='c3', tours=64, closed=0)

    Tours have numbers on boards whose table was made with `precompute knight --numbers`, closed
    ones with `--cycles`:

    >>> knight.cycle(0, board="5x5")
    Traceback (most recent call last):
    tablebase.errors.NoSuchTour: 5x5 has no closed tour.
    """

    def probe(
        self,
        start: str,
        *,
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> KnightAnswer:
        """A tour from a square; NoSuchTour if there is none like it."""
        asked = self._asked(to, closed, board, number)
        return _answer(KnightAnswer, self._reader.facts(start, asked))

    def get(
        self,
        start: str,
        default: Default | None = None,
        *,
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> KnightAnswer | Default | None:
        """`probe`, or the default where it raises; an option that is none raises here too."""
        asked = self._asked(to, closed, board, number)
        return _or(default, lambda: _answer(KnightAnswer, self._reader.facts(start, asked)))

    def annotate(
        self,
        frame: Frame,
        column: str = "start",
        *,
        prefix: str = "",
        to: str | None = None,
        closed: bool = False,
        board: str = "8x8",
        number: int | None = None,
    ) -> Frame:
        """A polars frame with finish, number, closed and path for a column of squares."""
        asked = self._asked(to, closed, board, number)
        return self._annotated(frame, column, prefix, asked)

    def _asked(self, to: str | None, closed: bool, board: str, number: int | None) -> Asked:
        asked: Asked = {"board": board, "closed": closed}
        if to is not None:
            asked["to"] = to
        if number is not None:
            asked["number"] = str(number)
        return self._reader.checked(asked)

    def count(self, start: str, board: str = "8x8") -> CountAnswer:
        """How many tours begin at a square of a board; TablebaseError where that is not known."""
        asked = self._reader.checked({"board": board, "count": True})
        return _answer(CountAnswer, self._reader.facts(start, asked))

    def cycle(self, number: int, start: str = "a1", *, board: str = "8x8") -> CycleAnswer:
        """The closed tour with that number, told from a square towards the lower of its neighbours.

        NoSuchTour past the last one, and TableMissing where the board's are not numbered.
        """
        asked = self._reader.checked({"board": board, "cycle": str(number)})
        return _answer(CycleAnswer, self._reader.facts(start, asked))

    def tour(self, number: int, start: str, *, board: str) -> TourAnswer:
        """The tour with that number among all from a square.

        NoSuchTour past the last one, and TableMissing where the board's are not numbered.
        """
        asked = self._reader.checked({"board": board, "tour": str(number)})
        return _answer(TourAnswer, self._reader.facts(start, asked))

    def tour_number(self, squares: str, *, board: str) -> int:
        """The number of a tour among all from its first square."""
        asked = self._reader.checked({"board": board, "tour_of": squares})
        return _answer(TourAnswer, self._reader.facts_of_all(asked)).tour

    def sample(
        self,
        size: int,
        seed: int = 0,
        *,
        board: str = "6x6",
        closed: bool = False,
        replacement: bool = True,
    ) -> pl.DataFrame:
        """So many tours by chance, each as likely as any other; the same for the same seed.

        Open tours are drawn from a board's list or, where it has none, by their numbers; closed
        ones by their numbers.

        >>> from queries import open_tables
        >>> open_tables("outputs").knight.sample(3, seed=7, board="5x5").height
        3
        """
        import polars as pl

        asked = self._reader.checked({"board": board, "closed": closed})
        return pl.concat(self._reader.samples(asked, size, seed, replacement=replacement))

    def cycle_number(self, squares: str, *, board: str = "8x8") -> int:
        """The number of a closed tour, told from any square in either direction."""
        asked = self._reader.checked({"board": board, "cycle_of": squares})
        return _answer(CycleAnswer, self._reader.facts_of_all(asked)).cycle


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
        return _shown(self, self.store, lambda _: True)

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


def _answer(kind: type[Answer], facts: Facts) -> Answer:
    """The typed result that has these facts."""
    values: dict[str, Any] = {name: getattr(facts, name) for name in kind.__dataclass_fields__}
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})


def _shown(tables: object, store: Store, owned: Callable[[str], bool]) -> str:
    """What opened tables look like at a prompt: where they are, and what is published there."""
    from tablebase.tables.manifest import read_manifest

    try:
        names = [*filter(owned, read_manifest(store))]
    except TablebaseError as error:
        names = [str(error)]
    return f"<{type(tables).__name__} in {store}: {', '.join(names) or 'none published'}>"


def _or(default: Default, probe: Callable[[], Answer]) -> Answer | Default:
    try:
        return probe()
    except TablebaseError:
        return default
