"""The reader of the 8-puzzle, a board with three named goals, and its arrays and fast lookups.

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
from puzzle_tablebase.queries.boards import BoardAnswer, BoardReader
from puzzle_tablebase.queries.goals import GoalReader, make_goal_option
from puzzle_tablebase.queries.options import PROBE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    import polars as pl

    from puzzle_tablebase.puzzle import View
    from puzzle_tablebase.puzzles.eight import Eight
    from puzzle_tablebase.queries.board_columns import Ranks
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.stores.folder import Store


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
        *("distances", "ranks", "best_moves", "neighbours"),
    )
    options = (
        make_goal_option(
            "corner, centre, edge or any state (default: the named goal that the state can reach)"
        ),
        *BoardReader.options[1:],
    )
    columns = (*BoardReader.columns, "solutions")
    explored = {"eight": 0, "eight_edge": 0}  # noqa: RUF012  # a class's constants
    max_single_keys = 0
    puzzle: Eight  # type: ignore[assignment]  # a board with ranks of its own

    def __init__(self, puzzle: Eight, store: Store) -> None:
        super().__init__(puzzle, store)  # type: ignore[arg-type]
        self.board = None
        self._distances, self._solutions = bytearray(), bytearray()
        self._forget_lookups()

    def close(self) -> None:
        with self._lock:
            super().close()
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

    def find_record(self, view: View, state: str) -> int:
        return self.puzzle.rank(view.map_state(state))

    def choose_goal(self, options: Options) -> str | None:
        goal: str | None = options.goal
        return goal

    def make_schema(self, options: Options) -> pl.Schema:
        return GoalReader.make_schema(self, options)

    def make_ranks(self) -> Ranks:
        from puzzle_tablebase.puzzles.eight import make_rank_part_arrays
        from puzzle_tablebase.queries.board_columns import Ranks

        head, tail = make_rank_part_arrays()
        size, cells = self.puzzle.size, self.key_cells
        return Ranks(size, [*range(cells)], head, tail, HEAD_LENGTH, RANK_BITS, cells)

    def read_states(self, view: View, goal: str | None) -> pl.DataFrame:
        import polars as pl

        table = self.puzzle.tables[0]
        if view.table_goal and self.table_names[view.table_goal] != table.name:
            table = self.puzzle.tables[1]
        rows = self.scan_table(table).select("rank", *self.columns[1:])
        states = pl.Series("state", self.puzzle.list_states()).cast(pl.String).to_frame()
        every = states.with_columns(rank=pl.int_range(pl.len(), dtype=pl.Int32))
        every = every.join(self.collect(table, rows), "rank", how="left", maintain_order="left")
        if goal is None:
            return every.drop("rank")
        is_reached = pl.col("goal").cast(pl.String) == view.table_goal
        every = every.with_columns(pl.when(is_reached).then(pl.col(*self.columns[2:])))
        return every.drop("rank").with_columns(goal=pl.lit(goal))

    def list_depth_rows(self, options: Options) -> pl.DataFrame:
        rows = super().list_depth_rows(options)
        return rows if options.goal is None else rows.sort("state")

    def ranks(self, states: Any) -> npt.NDArray[np.int64]:
        """Return the rank of each state of an array, a list or a column; -1 for what is none."""
        import numpy as np

        ranks = self.load_rows(None).rank_any(states).astype(np.int64)
        ranks[ranks == self.puzzle.size] = -1
        return ranks

    def distances(self, states: Any, goal: str | None = None) -> npt.NDArray[np.int16]:
        """Return the distance of each state; -1 for what is none, or does not reach the goal."""
        rows = self.load_rows(self.parse(PROBE, {"goal": goal}).goal)
        return rows.distances.take(rows.rank_any(states))

    def best_moves(self, states: Any, goal: str | None = None) -> list[str]:
        """Return the best first moves of each state; "" at the goal and where there are none."""
        rows = self.load_rows(self.parse(PROBE, {"goal": goal}).goal)
        return rows.rows["best_moves"].fill_null("").gather(rows.rank_any(states)).to_list()

    def neighbours(self, states: Any) -> npt.NDArray[np.uint8]:
        """Return the nine numbers after each of the moves U D L R; all 255 for an illegal move."""
        rows = self.load_rows(None)
        return rows.list_next_boards(rows.rank_any(states))


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
