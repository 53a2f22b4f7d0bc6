"""The probers of boards: what all share, those of up to ten cells, and that of the 8-puzzle.

For many keys, the answers of all states of such a board for a goal are kept in memory.
"""

from __future__ import annotations

from puzzle_tablebase.errors import GoalUnreachable
from puzzle_tablebase.notation.sliding import format_board, format_slide, list_moved_tiles
from puzzle_tablebase.puzzles import View
from puzzle_tablebase.puzzles.sliding import SlidingTiles
from puzzle_tablebase.queries.goals import GOAL_OPTIONS, GoalAnswer, GoalProber
from puzzle_tablebase.queries.questions import (
    BOTH_GOALS,
    FEATURE_NAMES,
    FEATURES,
    MOVES_OF,
    SHEETS,
    SPLIT,
    TILE,
    format_count,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzles import Rules
    from puzzle_tablebase.puzzles.sliding import BoardFeatures, Eight, SlidingBoard
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.queries.bit_walks import BitTable
    from puzzle_tablebase.queries.board_columns import DenseRows, Masks
    from puzzle_tablebase.queries.files import TableFiles
    from puzzle_tablebase.queries.questions import Option, Options
    from puzzle_tablebase.queries.samples import SampleRequest

else:
    BoardFeatures = object  # items of the fact `features`, which are attributes too

MAX_GOALS = 4
"""The goals of a dense board whose rows are in memory together: each takes some 20 MB."""


class BoardAnswer(GoalAnswer, BoardFeatures):
    """The answer for a state of a sliding board: with tiles and pictures."""

    _width: int
    best_tiles: str | None = None
    tiles: str | None = None

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


FEW_ANSWERS = 1_000
"""Up to this number, answers are judged one by one, as reading all rows takes longer."""


BOARD_OPTIONS = (*GOAL_OPTIONS, MOVES_OF, SPLIT, FEATURES, SHEETS)
"""The options of all boards."""


class BoardProber(GoalProber):
    """The base class of probers of boards."""

    has_pictures = True
    reader = "BoardReader"
    options: tuple[Option, ...] = BOARD_OPTIONS
    puzzle: SlidingBoard

    def __init__(
        self, puzzle: SlidingBoard, files: TableFiles, default_goal: str | None = None
    ) -> None:
        super().__init__(puzzle, files)
        self.key_cells = puzzle.cells
        self.key_digits = 0 if puzzle.is_packed else puzzle.cells
        self.default_goal = default_goal
        """The goal of all keys of a batch without one; None if each has its own."""

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

        schema = {**super().make_schema(options), **list_features(options)}
        if self.default_goal:  # each goal has a table of its own, maybe without rows
            schema |= {"goal": pl.String(), "distance": pl.Int16()}
        return pl.Schema(schema)

    def open_columns(self, options: Options) -> DenseRows | BitTable:
        """Return the object that measures many states together, for the goal of the options."""
        raise NotImplementedError

    def answer_together(
        self, keys: pl.Series, options: Options
    ) -> tuple[pl.DataFrame, pl.Series, Masks]:
        """Return the answers of many keys, the keys as states, and which keys are states."""
        raise NotImplementedError

    def measure_tiles(self, tiles: Bytes, options: Options) -> npt.NDArray[np.signedinteger]:
        """Return the distance of each state, a column of tiles; -1 if the goal is unreachable."""
        raise NotImplementedError

    def list_distances(self, options: Options) -> npt.NDArray[np.uint8]:
        """Return the distances of all states by rank, a byte each."""
        raise NotImplementedError

    def is_single(self, count: int, options: Options) -> bool:
        """Return whether to look up keys one by one: few keys, or answers that no row has."""
        raise NotImplementedError

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        return self._answer_many(keys, options, has_errors=True)

    def annotate_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        return self._answer_many(keys, options, has_errors=False)

    def _answer_many(self, keys: pl.Series, options: Options, *, has_errors: bool) -> pl.DataFrame:
        """Answer many keys, with the column of errors or without."""
        if options.features:
            bare = options.replace(features=False)
            answers = self._answer_many(keys, bare, has_errors=has_errors)
            return self.add_features(answers, keys)
        if self.is_single(len(keys), options):
            answers = super().answer_keys(keys, options)
            return answers if has_errors else answers.drop("error")
        answers, states, is_state = self.answer_together(keys, options)
        if not has_errors:
            return answers
        if goal := options.goal or self.default_goal:
            import polars as pl

            # all unreached states have the same reason
            reason = self.puzzle.explain_unreachable(goal, goal)
            error = pl.format(GoalUnreachable.template, pl.lit(goal), states, pl.lit(reason))
            is_unreachable = answers["distance"].is_null() & pl.Series(is_state)
            answers = answers.with_columns(error=pl.when(is_unreachable).then(error))
        return self.complete_answers(keys, answers, options)

    def add_features(self, rows: pl.DataFrame, keys: pl.Series) -> pl.DataFrame:
        """Add the features of keys to their rows."""
        from puzzle_tablebase.queries.board_features import add_features

        return add_features(rows, keys, self.puzzle)

    def can_judge_together(self, count: int, options: Options) -> bool:
        return count > FEW_ANSWERS and not self.is_single(count, options)

    def choose_rules(self, options: Options) -> Rules:
        return SlidingTiles(self.puzzle) if options.moves_of == TILE else self.puzzle


class DenseProber(BoardProber):
    """Answers for a board of up to ten cells, whose rows fit into memory."""

    max_single_keys: int
    """A batch with fewer keys looks them up singly: reading all rows takes longer.

    Rows that have been read are used for any number of keys.
    """

    def load_rows(self, goal: str | None) -> DenseRows:
        """Return the answers of all states for a goal; None: for the named goal of each."""
        return self.files.keep(("rows", goal), lambda: self._make_rows(goal), MAX_GOALS)

    def _make_rows(self, goal: str | None) -> DenseRows:
        from functools import partial

        from puzzle_tablebase.queries.board_columns import DenseRows
        from puzzle_tablebase.queries.scans import translate_scan_errors
        from puzzle_tablebase.stores import make_damage_error

        view = self.puzzle.view_goal(goal or self.puzzle.example)
        goals = self.puzzle.goals if goal is None else {self.name_goal(goal): goal}
        name, table = self.table_names[view.table_goal], self.read_table(view, goal)
        make_error = partial(make_damage_error, self.files.store, name)
        with translate_scan_errors(self.files.store, name):
            return DenseRows(self.puzzle, view, table, goals, make_error)

    def read_table(self, view: View, goal: str | None) -> pl.DataFrame:
        """Read the rows of a view's table with their answers for a goal, or for their own."""
        import polars as pl

        table = self.puzzle.find_table(self.table_names[view.table_goal])
        assert table
        rows = self.files.scan(table).select(self.columns)
        if goal is not None:
            name = self.name_goal(goal)
            rows = rows.filter(pl.col("goal").cast(pl.String) == view.table_goal)
            rows = rows.with_columns(goal=pl.lit(name, dtype=pl.Enum([name])))
        return self.files.collect(table, rows)

    def open_columns(self, options: Options) -> DenseRows:
        return self.load_rows(options.goal or self.default_goal)

    def is_single(self, count: int, options: Options) -> bool:
        is_read = self.files.has(("rows", options.goal or self.default_goal))
        return options.solutions or (count < self.max_single_keys and not is_read)

    def answer_together(
        self, keys: pl.Series, options: Options
    ) -> tuple[pl.DataFrame, pl.Series, Masks]:
        import polars as pl

        rows = self.open_columns(options)
        states, numbers = rows.find_rows(keys)
        answers = self._cast(rows.rows[pl.Series(numbers)], options)
        if options.path:
            answers = answers.hstack(rows.find_solutions(numbers))
        return answers, states, numbers != rows.size

    def measure_tiles(self, tiles: Bytes, options: Options) -> npt.NDArray[np.signedinteger]:
        return self.open_columns(options).measure(tiles)

    def draw(
        self, request: SampleRequest, wanted: range | None, options: Options
    ) -> Iterator[pl.DataFrame]:
        from puzzle_tablebase.queries.samples import find_ranks

        rows = self.open_columns(options)
        distances = rows.distances[:-1]
        ranks = find_ranks(distances, wanted or range(int(distances.max()) + 1))
        for numbers in request.draw_numbers(len(ranks), "state"):
            drawn = ranks[numbers]
            answers = self._cast(rows.rows[drawn], options)
            yield answers.insert_column(0, rows.states[drawn])

    def list_depth_rows(self, options: Options) -> pl.DataFrame:
        rows = self.open_columns(options)
        answers = self._cast(rows.rows, options)
        return answers.insert_column(0, rows.states).drop_nulls("distance")

    def _cast(self, rows: pl.DataFrame, options: Options) -> pl.DataFrame:
        schema = self.make_schema(options)
        return rows.cast({name: schema[name] for name in rows.columns})


class EightProber(DenseProber):
    """Answers for the 8-puzzle, whose states reach different goals."""

    options = (*BOARD_OPTIONS, BOTH_GOALS)
    explored = {"eight": 0, "eight_edge": 0}  # noqa: RUF012  # a class's constants
    max_single_keys = 100
    reader = "EightReader"
    puzzle: Eight

    def is_single(self, count: int, options: Options) -> bool:
        """Return whether to look up keys one by one: on a host, all rows take fewer requests."""
        from puzzle_tablebase.stores import Folder

        is_local = isinstance(self.files.store, Folder)
        return options.solutions or (is_local and super().is_single(count, options))

    def list_distances(self, options: Options) -> npt.NDArray[np.uint8]:
        """Return the distances of all states by rank; 255 where the goal is not reached."""
        return self.open_columns(options).distances[:-1].astype("uint8")
