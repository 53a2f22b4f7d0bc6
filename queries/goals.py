"""The prober of puzzles with goals: distance, best moves and shortest solutions from the index."""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, GoalUnreachable
from puzzle_tablebase.puzzles import GoalPuzzle, View
from puzzle_tablebase.queries.prober import Prober
from puzzle_tablebase.queries.questions import (
    ALL,
    ANSWERS,
    ANY_KEYS,
    CHECK,
    DISTANCE,
    KEYLESS,
    ONE_KEY,
    PROBE,
    QUERY,
    SAMPLE,
    STRATIFIED,
    Answer,
    Option,
    align_rows,
    format_count,
)
from puzzle_tablebase.schema import UNREACHABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import polars as pl

    from puzzle_tablebase.errors import TableDamaged
    from puzzle_tablebase.queries.files import TableFiles
    from puzzle_tablebase.queries.questions import Options


class GoalAnswer(Answer):
    """The answer for a state of a puzzle with goals; facts from `solutions` on may be None."""

    state: str
    goal: str
    distance: int
    best_moves: str
    solutions: int | None = None
    _states: list[str] | None = None
    """The states of the solution."""
    _has_boards: bool = False
    _reasons: dict[str, str] | None = None
    """The unreachable goals by name and state, with the reasons."""
    goal_state: str | None = None
    features: dict[str, int] | None = None
    solution: str | None = None
    out_of_reach: list[str] | None = None
    path: list[str] | None = None
    all_solutions: list[str] | None = None

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        parts = []
        if self._states and self._has_boards:
            moves = map(self._format_move, self._states, self.solution or "")
            heads = ["0", *(f"{number}  {move}" for number, move in enumerate(moves, 1))]
            boards = zip(heads, map(self._draw_state, self._states), strict=True)
            parts.append("\n".join(f"{head}\n{board}" for head, board in boards))
        elif self.path:
            parts.append("".join(f"{step}\n" for step in self.path))
        if self.all_solutions:
            parts.append("".join(f"{letters}\n" for letters in self.all_solutions))
        return "\n".join(parts or [self._draw_state(self.state), align_rows(self._list_rows())])

    def _list_rows(self) -> list[tuple[str, str]]:
        """Return labelled rows of the facts."""
        best = ", ".join(self._format_move(self.state, letter) for letter in self.best_moves)
        goal_state = "" if self.goal_state in (None, self.goal) else f" {self.goal_state}"
        rows = [
            ("goal", f"{self.goal}{goal_state}"),
            ("distance", format_count(self.distance, "move")),
            ("best moves", best or "none: this is the goal"),
        ]
        if self.solutions is not None:
            rows.append(("solutions", f"{self.solutions} of that length"))
        if self.solution:
            label = "a solution" if self.solutions is None else "one of them"
            rows += [(label, self.solution), *self._list_more_rows()]
        reasons = self._reasons or {}
        return [*rows, *(("out of reach", f"{each}: {why}") for each, why in reasons.items())]

    def _list_more_rows(self) -> list[tuple[str, str]]:
        """Return further labelled rows about the solution."""
        return []

    def _draw_state(self, state: str) -> str:
        """Draw a state as text that ends with a newline."""
        return f"{state}\n"

    def _format_move(self, state: str, letter: str) -> str:
        """Format a move from a state for people."""
        return letter


def parse_goal(text: str, prober: GoalProber, options: Options) -> str:
    """Return the goal that a text names; raise a TablebaseError if no table answers for it."""
    puzzle: Any = prober.select(options).puzzle
    goal: str = puzzle.parse_goal(text)
    puzzle.view_goal(goal)
    return goal


GOAL_OPTIONS = (
    Option(
        "goal",
        "Goal to reach: a name or a state (default: the named goal that the state reaches).",
        "GOAL",
        parse_goal,
        verbs=(*ANY_KEYS, ALL, SAMPLE, CHECK),
    ),
    Option("path", "Print every state of a shortest solution, one per line.", verbs=ANY_KEYS),
    Option("boards", "Print every state of a shortest solution as a picture.", verbs=ONE_KEY),
    Option(
        "solutions",
        "Print every shortest solution (at most 10,000), one per line.",
        verbs=ANY_KEYS,
    ),
    Option(
        "hardest",
        "Print all states that are farthest from the goal.",
        excludes=("path", "boards", "solutions"),
        verbs=(ALL, KEYLESS),
    ),
    Option("solution", "Add a shortest solution.", verbs=(PROBE,)),
    DISTANCE,
    STRATIFIED,
    ANSWERS,
)
"""The options of all puzzles with goals."""


class GoalProber(Prober):
    """A prober for any puzzle with goals."""

    options: tuple[Option, ...] = GOAL_OPTIONS
    reader = "GoalReader"
    puzzle: GoalPuzzle
    key = "STATE"
    columns: tuple[str, ...] = ("state", "goal", "distance", "best_moves", "solutions")
    max_solutions = 10_000
    """The most solutions of a state that are listed."""

    def __init__(self, puzzle: GoalPuzzle, files: TableFiles) -> None:
        super().__init__(puzzle, files)
        self.table_names = {
            goal: table.name for table in puzzle.tables for goal in table.recipe.parameters["roots"]
        }
        """The names of the tables by goal."""

    def answer(self, key: Any, options: Options) -> Answer:
        if options.verb == ALL:
            return self.answer_hardest(options)
        state, goal = self.parse_ends(key, options)
        distance, solutions = self.find_distance(state, goal)
        best_moves = "".join(letter for letter, _ in self.list_best_moves(state, goal))
        if distance and not best_moves:
            raise self.make_goal_error(goal, f"no move from {state} is nearer to {goal}")
        facts = {
            "state": state,
            "goal": self.name_goal(goal),
            "distance": distance,
            "best_moves": best_moves,
            "solutions": solutions,
        }
        wanted = (options.solution, options.path, options.boards, options.solutions)
        if options.verb == QUERY or any(wanted):
            facts |= self._add_solution(state, goal, solutions, options)
        return self.make_answer(facts)

    def make_answer(self, facts: dict[str, Any]) -> GoalAnswer:
        """Make an answer from its facts."""
        return GoalAnswer(**facts)

    def _add_solution(
        self, state: str, goal: str, solutions: int | None, options: Options
    ) -> dict[str, Any]:
        """Find a shortest solution, and all of them if the options ask for that."""
        puzzle = self.puzzle
        all_solutions = self.list_solutions(state, goal) if options.solutions else None
        solution, states = self.find_path(state, goal)
        table = self.table_names[puzzle.find_reachable_goal(state)]
        others = {
            name: other
            for name, other in puzzle.goals.items()
            if options.goal is None and self.table_names.get(name) == table and other != goal
        }
        return {
            "_states": states,
            "_has_boards": options.boards,
            "_reasons": {
                f"{name} {other}": puzzle.explain_unreachable(state, other)
                for name, other in others.items()
            },
            "solutions": len(all_solutions) if all_solutions else solutions,
            "goal_state": goal,
            "features": puzzle.compute_features(state, goal),
            "solution": solution,
            "out_of_reach": [*others] if options.goal is None else None,
            "path": states if options.path or options.boards else None,
            "all_solutions": all_solutions,
        }

    def parse_ends(self, text: str, options: Options) -> tuple[str, str]:
        """Parse a state; return it with the given goal, or the named one that it reaches."""
        puzzle, state = self.puzzle, self.puzzle.parse(text)
        goal: str | None = options.goal
        return state, goal or puzzle.goals[puzzle.find_reachable_goal(state)]

    def make_schema(self, options: Options) -> pl.Schema:
        import polars as pl

        schema, names = super().make_schema(options), ["solution", "path"] if options.path else []
        if options.goal not in (None, *self.puzzle.goals.values()):
            schema["goal"] = pl.String()
        names += ["all_solutions"] if options.solutions else []
        return pl.Schema({**schema, **dict.fromkeys(names, pl.String())})

    def list_depth_rows(self, options: Options) -> pl.DataFrame:
        if options.goal is None:
            return super().list_depth_rows(options)
        import polars as pl

        name = self.name_goal(options.goal)
        table = self.puzzle.find_table(self.table_names[name])
        assert table
        rows = self.files.scan(table).filter(pl.col("goal").cast(pl.String) == name)
        return self.files.collect(table, rows.select(self.columns))

    def parse_answer(self, key: str, options: Options) -> tuple[str, str, int | None]:
        state, goal = self.parse_ends(key, options)
        try:
            return state, goal, self.find_distance(state, goal)[0]
        except GoalUnreachable:
            return state, goal, None

    def is_at(self, state: str, goal: str, distance: int) -> bool:
        return self.read_record(self.puzzle.view_goal(goal), state)[0] == distance

    def name_goal(self, goal: str) -> str:
        """Return the name of a goal, or the goal itself if it has none."""
        return next((name for name, state in self.puzzle.goals.items() if state == goal), goal)

    def read_record(self, view: View, state: str) -> tuple[int, int | None]:
        """Read the distance and, if the view's table has it, the number of shortest solutions."""
        index = self.open_index(self.table_names[view.table_goal])
        record = index.read_record(self.find_record(view, state))
        return record[0], record[1] if len(record) > 1 else None

    def prefetch(self, view: View, state: str) -> None:
        """Read the blocks of a state and its neighbours in one round, if that saves requests."""
        index = self.open_index(self.table_names[view.table_goal])
        if index.is_remote:
            states = (state, *(neighbour for _, neighbour in self.puzzle.moves(state)))
            index.prefetch(self.find_record(view, each) for each in states)

    def find_record(self, view: View, state: str) -> int:
        """Return the number of the record that has a state's distance."""
        return self.puzzle.rank(view.map_state(state))

    def find_distance(self, state: str, goal: str) -> tuple[int, int | None]:
        """Return distance and number of shortest solutions; GoalUnreachable if there is none."""
        if self.puzzle.can_reach(state, goal):
            view = self.puzzle.view_goal(goal)
            self.prefetch(view, state)
            distance, solutions = self.read_record(view, state)
            if distance != UNREACHABLE:
                return distance, solutions
        raise GoalUnreachable(state, goal, self.puzzle.explain_unreachable(state, goal))

    def list_best_moves(self, state: str, goal: str) -> list[tuple[str, str]]:
        """Return every optimal first move with the state it leads to."""
        view = self.puzzle.view_goal(goal)
        return [*self.iter_moves_at(view, state, self.read_record(view, state)[0] - 1)]

    def iter_moves_at(self, view: View, state: str, distance: int) -> Iterator[tuple[str, str]]:
        """Yield the moves to states at a distance from the goal, each with its state."""
        self.prefetch(view, state)
        for letter, neighbour in self.puzzle.moves(state):
            if self.read_record(view, neighbour)[0] == distance:
                yield letter, neighbour

    def find_path(self, state: str, goal: str) -> tuple[str, list[str]]:
        """Return the letters of the first shortest solution, and every state on its way."""
        view, here, letters = self.puzzle.view_goal(goal), state, list[str]()
        distance = self.read_record(view, state)[0]
        for remaining in reversed(range(distance)):
            letter, here = next(self.iter_moves_at(view, here, remaining), ("", ""))
            letters.append(letter)
            if not here:
                break
        moves, table = format_count(distance, "move"), self.table_names[view.table_goal]
        problem = f"no solution of {moves} leads from {state} to {goal}"
        return "".join(letters), self.walk(self.puzzle, state, letters, goal, table, problem)

    def list_solutions(self, state: str, goal: str) -> list[str]:
        """Return the letters of every shortest solution, in letter order; BadRequest for many."""
        distance, count = self.find_distance(state, goal)
        lines = {state: [""]}
        for _ in range(distance):
            longer = dict[str, list[str]]()
            for here, letters in lines.items():
                for letter, after in self.list_best_moves(here, goal):
                    longer.setdefault(after, []).extend(line + letter for line in letters)
            lines = longer
            if sum(map(len, lines.values())) > self.max_solutions:  # each has an end of its own
                problem = f"More than {self.max_solutions:,} shortest solutions lead from {state}"
                raise BadRequest(f"{problem} to {goal}", "Use --path for one of them")
        solutions = lines.get(goal, [])
        if not solutions or count not in (None, len(solutions)):
            expected = "at least one" if count is None else str(count)
            problem = f"{len(solutions)} solutions lead from {state} to {goal}, not {expected}"
            raise self.make_goal_error(goal, problem)
        order = self.puzzle.letters.index
        return sorted(solutions, key=lambda letters: [order(letter) for letter in letters])

    def make_goal_error(self, goal: str, problem: str) -> TableDamaged:
        """Make the error for a goal's index that contradicts itself."""
        return self.files.make_error(
            self.table_names[self.puzzle.view_goal(goal).table_goal], problem
        )
