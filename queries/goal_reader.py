"""Puzzles with goals: distance, best moves and shortest solutions, walked from the index alone."""

from __future__ import annotations

from itertools import islice

from queries.facts import Facts, aligned, counted
from queries.query_options import Asked, Option
from queries.reader import Reader
from tablebase.errors import BadRequest, OutOfReach
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

    def __init__(self, reader: GoalReader, key: str, asked: Asked) -> None:
        self._puzzle = puzzle = reader.puzzle
        goal = str(asked["goal"]) if "goal" in asked else None
        self.state, self.goal_state = state, goal_state = reader.ends(key, goal)
        self.goal = reader.name_of(goal_state)
        self.distance, solutions = reader.to_goal(state, goal_state)
        if asked.get("solutions"):
            self.all_solutions = reader.all_solutions(state, goal_state)
            solutions = len(self.all_solutions)
        if solutions is not None:
            self.solutions = solutions
        self.best_moves = "".join(letter for letter, _ in reader.best(state, goal_state))
        self.features = puzzle.features(state, goal_state)
        path = reader.path(state, goal_state)
        self.solution = "".join(letter for letter, _ in path[1:])
        if goal is None:
            self.out_of_reach = reader.unreached_layouts(state, goal_state)
        if asked.get("path") or asked.get("boards"):
            self.path = [step for _, step in path]

    def words(self, asked: Asked) -> str:
        walked = asked.get("path") or asked.get("boards")
        if walked and asked.get("solutions"):
            raise BadRequest(
                "--solutions cannot be combined with --path or --boards",
                "Ask for one of them, or add --json",
            )
        if asked.get("solutions"):
            return "".join(f"{letters}\n" for letters in self.all_solutions)
        if asked.get("boards"):
            moves = (self.move(*step) for step in zip(self.path, self.solution, strict=False))
            heads = ["0", *(f"{n}  {move}" for n, move in enumerate(moves, 1))]
            return "\n".join(
                f"{head}\n{self.picture(step)}" for head, step in zip(heads, self.path, strict=True)
            )
        if walked:
            return "".join(f"{step}\n" for step in self.path)
        best = ", ".join(self.move(self.state, letter) for letter in self.best_moves)
        named = "" if self.goal == self.goal_state else f" {self.goal_state}"
        rows = [
            ("goal", f"{self.goal}{named}"),
            ("distance", counted(self.distance, "move")),
            ("best moves", best or "none: this is the goal"),
        ]
        if hasattr(self, "solutions"):
            rows.append(("solutions", f"{self.solutions} of that length"))
        if self.solution:
            rows += [("one of them", self.solution), *self.more()]
        for layout in [] if "goal" in asked else self.out_of_reach:
            other = self._puzzle.layouts[layout]
            why = self._puzzle.apart(self.state, other)
            rows.append(("out of reach", f"{layout} {other}: {why}"))
        return f"{self.picture(self.state)}\n{aligned(rows)}"

    def picture(self, state: str) -> str:
        """The state drawn, whole lines."""
        return f"{state}\n"

    def move(self, state: str, letter: str) -> str:
        """A move said in full."""
        return letter

    def more(self) -> list[tuple[str, str]]:
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
        Option("boards", "Print every state of a shortest solution as a picture.", lone=True),
        Option(
            "solutions",
            "Print every shortest solution (at most 10,000), one per line.",
            columns=("all_solutions",),
        ),
    )
    puzzle: GoalPuzzle
    key = "STATE"
    columns: tuple[str, ...] = ("state", "goal", "distance", "best_moves", "solutions")

    def __init__(self, asked_of: GoalPuzzle, store: Store) -> None:
        super().__init__(asked_of, store)
        self._tables = {
            layout: table.name
            for table in asked_of.tables
            if isinstance(table.recipe, BreadthFirst)
            for layout in table.recipe.roots
        }

    def checked(self, asked: Asked) -> Asked:
        if "goal" not in asked:
            return asked
        goal = self.puzzle.parse_goal(str(asked["goal"]))
        self.puzzle.view(goal)
        return {**asked, "goal": goal}

    def declared(self, asked: Asked) -> dict[str, Column]:
        found = super().declared(asked)
        if asked.get("goal") not in (None, *self.puzzle.layouts.values()):
            del found["goal"]
        return found

    def values(self, option: str) -> tuple[str, ...]:
        return tuple(self.puzzle.layouts) if option == "goal" else ()

    def facts(self, key: str, asked: Asked) -> GoalFacts:
        return GoalFacts(self, key, asked)

    def name_of(self, goal: str) -> str:
        """The name of the layout that a goal is, or the goal."""
        return next((name for name, state in self.puzzle.layouts.items() if state == goal), goal)

    def ends(self, text: str, goal: str | None) -> tuple[str, str]:
        """The state and the goal's state that texts name; no goal: the layout that it reaches."""
        state = self.puzzle.parse(text)
        if goal is None:
            return state, self.puzzle.layouts[self.puzzle.layout_of(state)]
        return state, self.puzzle.parse_goal(goal)

    def record(self, view: View, state: str) -> tuple[int, int | None]:
        """Distance and number of shortest solutions as the view's table has them, if it does."""
        found = self.index(self._tables[view.layout]).record(self.puzzle.rank(view.state(state)))
        return found[0], found[1] if len(found) > 1 else None

    def to_goal(self, state: str, goal: str) -> tuple[int, int | None]:
        """Distance and number of shortest solutions; OutOfReach if there is none."""
        if not self.puzzle.joined(state, goal):
            raise OutOfReach(state, goal, self.puzzle.apart(state, goal))
        distance, solutions = self.record(self.puzzle.view(goal), state)
        if distance == UNREACHED:
            raise OutOfReach(state, goal, self.puzzle.apart(state, goal))
        return distance, solutions

    def best(self, state: str, goal: str) -> list[tuple[str, str]]:
        """Every optimal first move with the state it leads to."""
        view = self.puzzle.view(goal)
        return [*self._onward(view, state, self.record(view, state)[0] - 1)]

    def _onward(self, view: View, state: str, distance: int) -> Iterator[tuple[str, str]]:
        """The moves to states that are so far from the goal, each with its state."""
        for letter, after in self.puzzle.moves(state):
            if self.record(view, after)[0] == distance:
                yield letter, after

    def path(self, state: str, goal: str) -> list[tuple[str, str]]:
        """A shortest solution, the first in letter order: letters, each with its next state."""
        view = self.puzzle.view(goal)
        distance = self.record(view, state)[0]
        path = [("", state)]
        for nearer in reversed(range(distance)):
            path += islice(self._onward(view, path[-1][1], nearer), 1)
        if (len(path) - 1, path[-1][1]) != (distance, goal):
            problem = f"no solution of {counted(distance, 'move')} leads from {state} to {goal}"
            raise self.damaged(self._tables[view.layout], problem)
        return path

    def all_solutions(self, state: str, goal: str) -> list[str]:
        """The letters of every shortest solution, in letter order."""
        distance, count = self.to_goal(state, goal)
        layers = list[dict[str, list[tuple[str, str]]]]()
        ways = {state: 1}
        for _ in range(distance):
            layers.append({here: self.best(here, goal) for here in ways})
            counts: dict[str, int] = {}
            for here, onward in layers[-1].items():
                for _, after in onward:
                    counts[after] = counts.get(after, 0) + ways[here]
            ways = counts
        total = ways.get(goal, 0)
        if not total or count not in (None, total):
            expected = "at least one" if count is None else str(count)
            problem = f"{total} solutions lead from {state} to {goal}, not {expected}"
            raise self.damaged(self._tables[self.puzzle.view(goal).layout], problem)
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

    def unreached_layouts(self, state: str, goal: str) -> list[str]:
        """The other layouts of the state's table, which it does not reach."""
        table = self._tables[self.puzzle.layout_of(state)]
        return [
            layout
            for layout, name in self._tables.items()
            if name == table and self.puzzle.layouts[layout] != goal
        ]
