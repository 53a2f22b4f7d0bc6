"""The reader of the 15-puzzle: it opens the tables of a partition, and searches for answers."""

from __future__ import annotations

from queries.fifteen.facts import FifteenFacts
from queries.fifteen.plain_search import PatternReader, PlainSolver
from queries.fifteen.solution import FoundSolution, PlainSearchOver, SearchPaused, SearchState
from queries.index_reader import IndexReader
from queries.query_options import SVG, Option, OptionValues
from queries.reader import Reader, ignore_progress
from tablebase.errors import (
    BadRequest,
    GoalUnreachable,
    TableMissing,
    Undecided,
    quote,
    require_choice,
)
from tablebase.puzzles.fifteen.tables import BOARD, DEFAULT_PARTITION, PARTITIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from queries.answer_frames import Answers
    from queries.fifteen.compiled_search import CompiledSolver
    from tablebase.puzzle import Column, Puzzle
    from tablebase.puzzles.sliding.board import BoardGoalView
    from tablebase.tables.store import Store

MAX_PLAIN_POSITIONS = 20_000
"""Positions after which the compiled search takes over: loading it takes about as long."""
MAX_PLAIN_KEYS = 3
"""A batch with more keys begins with the compiled search."""


class FifteenReader(Reader):
    options = (
        Option(
            "goal",
            "Goal to reach: any state with the blank in a corner (default: tiles in reading order, "
            "blank in the last corner).",
            "GOAL",
        ),
        Option("path", "Print every state of the solution, one per line.", columns=("path",)),
        Option("boards", "Print every state of the solution as a picture.", is_single=True),
        Option("hint", "Print only the next move of a shortest solution.", is_single=True),
        Option("not_shortest", "Print a solution at once, which may be longer.", is_single=True),
        Option("time_limit", "Stop after so many seconds, and print what is known.", "SECONDS"),
        Option(
            "patterns",
            f"Partition whose tables to use: {', '.join(PARTITIONS)} (default: the first of these "
            "that is published).",
            "NAME",
        ),
        SVG,
    )
    key = "STATE"
    columns = ("state", "goal", "distance", "bound", "positions", "solution")
    joined_characters = BOARD.cells
    long_cells = tuple(map(str, range(10, BOARD.cells)))

    def __init__(self, puzzle: Puzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._plain: dict[str, PlainSolver] = {}
        self._compiled: dict[str, CompiledSolver] = {}

    def normalize_options(self, options: OptionValues) -> OptionValues:
        if "goal" in options:
            goal = BOARD.parse_goal(str(options["goal"]))
            view_corner(goal)
            options = {**options, "goal": goal}
        if "patterns" in options:
            require_choice(str(options["patterns"]), "partition", *PARTITIONS)
        if "time_limit" in options:
            parse_seconds(options)
        if options.get("hint") and options.get("not_shortest"):
            raise BadRequest(
                "--hint cannot be combined with --not-shortest",
                "A hint is a move of a shortest solution",
            )
        return options

    def list_values(self, option: str) -> tuple[str, ...]:
        return {"patterns": tuple(PARTITIONS), "goal": ("corner",)}.get(option, ())

    def probe(self, key: str, options: OptionValues) -> FifteenFacts:
        state, goal = self.parse_ends(key, options)
        return FifteenFacts(state, goal, self.find_solution(state, goal, options), options)

    def list_answer_columns(self, options: OptionValues) -> dict[str, Column]:
        from tablebase.puzzle import Column

        kinds = {"distance": "int8", "bound": "int8", "positions": "int64"}
        return {name: Column(name, kind, "") for name, kind in kinds.items()}

    def parse_ends(self, key: str, options: OptionValues) -> tuple[str, str]:
        """Parse a state and its goal; GoalUnreachable if no moves connect them."""
        state = BOARD.parse(key)
        goal = str(options.get("goal", BOARD.example))
        if not BOARD.can_reach(state, goal):
            raise GoalUnreachable(state, goal, BOARD.explain_unreachable(state, goal))
        return state, goal

    def compute_bound(self, state: str, options: OptionValues) -> int:
        """Return a number of moves that no solution of a state can be shorter than."""
        state, goal = self.parse_ends(state, options)
        board = list_tiles(view_corner(goal).map_state(state))
        return self._open_plain(self.find_partition(options)).compute_bound(board)

    def find_solution(self, state: str, goal: str, options: OptionValues) -> FoundSolution:
        """Find a solution: a shortest one, unless the options request any.

        Undecided if it takes longer than the options allow.
        """
        view = view_corner(goal)
        board = list_tiles(view.map_state(state))
        partition = self.find_partition(options)
        solver = self._open_plain(partition)
        bound = solver.compute_bound(board)
        if options.get("not_shortest"):
            from queries.fifteen.best_first_search import find_solution

            path = find_solution(solver, board)
            return make_solution(view, state, path, bound, 0, is_shortest=len(path) - 1 == bound)
        if "time_limit" in options:
            return self._search_in_time(state, view, board, partition, options)
        search = SearchState(bound, ignore_progress)
        path = self._search(partition, board, search)
        return make_solution(view, state, path, bound, search.positions, is_shortest=True)

    def _search_in_time(
        self, state: str, view: BoardGoalView, board: list[int], partition: str,
        options: OptionValues,
    ) -> FoundSolution:  # fmt: skip
        """Find a shortest solution before a time limit; Undecided if there is none in time."""
        import time

        from queries.fifteen.best_first_search import find_solution

        seconds = parse_seconds(options)
        end = time.monotonic() + seconds
        solver = self._open_plain(partition)
        known = find_solution(solver, board)

        def pause() -> None:
            # at the length of the known solution, the search would only find another one
            if time.monotonic() > end or search.limit == len(known) - 1:
                raise SearchPaused

        bound = solver.compute_bound(board)
        search = SearchState(bound, pause)
        try:
            pause()
            path = self._search(partition, board, search)
        except SearchPaused:
            path = known
            if search.limit < len(path) - 1:
                found = make_solution(view, state, path, bound, 0, is_shortest=False)
                least, most = search.limit, len(found.letters)
                raise Undecided(state, seconds, least, most, found.letters) from None
        return make_solution(view, state, path, bound, search.positions, is_shortest=True)

    def _search(self, partition: str, board: list[int], search: SearchState) -> list[int]:
        """Return the blank's cells on a shortest solution, by the search that is faster."""
        if partition not in self._compiled:
            try:
                return self._open_plain(partition).search(board, search, MAX_PLAIN_POSITIONS)
            except PlainSearchOver:
                pass
        return self.open_compiled(partition).search(board, search)

    def find_partition(self, options: OptionValues) -> str:
        """Return the partition that the options name, or the best one that is published."""
        if "patterns" in options:
            return str(options["patterns"])
        for name in PARTITIONS:
            try:
                self._open_plain(name)
            except TableMissing:
                continue
            return name
        return DEFAULT_PARTITION

    def _open_plain(self, partition: str) -> PlainSolver:
        if partition not in self._plain:
            patterns = PARTITIONS[partition].patterns
            indexes = self._open_indexes(partition)
            self._plain[partition] = PlainSolver(
                [
                    PatternReader(pattern, index.read_block)
                    for pattern, index in zip(patterns, indexes, strict=True)
                ]
            )
        return self._plain[partition]

    def open_compiled(self, partition: str) -> CompiledSolver:
        """Return the compiled search; the tables are read into memory the first time."""
        if partition not in self._compiled:
            from queries.fifteen.compiled_search import CompiledSolver
            from queries.fifteen.flat_tables import make_tables

            patterns = PARTITIONS[partition].patterns
            chunks = [index.iter_chunks() for index in self._open_indexes(partition)]
            self._compiled[partition] = CompiledSolver(patterns, make_tables(patterns, chunks))
        return self._compiled[partition]

    def _open_indexes(self, partition: str) -> list[IndexReader]:
        return [*map(self.open_table_index, PARTITIONS[partition].make_tables())]

    def answer_keys(self, keys: pl.Series, options: OptionValues) -> Answers:
        from queries.answer_frames import look_up_keys

        def answer(key: str) -> Mapping[str, object]:
            return self.probe(key, options).to_dict()

        unique = keys.drop_nulls().unique(maintain_order=True)
        schema = self.make_schema(options)
        if len(unique) <= MAX_PLAIN_KEYS:
            return look_up_keys(keys, answer, schema, self.on_progress)
        from queries.fifteen.batch import answer_in_threads

        self.open_compiled(self.find_partition(options))
        answers = answer_in_threads(unique.to_list(), answer, self.on_progress)
        return look_up_keys(keys, lambda key: answers[key](), schema, ignore_progress)


def parse_seconds(options: OptionValues) -> float:
    """Return the time limit that options request."""
    text = str(options["time_limit"])
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        problem = f"--time-limit needs a number of seconds above 0, not {quote(text)}"
        raise BadRequest(problem, "Example: --time-limit 10")
    return seconds


def view_corner(goal: str) -> BoardGoalView:
    """Return the view of a goal whose blank is in a corner; BadRequest for another one."""
    view = BOARD.view_goal(goal)
    if view.layout != BOARD.example:
        raise BadRequest(
            f"The goal {goal} has its blank outside the corners, and the tables are for goals with "
            "the blank in a corner",
            f"Example: --goal 0{BOARD.example[:-1]}",
        )
    return view


def list_tiles(state: str) -> list[int]:
    """Return the tile on each cell."""
    return [int(mark, BOARD.cells) for mark in state]


def make_solution(
    view: BoardGoalView, state: str, path: list[int], bound: int, positions: int, *,
    is_shortest: bool,
) -> FoundSolution:  # fmt: skip
    """Make a solution from the cells of the blank on the view's board."""
    states, letters = [state], ""
    for cell in path[1:]:
        target = view.cells[cell]
        for letter, next_state in BOARD.moves(states[-1]):
            if next_state[target] == "0":
                letters += letter
                states.append(next_state)
                break
    return FoundSolution(states, letters, bound, positions, is_shortest=is_shortest)
