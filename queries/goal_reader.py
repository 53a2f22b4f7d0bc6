"""Puzzles with goals: distance, best moves and shortest solutions, walked from the index alone."""

from __future__ import annotations

from itertools import islice

from queries.facts import Facts, align_rows, format_count
from queries.query_options import Option, OptionValues
from queries.reader import Reader
from tablebase.errors import BadRequest, GoalUnreachable
from tablebase.graph import UNREACHED
from tablebase.puzzle import BreadthFirst, GoalPuzzle, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tablebase.puzzle import Column
    from tablebase.tables.store import Store


MAX_SOLUTIONS = 10_000
"""Solutions of a state that are listed; they are counted first."""


class GoalFacts(Facts):
    """A state on its way to a goal."""

    __slots__ = (
        *("_puzzle", "state", "goal", "goal_state", "distance", "best_moves", "solutions"),
        *("features", "solution", "out_of_reach", "path", "all_solutions"),
    )

    def __init__(self, reader: GoalReader, key: str, options: OptionValues) -> None:
        self._puzzle = puzzle = reader.puzzle
        goal = str(options["goal"]) if "goal" in options else None
        self.state, self.goal_state = state, goal_state = reader.parse_ends(key, goal)
        self.goal = reader.name_goal(goal_state)
        self.distance, solutions = reader.find_distance(state, goal_state)
        if options.get("solutions"):
            self.all_solutions = reader.list_solutions(state, goal_state)
            solutions = len(self.all_solutions)
        if solutions is not None:
            self.solutions = solutions
        self.best_moves = "".join(letter for letter, _ in reader.list_best_moves(state, goal_state))
        self.features = puzzle.compute_features(state, goal_state)
        path = reader.find_path(state, goal_state)
        self.solution = "".join(letter for letter, _ in path[1:])
        if goal is None:
            self.out_of_reach = reader.list_unreached_layouts(state, goal_state)
        if options.get("path") or options.get("boards"):
            self.path = [step for _, step in path]

    def to_text(self, options: OptionValues) -> str:
        as_states = options.get("path") or options.get("boards")
        if as_states and options.get("solutions"):
            raise BadRequest(
                "--solutions cannot be combined with --path or --boards",
                "Ask for one of them, or add --json",
            )
        if options.get("solutions"):
            return "".join(f"{letters}\n" for letters in self.all_solutions)
        if options.get("boards"):
            moves = (
                self.format_move(*step) for step in zip(self.path, self.solution, strict=False)
            )
            heads = ["0", *(f"{n}  {move}" for n, move in enumerate(moves, 1))]
            return "\n".join(
                f"{head}\n{self.draw_state(step)}"
                for head, step in zip(heads, self.path, strict=True)
            )
        if as_states:
            return "".join(f"{step}\n" for step in self.path)
        best = ", ".join(self.format_move(self.state, letter) for letter in self.best_moves)
        goal_state = "" if self.goal == self.goal_state else f" {self.goal_state}"
        rows = [
            ("goal", f"{self.goal}{goal_state}"),
            ("distance", format_count(self.distance, "move")),
            ("best moves", best or "none: this is the goal"),
        ]
        if hasattr(self, "solutions"):
            rows.append(("solutions", f"{self.solutions} of that length"))
        if self.solution:
            rows += [("one of them", self.solution), *self.list_more_rows()]
        for layout in [] if "goal" in options else self.out_of_reach:
            other = self._puzzle.layouts[layout]
            why = self._puzzle.explain_unreachable(self.state, other)
            rows.append(("out of reach", f"{layout} {other}: {why}"))
        return f"{self.draw_state(self.state)}\n{align_rows(rows)}"

    def draw_state(self, state: str) -> str:
        """The state drawn, whole lines."""
        return f"{state}\n"

    def format_move(self, state: str, letter: str) -> str:
        """A move said in full."""
        return letter

    def list_more_rows(self) -> list[tuple[str, str]]:
        """Further rows about the solution."""
        return []


class GoalReader(Reader):
    """Any goal puzzle's answers."""

    options: tuple[Option, ...] = (
        Option(
            "goal",
            "Goal to reach: a layout or any state (default: the layout that the state can reach).",
            "GOAL",
        ),
        Option(
            "path",
            "Print every state of a shortest solution, one per line.",
            columns=("solution", "path"),
        ),
        Option("boards", "Print every state of a shortest solution as a picture.", is_single=True),
        Option(
            "solutions",
            "Print every shortest solution (at most 10,000), one per line.",
            columns=("all_solutions",),
        ),
    )
    puzzle: GoalPuzzle
    key = "STATE"
    columns: tuple[str, ...] = ("state", "goal", "distance", "best_moves", "solutions")

    def __init__(self, puzzle: GoalPuzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self._tables = {
            layout: table.name
            for table in puzzle.tables
            if isinstance(table.recipe, BreadthFirst)
            for layout in table.recipe.roots
        }

    def normalize_options(self, options: OptionValues) -> OptionValues:
        if "goal" not in options:
            return options
        goal = self.puzzle.parse_goal(str(options["goal"]))
        self.puzzle.view_goal(goal)
        return {**options, "goal": goal}

    def list_answer_columns(self, options: OptionValues) -> dict[str, Column]:
        columns = super().list_answer_columns(options)
        if options.get("goal") not in (None, *self.puzzle.layouts.values()):
            del columns["goal"]
        return columns

    def list_values(self, option: str) -> tuple[str, ...]:
        return tuple(self.puzzle.layouts) if option == "goal" else ()

    def probe(self, key: str, options: OptionValues) -> GoalFacts:
        return GoalFacts(self, key, options)

    def name_goal(self, goal: str) -> str:
        """The name of the layout that a goal is, or the goal."""
        return next((name for name, state in self.puzzle.layouts.items() if state == goal), goal)

    def parse_ends(self, text: str, goal: str | None) -> tuple[str, str]:
        """The state and the goal's state that texts name; no goal: the layout that it reaches."""
        state = self.puzzle.parse(text)
        if goal is None:
            return state, self.puzzle.layouts[self.puzzle.find_layout(state)]
        return state, self.puzzle.parse_goal(goal)

    def read_record(self, view: View, state: str) -> tuple[int, int | None]:
        """Distance and number of shortest solutions as the view's table has them, if it does."""
        record = self.open_index(self._tables[view.layout]).read_record(
            self.puzzle.rank(view.map_state(state))
        )
        return record[0], record[1] if len(record) > 1 else None

    def find_distance(self, state: str, goal: str) -> tuple[int, int | None]:
        """Distance and number of shortest solutions; GoalUnreachable if there is none."""
        if not self.puzzle.can_reach(state, goal):
            raise GoalUnreachable(state, goal, self.puzzle.explain_unreachable(state, goal))
        distance, solutions = self.read_record(self.puzzle.view_goal(goal), state)
        if distance == UNREACHED:
            raise GoalUnreachable(state, goal, self.puzzle.explain_unreachable(state, goal))
        return distance, solutions

    def list_best_moves(self, state: str, goal: str) -> list[tuple[str, str]]:
        """Every optimal first move with the state it leads to."""
        view = self.puzzle.view_goal(goal)
        return [*self._iter_moves_at(view, state, self.read_record(view, state)[0] - 1)]

    def _iter_moves_at(self, view: View, state: str, distance: int) -> Iterator[tuple[str, str]]:
        """The moves to states that are so far from the goal, each with its state."""
        for letter, after in self.puzzle.moves(state):
            if self.read_record(view, after)[0] == distance:
                yield letter, after

    def find_path(self, state: str, goal: str) -> list[tuple[str, str]]:
        """A shortest solution, the first in letter order: letters, each with its next state."""
        view = self.puzzle.view_goal(goal)
        distance = self.read_record(view, state)[0]
        path = [("", state)]
        for nearer in reversed(range(distance)):
            path += islice(self._iter_moves_at(view, path[-1][1], nearer), 1)
        if (len(path) - 1, path[-1][1]) != (distance, goal):
            problem = (
                f"no solution of {format_count(distance, 'move')} leads from {state} to {goal}"
            )
            raise self.make_damage_error(self._tables[view.layout], problem)
        return path

    def list_solutions(self, state: str, goal: str) -> list[str]:
        """The letters of every shortest solution, in letter order."""
        distance, count = self.find_distance(state, goal)
        layers = list[dict[str, list[tuple[str, str]]]]()
        ways = {state: 1}
        for _ in range(distance):
            layers.append({here: self.list_best_moves(here, goal) for here in ways})
            counts: dict[str, int] = {}
            for here, onward in layers[-1].items():
                for _, after in onward:
                    counts[after] = counts.get(after, 0) + ways[here]
            ways = counts
        total = ways.get(goal, 0)
        if not total or count not in (None, total):
            expected = "at least one" if count is None else str(count)
            problem = f"{total} solutions lead from {state} to {goal}, not {expected}"
            raise self.make_damage_error(self._tables[self.puzzle.view_goal(goal).layout], problem)
        if total > MAX_SOLUTIONS:
            raise BadRequest(
                f"{total:,} shortest solutions lead from {state} to {goal}, and at most "
                f"{MAX_SOLUTIONS:,} can be listed",
                "Use --path for one of them",
            )
        lists = {state: [""]}
        for layer in layers:
            further: dict[str, list[str]] = {}
            for here, so_far in lists.items():
                for letter, after in layer[here]:
                    further.setdefault(after, []).extend(letters + letter for letters in so_far)
            lists = further
        order = self.puzzle.letters.index
        return sorted(lists[goal], key=lambda letters: [order(letter) for letter in letters])

    def list_unreached_layouts(self, state: str, goal: str) -> list[str]:
        """The other layouts of the state's table, which it does not reach."""
        table = self._tables[self.puzzle.find_layout(state)]
        return [
            layout
            for layout, name in self._tables.items()
            if name == table and self.puzzle.layouts[layout] != goal
        ]
