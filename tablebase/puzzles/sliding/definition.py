"""Sliding boards of all sizes, and their tables, which are all on request."""

from __future__ import annotations

from tablebase.errors import BadRequest, NotationError, require_text
from tablebase.puzzle import Puzzle
from tablebase.puzzles.sliding.board import MAX_CELLS, SlidingBoard
from tablebase.schema import BITS_INDEX, ROW_BYTES, BreadthFirst, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.word_space import WordSpace

MAX_SMALL_CELLS = 10
"""Cells of the largest small boards. They get all goals by default, rows beside each index, and a
byte in it for each state. Larger ones get one goal, no rows, and a bit."""
ROW_STATES = 8 * ROW_BYTES
TABLE_PREFIX = "sliding_"
ALL_GOALS = "all"
"""The end of the name of a board's tables of all goals."""
EXAMPLE_BOARD = "3x4"
"""The board in examples."""
FIFTEEN_BOARD = "4x4"
"""The board that the 15-puzzle's search solves, without a table of all its states."""


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

    def select_tables(
        self, *, every_goal: bool, with_rows: bool | None = None
    ) -> tuple[Table, ...]:
        """Make the tables of a wide board: of all its goals, or of the first.

        `with_rows`: with rows beside each index; None: if the board is small.
        """
        goals = [*self.layouts][: None if every_goal or not self.is_packed else 1]
        has_rows = not self.is_packed if with_rows is None else with_rows
        return tuple(self.make_table(goal, with_rows=has_rows) for goal in goals)

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
    given = require_text(text, "a sliding board", EXAMPLE_BOARD)
    sides = given.strip().lower().replace("×", "x").split("x")
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


class Sliding(Puzzle):
    """All boards of up to 16 cells; all tables are on request."""

    name = "sliding"
    title = "Sliding boards"
    tables = ()
    depth = "distance"

    def find_tables(self, name: str, *, with_rows: bool | None = None) -> tuple[Table, ...]:
        """Find a board's tables: of its default goals, of all, or of one."""
        if name == self.name:
            example = f"Example: pipeline precompute {TABLE_PREFIX}{EXAMPLE_BOARD}"
            raise BadRequest(f"{name} has no default tables: name a board", example)
        if board_and_goal := find_goal(name):
            board, _ = board_and_goal
            tables = board.select_tables(every_goal=True, with_rows=with_rows)
            return tuple(table for table in tables if table.name == name)
        text, _, goals = name.removeprefix(TABLE_PREFIX).partition("_")
        if not name.startswith(TABLE_PREFIX) or not text[:1].isdigit():
            return ()
        board = parse_board(text)
        if name not in (f"{TABLE_PREFIX}{board}", f"{TABLE_PREFIX}{board}_{ALL_GOALS}"):
            return ()
        tables = board.wide.select_tables(every_goal=goals == ALL_GOALS, with_rows=with_rows)
        if str(board) == FIFTEEN_BOARD:
            size = f"it would take {board.size / 8e12:.1f} TB for each goal"
            hint = f"fifteen solves every {board} board. A cluster can build {tables[0].name}"
            raise BadRequest(f"{name} is too large: {size}", hint)
        return tables

    def list_requests(self) -> dict[str, list[str]]:
        sides = range(2, MAX_CELLS // 2 + 1)
        boards = [
            BoardWithTables(high, wide)
            for high in sides
            for wide in sides
            if high <= wide and high * wide <= MAX_CELLS and f"{high}x{wide}" != FIFTEEN_BOARD
        ]
        every_goal = [board for board in boards if board.is_packed]
        return {
            "Boards, with their default goals": [f"{TABLE_PREFIX}{board}" for board in boards],
            "Boards with all goals": [f"{TABLE_PREFIX}{board}_{ALL_GOALS}" for board in every_goal],
        }

    def format_example(self, table: str) -> str:
        """Format the query of a state one move from the goal of a table."""
        board_and_goal = find_goal(table)
        if not board_and_goal:
            return ""
        board, goal = board_and_goal
        _, state = next(board.moves(goal))
        option = "" if goal == board.example else f" --goal {goal}"
        return f"{self.name} {state} --board {board}{option}"

    def list_board_tables(self, board: str | None) -> tuple[Table, ...]:
        if board is None:
            raise BadRequest("Missing option --board", f"Example: --board {EXAMPLE_BOARD}")
        return parse_board(board).tables

    def name_board(self, table: str) -> str | None:
        board_and_goal = find_goal(table)
        return str(board_and_goal[0]) if board_and_goal else None


PUZZLE = Sliding()
