"""What a puzzle is: a notation, some tables with their columns, and which search makes each.

Nothing heavy is imported here, and no dataclasses: a lone lookup reads the rules, and its whole
budget is a few milliseconds.
"""

from __future__ import annotations

from tablebase.errors import BadRequest, NotationError, require_text
from tablebase.graph import UNREACHED, Graph, find_nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from tablebase.graph import SearchResult

    Bytes = npt.NDArray[np.bytes_]
    Ranks = npt.NDArray[np.integer]
    Columns = Mapping[str, npt.NDArray[Any]]

KIND_LETTERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q"}
"""Whole-number column kinds, each with its letter (`struct`): signed, as differences are."""
FIELD_KINDS = {"B": "int16", "H": "int32", "I": "int64", "Q": "int64"}
"""The smallest kind that holds all that a field of an index record may; of `Q`, all below 2^63."""


class Column:
    """One column of a table. Kinds: those of `KIND_LETTERS`, `string`, `boolean`, `enum`.

    `distinct`: whether most values are different from all others, so that no dictionary helps.
    `within`: for a number, the column among whose equal values the rows are numbered from 0; these
    follow one another, in the order of the values.
    """

    __slots__ = ("distinct", "kind", "meaning", "name", "nullable", "values", "within")

    def __init__(
        self,
        name: str,
        kind: str,
        meaning: str,
        *,
        nullable: bool = False,
        distinct: bool = False,
        values: tuple[str, ...] = (),
        within: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self.meaning = meaning
        self.nullable = nullable
        self.distinct = distinct
        self.values = values
        self.within = within


class Recipe:
    """How a table is made: the name of a search, by which its maker is found, and parameters."""

    __slots__ = ()
    search: str
    builder = ""
    """Where the maker is of a recipe that another package brings (`module:function`)."""

    @property
    def has_part_files(self) -> bool:
        """Whether the rows are too many for one file, or one machine: each part of them is one."""
        return False

    def list_parameters(self) -> dict[str, object]:
        """All that the table's rows depend on, as the manifest has it."""
        raise NotImplementedError


class BreadthFirst(Recipe):
    """Search the puzzle's graph from each root; roots are named."""

    __slots__ = ("roots",)
    search = "breadth first"

    def __init__(self, roots: Mapping[str, str]) -> None:
        self.roots = dict(roots)

    def list_parameters(self) -> dict[str, object]:
        return {"search": self.search, "roots": self.roots}


class Table:
    """One published Parquet file, and the layout of the index beside it if it has one.

    A table without columns is an index alone.
    """

    __slots__ = ("columns", "index", "meaning", "name", "rank", "recipe", "rows", "sorted_by")

    def __init__(
        self,
        name: str,
        meaning: str,
        rank: str,
        columns: tuple[Column, ...],
        recipe: Recipe,
        index: tuple[tuple[str, str], ...] = (),
        rows: int | None = None,
        sorted_by: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.rank = rank
        self.columns = columns
        self.recipe = recipe
        self.index = index
        """Fields of an index record in order: a name and a `struct` letter, little-endian."""
        self.rows = rows
        """How many rows there must be, where that is known beforehand."""
        self.sorted_by = sorted_by
        """Columns that the rows ascend by, text by its bytes: what a file's footer may say."""

    @property
    def file(self) -> str:
        if self.recipe.has_part_files:
            return f"{self.name}.*.parquet"
        return f"{self.name}.parquet" if self.columns else self.index_file

    @property
    def index_file(self) -> str:
        return f"{self.name}.idx"

    @property
    def number_column(self) -> Column | None:
        """The column that numbers rows within the equal values of another, if one does."""
        return next((column for column in self.columns if column.within), None)

    def list_fields(self) -> tuple[Column, ...]:
        """The index's fields as columns."""
        return tuple(
            Column(name, FIELD_KINDS.get(letter, "string"), "") for name, letter in self.index
        )

    @property
    def record_format(self) -> str:
        """The `struct` format of an index record.

        >>> from tablebase.puzzles import get_puzzle
        >>> get_puzzle("eight").tables[0].record_format
        '<BB'
        """
        return "<" + "".join(letter for _, letter in self.index)


class Puzzle:
    """A puzzle as the rest of the program sees it: a name, and the tables that are made of it."""

    name: str
    title: str
    tables: tuple[Table, ...]
    depth = ""
    """The column that says how deep a state lies, if there is one."""
    requests: Mapping[str, str] = {}
    """What else can be asked of further boards, each with what it is of: `count`, `rank-closed`."""
    board_meaning = ""
    """How its boards are written, and what their tables are."""
    board_options: tuple[str, ...] = ()
    """What else can be asked for of further boards: `goals`, `parquet`."""
    reader = section = proof = ""
    """Where a puzzle of another package has what the usual reader, section of the report or proof
    would not do for it (`module:name`)."""

    def list_boards(self) -> list[str]:
        """Further boards whose tables can be asked for."""
        return []

    def list_tables_with_boards(
        self, texts: list[str], options: Collection[str] = ()
    ) -> tuple[Table, ...]:
        """The tables, with those of further boards where there are many."""
        return self.tables

    def list_shardable_tables(self, texts: list[str]) -> tuple[Table, ...]:
        """The tables of boards that can be made in pieces: those that list every line of play."""
        return ()

    def list_plannable_tables(self, texts: list[str]) -> tuple[Table, ...]:
        """The tables of boards of which can be told what they take, also such as are not made."""
        return self.list_shardable_tables(texts)

    def add_request(
        self, tables: tuple[Table, ...], request: str, texts: list[str]
    ) -> tuple[Table, ...]:
        """The tables, with what is asked of these boards."""
        return tables

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        """The tables, with those made on request that are published, given their parameters."""
        return self.tables

    def owns_table(self, table: str) -> bool:
        """Whether a table of that name is this puzzle's, always made or on request."""
        return any(table == table_of_ours.name for table_of_ours in self.tables)

    def format_build_arguments(self, table: str) -> str:
        """What `pipeline precompute` is told to make a table of that name."""
        return self.name

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """A table as it must be beside others that are published already."""
        return table


class StateSpace(Puzzle):
    """A puzzle with few enough states to number: every one gets a rank, in notation order."""

    size: int
    example: str
    depth = "distance"

    def parse(self, text: str) -> str:
        """The state that a text names, in its one notation; NotationError if it names none."""
        raise NotImplementedError

    def rank(self, state: str) -> int:
        """The state's number in notation order, from 0."""
        raise NotImplementedError

    def unrank(self, rank: int) -> str:
        """The state of that number."""
        raise NotImplementedError

    def list_states(self) -> Bytes:
        """All states in notation order."""
        import numpy as np

        return np.array([self.unrank(rank) for rank in range(self.size)], dtype=np.bytes_)

    def make_graph(self) -> Graph:
        """Every legal move of every state."""
        raise NotImplementedError

    def find_node(self, state: str) -> int:
        """The graph's node for a state where a search begins."""
        return self.rank(state)

    def fill_columns(
        self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]
    ) -> Columns:
        """The table's columns from what the searches found, one walk a root."""
        raise NotImplementedError

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> Columns:
        """The index's fields, one value a rank."""
        raise NotImplementedError


class View:
    """A goal as a table sees it: the layout that it reads as, and each state with it."""

    __slots__ = ("layout",)

    def __init__(self, layout: str) -> None:
        self.layout = layout

    def map_state(self, state: str) -> str:
        """The state that stands for this one in the layout's table."""
        return state


class GoalPuzzle(StateSpace):
    """A state space walked to a goal. Every move can be undone, by a move of any letter.

    A new puzzle of this kind gives a name, its layouts, a notation and `moves`; its graph, table,
    index, lookups and verification follow. Optional are `list_states`, `list_all_moves` and `graph`
    that are faster than asking for one state at a time.
    """

    layouts: Mapping[str, str]
    spellings: Mapping[str, str] = {}
    """Other ways to write a layout's name."""
    letters: str
    """The letters of all moves, in the order in which answers name them."""
    solutions = "B"
    """The field of an index record that holds a number of shortest solutions (`struct`)."""

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        """Each legal move of a state: its letter and the state it leads to, in `letters` order."""
        raise NotImplementedError

    def list_all_moves(self) -> Iterator[tuple[str, Ranks, Bytes]]:
        """`moves` of all states, for each letter: the ranks it may be made from, and the states
        it leads to. The proof takes the rules from here, and nothing from `graph`."""
        import numpy as np

        moves_by_letter: dict[str, tuple[list[int], list[str]]] = {
            name: ([], []) for name in self.letters
        }
        for rank in range(self.size):
            for letter, after in self.moves(self.unrank(rank)):
                moves_by_letter[letter][0].append(rank)
                moves_by_letter[letter][1].append(after)
        for letter, (ranks, targets) in moves_by_letter.items():
            yield letter, np.array(ranks, dtype=np.int64), np.array(targets, dtype=np.bytes_)

    def parse_goal(self, text: str) -> str:
        """The state of the goal that a text names: a layout's name, or any state."""
        goals = ", ".join(self.layouts)
        name = require_text(text, "a goal", goals).strip().lower()
        layout = self.spellings.get(name, name)
        if layout in self.layouts:
            return self.layouts[layout]
        try:
            return self.parse(text)
        except NotationError as error:
            example = f"{goals}, or {error.example}"
            raise NotationError("a goal", text, error.problem, example) from error

    def find_layout(self, state: str) -> str:
        """The layout that a state reaches, or would if it reached any."""
        return next(iter(self.layouts))

    def view_goal(self, goal: str) -> View:
        """How a table answers for this goal; BadRequest where none does."""
        for layout, state in self.layouts.items():
            if state == goal:
                return View(layout)
        layouts = ", ".join(f"{layout} ({state})" for layout, state in self.layouts.items())
        problem = f"No table of {self.name} has the goal {goal}"
        raise BadRequest(problem, f"Choose one of: {layouts}")

    def can_reach(self, state: str, goal: str) -> bool:
        """Whether a state reaches a goal, as far as the rules alone tell."""
        view = self.view_goal(goal)
        return self.find_layout(view.map_state(state)) == self.find_layout(view.map_state(goal))

    def explain_unreachable(self, state: str, goal: str) -> str:
        """Why a goal cannot be reached from a state, as the end of a sentence."""
        return "no sequence of moves connects them."

    def compute_features(self, state: str, goal: str) -> dict[str, int]:
        """The table's further columns, from the rules, for one state on its way to a goal."""
        return {}

    def make_goal_table(
        self, name: str, meaning: str, goals: tuple[str, ...], rows: int | None = None
    ) -> Table:
        """A table of the states that reach one of these goals, with this puzzle's columns."""
        row_order = "row number = rank"
        if rows != self.size:
            row_order = "states that reach no goal have no row"
        return Table(
            name,
            meaning,
            f"rows in notation order; {row_order}",
            self.list_columns(),
            BreadthFirst({goal: self.layouts[goal] for goal in goals}),
            index=(("distance", "B"), ("solutions", self.solutions)),
            rows=rows,
            sorted_by=("state",),
        )

    def list_columns(self) -> tuple[Column, ...]:
        state = f"state in notation, for example {self.example}"
        best = f"all optimal first moves, in the order {' '.join(self.letters)}; empty at the goal"
        return (
            Column("state", "string", state, distinct=True),
            Column("goal", "enum", "layout that the state can reach", values=tuple(self.layouts)),
            Column("distance", "int8", "fewest moves from the state to its goal"),
            Column("best_moves", "string", best),
            Column(
                "solutions", FIELD_KINDS[self.solutions], "number of different shortest solutions"
            ),
        )

    def make_graph(self) -> Graph:
        import numpy as np

        offsets, targets, labels = [0], [], []
        for rank in range(self.size):
            for letter, state in self.moves(self.unrank(rank)):
                targets.append(self.rank(state))
                labels.append(self.letters.index(letter) << 4)
            offsets.append(len(targets))
        return Graph(
            np.array(offsets, dtype=np.int64),
            np.array(targets, dtype=np.int32),
            np.array(labels, dtype=np.uint8),
        )

    def fill_columns(
        self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]
    ) -> Columns:
        import numpy as np

        depth, goal, ways = find_nearest(walks)
        rows = np.flatnonzero(depth != UNREACHED)
        source = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(graph.offsets))
        downhill = depth[graph.targets].astype(np.int16) == depth[source].astype(np.int16) - 1
        best = np.zeros(self.size, dtype=f"S{len(self.letters)}")
        for position, letter in enumerate(self.letters):
            takers = source[downhill & (graph.labels >> 4 == position)]
            best[takers] = np.strings.add(best[takers], letter.encode())
        return {
            "state": self.list_states()[rows],
            "goal": np.array([list(self.layouts).index(name) for name in walks])[goal[rows]],
            "distance": depth[rows],
            "best_moves": best[rows],
            "solutions": ways[rows],
        }

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> Columns:
        depth, _, ways = find_nearest(walks)
        return {"distance": depth, "solutions": ways}
