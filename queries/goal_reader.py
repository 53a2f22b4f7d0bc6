"""The reader of puzzles with goals: distance, best moves and shortest solutions from the index."""

from __future__ import annotations

from queries.facts import Facts, align_rows, format_count
from queries.query_options import DISTANCE, HARDEST, Option, OptionValues
from queries.reader import Reader
from tablebase import UNREACHED
from tablebase.errors import BadRequest, GoalUnreachable
from tablebase.puzzle import BreadthFirst, GoalPuzzle, View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from tablebase.puzzle import Column
    from tablebase.tables.store import Store


MAX_SOLUTIONS = 10_000
"""The most solutions of a state that are listed; they are counted first."""


class GoalFacts(Facts):
    """The answer for a state and a goal, with a shortest solution."""

    __slots__ = (
        *("_puzzle", "_states", "state", "goal", "goal_state", "distance", "best_moves"),
        *("solutions", "features", "solution", "out_of_reach", "path", "all_solutions"),
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
        self._states = [step for _, step in path]
        self.solution = "".join(letter for letter, _ in path[1:])
        if goal is None:
            self.out_of_reach = reader.list_unreached_layouts(state, goal_state)
        if options.get("path") or options.get("boards"):
            self.path = self._states

    def to_text(self, options: OptionValues) -> str:
        has_path = options.get("path") or options.get("boards")
        if has_path and options.get("solutions"):
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
        if has_path:
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
            reason = self._puzzle.explain_unreachable(self.state, other)
            rows.append(("out of reach", f"{layout} {other}: {reason}"))
        return f"{self.draw_state(self.state)}\n{align_rows(rows)}"

    def draw_state(self, state: str) -> str:
        """Draw the state as text that ends with a newline."""
        return f"{state}\n"

    def format_move(self, state: str, letter: str) -> str:
        """Format a move from a state for people."""
        return letter

    def list_more_rows(self) -> list[tuple[str, str]]:
        """Return further labelled rows about the solution."""
        return []


def refuse_key(options: OptionValues) -> None:
    """Raise BadRequest for an option that is answered without a key."""
    if options.get("hardest"):
        raise BadRequest("--hardest needs no key", "Leave out the key")


class GoalReader(Reader):
    """A reader for any puzzle with goals."""

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
        HARDEST,
    )
    sample_options: tuple[Option, ...] = (options[0], DISTANCE)
    keyless = ("hardest",)
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
        refuse_key(options)
        return GoalFacts(self, key, options)

    def answer_without_key(self, options: OptionValues) -> Facts:
        return self.find_hardest(options)

    def list_depth_rows(self, options: OptionValues) -> pl.DataFrame:
        if "goal" not in options:
            return super().list_depth_rows(options)
        import polars as pl

        name = self.name_goal(str(options["goal"]))
        (table,) = (each for each in self.puzzle.tables if each.name == self._tables[name])
        return (
            self.scan_table(table)
            .filter(pl.col("goal").cast(pl.String) == name)
            .select(self.columns)
            .collect()
        )

    def name_goal(self, goal: str) -> str:
        """Return the name of the layout that equals the goal, else the goal itself."""
        return next((name for name, state in self.puzzle.layouts.items() if state == goal), goal)

    def parse_ends(self, text: str, goal: str | None) -> tuple[str, str]:
        """Parse a state and a goal; without a goal, take the layout that the state reaches."""
        state = self.puzzle.parse(text)
        if goal is None:
            return state, self.puzzle.layouts[self.puzzle.find_layout(state)]
        return state, self.puzzle.parse_goal(goal)

    def read_record(self, view: View, state: str) -> tuple[int, int | None]:
        """Read the distance and, if the view's table has it, the number of shortest solutions."""
        index = self.open_index(self._tables[view.layout])
        record = index.read_record(self.find_record(view, state))
        return record[0], record[1] if len(record) > 1 else None

    def prefetch(self, view: View, state: str) -> None:
        """Read what tells a state and its neighbours apart in one round, if that saves requests."""
        index = self.open_index(self._tables[view.layout])
        if index.is_remote:
            states = (state, *(neighbour for _, neighbour in self.puzzle.moves(state)))
            index.prefetch(self.find_record(view, each) for each in states)

    def find_record(self, view: View, state: str) -> int:
        """Return the number of the record with a state's distance."""
        return self.puzzle.rank(view.map_state(state))

    def find_distance(self, state: str, goal: str) -> tuple[int, int | None]:
        """Return distance and number of shortest solutions; GoalUnreachable if there is none."""
        if not self.puzzle.can_reach(state, goal):
            raise GoalUnreachable(state, goal, self.puzzle.explain_unreachable(state, goal))
        view = self.puzzle.view_goal(goal)
        self.prefetch(view, state)
        distance, solutions = self.read_record(view, state)
        if distance == UNREACHED:
            raise GoalUnreachable(state, goal, self.puzzle.explain_unreachable(state, goal))
        return distance, solutions

    def list_best_moves(self, state: str, goal: str) -> list[tuple[str, str]]:
        """Return every optimal first move with the state it leads to."""
        view = self.puzzle.view_goal(goal)
        return [*self._iter_moves_at(view, state, self.read_record(view, state)[0] - 1)]

    def _iter_moves_at(self, view: View, state: str, distance: int) -> Iterator[tuple[str, str]]:
        """Yield the moves to states at a distance from the goal, each with its state."""
        self.prefetch(view, state)
        for letter, neighbour in self.puzzle.moves(state):
            if self.read_record(view, neighbour)[0] == distance:
                yield letter, neighbour

    def find_path(self, state: str, goal: str) -> list[tuple[str, str]]:
        """Return the states on a shortest solution, each with the letter of the move to it.

        Of several solutions it is the first in letter order. The start has the letter "".
        """
        view = self.puzzle.view_goal(goal)
        distance = self.read_record(view, state)[0]
        path = [("", state)]
        for remaining in reversed(range(distance)):
            for step in self._iter_moves_at(view, path[-1][1], remaining):
                path.append(step)
                break
        if (len(path) - 1, path[-1][1]) != (distance, goal):
            problem = (
                f"no solution of {format_count(distance, 'move')} leads from {state} to {goal}"
            )
            raise self.make_damage_error(self._tables[view.layout], problem)
        return path

    def list_solutions(self, state: str, goal: str) -> list[str]:
        """Return the letters of every shortest solution, in letter order.

        BadRequest if there are more than `MAX_SOLUTIONS`. They are counted first, layer by layer,
        and the number is compared with the index.
        """
        distance, count = self.find_distance(state, goal)
        layers = list[dict[str, list[tuple[str, str]]]]()
        counts = {state: 1}
        for _ in range(distance):
            layers.append({here: self.list_best_moves(here, goal) for here in counts})
            next_counts: dict[str, int] = {}
            for here, best_moves in layers[-1].items():
                for _, neighbour in best_moves:
                    next_counts[neighbour] = next_counts.get(neighbour, 0) + counts[here]
            counts = next_counts
        total = counts.get(goal, 0)
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
        prefixes = {state: [""]}
        for layer in layers:
            extended: dict[str, list[str]] = {}
            for here, texts in prefixes.items():
                for letter, neighbour in layer[here]:
                    extended.setdefault(neighbour, []).extend(letters + letter for letters in texts)
            prefixes = extended
        order = self.puzzle.letters.index
        return sorted(prefixes[goal], key=lambda letters: [order(letter) for letter in letters])

    def list_unreached_layouts(self, state: str, goal: str) -> list[str]:
        """Return the other layouts of the state's table, which the state does not reach."""
        table = self._tables[self.puzzle.find_layout(state)]
        return [
            layout
            for layout, name in self._tables.items()
            if name == table and self.puzzle.layouts[layout] != goal
        ]
