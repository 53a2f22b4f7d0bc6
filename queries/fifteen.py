"""The reader of the 15-puzzle: it opens the tables of a partition, and searches for answers."""

from __future__ import annotations

from time import monotonic

from puzzle_tablebase.errors import (
    BadRequest,
    GoalUnreachable,
    NotationError,
    TableMissing,
    Undecided,
    require_choice,
)
from puzzle_tablebase.puzzle import list_moved_tiles
from puzzle_tablebase.puzzles.fifteen import (
    BOARD,
    DEFAULT_PARTITION,
    PARTITIONS,
    list_images,
    name_partition,
)
from puzzle_tablebase.queries.answer import ANSWERS, Option, format_count, parse_positive_number
from puzzle_tablebase.queries.goal_reader import BoardAnswer
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.queries.reader import Query, Reader, ignore_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import polars as pl

    from puzzle_tablebase.puzzles.sliding import BoardGoalView
    from puzzle_tablebase.queries.fifteen_search import Found, Solver
    from puzzle_tablebase.schema import Table


class FifteenSolution(BoardAnswer):
    """A solution of a state: a board's answer without all best moves, which a search does not find.

    `bound` is the lower bound that the search began with, `positions` the number of positions that
    it searched.
    """

    _states: list[str]
    best_moves: str | None = None  # type: ignore[assignment]  # never there
    distance: int
    bound: int
    positions: int
    solution: str
    tiles: str
    path: list[str] | None = None

    def _list_rows(self) -> list[tuple[str, str]]:
        rows = [("goal", self.goal), ("distance", format_count(self.distance, "move"))]
        if self.solution:
            rows += [("solution", self.solution), ("tiles slid", self.tiles)]
        rows.append(("bound", f"{self.bound} at the start"))
        rows.append(("positions", f"{self.positions:,} searched"))
        return rows


CORNER_EXAMPLE = BOARD.make_ordered_state(0)
"""A goal with the blank in the first corner, for messages."""
EXPLORED_PARTITION = "5-5-5"
"""The partition whose tables the explorer's page contains: others are too large for a page."""


class FifteenQuery(Query):
    """A query of states and a goal with the blank in a corner.

    `seconds` is the time limit of a search, `partition` the one whose tables it uses; None: the
    best one that is published.
    """

    reader: FifteenReader
    judge_class = "puzzle_tablebase.queries.judges:FifteenJudge"

    def __init__(self, reader: FifteenReader, goal: str | None = None, **options: Any) -> None:
        super().__init__(reader, goal=goal, **options)
        given = self.given
        self.goal = BOARD.example if goal is None else parse_corner_goal(goal)
        self.view = BOARD.view_goal(self.goal)
        self.seconds = None
        if "time_limit" in given:
            self.seconds = parse_positive_number(given["time_limit"], "--time-limit", "seconds", 10)
        self.partition = given.get("patterns")
        if self.partition is not None:
            require_choice(self.partition, "partition", *PARTITIONS)

    def answer(self, key: str) -> FifteenSolution:
        return self.solve(key)

    def make_answer(self, state: str, found: Found) -> FifteenSolution:
        """Make the answer for a state from a solution in the view."""
        states, letters = follow_blank(self.view, state, found.blanks)
        return FifteenSolution(
            state=state,
            goal=self.goal,
            _states=states,
            _has_boards="boards" in self.given,
            _width=BOARD.width,
            distance=len(letters),
            bound=found.bound,
            positions=found.positions,
            solution=letters,
            tiles=list_moved_tiles(states),
            path=states if self.given.keys() & {"path", "boards"} else None,
        )

    def make_schema(self) -> pl.Schema:
        import polars as pl

        types = {"distance": pl.Int16(), "bound": pl.Int16(), "positions": pl.Int64()}
        names = (*self.reader.columns[1:], *(("path",) if "path" in self.given else ()))
        return pl.Schema({name: types.get(name, pl.String()) for name in names})

    def answer_keys(self, keys: pl.Series) -> pl.DataFrame:
        import polars as pl

        return pl.concat(self.iter_answers(keys))

    def iter_answers(self, keys: pl.Series) -> Iterator[pl.DataFrame]:
        """Answer keys in threads; yield the rows in order, some at a time."""
        from puzzle_tablebase.queries.answer_frames import answer_each
        from puzzle_tablebase.queries.fifteen_search import answer_in_threads

        self.reader.open_solver(self.partition)  # missing tables are no error of a row
        schema, first = self.make_schema(), 0
        for part in answer_in_threads(keys.to_list(), self.solve):
            some = keys[first : first + len(part)]
            answers = dict(zip(some, part, strict=True))
            yield answer_each(some, lambda key, found=answers: found[key](), schema)  # type: ignore[misc]  # a default binds the value of this round
            first += len(part)
        if keys.is_empty():
            yield answer_each(keys, self.solve, schema)

    def has_key(self, text: str) -> bool:
        try:
            BOARD.parse(text)
        except NotationError:
            return False
        return True

    def parse_state(self, key: str) -> str:
        """Return the state that a text names; GoalUnreachable if no moves lead to the goal."""
        state = BOARD.parse(key)
        if not BOARD.can_reach(state, self.goal):
            reason = BOARD.explain_unreachable(state, self.goal)
            raise GoalUnreachable(state, self.goal, reason)
        return state

    def compute_bound(self, key: str) -> int:
        """Return a number of moves that no solution of a state can be shorter than."""
        board = list_tiles(self.view.map_state(self.parse_state(key)))
        return self.reader.compute_bound(self.reader.find_partition(self.partition), board)

    def solve(self, key: str, on_pause: Callable[[], None] = ignore_progress) -> FifteenSolution:
        """Find a shortest solution; Undecided if it takes longer than the query allows, from here.

        `on_pause` is called now and then, and may raise an error, which ends the search.
        """
        state = self.parse_state(key)
        board = list_tiles(self.view.map_state(state))
        end = None if self.seconds is None else monotonic() + self.seconds

        def pause(least: int) -> None:
            on_pause()
            if self.seconds is not None and end is not None and monotonic() > end:
                raise Undecided(state, self.seconds, least)

        return self.make_answer(state, self.reader.open_solver(self.partition).search(board, pause))


class FifteenReader(Reader[FifteenSolution]):
    """The tables of the 15-puzzle's patterns, and the searches that they lead."""

    query = FifteenQuery
    has_pictures = True
    options = (
        Option(
            "goal",
            "Goal to reach: any state with the blank in a corner (default: tiles in reading order, "
            "blank in the last corner).",
            "GOAL",
        ),
        Option("path", "Print every state of the solution, one per line."),
        Option("boards", "Print every state of the solution as a picture.", is_single=True),
        Option("time_limit", "Stop after so many seconds, and print what is known.", "SECONDS"),
        Option(
            "patterns",
            f"Partition whose tables to use: {', '.join(PARTITIONS)} (default: the first of these "
            "that is published).",
            "NAME",
        ),
    )
    check_options = (options[0], *options[3:], ANSWERS)
    key = "STATE"
    columns = ("state", "goal", "distance", "bound", "positions", "solution")
    key_cells = BOARD.cells

    def probe(self, key: str, goal: str | None = None, **options: Any) -> FifteenSolution:
        """Return a shortest solution; the default goal has the blank in the last corner.

        After `time_limit` seconds it raises Undecided, which has what is known.
        """
        return super().probe(key, goal=goal, **options)

    def distance(
        self, key: str, goal: str | None = None, *, time_limit: float | None = None
    ) -> int:
        """Search for the fewest moves from a state to the goal."""
        return len(self.solution(key, goal, time_limit=time_limit))

    def solution(
        self, key: str, goal: str | None = None, *, time_limit: float | None = None
    ) -> str:
        """Return the letters of the shortest solution that a search finds first."""
        return self.probe(key, goal, time_limit=time_limit).solution

    def path(
        self, key: str, goal: str | None = None, *, time_limit: float | None = None
    ) -> list[str]:
        """Return every state on the solution of `solution`, first to last."""
        states = self.probe(key, goal, time_limit=time_limit, path=True).path
        assert states
        return states

    def bound(self, key: str, goal: str | None = None) -> int:
        """Return a number of moves that no solution is shorter than, from the tables alone."""
        return FifteenQuery(self, goal).compute_bound(key)

    def list_values(self, option: str) -> tuple[str, ...]:
        return {"patterns": tuple(PARTITIONS), "goal": ("corner",)}.get(option, ())

    def list_explored_tables(self) -> list[Table]:
        """Return the tables of the smallest partition, if all are published."""
        from puzzle_tablebase.formats.manifest import read_manifest

        tables = PARTITIONS[EXPLORED_PARTITION].make_tables()
        published = read_manifest(self.store)
        return [*tables] if all(table.name in published for table in tables) else []

    def find_partition(self, requested: str | None) -> str:
        """Return the partition that is requested, or the best one that is published."""
        return requested or self.keep("partition", self._find_best_partition)

    def _find_best_partition(self) -> str:
        for name in PARTITIONS:
            try:
                self._open_indexes(name)
            except TableMissing:
                continue
            return name
        self._open_indexes(DEFAULT_PARTITION)  # raises the error
        return DEFAULT_PARTITION

    def compute_bound(self, partition: str, board: list[int]) -> int:
        """Return a number of moves that no solution is shorter than; it reads a few blocks."""
        indexes = self._open_indexes(partition)
        bounds = [0, 0]
        for pattern, index in zip(PARTITIONS[partition].patterns, indexes, strict=True):
            for at, image in enumerate(list_images(BOARD.height, BOARD.width)):
                bounds[at] += index.read_record(pattern.rank(pattern.find_cells(image, board)))[0]
        return max(bounds)

    def open_solver(self, requested: str | None) -> Solver:
        """Return the search with a partition, the best one for None."""
        partition = self.find_partition(requested)

        def make_solver() -> Solver:
            from puzzle_tablebase.queries.fifteen_search import open_solver

            return open_solver(PARTITIONS[partition].patterns, self._open_indexes(partition))

        return self.keep(("solver", partition), make_solver)

    def _open_indexes(self, partition: str) -> list[IndexReader]:
        request = self.puzzle.name if partition == DEFAULT_PARTITION else name_partition(partition)
        tables = PARTITIONS[partition].make_tables()
        return [self.open_table_index(table, request) for table in tables]


def parse_corner_goal(text: str) -> str:
    """Return the goal that a text names; BadRequest if its blank is not in a corner."""
    try:
        goal = BOARD.parse_goal(text)
    except NotationError as error:
        example = f"corner, or {CORNER_EXAMPLE} (0 is the blank)"
        raise NotationError("a goal", text, error.problem, example) from error
    if BOARD.view_goal(goal).table_goal != BOARD.example:
        raise BadRequest(
            f"The goal {goal} has its blank outside the corners, and the tables are for goals with "
            "the blank in a corner",
            f"Example: --goal {CORNER_EXAMPLE}",
        )
    return goal


def list_tiles(state: str) -> list[int]:
    """Return the tile on each cell."""
    return [int(mark, BOARD.cells) for mark in state]


def follow_blank(view: BoardGoalView, state: str, path: list[int]) -> tuple[list[str], str]:
    """Return the states and letters of the moves that take the blank along a path of the view."""
    states, letters = [state], ""
    for cell in path[1:]:
        target = view.cells[cell]
        for letter, next_state in BOARD.moves(states[-1]):
            if next_state[target] == "0":
                letters += letter
                states.append(next_state)
                break
    return states, letters
