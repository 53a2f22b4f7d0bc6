"""Puzzles: their base classes, with moves, ranks and tables; the rules of each are a module here.

`puzzle_tablebase.registry` has all puzzles by name.

Nothing heavy is imported here, and no dataclasses: a single lookup imports this module, and must
take a few milliseconds in all.
"""

from __future__ import annotations

from puzzle_tablebase.errors import (
    BadRequest,
    IllegalMove,
    NotationError,
    SearchError,
    TablebaseError,
    require_text,
)
from puzzle_tablebase.schema import FIELD_TYPES, TYPE_LETTERS, UNREACHABLE, Column, Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from puzzle_tablebase.graph import Graph, SearchResult
    from puzzle_tablebase.notation.moves import Moves
    from puzzle_tablebase.schema import Columns

    Bytes = npt.NDArray[np.bytes_]
    Ranks = npt.NDArray[np.integer]

ILLEGAL = "it is not legal there"
"""The reason why a move is illegal, if a puzzle has no other."""


class Puzzle:
    """A puzzle: its name, and the tables that are built by default."""

    name: str
    title: str
    tables: tuple[Table, ...]
    example = ""
    """A key that `pipeline query` answers from the default tables."""
    depth = ""
    """The column with a state's depth, if there is one."""

    def find_tables(self, name: str) -> tuple[Table, ...]:
        """Find the tables that a name stands for: the puzzle's, a group's, or a table's own.

        Return () for a name of another puzzle. Raise BadRequest for a table that is too large, with
        the reason and with what to build instead.
        """
        return tuple(table for table in self.tables if name in (self.name, table.name))

    def find_table(self, name: str) -> Table | None:
        """Find the table of that name; None if this puzzle has none, or if it is too large."""
        try:
            tables = self.find_tables(name)
        except TablebaseError:
            return None
        return next((table for table in tables if table.name == name), None)

    def list_requests(self) -> dict[str, list[str]]:
        """List the names of tables on request, as lists under titles."""
        return {}

    def find_example(self, table: str) -> dict[str, object]:
        """Find an example question for a table: options of `query` by name, and `key`."""
        return {"key": self.example} if self.example and self.find_table(table) else {}

    def list_published(self, names: Iterable[str]) -> list[Table]:
        """List this puzzle's tables among published ones, given by name; default ones first."""
        order = [table.name for table in self.tables]
        tables = filter(None, map(self.find_table, sorted(names)))
        return sorted(tables, key=lambda table: [*order, table.name].index(table.name))

    def has_counts(self, table: Table) -> bool:
        """Return whether the manifest lists the number of a table's states at each depth.

        The depths are in a column of whole numbers, or in the states of an index alone.
        """
        types = {column.name: column.type for column in table.columns}
        return bool(self.depth) and (not types or types.get(self.depth) in TYPE_LETTERS)

    def list_board_tables(self, board: str) -> tuple[Table, ...]:
        """List the tables of all goals of a board; () for a puzzle without boards."""
        return ()

    def name_board(self, table: str) -> str | None:
        """Return the board of a table of that name; None for a puzzle without boards."""
        return None

    def make_space(self, table: Table) -> StateSpace:
        """Make the state space from which breadth-first search builds a table."""
        raise NotImplementedError


class StateSpace(Puzzle):
    """A puzzle whose states have ranks: a state's rank is its number in notation order."""

    size: int
    depth = "distance"

    def make_space(self, table: Table) -> StateSpace:
        return self

    def parse(self, text: str) -> str:
        """Return the state that a text names, in standard notation; raise NotationError if none."""
        raise NotImplementedError

    def rank(self, state: str) -> int:
        """Return the state's number in notation order, from 0."""
        raise NotImplementedError

    def unrank(self, rank: int) -> str:
        """Return the state of a rank."""
        raise NotImplementedError

    def list_states(self) -> Bytes:
        """List all states in notation order."""
        import numpy as np

        return np.array([self.unrank(rank) for rank in range(self.size)], dtype=np.bytes_)

    def make_graph(self) -> Graph:
        """Make the graph of every legal move of every state."""
        raise NotImplementedError

    def check_graph(self, graph: Graph) -> None:
        """Raise SearchError for a graph that the search cannot handle; by default accept all."""

    def fill_columns(
        self, table: Table, graph: Graph, results: Mapping[str, SearchResult]
    ) -> Columns:
        """Fill the table's columns from the search results, one for each root."""
        raise NotImplementedError

    def make_records(self, table: Table, results: Mapping[str, SearchResult]) -> Columns:
        """Make the index's fields, with one value for each rank."""
        raise NotImplementedError


class View:
    """A mapping of a goal to one that has a table, and of its states to states of that table."""

    __slots__ = ("table_goal",)

    def __init__(self, table_goal: str) -> None:
        self.table_goal = table_goal
        """The name of the goal whose table answers."""

    def map_state(self, state: str) -> str:
        """Return the state of the table that has the answers of this state."""
        return state


class Rules:
    """The rules that parse and make the moves of an answer: of a puzzle, or of one of its boards.

    Moves lead from state to state; for a path, a state is the list of squares visited so far.
    """

    __slots__ = ()

    def read_moves(self, text: str, start: Any) -> Moves:
        """Read the moves of an answer; return them, and the problem that stopped reading, or ""."""
        raise NotImplementedError

    def step(self, here: Any, move: str, number: int) -> tuple[Any, str]:
        """Make move `number`, from 1; return the state after it, and why it is illegal, or ""."""
        raise NotImplementedError

    def name_move(self, move: str) -> str:
        """Return the name of a move for messages."""
        return move

    def list_meanings(self, text: str) -> list[tuple[str, str]]:
        """List other ways to read an answer as moves, each with a description."""
        return []

    def follow(self, here: Any, moves: Iterable[str]) -> Iterator[Any]:
        """Yield the state after each move; raise IllegalMove for an illegal one."""
        for number, move in enumerate(moves, 1):
            here, problem = self.step(here, move, number)
            if problem:
                raise IllegalMove(f"move {number}, {self.name_move(move)}: {problem}")
            yield here


class GoalPuzzle(StateSpace, Rules):
    """A state space with goals, in which every move can be undone.

    A new puzzle of this class defines a name, its goals, a notation and `moves`; its graph, table,
    index, lookups and verification follow. It may override `list_states`, `list_all_moves` and
    `make_graph` with versions that are faster than one state at a time.
    """

    goals: Mapping[str, str]
    """The states of the goals by name."""
    spellings: Mapping[str, str] = {}
    """Other spellings of the goals' names."""
    letters: str
    """The letters of all moves, in the order in which answers list them."""
    kind = "goals"
    """The kind of its tables."""
    solutions = "B"
    """The `struct` letter of the index field with the number of shortest solutions."""

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        """Yield each legal move of a state: its letter and the next state, in `letters` order."""
        raise NotImplementedError

    def read_moves(self, text: str, start: str) -> Moves:
        from puzzle_tablebase.notation.moves import read_letters

        return read_letters(text, self.letters)

    def step(self, here: str, move: str, number: int) -> tuple[str, str]:
        after = dict(self.moves(here)).get(move, "")
        return after, "" if after else ILLEGAL

    def list_all_moves(self) -> Iterator[tuple[str, Ranks, Bytes]]:
        """Yield each letter with the ranks from which its move is legal, and the next states.

        Proofs take the rules from here, and nothing from `make_graph`.
        """
        import numpy as np

        moves_by_letter: dict[str, tuple[list[int], list[str]]] = {
            name: ([], []) for name in self.letters
        }
        for rank in range(self.size):
            for letter, next_state in self.moves(self.unrank(rank)):
                moves_by_letter[letter][0].append(rank)
                moves_by_letter[letter][1].append(next_state)
        for letter, (ranks, targets) in moves_by_letter.items():
            yield letter, np.array(ranks, dtype=np.int64), np.array(targets, dtype=np.bytes_)

    def parse_goal(self, text: str) -> str:
        """Return the goal state that a text names: by a goal's name, or as a state."""
        goals = ", ".join(self.goals)
        name = require_text(text, "a goal", goals).strip().lower()
        name = self.spellings.get(name, name)
        if name in self.goals:
            return self.goals[name]
        try:
            return self.parse(text)
        except NotationError as error:
            named = [name for name, state in self.goals.items() if name != state]
            example = ", or ".join(filter(None, (", ".join(named), error.example)))
            raise NotationError("a goal", text, error.problem, example) from error

    def find_reachable_goal(self, state: str) -> str:
        """Return the name of the one goal among `goals` that a state can reach."""
        return next(iter(self.goals))

    def view_goal(self, goal: str) -> View:
        """Return the view with which a table answers for a goal; raise BadRequest if none does."""
        for name, state in self.goals.items():
            if state == goal:
                return View(name)
        goals = ", ".join(f"{name} ({state})" for name, state in self.goals.items())
        problem = f"No table of {self.name} has the goal {goal}"
        raise BadRequest(problem, f"Choose one of: {goals}")

    def can_reach(self, state: str, goal: str) -> bool:
        """Return whether a state reaches a goal: whether both reach the same named goal."""
        view = self.view_goal(goal)
        return self.find_reachable_goal(view.map_state(state)) == self.find_reachable_goal(
            view.map_state(goal)
        )

    def explain_unreachable(self, state: str, goal: str) -> str:
        """Explain why a goal cannot be reached from a state, as the end of a sentence."""
        return "no sequence of moves connects them."

    def compute_features(self, state: str, goal: str) -> dict[str, int]:
        """Compute the puzzle's own columns from the rules, for a state and its goal."""
        return {}

    def make_goal_table(
        self, name: str, meaning: str, goals: tuple[str, ...], rows: int | None = None
    ) -> Table:
        """Make the table of the states that reach one of these goals.

        It has this puzzle's columns.
        """
        row_order = "row number = rank"
        if rows != self.size:
            row_order = "states that reach no goal have no row"
        return Table(
            name,
            meaning,
            f"rows in notation order; {row_order}",
            self.list_columns(),
            Recipe(self.kind, roots={goal: self.goals[goal] for goal in goals}),
            index=(("distance", "B"), ("solutions", self.solutions)),
            rows=rows,
        )

    def list_columns(self) -> tuple[Column, ...]:
        state = f"state in notation, for example {self.example}"
        best = f"all optimal first moves, in the order {' '.join(self.letters)}; empty at the goal"
        return (
            Column("state", "string", state, distinct=True, ascending=True),
            Column("goal", "enum", "layout that the state can reach", values=tuple(self.goals)),
            Column("distance", "int16", "fewest moves from the state to its goal"),
            Column("best_moves", "string", best),
            Column(
                "solutions", FIELD_TYPES[self.solutions], "number of different shortest solutions"
            ),
        )

    def make_graph(self) -> Graph:
        """Make the graph of every legal move, with the number of its letter as its label."""
        import numpy as np

        from puzzle_tablebase.graph import Graph

        offsets, targets, labels = [0], [], []
        for rank in range(self.size):
            for letter, next_state in self.moves(self.unrank(rank)):
                targets.append(self.rank(next_state))
                labels.append(self.letters.index(letter))
            offsets.append(len(targets))
        return Graph(
            np.array(offsets, dtype=np.int64),
            np.array(targets, dtype=np.int32),
            np.array(labels, dtype=np.uint8),
        )

    def check_graph(self, graph: Graph) -> None:
        """Raise SearchError unless, between any two states, as many moves lead back as forth.

        The search finds and counts solutions backwards from the goal.
        """
        if edge := graph.find_one_way_edge():
            one, other = self.unrank(edge.source), self.unrank(edge.target)
            moves = f"{edge.forward} moves" if edge.forward > 1 else "a move"
            problem = (
                f"{self.title} has {moves} from {one} to {other}, and {edge.backward or 'none'}"
            )
            raise SearchError(f"{problem} back: every move must be undone by a move of its own.")

    def fill_columns(
        self, table: Table, graph: Graph, results: Mapping[str, SearchResult]
    ) -> Columns:
        import numpy as np

        from puzzle_tablebase.graph import find_nearest

        if graph.labels.max(initial=0) >= len(self.letters):
            raise SearchError(f"A label of {self.name}'s graph is not the number of a letter.")
        depth, goal, ways = find_nearest(results)
        rows = np.flatnonzero(depth != UNREACHABLE)
        source = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(graph.offsets))
        is_nearer = depth[graph.targets].astype(np.int16) == depth[source].astype(np.int16) - 1
        best = np.zeros(self.size, dtype=f"S{len(self.letters.encode())}")
        for position, letter in enumerate(self.letters):
            sources_of_letter = source[is_nearer & (graph.labels == position)]
            best[sources_of_letter] = np.strings.add(best[sources_of_letter], letter.encode())
        return {
            "state": self.list_states()[rows],
            "goal": np.array([list(self.goals).index(name) for name in results])[goal[rows]],
            "distance": depth[rows],
            "best_moves": best[rows],
            "solutions": ways[rows],
        }

    def make_records(self, table: Table, results: Mapping[str, SearchResult]) -> Columns:
        from puzzle_tablebase.graph import find_nearest

        depth, _, ways = find_nearest(results)
        return {"distance": depth, "solutions": ways}
