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
from puzzle_tablebase.queries.answer import Judgement, format_count
from puzzle_tablebase.queries.boards import BoardAnswer
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.queries.options import (
    ANSWERS,
    ANY_KEYS,
    CHECK,
    ONE_KEY,
    PROBE,
    Option,
    parse_positive_number,
)
from puzzle_tablebase.queries.reader import Reader, ignore_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import polars as pl

    from puzzle_tablebase.puzzle import Puzzle, SymmetryView
    from puzzle_tablebase.queries.fifteen_search import Solver
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.queries.reader import Moves
    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.stores.folder import Store


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
MAX_DISTANCES = 1 << 16
"""The most distances that are kept."""
EXPLORED_PARTITION = "5-5-5"
"""The partition whose tables the explorer's page contains: others are too large for a page."""


def parse_time_limit(given: Any, *_: object) -> float:
    """Return the seconds of a time limit."""
    return parse_positive_number(given, "--time-limit", "seconds", 10)


def parse_partition(given: str, *_: object) -> str:
    """Return the name of a partition."""
    require_choice(given, "partition", *PARTITIONS)
    return given


class FifteenReader(Reader):
    """The tables of the 15-puzzle's patterns, and the searches that they lead."""

    documented = (
        *("probe", "get", "annotate", "check", "check_frame"),
        *("distance", "solution", "path", "bound"),
    )
    commands = ("query", "check")
    options = (
        Option(
            "goal",
            "Goal to reach: any state with the blank in a corner (default: tiles in reading order, "
            "blank in the last corner).",
            "GOAL",
            lambda text, *_: parse_corner_goal(text),
            verbs=(*ANY_KEYS, CHECK),
        ),
        Option("path", "Print every state of the solution, one per line.", verbs=ANY_KEYS),
        Option("boards", "Print every state of the solution as a picture.", verbs=ONE_KEY),
        Option(
            "time_limit",
            "Stop after so many seconds, and print what is known.",
            "SECONDS",
            parse_time_limit,
            verbs=(*ANY_KEYS, CHECK),
        ),
        Option(
            "patterns",
            f"Partition whose tables to use: {', '.join(PARTITIONS)} (default: the first of these "
            "that is published).",
            "NAME",
            parse_partition,
            verbs=(*ANY_KEYS, CHECK),
        ),
        ANSWERS,
    )
    has_pictures = True
    key = "STATE"
    columns = ("state", "goal", "distance", "bound", "positions", "solution")
    key_cells = BOARD.cells

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._distances: dict[tuple[str, str], int] = {}
        """The distances that judgements searched, by state and goal."""

    def probe(self, key: str, goal: str | None = None, **options: Any) -> FifteenSolution:
        """Return a shortest solution; the default goal has the blank in the last corner.

        After `time_limit` seconds it raises Undecided, which has what is known.
        """
        return self.solve(key, self.parse(PROBE, {"goal": goal, **options}))

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
        states = self.probe(key, goal=goal, time_limit=time_limit, path=True).path
        assert states
        return states

    def bound(self, key: str, goal: str | None = None) -> int:
        """Return a number of moves that no solution is shorter than, from the tables alone."""
        return self._compute_bound(key, self.parse(PROBE, {"goal": goal}))

    def answer(self, key: str, options: Options) -> FifteenSolution:
        return self.solve(key, options)

    def make_schema(self, options: Options) -> pl.Schema:
        import polars as pl

        types = {"distance": pl.Int16(), "bound": pl.Int16(), "positions": pl.Int64()}
        names = (*self.columns[1:], *(("path",) if options.path else ()))
        return pl.Schema({name: types.get(name, pl.String()) for name in names})

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        import polars as pl

        return pl.concat(self.iter_answers(keys, options))

    def iter_answers(self, keys: pl.Series, options: Options) -> Iterator[pl.DataFrame]:
        """Answer keys in threads; yield the rows in order, some at a time."""
        from puzzle_tablebase.queries.answer_frames import answer_each
        from puzzle_tablebase.queries.fifteen_search import answer_in_threads

        self.open_solver(options.patterns)  # missing tables are no error of a row

        def solve(key: str, on_pause: Callable[[], None]) -> FifteenSolution:
            return self.solve(key, options, on_pause)

        schema, first = self.make_schema(options), 0
        for part in answer_in_threads(keys.to_list(), solve):
            some = keys[first : first + len(part)]
            answers = dict(zip(some, part, strict=True))
            yield answer_each(some, lambda key, found=answers: found[key](), schema)  # type: ignore[misc]  # a default binds the value of this round
            first += len(part)
        if keys.is_empty():
            yield answer_each(keys, lambda key: self.solve(key, options), schema)

    def parse_key(self, text: str, options: Options) -> str:
        return BOARD.parse(text)

    def _parse_state(self, key: str, goal: str) -> str:
        """Return the state that a text names; GoalUnreachable if no moves lead to the goal."""
        state = BOARD.parse(key)
        if not BOARD.can_reach(state, goal):
            raise GoalUnreachable(state, goal, BOARD.explain_unreachable(state, goal))
        return state

    def _compute_bound(self, key: str, options: Options) -> int:
        goal = options.goal or BOARD.example
        board = list_tiles(BOARD.view_goal(goal).map_state(self._parse_state(key, goal)))
        return self.compute_bound(self.find_partition(options.patterns), board)

    def solve(
        self, key: str, options: Options, on_pause: Callable[[], None] = ignore_progress
    ) -> FifteenSolution:
        """Find a shortest solution; Undecided if it takes longer than the options allow, from here.

        `on_pause` is called now and then, and may raise an error, which ends the search.
        """
        goal, seconds = options.goal or BOARD.example, options.time_limit
        view, state = BOARD.view_goal(goal), self._parse_state(key, goal)
        end = None if seconds is None else monotonic() + seconds

        def pause(least: int) -> None:
            on_pause()
            if end is not None and monotonic() > end:
                raise Undecided(state, seconds, least)

        found = self.open_solver(options.patterns).search(list_tiles(view.map_state(state)), pause)
        states, letters = follow_blank(view, state, found.blanks)
        return FifteenSolution(
            state=state,
            goal=goal,
            _states=states,
            _has_boards=options.boards,
            _width=BOARD.width,
            distance=len(letters),
            bound=found.bound,
            positions=found.positions,
            solution=letters,
            tiles=list_moved_tiles(states),
            path=states if options.path or options.boards else None,
        )

    def parse_answer(self, key: str, options: Options) -> tuple[str, str, None]:
        return BOARD.parse(key), options.goal or BOARD.example, None

    def read_moves(self, text: str, start: str) -> Moves:
        from puzzle_tablebase.queries.judging import read_board_moves

        return read_board_moves(text, start)

    def step(self, state: str, move: str, number: int) -> tuple[str, str]:
        from puzzle_tablebase.queries.judging import step_board

        return step_board(BOARD, state, move)

    def judge_distance(
        self, stated: str, start: str, shortest: int | None, options: Options
    ) -> Judgement:
        if BOARD.can_reach(start, options.goal or BOARD.example):
            bound = self._compute_bound(start, options)
            if stated == "unreachable" or int(stated) < bound:
                problem = f"the fewest moves are at least {bound}"
                return Judgement(result="wrong", problem=problem, score=0.0)
            shortest = self._search_distance(start, options)
        return super().judge_distance(stated, start, shortest, options)

    def complete(self, judged: Judgement, start: str, last: str, options: Options) -> Judgement:
        """Search for the distance, where the bound does not decide."""
        from puzzle_tablebase.queries.judging import judge_solution

        length, goal = judged.length, options.goal or BOARD.example
        if judged.result == "incomplete" and not BOARD.can_reach(start, goal):
            return super().complete(judged, start, last, options)
        if judged.result != "solved" or length is None:
            return judged
        try:
            is_shortest = length == self._compute_bound(start, options)
            shortest = length if is_shortest else self._search_distance(start, options)
        except Undecided as error:
            return Judgement(result="solved", length=length, problem=str(error), score=None)
        return judge_solution(length, shortest)

    def _search_distance(self, state: str, options: Options) -> int:
        """Search for a distance, which several answers to a state have in common."""
        known, ends = self._distances, (state, options.goal or BOARD.example)
        if ends not in known:
            if len(known) > MAX_DISTANCES:
                known.clear()
            known[ends] = self.solve(state, options).distance
        return known[ends]

    def iter_explored(self) -> Iterator[tuple[Reader, Table]]:
        """Yield the tables of the smallest partition, if all are published."""
        from puzzle_tablebase.formats.manifest import read_manifest

        tables, published = PARTITIONS[EXPLORED_PARTITION].make_tables(), read_manifest(self.store)
        if all(table.name in published for table in tables):
            yield from ((self, table) for table in tables)

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
        raise AssertionError

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


def follow_blank(view: SymmetryView, state: str, path: list[int]) -> tuple[list[str], str]:
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
