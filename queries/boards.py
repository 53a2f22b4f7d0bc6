"""The readers of dense boards, those of up to ten cells, and of the 8-puzzle among them.

The answers of all states for a goal are in memory when many keys are asked. A fast lookup in the
8-puzzle, for a million calls in plain Python, finds a state's rank in two dictionaries: it is the
sum of a part given by its first four digits and a part given by its last five.
"""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, GoalUnreachable
from puzzle_tablebase.notation.sliding import format_board, format_slide, list_moved_tiles
from puzzle_tablebase.puzzle import View
from puzzle_tablebase.puzzles.sliding import SlidingTiles
from puzzle_tablebase.queries.answer import format_count
from puzzle_tablebase.queries.goals import GOAL_OPTIONS, GoalAnswer, GoalReader
from puzzle_tablebase.queries.options import (
    BATCH,
    BOTH_GOALS,
    FEATURE_NAMES,
    FEATURES,
    MOVES_OF,
    PROBE,
    SHEETS,
    SPLIT,
    TILE,
    Option,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzle import Rules
    from puzzle_tablebase.puzzles.sliding import Eight, SlidingBoard
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.queries.bit_walks import BitTable
    from puzzle_tablebase.queries.board_columns import DenseRows, Masks, Numbers
    from puzzle_tablebase.queries.board_ranks import BoardRanks
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.stores.folder import Store

MAX_GOALS = 4
"""The goals of a dense board whose rows are in memory together: each takes some 20 MB."""


class BoardAnswer(GoalAnswer):
    """The answer for a state of a sliding board: a goal puzzle's, with tiles and pictures."""

    _width: int
    best_tiles: str | None = None
    tiles: str | None = None
    if TYPE_CHECKING:  # the features of a solution's start
        blank: int = 0
        manhattan: int = 0
        misplaced: int = 0

    def to_svg(self) -> str:
        """Draw every state of the solution, or the state alone; tiles that move are coloured."""
        from puzzle_tablebase.queries.svg import draw_boards, draw_slides

        moves = self.distance if self.solution is None else len(self.solution)
        title = f"{self.state} to {self.goal} in {format_count(moves, 'move')}"
        if self._states and self.solution is not None and self.tiles is not None:
            return draw_slides(title, self._states, self.solution, self.tiles, width=self._width)
        head = f"best: {' '.join(self.best_moves)}" if self.best_moves else "the goal"
        tiles = "".join(
            find_moved_tile(self.state, letter, self._width) for letter in self.best_moves
        )
        return draw_boards(title, [self.state], [head], [tiles], width=self._width)

    def _list_more_rows(self) -> list[tuple[str, str]]:
        return [("tiles slid", self.tiles or "")]

    def _draw_state(self, state: str) -> str:
        return format_board(state, self._width)

    def _format_move(self, state: str, letter: str) -> str:
        return format_slide(letter, find_moved_tile(state, letter, self._width))


def find_moved_tile(state: str, letter: str, width: int) -> str:
    """Return the tile that slides when the blank goes in a move's direction.

    >>> find_moved_tile("123456780", "U", 3)
    '6'
    """
    return state[state.index("0") + {"U": -width, "D": width, "L": -1, "R": 1}[letter]]


def list_features(options: Options) -> dict[str, pl.DataType]:
    """Return the types of the features' columns, if the options ask for them."""
    import polars as pl

    return dict.fromkeys(FEATURE_NAMES, pl.Int16()) if options.features else {}


def read_ranks(ranks: Any) -> npt.NDArray[np.int64]:
    """Return numbers as an array; BadRequest if they are not whole."""
    import numpy as np

    array = np.asarray(ranks)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "ui"):
        raise BadRequest("Ranks are a list or an array of whole numbers")
    return array.astype(np.int64)


FEW_ANSWERS = 1_000
"""So many answers are judged one by one: reading all rows of a table takes longer."""


class BoardReader(GoalReader):
    """The tables of a board of up to ten cells. By default, the blank of its goal is last."""

    probe: Callable[..., BoardAnswer]
    has_pictures = True
    puzzle: SlidingBoard
    options: tuple[Option, ...] = (*GOAL_OPTIONS, MOVES_OF, SPLIT, FEATURES, SHEETS)
    documented = (*GoalReader.documented, "distances", "ranks", "unranks")
    columns: tuple[str, ...] = ("state", "goal", "distance", "best_moves")
    max_single_keys = 2_000
    """A batch with fewer keys looks them up singly: reading all rows takes longer."""

    def __init__(self, puzzle: SlidingBoard, store: Store) -> None:
        super().__init__(puzzle, store)
        self.board, self.key_cells = str(puzzle), puzzle.cells
        self.key_digits = 0 if puzzle.is_packed else puzzle.cells
        self.default_goal: str | None = puzzle.example
        """The goal of all keys of a batch without one; None if each has its own."""
        self._recent_goals: list[str | None] = []
        """The goals whose rows are in memory; that asked for last is the last."""

    def make_answer(self, facts: dict[str, Any]) -> BoardAnswer:
        states, width = facts.get("_states"), self.puzzle.width
        if states:
            facts["tiles"] = list_moved_tiles(states)
            facts["best_tiles"] = "".join(
                find_moved_tile(facts["state"], letter, width) for letter in facts["best_moves"]
            )
        return BoardAnswer(_width=width, **facts)

    def find_record(self, view: View, state: str) -> int:
        return self.puzzle.wide.rank(view.map_state(state))

    def make_schema(self, options: Options) -> pl.Schema:
        import polars as pl

        schema = {**super().make_schema(options), "goal": pl.String(), "distance": pl.Int16()}
        return pl.Schema({**schema, **list_features(options)})

    def load_rows(self, goal: str | None) -> DenseRows:
        """Return the answers of all states for a goal; None: for the one that each reaches."""
        rows = self.keep(("rows", goal), lambda: self._make_rows(goal))
        with self._lock:
            goals = [*(each for each in self._recent_goals if each != goal), goal]
            for old in goals[:-MAX_GOALS]:
                self._kept.pop(("rows", old), None)
            self._recent_goals = goals[-MAX_GOALS:]
        return rows

    def _make_rows(self, goal: str | None) -> DenseRows:
        from functools import partial

        from puzzle_tablebase.queries.board_columns import DenseRows
        from puzzle_tablebase.queries.scans import translate_scan_errors
        from puzzle_tablebase.stores.access import make_damage_error

        view = self.puzzle.view_goal(goal or self.puzzle.example)
        goals = self.puzzle.goals if goal is None else {self.name_goal(goal): goal}
        name, table = self.table_names[view.table_goal], self.read_table(view, goal)
        make_error = partial(make_damage_error, self.store, name)
        with translate_scan_errors(self.store, name):
            return DenseRows(self.puzzle, view, table, goals, make_error)

    def read_table(self, view: View, goal: str | None) -> pl.DataFrame:
        """Read the rows of a view's table with their answers for a goal, or for their own."""
        import polars as pl

        table = self.puzzle.find_table(self.table_names[view.table_goal])
        assert table
        rows = self.scan_table(table).select(self.columns)
        if goal is not None:
            name = self.name_goal(goal)
            rows = rows.filter(pl.col("goal").cast(pl.String) == view.table_goal)
            rows = rows.with_columns(goal=pl.lit(name, dtype=pl.Enum([name])))
        return self.collect(table, rows)

    def open_columns(self, options: Options) -> DenseRows | BitTable:
        """Return what measures many states together, for the goal of the options."""
        return self.load_rows(options.goal or self.default_goal)

    def is_single(self, count: int, options: Options) -> bool:
        """Return whether so many keys are looked up one by one: few, or for what no row has."""
        return options.solutions or count < self.max_single_keys

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        if options.features:
            answers = self.answer_keys(keys, options.replace(features=False))
            return self.add_features(answers, keys)
        if self.is_single(len(keys), options):
            return super().answer_keys(keys, options)
        import polars as pl

        answers, states, is_unreached = self.answer_together(keys, options)
        if goal := options.goal or self.default_goal:
            # all unreached states have the same reason
            reason = self.puzzle.explain_unreachable(goal, goal)
            head, tail = str(GoalUnreachable("|", goal, reason)).split("|")
            errors = (head + states + tail).set(pl.Series(~is_unreached), None)
            answers = answers.with_columns(error=errors)
        return self.complete_answers(keys, answers, options)

    def annotate_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        if options.features:
            answers = self.annotate_keys(keys, options.replace(features=False))
            return self.add_features(answers, keys)
        if self.is_single(len(keys), options):
            return super().annotate_keys(keys, options)
        return self.answer_together(keys, options)[0]

    def answer_together(
        self, keys: pl.Series, options: Options
    ) -> tuple[pl.DataFrame, pl.Series, Masks]:
        """Return the answers of many keys, the keys as states, and which do not reach the goal."""
        import polars as pl

        rows = self.load_rows(options.goal or self.default_goal)
        states, numbers = rows.find_rows(keys)
        answers = self._cast(rows.rows[pl.Series(numbers)], options)
        if options.path:
            answers = answers.hstack(rows.find_solutions(numbers))
        return answers, states, (numbers != rows.size) & (rows.distances[numbers] < 0)

    def add_features(self, rows: pl.DataFrame, keys: pl.Series) -> pl.DataFrame:
        """Add the features of keys to their rows."""
        from puzzle_tablebase.queries.board_features import add_features

        return add_features(rows, keys, self.puzzle)

    def _open_ranks(self, goal: str | None) -> BoardRanks:
        from puzzle_tablebase.queries.board_ranks import BoardRanks

        wanted = self.parse(PROBE, {"goal": goal}).goal or self.puzzle.example
        return BoardRanks(self.puzzle, self.puzzle.view_goal(wanted))

    def ranks(self, states: Any, goal: str | None = None) -> npt.NDArray[np.int64]:
        """Return the rank of each state of an array, a list or a column; -1 for what is none.

        Of a board with ranks for each goal, only states that reach the goal have one.
        """
        from puzzle_tablebase.queries.board_columns import read_any_tiles

        ranks, (tiles, is_state) = self._open_ranks(goal), read_any_tiles(states, self.puzzle.cells)
        tiles[:, ~is_state] = 0
        found = ranks.rank(tiles)
        found[~is_state] = -1
        return found

    def unranks(self, ranks: Any, goal: str | None = None) -> npt.NDArray[np.uint8]:
        """Return the tiles of the state of each rank; all 255 for a number that is no rank."""
        return self._open_ranks(goal).unrank(read_ranks(ranks))

    def distances(self, states: Any = None, goal: str | None = None) -> npt.NDArray[Any]:
        """Return the distance of each state; -1 for what is none, or does not reach the goal.

        Without states, return those of all ranks, a byte each.
        """
        import numpy as np

        from puzzle_tablebase.queries.board_columns import read_any_tiles

        options = self.parse(BATCH, {"goal": goal})
        if states is None:
            return self.list_distances(options)
        tiles, is_state = read_any_tiles(states, self.puzzle.cells)
        found = np.full(len(is_state), -1, np.int16)
        found[is_state] = self.measure_tiles(tiles[:, is_state], options)
        return found

    def measure_tiles(self, tiles: Bytes, options: Options) -> npt.NDArray[np.signedinteger]:
        """Return the distance of each column of tiles, a state; -1 if it is out of reach."""
        return self.load_rows(options.goal or self.default_goal).measure(tiles)

    def list_distances(self, options: Options) -> npt.NDArray[np.uint8]:
        """Return the distances of all states by rank, which are the records of the index."""
        import numpy as np

        view = self.puzzle.view_goal(options.goal or self.puzzle.example)
        table = self.table_names[view.table_goal]
        return np.frombuffer(self.open_index(table).read_records(), np.uint8)

    def list_depth_rows(self, options: Options) -> pl.DataFrame:
        rows = self.load_rows(options.goal or self.default_goal)
        answers = self._cast(rows.rows, options)
        return answers.insert_column(0, rows.states).drop_nulls("distance")

    def _cast(self, rows: pl.DataFrame, options: Options) -> pl.DataFrame:
        schema = self.make_schema(options)
        return rows.cast({name: schema[name] for name in rows.columns})

    def judges_together(self, count: int, options: Options) -> bool:
        return count > FEW_ANSWERS and not self.is_single(count, options)

    def choose_rules(self, options: Options) -> Rules:
        return SlidingTiles(self.puzzle) if options.moves_of == TILE else self.puzzle


class EightReader(BoardReader):
    """The tables of the 8-puzzle; lookups without a goal are fast enough for millions of calls.

    >>> from puzzle_tablebase.queries import open_tables
    >>> eight = open_tables("outputs").eight
    >>> eight.distance("378546201")
    27
    >>> eight.probe("152703846")
    BoardAnswer(state='152703846', goal='corner', distance=8, best_moves='D', solutions=1)
    >>> eight.path("123450786")
    ['123450786', '123456780']
    >>> eight.get("123", default="not a state")
    'not a state'
    """

    documented = (
        *BoardReader.documented,
        *("best_moves", "neighbours"),
    )
    columns = (*BoardReader.columns, "solutions")
    options = (*BoardReader.options, BOTH_GOALS)
    explored = {"eight": 0, "eight_edge": 0}  # noqa: RUF012  # a class's constants
    max_single_keys = 0
    puzzle: Eight

    def __init__(self, puzzle: Eight, store: Store) -> None:
        super().__init__(puzzle, store)
        self.board = self.default_goal = None
        self._distances, self._solutions = bytearray(), bytearray()

    def close(self) -> None:
        with self._lock:
            super().close()
            self._distances.clear()  # a method that a program saved has them too
            self._solutions.clear()
            for fast in ("distance", "_probe"):
                self.__dict__.pop(fast, None)

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
        """Read the records that fast lookups have in memory, and put these before the methods."""
        from types import MethodType

        def read() -> tuple[bytearray, bytearray]:
            records = self.open_index("eight").read_records()
            return records[0::2], records[1::2]

        distances, solutions = self.keep("lookups", read)
        with self._lock:
            self.require_open()
            if self._distances:  # a program calls a method that it saved before they were read
                return
            self._distances, self._solutions = distances, solutions
            distance, probe = make_fast_lookups(self, distances, solutions)
            # a bound method, because a function made here could not be sent to another process
            self.distance = MethodType(distance, self)  # type: ignore[method-assign]  # as fast
            self._probe = probe  # type: ignore[method-assign, assignment]

    def make_schema(self, options: Options) -> pl.Schema:
        import polars as pl

        return pl.Schema({**GoalReader.make_schema(self, options), **list_features(options)})

    def _find_rows(self, states: Any, goal: str | None = None) -> tuple[DenseRows, Numbers]:
        rows = self.load_rows(self.parse(PROBE, {"goal": goal}).goal)
        return rows, rows.number_any(states)

    def ranks(self, states: Any, goal: str | None = None) -> npt.NDArray[np.int64]:
        """Return the rank of each state of an array, a list or a column; -1 for what is none."""
        import numpy as np

        rows, numbers = self._find_rows(states, goal)
        ranks = numbers.astype(np.int64)
        ranks[ranks == rows.size] = -1
        return ranks

    def unranks(self, ranks: Any, goal: str | None = None) -> npt.NDArray[np.uint8]:
        """Return the tiles of the state of each rank; all 255 for a number that is no rank."""
        rows, numbers = self.load_rows(self.parse(PROBE, {"goal": goal}).goal), read_ranks(ranks)
        numbers[(numbers < 0) | (numbers > rows.size)] = rows.size
        return rows.boards[numbers]

    def list_distances(self, options: Options) -> npt.NDArray[np.uint8]:
        """Return the distances of all states by rank; 255 where the goal is not reached."""
        return self.load_rows(options.goal).distances[:-1].astype("uint8")

    def distances(self, states: Any = None, goal: str | None = None) -> npt.NDArray[Any]:
        """Return the distance of each state; -1 for what is none, or does not reach the goal.

        Without states, return those of all ranks, a byte each.
        """
        if states is None:
            return super().distances(None, goal)
        rows, numbers = self._find_rows(states, goal)
        return rows.distances.take(numbers)

    def best_moves(self, states: Any, goal: str | None = None) -> list[str]:
        """Return the best first moves of each state; "" at the goal and where there are none."""
        rows, numbers = self._find_rows(states, goal)
        return rows.rows["best_moves"][numbers].fill_null("").to_list()

    def neighbours(self, states: Any) -> npt.NDArray[np.uint8]:
        """Return the nine numbers after each of the moves U D L R; all 255 for an illegal move."""
        rows, numbers = self._find_rows(states)
        return rows.boards[rows.successors[:, numbers].T]


def make_fast_lookups(
    reader: EightReader, distances: bytearray, solutions: bytearray
) -> tuple[Callable[[object, str, str | None], int], Callable[[str], BoardAnswer]]:
    """Make the functions `distance` and `probe` over the fields of the records of `eight.idx`.

    `distance` is a method: bound to an object, it can be sent to another process. For a goal it
    calls the slow one. Both call the slow ones if fields are missing: the tables may be closed.
    """
    # no lone lookup needs it
    from puzzle_tablebase.puzzles.board_numbers import (
        NUMBER_BITS,
        NUMBER_MASK,
        SET_SHIFT,
        make_number_parts,
    )

    puzzle, slow = reader.puzzle, super(EightReader, reader).probe
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
