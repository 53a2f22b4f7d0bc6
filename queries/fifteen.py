"""The prober of the 15-puzzle, which searches with the pattern databases of a partition."""

from __future__ import annotations

from itertools import pairwise
from time import monotonic

from puzzle_tablebase.errors import (
    BadRequest,
    GoalUnreachable,
    Undecided,
    require_choice,
)
from puzzle_tablebase.notation.sliding import list_moved_tiles
from puzzle_tablebase.puzzles.fifteen import (
    BOARD,
    DEFAULT_PARTITION,
    PARTITIONS,
    make_tables,
    name_partition,
)
from puzzle_tablebase.puzzles.sliding import SlidingTiles
from puzzle_tablebase.queries.boards import (
    BoardAnswer,
    list_features,
)
from puzzle_tablebase.queries.prober import Prober
from puzzle_tablebase.queries.questions import (
    ANSWERS,
    ANY_KEYS,
    CHECK,
    FEATURES,
    MOVES_OF,
    ONE_KEY,
    SAMPLE,
    TILE,
    Judgement,
    Option,
    format_count,
    parse_positive_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future

    import polars as pl

    from puzzle_tablebase.puzzles import Rules
    from puzzle_tablebase.puzzles.sliding import SymmetryView
    from puzzle_tablebase.queries.fifteen_search import Solver
    from puzzle_tablebase.queries.questions import Options
    from puzzle_tablebase.queries.samples import SampleRequest
    from puzzle_tablebase.schema import Table


class FifteenSolution(BoardAnswer):
    """A solution of a state; unlike other boards' answers, it does not list all best moves.

    `heuristic` is the lower bound that the search began with, `nodes_expanded` the number of nodes
    that it expanded.
    """

    _states: list[str]
    best_moves: str | None = None  # type: ignore[assignment]  # never there
    distance: int
    heuristic: int
    nodes_expanded: int
    solution: str
    tiles: str
    path: list[str] | None = None

    def _list_rows(self) -> list[tuple[str, str]]:
        rows = [("goal", self.goal), ("distance", format_count(self.distance, "move"))]
        if self.solution:
            rows += [("solution", self.solution), ("tiles slid", self.tiles)]
        rows.append(("heuristic", f"{self.heuristic} at the start"))
        rows.append(("nodes", f"{self.nodes_expanded:,} expanded"))
        return rows


EXPLORED_PARTITION = "5-5-5"
"""The partition whose tables the explorer's page contains: others are too large for a page."""


def parse_partition(given: str, *_: object) -> str:
    """Return the name of a partition."""
    require_choice(given, "partition", *PARTITIONS)
    return given


class FifteenProber(Prober):
    """Answers for the 15-puzzle, by searches with pattern databases."""

    commands = ("query", "sample", "check")
    long_work = "searching for a shortest solution"
    options = (
        Option(
            "goal",
            "Goal to reach: any state with the blank in a corner (default: tiles in reading order, "
            "blank in the last corner).",
            "GOAL",
            lambda text, *_: parse_corner_goal(text),
            verbs=(*ANY_KEYS, SAMPLE, CHECK),
        ),
        Option("path", "Print every state of the solution, one per line.", verbs=ANY_KEYS),
        Option("boards", "Print every state of the solution as a picture.", verbs=ONE_KEY),
        Option(
            "time_limit",
            "Stop the search of a board after so many seconds.",
            "SECONDS",
            lambda given, *_: parse_positive_number(given, "--time-limit", "seconds", 10),
            verbs=(*ANY_KEYS, SAMPLE, CHECK),
        ),
        Option(
            "patterns",
            f"Partition whose tables to use: {', '.join(PARTITIONS)} (default: the first of these "
            "that is published).",
            "NAME",
            parse_partition,
            verbs=(*ANY_KEYS, SAMPLE, CHECK),
        ),
        Option("solve", "Solve each board: the fewest moves, and a solution.", verbs=(SAMPLE,)),
        FEATURES,
        ANSWERS,
        MOVES_OF,
    )
    has_pictures = True
    reader = "FifteenReader"
    key = "STATE"
    columns = ("state", "goal", "distance", "heuristic", "nodes_expanded", "solution")
    key_cells = BOARD.cells

    def make_schema(self, options: Options) -> pl.Schema:
        import polars as pl

        types = {"distance": pl.Int16(), "heuristic": pl.Int16(), "nodes_expanded": pl.Int64()}
        names = (*self.columns[1:], *(("path",) if options.path else ()))
        schema = {name: types.get(name, pl.String()) for name in names}
        return pl.Schema({**schema, **list_features(options)})

    def answer_keys(self, keys: pl.Series, options: Options) -> pl.DataFrame:
        import polars as pl

        return pl.concat(self.iter_answers(keys, options))

    def iter_answers(self, keys: pl.Series, options: Options) -> Iterator[pl.DataFrame]:
        """Answer keys in threads; yield the rows in order, in parts."""
        if options.features:
            first = 0
            for rows in self.iter_answers(keys, options.replace(features=False)):
                yield self.add_features(rows, keys[first : first + len(rows)])
                first += len(rows)
            return
        from puzzle_tablebase.queries.answer_frames import answer_each
        from puzzle_tablebase.queries.fifteen_search import answer_in_threads

        self.open_solver(options.patterns)  # missing tables are no error of a row

        def solve(key: str, on_pause: Callable[[], None]) -> FifteenSolution:
            return self.answer(key, options, on_pause)

        def collect(keys: pl.Series, answers: list[Future[FifteenSolution]]) -> pl.DataFrame:
            found = dict(zip(keys, answers, strict=True))
            return answer_each(keys, lambda key: found[key].result(), self.make_schema(options))

        first = 0
        for part in answer_in_threads(keys.to_list(), solve):
            yield collect(keys[first : first + len(part)], part)
            first += len(part)
        if keys.is_empty():
            yield collect(keys, [])

    def add_features(self, rows: pl.DataFrame, keys: pl.Series) -> pl.DataFrame:
        """Add the features of keys to their rows."""
        from puzzle_tablebase.queries.board_features import add_features

        return add_features(rows, keys, BOARD)

    def draw(
        self, request: SampleRequest, wanted: range | None, options: Options
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        from puzzle_tablebase.queries.board_ranks import BoardRanks

        if options.time_limit and not options.solve:
            raise BadRequest("--time-limit needs --solve", "Add it, or leave out both")
        goal = options.goal or BOARD.example
        ranks = BoardRanks(BOARD, BOARD.view_goal(goal))
        for numbers in request.draw_numbers(BOARD.size, "state"):
            keys = ranks.write_states(numbers)
            rows = keys.to_frame().with_columns(goal=pl.lit(goal))
            if not options.solve:
                yield rows
                continue
            first, plain = 0, options.replace(features=False)
            for answers in self.iter_answers(keys, plain):
                part = rows["state"][first : first + len(answers)].to_frame()
                known = answers.drop("error").with_columns(goal=pl.lit(goal))
                yield part.hstack(known)
                first += len(answers)

    def parse_key(self, text: str, options: Options) -> str:
        return BOARD.parse(text)

    def _read_board(self, key: str, options: Options) -> tuple[SymmetryView, str, list[int]]:
        """Return the view of the goal, the state, and the tile on each cell of its image there."""
        goal, state = options.goal or BOARD.example, BOARD.parse(key)
        if not BOARD.can_reach(state, goal):
            raise GoalUnreachable(state, goal, BOARD.explain_unreachable(state, goal))
        view = BOARD.view_goal(goal)
        return view, state, [int(mark, BOARD.cells) for mark in view.map_state(state)]

    def compute_heuristic(self, key: str, options: Options) -> int:
        return self.open_solver(options.patterns).compute_heuristic(
            self._read_board(key, options)[2]
        )

    def answer(
        self, key: str, options: Options, on_pause: Callable[[], None] = lambda: None
    ) -> FifteenSolution:
        """Find a shortest solution; raise Undecided at the time limit of the options.

        `on_pause` is called from time to time; it ends the search by raising an error.
        """
        (view, state, board), seconds = self._read_board(key, options), options.time_limit
        begin = monotonic()

        def pause(least: int) -> None:
            on_pause()
            if seconds is not None and monotonic() > begin + seconds:
                raise Undecided(state, seconds, least)

        found = self.open_solver(options.patterns).search(board, pause)
        cells = [view.cells[cell] for cell in found.blanks]
        letters = "".join(
            {to: letter for letter, to in BOARD.list_exits(cell)}.get(after, "-")
            for cell, after in pairwise(cells)
        )
        goal = options.goal or BOARD.example
        table = make_tables(self._choose_partition(options.patterns))[0].name
        problem = f"its distances lead from {state} to no solution"
        states = self.walk(BOARD, state, letters, goal, table, problem)
        return FifteenSolution(
            state=state,
            goal=goal,
            _states=states,
            _has_boards=options.boards,
            _width=BOARD.width,
            distance=len(letters),
            heuristic=found.heuristic,
            nodes_expanded=found.nodes_expanded,
            solution=letters,
            tiles=list_moved_tiles(states),
            path=states if options.path or options.boards else None,
        )

    def parse_answer(self, key: str, options: Options) -> tuple[str, str, None]:
        return BOARD.parse(key), options.goal or BOARD.example, None

    def choose_rules(self, options: Options) -> Rules:
        return SlidingTiles(BOARD) if options.moves_of == TILE else BOARD

    def judge_distance(
        self, stated: str, start: str, shortest: int | None, options: Options
    ) -> Judgement:
        if BOARD.can_reach(start, options.goal or BOARD.example):
            heuristic = self.compute_heuristic(start, options)
            if stated == "unreachable" or int(stated) < heuristic:
                problem = f"the fewest moves are at least {heuristic}"
                return Judgement(result="wrong", problem=problem, score=0.0)
            shortest = self.answer(start, options).distance
        return super().judge_distance(stated, start, shortest, options)

    def complete(self, judged: Judgement, start: str, last: str, options: Options) -> Judgement:
        """Search for the distance if the heuristic does not decide."""
        from puzzle_tablebase.queries.judging import judge_solution

        length, goal = judged.length, options.goal or BOARD.example
        if judged.result == "incomplete" and not BOARD.can_reach(start, goal):
            return super().complete(judged, start, last, options)
        if judged.result != "solved" or length is None:
            return judged
        try:
            is_shortest = length == self.compute_heuristic(start, options)
            shortest = length if is_shortest else self.answer(start, options).distance
        except Undecided as error:
            return Judgement(result="solved", length=length, problem=str(error), score=None)
        return judge_solution(length, shortest)

    def _is_published(self, partition: str) -> bool:
        from puzzle_tablebase.formats.manifest import read_manifest

        published = read_manifest(self.files.store)
        return all(table.name in published for table in make_tables(partition))

    def iter_explored(self) -> Iterator[tuple[Prober, Table]]:
        """Yield the tables of the smallest partition, if all are published."""
        if self._is_published(EXPLORED_PARTITION):
            yield from ((self, table) for table in make_tables(EXPLORED_PARTITION))

    def open_solver(self, requested: str | None) -> Solver:
        """Return the solver with a partition; None: the best published one."""
        return self.files.keep(("solver", requested), lambda: self._make_solver(requested))

    def _choose_partition(self, requested: str | None) -> str:
        best = (name for name in PARTITIONS if self._is_published(name))
        return requested or next(best, DEFAULT_PARTITION)

    def _make_solver(self, requested: str | None) -> Solver:
        from puzzle_tablebase.queries.fifteen_search import Solver
        from puzzle_tablebase.resources import get_free_memory

        partition = self._choose_partition(requested)
        group = "fifteen" if partition == DEFAULT_PARTITION else name_partition(partition)
        indexes = [self.files.open_index(table, group) for table in make_tables(partition)]
        return Solver(PARTITIONS[partition], indexes, get_free_memory())


def parse_corner_goal(text: str) -> str:
    """Return the goal that a text names; BadRequest if its blank is not in a corner."""
    goal = BOARD.parse_goal(text)
    if BOARD.view_goal(goal).table_goal != BOARD.example:
        problem = f"The blank of the goal {goal} is not in a corner, as the tables need it"
        raise BadRequest(problem, f"Example: --goal {BOARD.make_ordered_state(0)}")
    return goal
