"""Sliding boards of all sizes, and their tables, which are all optional."""

from __future__ import annotations

from tablebase.catalogue import BuildOption, Catalogue
from tablebase.errors import BadRequest, NotationError, require_choice, require_text
from tablebase.puzzle import Puzzle
from tablebase.puzzles.sliding.board import MAX_CELLS, SlidingBoard
from tablebase.schema import BITS_INDEX, ROW_BYTES, BreadthFirst, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tablebase.catalogue import BuildValues
    from tablebase.word_space import WordSpace

MAX_SMALL_CELLS = 10
"""Cells of the largest small boards. They get all goals by default, rows beside each index, and a
byte in it for each state. Larger ones get one goal, no rows, and a bit."""
ROW_STATES = 8 * ROW_BYTES
TABLE_PREFIX = "sliding_"
EXAMPLE_BOARD = "3x4"
"""The board in examples of options."""


class BoardDistances(BreadthFirst):
    """Recipe of a search of a board's states from one goal, in words of bits.

    `rows`: whether the table has rows beside its index.
    """

    __slots__ = ("board", "rows")
    search = "breadth first in blocks"

    def __init__(self, board: BoardWithTables, root: str, *, rows: bool) -> None:
        super().__init__({root: root})
        self.board = board
        self.rows = rows

    def estimate_memory(self, table: Table) -> int | None:
        from tablebase.cost import PROCESS_BYTES, WORD_BYTES_PER_STATE

        has_bytes = bool(table.columns) or table.index != BITS_INDEX
        return PROCESS_BYTES + int((WORD_BYTES_PER_STATE + has_bytes) * self.board.size)

    def list_parameters(self) -> dict[str, object]:
        return {**super().list_parameters(), "board": str(self.board), "rows": self.rows}


class BoardWithTables(SlidingBoard):
    """A board with the tables of its answers, which are those of the wide board."""

    wide: BoardWithTables

    def __init__(self, height: int, width: int) -> None:
        super().__init__(height, width)
        self.is_packed = self.cells > MAX_SMALL_CELLS
        """Whether the indexes have one bit for each state, and 360 states in a record."""
        self.tables = self.select_tables(every_goal=True) if self.wide is self else self.wide.tables

    def select_tables(self, *, every_goal: bool, with_rows: bool = False) -> tuple[Table, ...]:
        """Make the tables of a wide board: of all its goals, or of the first."""
        goals = [*self.layouts][: None if every_goal or not self.is_packed else 1]
        return tuple(
            self.make_table(goal, with_rows=with_rows or not self.is_packed) for goal in goals
        )

    def make_table(self, goal: str, *, with_rows: bool) -> Table:
        """Make the table of the distances to one of the layouts.

        `with_rows`: with rows beside its index.
        """
        return Table(
            f"{TABLE_PREFIX}{self}_{goal.index('0') + 1}",
            f"The {self.size:,} states of the {self} sliding board that can reach {goal}, each "
            f"with {'bit 1 of ' if self.is_packed and not with_rows else ''}its distance to it",
            f"{'row number = rank' if with_rows or not self.is_packed else 'bit number = rank'}: "
            "places are counted column by column; the blank's place comes "
            "first, then the order of the tiles in the other places",
            self.list_row_columns() if with_rows else (),
            BoardDistances(self, goal, rows=with_rows),
            index=BITS_INDEX if self.is_packed else (("distance", "B"),),
            rows=self.size if with_rows or not self.is_packed else self.size // ROW_STATES,
        )

    @property
    def catalogue(self) -> Catalogue:
        return BoardCatalogue(self)

    def make_words(self, root: str) -> WordSpace:
        """Make the states that reach a root, in words of bits, with their moves."""
        from tablebase.puzzles.sliding.word_moves import make_word_space

        place = self.place[root.index("0")]
        return make_word_space(self.line, self.cells, place, self.is_odd(root), self.rank(root))


def parse_board(text: str) -> BoardWithTables:
    """Return the board that a text names: rows x columns.

    >>> str(parse_board("3x4"))
    '3x4'
    """
    sides = require_text(text, "a sliding board", EXAMPLE_BOARD).strip().lower().split("x")
    problem = ""
    if len(sides) != 2 or not all(side.isascii() and side.isdigit() for side in sides):
        problem = "a board is rows x columns"
    elif any(len(side) > 3 or int(side) > MAX_CELLS for side in sides):
        problem = f"boards have at most {MAX_CELLS} cells"
    elif min(map(int, sides)) < 2:
        problem = "boards have at least 2 rows and 2 columns"
    elif int(sides[0]) * int(sides[1]) > MAX_CELLS:
        problem = f"boards have at most {MAX_CELLS} cells"
    if problem:
        raise NotationError("a sliding board", text, problem, EXAMPLE_BOARD)
    return BoardWithTables(*map(int, sides))


def find_goal(table: str) -> tuple[BoardWithTables, str] | None:
    """Find the board and the goal of a table of that name."""
    try:
        board = parse_board(table.removeprefix(TABLE_PREFIX).partition("_")[0])
    except NotationError:
        return None
    goals = {
        goal_table.name: goal for goal_table, goal in zip(board.tables, board.layouts, strict=False)
    }
    return (board, goals[table]) if table in goals else None


class BoardCatalogue(Catalogue):
    """The tables of one board."""

    def __init__(self, board: BoardWithTables) -> None:
        super().__init__(board.name, board.tables)
        self._board = board

    def format_build_arguments(self, table: str) -> str:
        return format_board_arguments(self._board, table)


def format_board_arguments(board: BoardWithTables, table: str) -> str:
    """Return the arguments of `pipeline precompute` that build a board's table."""
    names = [default_table.name for default_table in board.wide.select_tables(every_goal=False)]
    return f"{board.name} --board {board.wide}{'' if table in names else ' --goals all'}"


class SlidingCatalogue(Catalogue):
    """The tables of all boards."""

    options = (
        BuildOption(
            "board",
            f"Build this board, of at most {MAX_CELLS} cells.",
            "RxC",
            example=EXAMPLE_BOARD,
        ),
        BuildOption(
            "goals",
            f"Build all goals of boards over {MAX_SMALL_CELLS} cells, not only the first.",
            "all",
            example="all",
            choices=("all",),
        ),
        BuildOption("parquet", f"Also write Parquet for boards over {MAX_SMALL_CELLS} cells."),
    )

    def list_boards(self) -> list[str]:
        sides = range(2, MAX_CELLS // 2 + 1)
        return [f"{high}x{wide}" for high in sides for wide in sides if high * wide <= MAX_CELLS]

    def request_tables(self, values: BuildValues) -> tuple[Table, ...]:
        for text in values.get("goals", ()):
            require_choice(text, "set of goals", "all")
        boards = values.get("board", ())
        for option in self.options[1:]:
            if option.name in values and not boards:
                example = f"--board {EXAMPLE_BOARD} --{option.name} {option.example}".rstrip()
                raise BadRequest(f"--{option.name} needs --board", f"Example: {example}")
        tables = {
            table.name: table
            for text in boards
            for table in parse_board(text).wide.select_tables(
                every_goal="goals" in values, with_rows="parquet" in values
            )
        }
        return tuple(tables.values())

    def list_published_tables(
        self, published: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Table, ...]:
        goals = ((find_goal(name), parameters) for name, parameters in published.items())
        return tuple(
            board_and_goal[0].make_table(board_and_goal[1], with_rows=bool(parameters.get("rows")))
            for board_and_goal, parameters in goals
            if board_and_goal
        )

    def owns_table(self, table: str) -> bool:
        return find_goal(table) is not None

    def format_build_arguments(self, table: str) -> str:
        board_and_goal = find_goal(table)
        return format_board_arguments(board_and_goal[0], table) if board_and_goal else self.stage

    def adapt_to_manifest(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """Return a table, with rows if they are published, even if only an index is requested."""
        board_and_goal = find_goal(table.name)
        if board_and_goal is None or table.columns or not published.get(table.name, {}).get("rows"):
            return table
        return board_and_goal[0].make_table(board_and_goal[1], with_rows=True)


class Sliding(Puzzle):
    """All boards of up to 16 cells; all tables are optional."""

    name = "sliding"
    title = "Sliding boards"
    tables = ()
    depth = "distance"

    @property
    def catalogue(self) -> Catalogue:
        return SlidingCatalogue(self.name, self.tables)

    def name_board(self, table: str) -> str | None:
        board_and_goal = find_goal(table)
        return str(board_and_goal[0]) if board_and_goal else None


PUZZLE = Sliding()
