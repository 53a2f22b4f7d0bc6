"""Base classes of puzzles: a notation, tables with their columns, and a recipe for each table.

Nothing heavy is imported here, and no dataclasses: a single lookup imports this module, and must
take a few milliseconds in all.
"""

from __future__ import annotations

from tablebase.errors import BadRequest, NotationError, require_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from tablebase.cost import Cost
    from tablebase.graph import Graph, SearchResult

    BuildValues = Mapping[str, Sequence[str]]
    PublishedParameters = Mapping[str, Any]
    Bytes = npt.NDArray[np.bytes_]
    Ranks = npt.NDArray[np.integer]
    Columns = Mapping[str, npt.NDArray[Any]]

KIND_LETTERS = {"int8": "b", "int16": "h", "int32": "i", "int64": "q"}
"""Whole-number column kinds, each with its `struct` letter; signed, as differences may be."""
ROW_BYTES = 45
"""Bytes of a row of bits: 360 states."""
BITS_INDEX = (("bits", f"{ROW_BYTES}s"),)
"""Fields of an index with one bit for each state."""
FIELD_KINDS = {"B": "int16", "H": "int32", "I": "int64", "Q": "int64", f"{ROW_BYTES}s": "bits"}
"""The smallest column kind for each kind of index field (`struct`); of `Q`, for values < 2^63."""


class Column:
    """One column of a table. Kinds: those of `KIND_LETTERS`, `string`, `boolean`, `enum`; of index
    fields also `bits`, a row of them.

    `distinct`: whether most values are unique, so that a dictionary encoding does not help.
    `within`: for a column that numbers rows from 0 within the equal values of another, the name of
    that other column; rows with equal values of it are consecutive, in the order of the values.
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
    """Recipe of a table: the name of a search, which selects the builder, and its parameters."""

    __slots__ = ()
    search: str
    builder = ""
    """The builder of a plugin's recipe (`module:function`)."""

    @property
    def has_part_files(self) -> bool:
        """Whether each task writes a file of its own: for too many rows for one file or machine."""
        return False

    @property
    def is_divisible(self) -> bool:
        """Whether the table is a list that can be built in shards."""
        return False

    def list_parameters(self) -> dict[str, object]:
        """List everything that the table's rows depend on, as stored in the manifest."""
        raise NotImplementedError

    def estimate_cost(
        self, table: Table, published: PublishedParameters | None = None
    ) -> Cost | None:
        """Estimate what building a table costs, without measuring; None if that is unknown.

        `published`: the parameters of the table as it is published, whose rows may be used again.
        """
        return None


class BreadthFirst(Recipe):
    """Recipe of a search of the puzzle's graph from each root, given by name."""

    __slots__ = ("roots",)
    search = "breadth first"

    def __init__(self, roots: Mapping[str, str]) -> None:
        self.roots = dict(roots)

    def list_parameters(self) -> dict[str, object]:
        return {"search": self.search, "roots": self.roots}

    def estimate_cost(
        self, table: Table, published: PublishedParameters | None = None
    ) -> Cost | None:
        from tablebase.cost import estimate_graph_search

        return estimate_graph_search(table.rows, table.row_bytes) if table.rows else None


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
        """Fields of an index record in order: a name and a `struct` letter each, little-endian."""
        self.rows = rows
        """The number of rows that the table must have, where that is known beforehand."""
        self.sorted_by = sorted_by
        """Columns that the rows are sorted by, ascending, text by its bytes (as in the footers)."""

    @property
    def file(self) -> str:
        if self.recipe.has_part_files:
            return f"{self.name}.*.parquet"
        return f"{self.name}.parquet" if self.columns else self.index_file

    @property
    def index_file(self) -> str:
        return f"{self.name}.idx"

    @property
    def rows_per_record(self) -> int:
        """The number of rows that a record of the index answers for."""
        return 8 * ROW_BYTES if self.index == BITS_INDEX and self.columns else 1

    @property
    def number_column(self) -> Column | None:
        """The column that numbers rows within the equal values of another, if one does."""
        return next((column for column in self.columns if column.within), None)

    @property
    def row_bytes(self) -> float:
        """The approximate bytes of a row and its record, in files."""
        from tablebase.cost import estimate_row_bytes

        return estimate_row_bytes([column.kind for column in self.columns], self.record_format)

    def list_fields(self) -> tuple[Column, ...]:
        """Return the fields of the index as columns."""
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


class BuildOption:
    """An option of `pipeline precompute` for one puzzle; without a metavar it is a flag.

    Its value is the list of the texts given, which is empty for a flag. `example` is a valid text,
    and `choices` are the texts to complete; without choices, they are the puzzle's boards.
    """

    __slots__ = ("choices", "example", "help", "metavar", "name")

    def __init__(
        self,
        name: str,
        help: str,
        metavar: str = "",
        *,
        example: str = "",
        choices: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.help = help
        self.metavar = metavar
        self.example = example
        self.choices = choices

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


class Catalogue:
    """The tables of one stage of `pipeline precompute`: the default ones, and optional ones."""

    options: tuple[BuildOption, ...] = ()
    """Options of `pipeline precompute` that request further tables, or change them."""

    def __init__(self, stage: str, tables: tuple[Table, ...]) -> None:
        self.stage = stage
        self.tables = tables
        """The tables that are built by default."""

    def list_boards(self) -> list[str]:
        """List the boards whose tables can be built when an option names them."""
        return []

    def request_tables(self, values: BuildValues) -> tuple[Table, ...]:
        """Return the tables that these options request, or change."""
        return ()

    def list_stage_tables(self) -> tuple[Table, ...]:
        """Return the tables that a command line without options builds if it names the stage."""
        return self.tables

    def list_tables(self, values: BuildValues) -> tuple[Table, ...]:
        """Return the default tables, with those that these options request."""
        tables = {table.name: table for table in (*self.tables, *self.request_tables(values))}
        return tuple(tables.values())

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        """List the tables, with the optional ones that are published, from their parameters."""
        return self.tables

    def find_table(self, name: str) -> Table | None:
        """Return the table of that name, optional ones included, or None if there is none."""
        tables = self.list_published_tables({name: {}}) if self.owns_table(name) else ()
        return next((table for table in tables if table.name == name), None)

    def owns_table(self, table: str) -> bool:
        """Return whether a table of that name belongs to this puzzle, optional tables included."""
        return any(table == known.name for known in self.tables)

    def format_build_arguments(self, table: str, *, has_shards: bool = True) -> str:
        """Return the arguments of `pipeline precompute` that build a table of that name.

        `has_shards`: whether shards of it are built, if it is built in shards.
        """
        return self.stage

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """Return a table as it must be built beside the tables that are already published."""
        return table


class Puzzle:
    """A puzzle: its name, and the tables that are built by default."""

    name: str
    title: str
    tables: tuple[Table, ...]
    depth = ""
    """The column with a state's depth, if there is one."""
    example = ""
    """A key that `pipeline query` answers from the default tables."""
    reader = section = proof = ""
    """A plugin's own reader, report section and proof (`module:name`); empty: the default ones."""

    @property
    def catalogue(self) -> Catalogue:
        """The tables that can be built, and the options that request them."""
        return Catalogue(self.name, self.tables)


class StateSpace(Puzzle):
    """A puzzle with few enough states that each has a rank: its number in notation order."""

    size: int
    depth = "distance"

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

    def find_node(self, state: str) -> int:
        """Return the graph's node of a state in which a search begins."""
        return self.rank(state)

    def fill_columns(
        self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]
    ) -> Columns:
        """Fill the table's columns from the search results, one for each root."""
        raise NotImplementedError

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> Columns:
        """Make the index's fields, with one value for each rank."""
        raise NotImplementedError


class View:
    """A goal mapped to a layout that has a table, and a map from states to states of that table."""

    __slots__ = ("layout",)

    def __init__(self, layout: str) -> None:
        self.layout = layout

    def map_state(self, state: str) -> str:
        """Return the state of the layout's table that has this state's answers."""
        return state


class GoalPuzzle(StateSpace):
    """A state space with goals. Every move can be undone, by a move of any letter.

    A new puzzle of this kind defines a name, its layouts, a notation and `moves`; its graph, table,
    index, lookups and verification follow. It may override `list_states`, `list_all_moves` and
    `make_graph` with versions that are faster than one state at a time.
    """

    layouts: Mapping[str, str]
    spellings: Mapping[str, str] = {}
    """Other spellings of the layouts' names."""
    letters: str
    """The letters of all moves, in the order in which answers list them."""
    solutions = "B"
    """The `struct` letter of the index field with the number of shortest solutions."""

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        """Yield each legal move of a state: its letter and the next state, in `letters` order."""
        raise NotImplementedError

    def list_all_moves(self) -> Iterator[tuple[str, Ranks, Bytes]]:
        """Yield each letter with the ranks from which its move is legal, and the next states.

        Verification takes the rules from here, and nothing from `make_graph`.
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
        """Return the goal state that a text names: by a layout's name, or as a state."""
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
        """Return the name of the only layout that a state may reach."""
        return next(iter(self.layouts))

    def view_goal(self, goal: str) -> View:
        """Return the view with which a table answers for a goal; raise BadRequest if none does."""
        for layout, state in self.layouts.items():
            if state == goal:
                return View(layout)
        layouts = ", ".join(f"{layout} ({state})" for layout, state in self.layouts.items())
        problem = f"No table of {self.name} has the goal {goal}"
        raise BadRequest(problem, f"Choose one of: {layouts}")

    def can_reach(self, state: str, goal: str) -> bool:
        """Return whether a state reaches a goal, by the layouts that the two may reach."""
        view = self.view_goal(goal)
        return self.find_layout(view.map_state(state)) == self.find_layout(view.map_state(goal))

    def explain_unreachable(self, state: str, goal: str) -> str:
        """Explain why a goal cannot be reached from a state, as the end of a sentence."""
        return "no sequence of moves connects them."

    def compute_features(self, state: str, goal: str) -> dict[str, int]:
        """Compute the puzzle's own columns, from the rules, for a state and its goal."""
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

        from tablebase.graph import Graph

        offsets, targets, labels = [0], [], []
        for rank in range(self.size):
            for letter, next_state in self.moves(self.unrank(rank)):
                targets.append(self.rank(next_state))
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

        from tablebase.graph import UNREACHED, find_nearest

        depth, goal, ways = find_nearest(walks)
        rows = np.flatnonzero(depth != UNREACHED)
        source = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(graph.offsets))
        is_nearer = depth[graph.targets].astype(np.int16) == depth[source].astype(np.int16) - 1
        best = np.zeros(self.size, dtype=f"S{len(self.letters)}")
        for position, letter in enumerate(self.letters):
            sources_of_letter = source[is_nearer & (graph.labels >> 4 == position)]
            best[sources_of_letter] = np.strings.add(best[sources_of_letter], letter.encode())
        return {
            "state": self.list_states()[rows],
            "goal": np.array([list(self.layouts).index(name) for name in walks])[goal[rows]],
            "distance": depth[rows],
            "best_moves": best[rows],
            "solutions": ways[rows],
        }

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> Columns:
        from tablebase.graph import find_nearest

        depth, _, ways = find_nearest(walks)
        return {"distance": depth, "solutions": ways}
