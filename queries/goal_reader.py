"""The reader of puzzles with goals: distance, best moves and shortest solutions from the index."""

from __future__ import annotations

from puzzle_tablebase.errors import BadRequest, GoalUnreachable, require_text
from puzzle_tablebase.puzzle import GoalPuzzle, View, format_board, format_slide, list_moved_tiles
from puzzle_tablebase.queries.answer import (
    ANSWERS,
    DISTANCE,
    HARDEST,
    SPREAD,
    Answer,
    Option,
    align_rows,
    format_count,
    format_steps,
    parse_distances,
)
from puzzle_tablebase.queries.reader import Query, Reader
from puzzle_tablebase.schema import UNREACHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import polars as pl
    from typing_extensions import TypeVar

    from puzzle_tablebase.stores.folder import Store


class GoalAnswer(Answer):
    """The answer for a state of a puzzle with goals.

    `distance` is 0 to 254; `best_moves` is "" at the goal, else its letters in answer order;
    `solutions` is None where the table does not count them. The facts after these are None unless
    they are asked for: a shortest solution and what belongs to it, and all shortest solutions.
    """

    state: str
    goal: str
    distance: int
    best_moves: str
    solutions: int | None = None
    _states: list[str] | None = None
    """The states of the solution."""
    _has_boards: bool = False
    _reasons: dict[str, str] | None = None
    """Why each of the goals that are out of reach is, by its name and state."""
    goal_state: str | None = None
    features: dict[str, int] | None = None
    solution: str | None = None
    out_of_reach: list[str] | None = None
    path: list[str] | None = None
    all_solutions: list[str] | None = None

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        if self.path and self.all_solutions:
            raise BadRequest(
                "--solutions cannot be combined with --path or --boards",
                "Ask for one of them, or add --json",
            )
        if self.all_solutions:
            return "".join(f"{letters}\n" for letters in self.all_solutions)
        if self._states and self._has_boards:
            moves = map(self._format_move, self._states, self.solution or "")
            return format_steps(moves, map(self._draw_state, self._states))
        if self.path:
            return "".join(f"{step}\n" for step in self.path)
        return f"{self._draw_state(self.state)}\n{align_rows(self._list_rows())}"

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
            rows += [("one of them", self.solution), *self._list_more_rows()]
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


if TYPE_CHECKING:
    GoalFound = TypeVar("GoalFound", bound=GoalAnswer, default=GoalAnswer, covariant=True)
else:
    GoalFound = None


class GoalQuery(Query):
    """A query of states. `goal` is a state; None: the named one that each state can reach."""

    reader: GoalReader
    judge_class = "puzzle_tablebase.queries.judges:GoalJudge"

    def __init__(
        self, reader: GoalReader, goal: str | None = None, *, solution: bool = False, **options: Any
    ) -> None:
        super().__init__(reader, goal=goal, **options)
        self.goal = None if goal is None else reader.parse_goal(goal)
        self.path, self.boards = "path" in self.given, "boards" in self.given
        self.solutions = "solutions" in self.given
        self.solution = solution or self.path or self.boards or self.solutions
        self.distances = parse_distances(self.given.get("distance"))

    def look_up(self, key: str) -> GoalAnswer:
        return self.make_answer(**self._find_facts(key, with_solution=self.solution))

    def answer(self, key: str) -> GoalAnswer:
        return self.make_answer(**self._find_facts(key, with_solution=True))

    def make_answer(self, **facts: Any) -> GoalAnswer:
        """Make an answer from its facts."""
        return GoalAnswer(**facts)

    def _find_facts(self, key: str, *, with_solution: bool) -> dict[str, Any]:
        if "hardest" in self.given:
            raise BadRequest("--hardest needs no key", "Leave out the key")
        reader, (state, goal) = self.reader, self.parse_ends(key)
        distance, solutions = reader.find_distance(state, goal)
        best_moves = "".join(letter for letter, _ in reader.list_best_moves(state, goal))
        if distance and not best_moves:
            problem = f"no move from {state} is nearer to {goal}"
            table_goal = reader.puzzle.view_goal(goal).table_goal
            raise reader.make_damage_error(reader.table_names[table_goal], problem)
        facts = {
            "state": state,
            "goal": reader.name_goal(goal),
            "distance": distance,
            "best_moves": best_moves,
            "solutions": solutions,
        }
        return {**facts, **self._find_solution(state, goal, solutions)} if with_solution else facts

    def _find_solution(self, state: str, goal: str, solutions: int | None) -> dict[str, Any]:
        """Find the facts of a shortest solution, and of all if the query is for them."""
        reader, puzzle = self.reader, self.reader.puzzle
        all_solutions = reader.list_solutions(state, goal) if self.solutions else None
        path = reader.find_path(state, goal)
        states = [step for _, step in path]
        unreached = reader.list_unreached_goals(state, goal) if self.goal is None else None
        others = {name: puzzle.goals[name] for name in unreached or ()}
        return {
            "_states": states,
            "_has_boards": self.boards,
            "_reasons": {
                f"{name} {other}": puzzle.explain_unreachable(state, other)
                for name, other in others.items()
            },
            "solutions": len(all_solutions) if all_solutions else solutions,
            "goal_state": goal,
            "features": puzzle.compute_features(state, goal),
            "solution": "".join(letter for letter, _ in path[1:]),
            "out_of_reach": unreached,
            "path": states if self.path or self.boards else None,
            "all_solutions": all_solutions,
        }

    def parse_ends(self, text: str) -> tuple[str, str]:
        """Parse a state; return it with the goal: the query's, or the named one that it reaches."""
        puzzle, state = self.reader.puzzle, self.reader.puzzle.parse(text)
        return state, self.goal or puzzle.goals[puzzle.find_reachable_goal(state)]

    def make_schema(self) -> pl.Schema:
        import polars as pl

        schema, names = super().make_schema(), ["solution", "path"] if self.path else []
        if self.goal not in (None, *self.reader.puzzle.goals.values()):
            schema["goal"] = pl.String()
        names += ["all_solutions"] if self.solutions else []
        return pl.Schema({**schema, **dict.fromkeys(names, pl.String())})

    def list_depth_rows(self) -> pl.DataFrame:
        if self.goal is None:
            return super().list_depth_rows()
        import polars as pl

        reader, name = self.reader, self.reader.name_goal(self.goal)
        (table,) = (each for each in reader.puzzle.tables if each.name == reader.table_names[name])
        rows = reader.scan_table(table).filter(pl.col("goal").cast(pl.String) == name)
        return reader.collect(table, rows.select(reader.columns))


class GoalReader(Reader[GoalFound]):
    """A reader for any puzzle with goals."""

    query: type[Query] = GoalQuery
    options: tuple[Option, ...] = (
        Option(
            "goal",
            "Goal to reach, by its name or as its state (default: the named goal that the state "
            "reaches).",
            "GOAL",
        ),
        Option("path", "Print every state of a shortest solution, one per line."),
        Option("boards", "Print every state of a shortest solution as a picture.", is_single=True),
        Option("solutions", "Print every shortest solution (at most 10,000), one per line."),
        HARDEST,
    )
    sample_options: tuple[Option, ...] = (options[0], DISTANCE, SPREAD)
    check_options: tuple[Option, ...] | None = (options[0], ANSWERS)
    lookup_options = (Option("solution", "Add a shortest solution."),)
    keyless = ("hardest",)
    puzzle: GoalPuzzle
    key = "STATE"
    columns: tuple[str, ...] = ("state", "goal", "distance", "best_moves", "solutions")
    max_solutions = 10_000
    """The most solutions of a state that are listed; they are counted first."""

    def __init__(self, puzzle: GoalPuzzle, store: Store) -> None:
        super().__init__(puzzle, store)
        self.table_names = {
            goal: table.name for table in puzzle.tables for goal in table.recipe.parameters["roots"]
        }
        """The names of the tables by goal."""

    def probe(self, key: str, goal: str | None = None, **options: Any) -> GoalFound:
        """Return the answer for a state and a goal: a goal's name or a state.

        The default goal is the named one that the state reaches. `solution` adds a shortest
        solution and what `query` prints with it, `path` its states, and `solutions` all shortest
        solutions.
        """
        return super().probe(key, goal=goal, **options)

    def distance(self, key: str, goal: str | None = None) -> int:
        """Return the fewest moves from a state to the goal."""
        ends = self._make_goal_query(goal).parse_ends(key)
        return self.find_distance(*ends)[0]

    def solution(self, key: str, goal: str | None = None) -> str:
        """Return the letters of a shortest solution, the first in letter order."""
        return "".join(letter for letter, _ in self._find_solution(key, goal)[1:])

    def path(self, key: str, goal: str | None = None) -> list[str]:
        """Return every state on the shortest solution of `solution`, first to last."""
        return [step for _, step in self._find_solution(key, goal)]

    def moves(self, key: str) -> list[tuple[str, str]]:
        """Return the letter of every legal move from a state, with the state it leads to."""
        return [*self.puzzle.moves(self.puzzle.parse(key))]

    def apply(self, key: str, moves: str) -> str:
        """Return the state after moves, written as for `check`; BadRequest if one is illegal."""
        judge, state = self.make_query().make_judge(), self.puzzle.parse(key)
        steps, problem = judge.read_moves(require_text(moves, "moves", "UL"), state)
        if problem:
            raise BadRequest(problem)
        here = state
        for here in judge.follow(state, steps):  # noqa: B007  # the last one
            pass
        return here

    def list_hardest(self, goal: str | None = None) -> pl.DataFrame:
        """Return all states that are farthest from the goal, or from the named goals they reach."""
        return self._make_goal_query(goal).list_hardest()

    def _find_solution(self, key: str, goal: str | None) -> list[tuple[str, str]]:
        start, goal_state = self._make_goal_query(goal).parse_ends(key)
        self.find_distance(start, goal_state)
        return self.find_path(start, goal_state)

    def _make_goal_query(self, goal: str | None) -> GoalQuery:
        query = self.make_query(goal=goal)
        assert isinstance(query, GoalQuery)
        return query

    def parse_goal(self, text: str) -> str:
        """Return the goal state that a text names; a TablebaseError if no table answers for it."""
        goal = self.puzzle.parse_goal(text)
        self.puzzle.view_goal(goal)
        return goal

    def list_values(self, option: str) -> tuple[str, ...]:
        return tuple(self.puzzle.goals) if option == "goal" else ()

    def name_goal(self, goal: str) -> str:
        """Return the name of a goal, or the goal itself if it has none."""
        return next((name for name, state in self.puzzle.goals.items() if state == goal), goal)

    def read_record(self, view: View, state: str) -> tuple[int, int | None]:
        """Read the distance and, if the view's table has it, the number of shortest solutions."""
        index = self.open_index(self.table_names[view.table_goal])
        record = index.read_record(self.find_record(view, state))
        return record[0], record[1] if len(record) > 1 else None

    def prefetch(self, view: View, state: str) -> None:
        """Read what tells a state and its neighbours apart in one round, if that saves requests."""
        index = self.open_index(self.table_names[view.table_goal])
        if index.is_remote:
            states = (state, *(neighbour for _, neighbour in self.puzzle.moves(state)))
            index.prefetch(self.find_record(view, each) for each in states)

    def find_record(self, view: View, state: str) -> int:
        """Return the number of the record with a state's distance."""
        return self.puzzle.rank(view.map_state(state))

    def find_distance(self, state: str, goal: str) -> tuple[int, int | None]:
        """Return distance and number of shortest solutions; GoalUnreachable if there is none."""
        if self.puzzle.can_reach(state, goal):
            view = self.puzzle.view_goal(goal)
            self.prefetch(view, state)
            distance, solutions = self.read_record(view, state)
            if distance != UNREACHED:
                return distance, solutions
        raise GoalUnreachable(state, goal, self.puzzle.explain_unreachable(state, goal))

    def list_best_moves(self, state: str, goal: str) -> list[tuple[str, str]]:
        """Return every optimal first move with the state it leads to."""
        view = self.puzzle.view_goal(goal)
        return [*self._iter_moves_at(view, state, self.read_record(view, state)[0] - 1)]

    def _iter_moves_at(
        self, view: View, state: str, distance: int, known: str = ""
    ) -> Iterator[tuple[str, str]]:
        """Yield the moves to states at a distance from the goal, each with its state.

        `known` is a neighbour that is known to have another distance.
        """
        self.prefetch(view, state)
        for letter, neighbour in self.puzzle.moves(state):
            if neighbour != known and self.read_record(view, neighbour)[0] == distance:
                yield letter, neighbour

    def find_path(self, state: str, goal: str) -> list[tuple[str, str]]:
        """Return the states on a shortest solution, each with the letter of the move to it.

        Of several solutions it is the first in letter order. The start has the letter "".
        """
        view = self.puzzle.view_goal(goal)
        distance = self.read_record(view, state)[0]
        path, before = [("", state)], ""
        for remaining in reversed(range(distance)):
            here = path[-1][1]
            for step in self._iter_moves_at(view, here, remaining, before):
                path.append(step)
                break
            before = here
        if (len(path) - 1, path[-1][1]) != (distance, goal):
            problem = (
                f"no solution of {format_count(distance, 'move')} leads from {state} to {goal}"
            )
            raise self.make_damage_error(self.table_names[view.table_goal], problem)
        return path

    def list_solutions(self, state: str, goal: str) -> list[str]:
        """Return the letters of every shortest solution, in letter order.

        BadRequest if there are more than `max_solutions`. They are counted first, layer by layer,
        and the number is compared with the index.
        """
        distance, count = self.find_distance(state, goal)
        best_moves, counts = dict[str, list[tuple[str, str]]](), {state: 1}
        for _ in range(distance):
            next_counts: dict[str, int] = {}
            for here, ways in counts.items():
                best_moves[here] = self.list_best_moves(here, goal)
                for _, neighbour in best_moves[here]:
                    next_counts[neighbour] = next_counts.get(neighbour, 0) + ways
            counts = next_counts
        total = counts.get(goal, 0)
        if not total or count not in (None, total):
            expected = "at least one" if count is None else str(count)
            problem = f"{total} solutions lead from {state} to {goal}, not {expected}"
            raise self.make_damage_error(
                self.table_names[self.puzzle.view_goal(goal).table_goal], problem
            )
        if total > self.max_solutions:
            raise BadRequest(
                f"{total:,} shortest solutions lead from {state} to {goal}, and at most "
                f"{self.max_solutions:,} can be listed",
                "Use --path for one of them",
            )
        solutions = {goal: [""]}  # of the nearest states first
        for here, steps in reversed(best_moves.items()):
            solutions[here] = [
                letter + rest for letter, after in steps for rest in solutions.get(after, ())
            ]
        order = self.puzzle.letters.index
        return sorted(solutions[state], key=lambda letters: [order(letter) for letter in letters])

    def list_unreached_goals(self, state: str, goal: str) -> list[str]:
        """Return the other goals of the state's table, which the state does not reach."""
        table = self.table_names[self.puzzle.find_reachable_goal(state)]
        return [
            goal_name
            for goal_name, name in self.table_names.items()
            if name == table and self.puzzle.goals[goal_name] != goal
        ]


class BoardAnswer(GoalAnswer):
    """The answer for a state of a sliding board: a goal puzzle's, with tiles and pictures."""

    _width: int
    best_tiles: str | None = None
    tiles: str | None = None
    if TYPE_CHECKING:  # the features of a solution's start

        @property
        def blank(self) -> int: ...
        @property
        def manhattan(self) -> int: ...
        @property
        def misplaced(self) -> int: ...

    def to_svg(self) -> str:
        """Draw every state of the solution, or the state alone; tiles that move are coloured."""
        from puzzle_tablebase.queries.svg import draw_boards, draw_slides

        moves = self.distance if self.solution is None else len(self.solution)
        title = f"{self.state} to {self.goal} in {format_count(moves, 'move')}"
        if self._states and self.solution is not None and self.tiles is not None:
            return draw_slides(title, self._states, self.solution, self.tiles, width=self._width)
        head = f"best: {' '.join(self.best_moves)}" if self.best_moves else "the goal"
        tiles = "".join(
            find_moved_tile(self.state, letter, self._width) for letter in self.best_moves
        )
        return draw_boards(title, [self.state], [head], [tiles], width=self._width)

    def _list_more_rows(self) -> list[tuple[str, str]]:
        return [("tiles slid", self.tiles or "")]

    def _draw_state(self, state: str) -> str:
        return format_board(state, self._width)

    def _format_move(self, state: str, letter: str) -> str:
        return format_slide(letter, find_moved_tile(state, letter, self._width))


def find_moved_tile(state: str, letter: str, width: int) -> str:
    """Return the tile that slides when the blank goes in a move's direction.

    >>> find_moved_tile("123456780", "U", 3)
    '6'
    """
    return state[state.index("0") + {"U": -width, "D": width, "L": -1, "R": 1}[letter]]


class BoardQuery(GoalQuery):
    """A query of a sliding board; `width` is its number of columns."""

    width: int
    judge_class = "puzzle_tablebase.queries.judges:BoardJudge"

    def make_answer(self, **facts: Any) -> BoardAnswer:
        state, states, width = facts["state"], facts.get("_states"), self.width
        if states:
            facts["tiles"] = list_moved_tiles(states)
            facts["best_tiles"] = "".join(
                find_moved_tile(state, letter, width) for letter in facts["best_moves"]
            )
        return BoardAnswer(_width=width, **facts)
