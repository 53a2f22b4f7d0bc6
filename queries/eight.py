"""The reader of the 8-puzzle, for single keys and for whole columns.

A fast lookup, for a million calls in plain Python, finds a state's rank in two dictionaries: it is
the sum of a part given by its first four digits and a part given by its last five.
"""

from __future__ import annotations

from puzzle_tablebase.puzzles.eight import (
    ALL_DIGITS,
    EXITS,
    HEAD_LENGTH,
    RANK_BITS,
    RANK_MASK,
    SET_SHIFT,
    WIDTH,
    make_rank_parts,
    parse,
)
from puzzle_tablebase.queries.answer import ANSWERS, SPLIT, Option
from puzzle_tablebase.queries.goal_reader import BoardAnswer, BoardQuery, GoalReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzle import GoalPuzzle
    from puzzle_tablebase.queries.answer_frames import Bytes
    from puzzle_tablebase.stores.folder import Store


MAX_GOALS = 4
"""The goals whose rows are in memory together: each takes some 20 MB."""


class EightQuery(BoardQuery):
    """A query of 8-puzzle states."""

    reader: EightReader
    judge_class = "puzzle_tablebase.queries.judges:BoardJudge"
    width = WIDTH

    def answer_keys(self, keys: pl.Series) -> pl.DataFrame:
        from puzzle_tablebase.queries.answer_frames import explain_unreachable_states, fill_answers
        from puzzle_tablebase.queries.eight_columns import NO_RANK, read_states

        states, state_ranks = read_states(keys)
        answers = self._answer_ranks(state_ranks)
        if self.goal is not None:
            is_unreachable = (state_ranks != NO_RANK) & answers["goal"].is_null()
            reasons = explain_unreachable_states(
                self.reader.puzzle, self.goal, states, is_unreachable.to_numpy()
            )
            answers = answers.with_columns(error=reasons)
        return fill_answers(keys, answers, super().answer_keys)

    def annotate_keys(self, keys: pl.Series, errors: str = "null") -> pl.DataFrame:
        if errors != "null":
            return super().annotate_keys(keys, errors)
        from puzzle_tablebase.queries.eight_columns import rank_states

        return self._answer_ranks(rank_states(keys))

    def _answer_ranks(self, ranks: pl.Series) -> pl.DataFrame:
        rows = self.reader.read_rows(self.goal)
        answers = rows[ranks]
        if self.path:
            from puzzle_tablebase.queries.eight_columns import find_solutions

            answers = answers.hstack(find_solutions(rows, ranks))
        if self.solutions:
            from puzzle_tablebase.queries.eight_columns import every_solution

            solutions = every_solution(rows, ranks)
            if solutions is None:
                problem = "its best moves lead to other solutions than it counts"
                reader = self.reader
                if self.goal is None:
                    raise reader.make_damage_error(reader.puzzle.tables[0].name, problem, "parquet")
                view = reader.puzzle.view_goal(self.goal)
                raise reader.make_damage_error(reader.table_names[view.table_goal], problem)
            answers = answers.with_columns(solutions)
        return answers

    def read_boards(self, keys: pl.Series) -> tuple[Bytes, npt.NDArray[np.bool_]]:
        """Return the tiles of each key in a column, and whether it is a state."""
        from puzzle_tablebase.queries.eight_columns import NO_RANK, list_texts, rank_states

        ranks = rank_states(keys).to_numpy()
        return list_texts()[ranks].T - ord("0"), ranks != NO_RANK

    def make_measure(self) -> Callable[[Bytes], npt.NDArray[np.int16]]:
        """Make a function that returns the distances of states, one in each column of tiles."""
        from puzzle_tablebase.queries.eight_columns import rank_columns

        distances = self.reader.read_distances(self.goal)
        return lambda tiles: distances.take(rank_columns(tiles))

    def list_depth_rows(self) -> pl.DataFrame:
        import polars as pl

        states = pl.Series("state", self.reader.puzzle.list_states()).cast(pl.String)
        return self.reader.read_rows(self.goal)[:-1].insert_column(0, states)


class EightReader(GoalReader[BoardAnswer]):
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

    query = EightQuery
    has_pictures = True
    options = (
        Option(
            "goal",
            "Goal to reach: corner, centre, edge or any state (default: the named goal that the "
            "state can reach).",
            "GOAL",
        ),
        *GoalReader.options[1:],
    )
    sample_options = (options[0], *GoalReader.sample_options[1:], SPLIT)
    check_options = (options[0], ANSWERS)
    key_cells = key_digits = 9
    sheet_options = {"goal": "corner"}  # noqa: RUF012  # a class's constants
    explored = {"eight": 0, "eight_edge": 0}  # noqa: RUF012  # a class's constants

    def __init__(self, puzzle: GoalPuzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._rows_by_goal: dict[str | None, pl.DataFrame] = {}
        self._distances, self._solutions = bytearray(), bytearray()
        self._forget_lookups()

    def close(self) -> None:
        with self._lock:
            super().close()
            self._rows_by_goal.clear()
            self._distances.clear()  # a method that a program saved has them too
            self._solutions.clear()
            self._forget_lookups()

    def probe(self, key: str, goal: str | None = None, **options: Any) -> BoardAnswer:
        """Return the answer for a state and a goal, as any reader of a puzzle with goals does."""
        if goal is None and not options:
            return self._probe(key)
        return super().probe(key, goal, **options)

    def _forget_lookups(self) -> None:
        """Forget the records that fast lookups have in memory: the next one opens the index."""
        self._probe: Callable[[str], BoardAnswer] = self._load_probe
        self.distance = self._load_distance  # type: ignore[method-assign]  # until they are read

    def _load_lookups(self) -> None:
        from types import MethodType

        find_slowly = super().distance
        with self._lock:
            self.require_open()
            if self._distances:  # a program calls a method that it saved before they were read
                return
            records = self.open_index("eight").read_records()
            self._distances, self._solutions = records[0::2], records[1::2]
            distance, self._probe = make_fast_lookups(self._distances, self._solutions, find_slowly)
            # a bound method, because a function made here could not be sent to another process
            self.distance = MethodType(distance, self)  # type: ignore[method-assign]  # as fast

    def _load_distance(self, key: str, goal: str | None = None) -> int:
        """Return the fewest moves (0-31) from a state to the goal, or the named one it reaches."""
        self._load_lookups()
        return self.distance(key, goal)

    def _load_probe(self, state: str) -> BoardAnswer:
        self._load_lookups()
        return self._probe(state)

    def read_rows(self, goal: str | None = None) -> pl.DataFrame:
        """Return the added columns of all states by rank, and a last row of nulls for `NO_RANK`.

        Those for a goal are computed from an index.
        """
        with self._lock:
            self.require_open()
            rows = self._rows_by_goal.pop(goal, None)
            if rows is None:
                rows = self._make_rows(goal)
                rows.extend(rows.clear(1))
            self._rows_by_goal[goal] = rows  # the last ones are those asked for last
            if len(self._rows_by_goal) > MAX_GOALS:
                del self._rows_by_goal[next(iter(self._rows_by_goal))]
            return rows

    def _make_rows(self, goal: str | None) -> pl.DataFrame:
        if goal is None:
            table = self.puzzle.tables[0]
            return self.collect(table, self.scan_table(table).select(self.columns[1:]))
        from puzzle_tablebase.queries.eight_columns import answer_goal

        view = self.puzzle.view_goal(goal)
        name = self.table_names[view.table_goal]
        records = self.open_index(name).read_records()
        rows = answer_goal(self.name_goal(goal), view, records, self.read_rows()["goal"])
        if rows["best_moves"].eq("").sum() != 1:
            raise self.make_damage_error(name, f"not every state has a move nearer to {goal}")
        return rows.cast(EightQuery(self, goal).make_schema())

    def ranks(self, states: Any) -> npt.NDArray[np.int64]:
        """Return the rank of each state of an array, a list or a column; -1 for what is none."""
        import numpy as np

        from puzzle_tablebase.queries.eight_columns import NO_RANK, rank_any

        ranks = rank_any(states).astype(np.int64)
        ranks[ranks == NO_RANK] = -1
        return ranks

    def distances(self, states: Any, goal: str | None = None) -> npt.NDArray[np.int16]:
        """Return the distance of each state; -1 for what is none, or does not reach the goal."""
        from puzzle_tablebase.queries.eight_columns import rank_any

        return self.read_distances(self._make_goal_query(goal).goal).take(rank_any(states))

    def best_moves(self, states: Any, goal: str | None = None) -> list[str]:
        """Return the best first moves of each state; "" at the goal and where there are none."""
        from puzzle_tablebase.queries.eight_columns import rank_any

        rows = self.read_rows(self._make_goal_query(goal).goal)
        return rows["best_moves"].fill_null("").gather(rank_any(states)).to_list()

    def neighbours(self, states: Any) -> npt.NDArray[np.uint8]:
        """Return the nine numbers after each of the moves U D L R; all 255 for an illegal move."""
        from puzzle_tablebase.queries.eight_columns import make_next_boards, rank_any

        return make_next_boards(rank_any(states))

    def read_distances(self, goal: str | None) -> npt.NDArray[np.int16]:
        """Return the distances of all states by rank, -1 if unreachable; the last for `NO_RANK`."""
        return self.read_rows(goal)["distance"].fill_null(-1).to_numpy().astype("int16")


def make_fast_lookups(
    distances: Sequence[int], solutions: Sequence[int], measure: Callable[[str, str | None], int]
) -> tuple[Callable[[object, str, str | None], int], Callable[[str], BoardAnswer]]:
    """Make the functions `distance` and `probe` over the fields of the records of `eight.idx`.

    `distance` is a method: bound to an object, it can be sent to another process. For a goal it
    calls `measure`, and also when the tables are closed: then the fields are empty.
    """
    head, tail = make_rank_parts()
    slides = [
        [(letter, min(cell, to), max(cell, to)) for letter, to in exits]
        for cell, exits in enumerate(EXITS)
    ]

    def distance(table: object, key: str, goal: str | None = None) -> int:
        """Return the fewest moves (0-31) from a state to the goal, or the named one it reaches."""
        if goal is not None:
            return measure(key, goal)
        try:
            code = head[key[:HEAD_LENGTH]] + tail[key[HEAD_LENGTH:]]
        except (KeyError, TypeError):
            return distance(table, parse(key))
        if code >> SET_SHIFT != ALL_DIGITS:
            return distance(table, parse(key))
        try:
            return distances[code & RANK_MASK]
        except IndexError:
            return measure(key, None)

    def probe(state: str) -> BoardAnswer:
        try:
            code = head[state[:HEAD_LENGTH]] + tail[state[HEAD_LENGTH:]]
        except (KeyError, TypeError):
            return probe(parse(state))
        if code >> SET_SHIFT != ALL_DIGITS:
            return probe(parse(state))
        rank = code & RANK_MASK
        try:
            depth = distances[rank]
        except IndexError:
            measure(state, None)  # raises an error: the tables are closed
            raise
        blank = state.index("0")
        best = ""
        for letter, low, high in slides[blank]:
            moved = (
                f"{state[:low]}{state[high]}{state[low + 1 : high]}{state[low]}{state[high + 1 :]}"
            )
            if distances[head[moved[:HEAD_LENGTH]] + tail[moved[HEAD_LENGTH:]] & RANK_MASK] < depth:
                best += letter
        # the code's parity counts inversions with the blank too: as many as its cell's number
        is_odd = (code >> RANK_BITS) + blank & 1
        return BoardAnswer(
            _width=WIDTH,
            state=state,
            goal="centre" if is_odd else "corner",
            distance=depth,
            best_moves=best,
            solutions=solutions[rank],
        )

    return distance, probe
