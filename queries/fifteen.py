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
from puzzle_tablebase.puzzle import format_slide, list_moved_tiles
from puzzle_tablebase.puzzles.fifteen import BOARD, DEFAULT_PARTITION, PARTITIONS, name_partition
from puzzle_tablebase.queries.answer import Answer, Option, format_count, parse_positive_number
from puzzle_tablebase.queries.fifteen_search import (
    MAX_GOOD_POSITIONS,
    PatternReader,
    PlainSearchOver,
    PlainSolver,
    SearchPaused,
    SearchState,
    find_any_path,
)
from puzzle_tablebase.queries.goal_reader import BoardAnswer
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.queries.reader import Query, Reader, ignore_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import polars as pl

    from puzzle_tablebase.puzzles.sliding import BoardGoalView
    from puzzle_tablebase.queries.answer_frames import Answers
    from puzzle_tablebase.queries.fifteen_compiled import Answered, CompiledSolver
    from puzzle_tablebase.schema import Table


class FifteenHint(Answer):
    """The next move of a shortest solution; "" at the goal."""

    _states: list[str]
    state: str
    goal: str
    hint: str
    hint_tile: str

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        if not self.hint:
            return "none: this is the goal\n"
        return f"{format_slide(self.hint, self.hint_tile)}\n"

    def to_svg(self) -> str:
        """Draw the state; the tile to move is coloured."""
        from puzzle_tablebase.queries.svg import draw_slides

        title = f"The next move from {self.state} to {self.goal}"
        return draw_slides(title, self._states, self.hint, self.hint_tile, width=BOARD.width)


class FifteenSolution(BoardAnswer):
    """A solution of a state: a board's answer without all best moves, which a search does not find.

    `distance` is there for a shortest solution only, `length` for any other. `bound` is the lower
    bound that the search began with, `positions` the number of positions that it searched.
    """

    _states: list[str]
    best_moves: str | None = None  # type: ignore[assignment]  # never there
    distance: int | None = None  # type: ignore[assignment]  # as above
    length: int | None = None
    bound: int
    positions: int | None = None
    solution: str
    tiles: str
    path: list[str] | None = None

    def _list_rows(self) -> list[tuple[str, str]]:
        rows = [("goal", self.goal)]
        if self.distance is not None:
            rows.append(("distance", format_count(self.distance, "move")))
        if self.length is not None:
            least = f"no solution is shorter than {self.bound}"
            rows.append(("length", f"{format_count(self.length, 'move')}; {least}"))
        if self.solution:
            rows += [("solution", self.solution), ("tiles slid", self.tiles)]
        rows.append(("bound", f"{self.bound} at the start"))
        if self.positions is not None:
            rows.append(("positions", f"{self.positions:,} searched"))
        return rows


CORNER_EXAMPLE = BOARD.make_ordered_state(0)
"""A goal with the blank in the first corner, for messages."""
EXPLORED_PARTITION = "5-5-5"
"""The partition whose tables the explorer's page contains: others are too large for a page."""
MAX_PLAIN_KEYS = 3
"""A batch with more keys begins with the compiled search."""


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
        self.is_shortest = "not_shortest" not in given
        self.seconds = None
        if "time_limit" in given:
            self.seconds = parse_positive_number(given["time_limit"], "--time-limit", "seconds", 10)
        self.partition = given.get("patterns")
        if self.partition is not None:
            require_choice(self.partition, "partition", *PARTITIONS)

    def answer(self, key: str) -> FifteenSolution | FifteenHint:
        solution = self.solve(key)
        if "hint" not in self.given:
            return solution
        return FifteenHint(
            state=solution.state,
            goal=self.goal,
            _states=solution._states,
            hint=solution.solution[:1],
            hint_tile=solution.tiles[:1],
        )

    def make_answer(self, state: str, path: list[int], search: SearchState) -> FifteenSolution:
        """Make the answer for a state from the blank's cells on a solution, as the view has them.

        `search` is that of the solution.
        """
        states, letters = follow_blank(self.view, state, path)
        is_shortest = len(letters) == search.limit
        return FifteenSolution(
            state=state,
            goal=self.goal,
            _states=states,
            _has_boards="boards" in self.given,
            _width=BOARD.width,
            distance=len(letters) if is_shortest else None,
            length=None if is_shortest else len(letters),
            bound=search.bound,
            positions=search.positions if self.is_shortest else None,
            solution=letters,
            tiles=list_moved_tiles(states),
            path=states if self.given.keys() & {"path", "boards"} else None,
        )

    def make_schema(self) -> pl.Schema:
        import polars as pl

        types = {"distance": pl.Int8(), "bound": pl.Int8(), "positions": pl.Int64()}
        names = (*self.reader.columns[1:], *(("path",) if "path" in self.given else ()))
        return pl.Schema({name: types.get(name, pl.String()) for name in names})

    def answer_keys(self, keys: pl.Series) -> Answers:
        from puzzle_tablebase.queries.answer_frames import concatenate_answers

        return concatenate_answers(self.iter_answers(keys))

    def iter_answers(self, keys: pl.Series, *others: pl.Series) -> Iterator[Answers]:
        if keys.drop_nulls().n_unique() <= MAX_PLAIN_KEYS:
            yield super().answer_keys(keys)
            return
        from puzzle_tablebase.queries.fifteen_compiled import answer_in_threads, iter_in_order

        solver = self.reader.open_compiled(self.reader.find_partition(self.partition))
        unique = keys.drop_nulls().unique(maintain_order=True).to_list()
        if not self.is_shortest or self.seconds is not None:
            answered = answer_in_threads(unique, self.solve)
        else:
            answered = self._solve_in_turns(solver, unique)
        seconds, schema = self.reader.part_seconds, self.make_schema()
        yield from iter_in_order(keys, answered, schema, self.on_progress, seconds)

    def _solve_in_turns(self, solver: CompiledSolver, keys: list[str]) -> Answered:
        """Solve the state of every key, several in turns on each core.

        Yield each key with its answer as soon as it is solved, and None now and then.
        """
        from functools import partial

        from puzzle_tablebase.queries.fifteen_compiled import search_in_threads

        states = dict[str, str]()
        for key in keys:
            try:
                states[key] = self.parse_state(key)
            except (NotationError, GoalUnreachable):  # raised again when it is asked for
                yield key, partial(self.solve, key)
        boards = {key: list_tiles(self.view.map_state(state)) for key, state in states.items()}

        for searched in search_in_threads(solver, boards):
            if searched is None:
                yield None
            else:
                key, search, path = searched
                yield key, partial(self.make_answer, states[key], path, search)

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
        partition = self.reader.find_partition(self.partition)
        return self.reader.open_plain(partition).compute_bound(board)

    def solve(self, key: str) -> FifteenSolution:
        """Find a solution: a shortest one, unless the query is for any.

        Undecided if it takes longer than the query allows, from here on.
        """
        state = self.parse_state(key)
        board, search, known = list_tiles(self.view.map_state(state)), SearchState(0), list[int]()
        if self.seconds is not None:
            end = monotonic() + self.seconds

            def pause() -> None:
                # at the length of the known solution, the search would only find another one
                if monotonic() > end or search.limit == len(known) - 1:
                    raise SearchPaused

            search.pause = pause
        try:
            path = self._search(board, search, known)
        except SearchPaused:
            path = known
        found = self.make_answer(state, path, search) if path else None
        if found and (found.distance is not None or not self.is_shortest):
            return found
        assert self.seconds is not None
        raise Undecided(state, self.seconds, search.limit, found.solution if found else None)

    def _search(self, board: list[int], search: SearchState, known: list[int]) -> list[int]:
        """Return the blank's cells on a shortest solution, or on any if the query is for any.

        If the query has a time limit, any solution is found first, and put into `known`.
        """
        reader, partition = self.reader, self.reader.find_partition(self.partition)
        if not self.is_shortest or self.seconds is not None:
            search.raise_bound(reader.open_plain(partition).compute_bound(board))
            solver, most = reader.open_plain(partition), reader.max_good_positions
            known += find_any_path(solver, board, search.pause, most)
        if not self.is_shortest:
            return known
        search.pause()
        return reader.search(partition, board, search)


class FifteenReader(Reader[FifteenSolution]):
    """The tables of the 15-puzzle's patterns, and the searches that they lead."""

    query = FifteenQuery
    max_plain_positions = 20_000
    """Positions after which the compiled search takes over: loading it takes about as long."""
    max_good_positions = MAX_GOOD_POSITIONS
    """Positions that a search for any solution tries before it is content with longer ones."""
    part_seconds = 0.5
    """Seconds after which a batch passes answered rows on: an interrupt does not lose them."""
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
        Option(
            "hint",
            "Print only the next move of a shortest solution.",
            "",
            ("not_shortest",),
            is_single=True,
        ),
        Option("not_shortest", "Print a solution at once, which may be longer.", is_single=True),
        Option("time_limit", "Stop after so many seconds, and print what is known.", "SECONDS"),
        Option(
            "patterns",
            f"Partition whose tables to use: {', '.join(PARTITIONS)} (default: the first of these "
            "that is published).",
            "NAME",
        ),
    )
    check_options = (options[0], *options[5:])
    key = "STATE"
    other_kinds = ("hint",)
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
        from puzzle_tablebase.tables.manifest import read_manifest

        tables = PARTITIONS[EXPLORED_PARTITION].make_tables()
        published = read_manifest(self.store)
        return [*tables] if all(table.name in published for table in tables) else []

    def search(self, partition: str, board: list[int], search: SearchState) -> list[int]:
        """Return the blank's cells on a shortest solution, by the search that is faster."""
        if ("compiled", partition) not in self._kept:
            try:
                return self.open_plain(partition).search(board, search, self.max_plain_positions)
            except PlainSearchOver:
                pass
        return self.open_compiled(partition, search.pause).search(board, search)

    def find_partition(self, requested: str | None) -> str:
        """Return the partition that is requested, or the best one that is published."""
        if requested is not None:
            return requested
        for name in PARTITIONS:
            try:
                self.open_plain(name)
            except TableMissing:
                continue
            return name
        return DEFAULT_PARTITION

    def open_plain(self, partition: str) -> PlainSolver:
        """Return the search in plain Python, which reads the tables' blocks as it needs them."""

        def make_solver() -> PlainSolver:
            indexes = zip(
                PARTITIONS[partition].patterns, self._open_indexes(partition), strict=True
            )
            return PlainSolver([PatternReader(each, index.read_block) for each, index in indexes])

        return self.keep(("plain", partition), make_solver)

    def open_compiled(
        self, partition: str, pause: Callable[[], None] = ignore_progress
    ) -> CompiledSolver:
        """Return the compiled search; the tables are read into memory the first time.

        `pause` is called while they are read, and may raise SearchPaused.
        """

        def make_solver() -> CompiledSolver:
            from puzzle_tablebase.queries.fifteen_compiled import CompiledSolver, make_tables

            patterns = PARTITIONS[partition].patterns
            chunks = [index.iter_chunks() for index in self._open_indexes(partition)]
            return CompiledSolver(patterns, make_tables(patterns, chunks, pause))

        return self.keep(("compiled", partition), make_solver)

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
