"""The reader of dense boards: those of up to ten cells, the 8-puzzle's among them.

The answers of all states for a goal are in memory when many keys are asked.
"""

from __future__ import annotations

from puzzle_tablebase.puzzle import View, format_board, format_slide, list_moved_tiles
from puzzle_tablebase.queries.answer import format_count
from puzzle_tablebase.queries.goals import GOAL_OPTIONS, GoalAnswer, GoalReader, make_goal_option
from puzzle_tablebase.queries.options import SHEETS, SPLIT, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzles.sliding import SlidingBoard
    from puzzle_tablebase.queries.board_columns import DenseRows, Ranks
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.queries.reader import Moves
    from puzzle_tablebase.stores.folder import Store

MAX_DIGITS = 10
"""Cells of the largest boards whose states are numbers."""
MAX_GOALS = 4
"""The goals of a dense board whose rows are in memory together: each takes some 20 MB."""


class BoardAnswer(GoalAnswer):
    """The answer for a state of a sliding board: a goal puzzle's, with tiles and pictures."""

    _width: int
    best_tiles: str | None = None
    tiles: str | None = None
    if TYPE_CHECKING:  # the features of a solution's start

        @property
        def blank(self) -> int: ...
        @property
        def manhattan(self) -> int: ...
        @property
        def misplaced(self) -> int: ...

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


class BoardReader(GoalReader[BoardAnswer]):
    """The tables of a board of up to ten cells. By default, the blank of its goal is last."""

    has_pictures = True
    puzzle: SlidingBoard
    options: tuple[Option, ...] = (
        make_goal_option("any state (default: tiles in reading order, blank in the last corner)"),
        *GOAL_OPTIONS,
        SPLIT,
        SHEETS,
    )
    columns: tuple[str, ...] = ("state", "goal", "distance", "best_moves")
    max_single_keys = 2_000
    """A batch with fewer keys looks them up singly: reading all rows takes longer."""

    def __init__(self, puzzle: SlidingBoard, store: Store) -> None:
        super().__init__(puzzle, store)
        self.board, self.key_cells = str(puzzle), puzzle.cells
        self.key_digits = puzzle.cells if puzzle.cells <= MAX_DIGITS else 0
        self._rows_by_goal: dict[str | None, DenseRows] = {}

    def close(self) -> None:
        with self._lock:
            super().close()
            self._rows_by_goal.clear()

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

        schema = super().make_schema(options)
        return pl.Schema(schema | {"goal": pl.String(), "distance": pl.Int16()})

    def choose_goal(self, options: Options) -> str | None:
        """Return the goal of all keys; None if each has its own."""
        return options.goal or self.puzzle.example

    def make_ranks(self) -> Ranks:
        """Make the ranks of the board's states."""
        from puzzle_tablebase.queries.board_columns import make_board_ranks

        return make_board_ranks(self.puzzle.wide)

    def read_states(self, view: View, goal: str | None) -> pl.DataFrame:
        """Read the states of a view's table by rank, with their answers; null if not reached."""
        import polars as pl

        (table,) = (
            each for each in self.puzzle.tables if each.name == self.table_names[view.table_goal]
        )
        columns = [column for column in self.columns if column != "goal"]
        rows = self.collect(table, self.scan_table(table).select(columns))
        return rows.insert_column(1, pl.repeat(goal, len(rows), eager=True).alias("goal"))

    def load_rows(self, goal: str | None) -> DenseRows:
        """Return the answers of all states for a goal; None: for the one that each reaches."""
        from puzzle_tablebase.queries.board_columns import DenseRows

        with self._lock:
            self.require_open()
            rows = self._rows_by_goal.pop(goal, None)
            if rows is None:
                view = View("") if goal is None else self.puzzle.view_goal(goal)
                ranks = self.keep("ranks", self.make_ranks)
                states = self.read_states(view, goal and self.name_goal(goal))
                board = getattr(self.puzzle, "wide", self.puzzle)
                rows = DenseRows(self.puzzle, board, view, ranks, states)
            self._rows_by_goal[goal] = rows  # the last ones are those asked for last
            if len(self._rows_by_goal) > MAX_GOALS:
                del self._rows_by_goal[next(iter(self._rows_by_goal))]
            return rows

    def _is_single(self, keys: pl.Series, options: Options) -> bool:
        """Return whether keys are looked up one by one: few of them, or for what no row has."""
        is_uncounted = options.solutions and "solutions" not in self.columns
        return is_uncounted or len(keys) < self.max_single_keys

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        if self._is_single(keys, options):
            return super().answer_keys(keys, options)
        from puzzle_tablebase.queries.answer_frames import explain_unreachable_states

        goal = self.choose_goal(options)
        rows = self.load_rows(goal)
        states, numbers = rows.find_rows(keys)
        answers = self._take_rows(rows, numbers, options)
        if goal is not None:
            is_unreached = (numbers != rows.size) & (rows.distances[numbers] < 0)
            reasons = explain_unreachable_states(self.puzzle, goal, states, is_unreached)
            answers = answers.with_columns(error=reasons)
        return self.complete_answers(keys, answers, options)

    def annotate_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        if self._is_single(keys, options):
            return super().annotate_keys(keys, options)
        rows = self.load_rows(self.choose_goal(options))
        return self._take_rows(rows, rows.find_rows(keys)[1], options)

    def _take_rows(
        self, rows: DenseRows, numbers: npt.NDArray[np.uint32], options: Options
    ) -> pl.DataFrame:
        import polars as pl

        answers = self._cast(rows.rows[pl.Series(numbers)], options)
        if options.path:
            answers = answers.hstack(rows.find_solutions(numbers))
        if options.solutions:
            solutions = rows.list_all_solutions(numbers)
            if solutions is None:
                problem = "its best moves lead to other solutions than it counts"
                raise self.make_damage_error(self.puzzle.tables[0].name, problem, "parquet")
            answers = answers.with_columns(solutions)
        return answers

    def list_depth_rows(self, options: Options) -> pl.DataFrame:
        import polars as pl

        rows = self.load_rows(self.choose_goal(options))
        texts = rows.texts[: rows.size].copy().view(f"S{rows.texts.shape[1]}").ravel()
        states = pl.Series("state", texts).cast(pl.String)
        answers = self._cast(rows.rows[: rows.size], options)
        return answers.insert_column(0, states).drop_nulls("distance")

    def _cast(self, rows: pl.DataFrame, options: Options) -> pl.DataFrame:
        schema = self.make_schema(options)
        return rows.cast({name: schema[name] for name in rows.columns})

    def list_hardest_rows(self, options: Options) -> pl.DataFrame:
        return super().list_hardest_rows(options).sort("state")

    def read_moves(self, text: str, start: str) -> Moves:
        from puzzle_tablebase.queries.judging import read_board_moves

        return read_board_moves(text, start)

    def step(self, state: str, move: str, number: int) -> tuple[str, str]:
        from puzzle_tablebase.queries.judging import step_board

        return step_board(self.puzzle, state, move)
