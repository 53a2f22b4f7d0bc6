"""Sliding boards of every size: their tables, all of them made on request."""

from __future__ import annotations

from tablebase.block_space import InBlocks
from tablebase.errors import NotationError, required_text
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.sliding.board import MARKS, MOST_CELLS, Board

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from tablebase.block_space import Depths
    from tablebase.graph import Blocks
    from tablebase.puzzle import Columns

LISTED = 10
"""Cells of the largest boards that get every goal, and rows beside each index, unasked."""
TABLES = "sliding_"


class TabledBoard(Board):
    """A board with the tables that answer for it: those of the wide board."""

    wide: TabledBoard

    def __init__(self, height: int, width: int) -> None:
        super().__init__(height, width)
        self.tables = self.chosen(every_goal=True) if self.wide is self else self.wide.tables

    def chosen(self, *, every_goal: bool, listed: bool = False) -> tuple[Table, ...]:
        """The tables that answer for a wide board."""
        goals = [*self.layouts][: None if every_goal or self.cells <= LISTED else 1]
        return tuple(self.table(goal, listed=listed or self.cells <= LISTED) for goal in goals)

    def table(self, goal: str, *, listed: bool) -> Table:
        """The table of the distances to one of the layouts; rows beside its index, if listed."""
        return Table(
            f"{TABLES}{self}_{goal.index('0') + 1}",
            f"The {self.size:,} states of the {self} sliding board that can reach {goal}, each "
            "with its distance to it",
            "row number = rank: places are counted column by column; the blank's place comes "
            "first, then the order of the tiles in the other places",
            self.listed_columns() if listed else (),
            InBlocks(self, goal, rows=listed),
            index=(("distance", "B"),),
            rows=self.size,
        )

    def stage(self, table: str) -> str:
        usual = [own.name for own in self.wide.chosen(every_goal=False)]
        return f"{self.name} --board {self.wide}{'' if table in usual else ' --goals all'}"

    @property
    def sample(self) -> TabledBoard:
        """The largest board of as many rows, or of three; itself, where it is none too large."""
        high = min(self.line, 3)
        return self if self.cells <= MOST_CELLS else TabledBoard(high, MOST_CELLS // high)

    def stretches(self) -> int:
        from tablebase.puzzles.sliding.move_tables import stretches

        return stretches(self)

    def blocks(self, root: str) -> Blocks:
        from tablebase.puzzles.sliding.move_tables import blocks

        return blocks(self, root)

    def rows_of(
        self, root: str, space: Blocks, depth: Depths, block: int, first: int, last: int
    ) -> Columns:
        from tablebase.puzzles.sliding.move_tables import rows_of

        return rows_of(self, root, space, depth, block, first, last)


def parse_board(text: str, most: int = MOST_CELLS) -> TabledBoard:
    """A board as written, rows x columns.

    >>> str(parse_board("3x4"))
    '3x4'
    """
    sides = required_text(text, "a sliding board", "3x4").strip().lower().split("x")
    problem = ""
    if len(sides) != 2 or not all(side.isascii() and side.isdigit() for side in sides):
        problem = "a board is rows x columns"
    elif any(len(side) > 3 or int(side) > most for side in sides):
        problem = f"boards have at most {most} cells"
    elif min(map(int, sides)) < 2:
        problem = "boards have at least 2 rows and 2 columns"
    elif int(sides[0]) * int(sides[1]) > most:
        problem = f"boards have at most {most} cells"
    if problem:
        raise NotationError("a sliding board", text, problem, "3x4")
    return TabledBoard(*map(int, sides))


def goal_of(table: str) -> tuple[TabledBoard, str] | None:
    """The board and the goal of a table of that name."""
    try:
        board = parse_board(table.removeprefix(TABLES).partition("_")[0])
    except NotationError:
        return None
    goals = {own.name: goal for own, goal in zip(board.tables, board.layouts, strict=False)}
    return (board, goals[table]) if table in goals else None


class Sliding(Puzzle):
    """Every board of up to 12 cells; all tables are made on request."""

    name = "sliding"
    title = "Sliding boards"
    tables = ()
    depth = "distance"
    board_meaning = f"rows x columns, at most {MOST_CELLS} cells"
    board_options = ("goals", "parquet")

    def boards(self) -> list[str]:
        sides = range(2, MOST_CELLS // 2 + 1)
        return [f"{high}x{wide}" for high in sides for wide in sides if high * wide <= MOST_CELLS]

    def with_boards(self, texts: list[str], options: Collection[str] = ()) -> tuple[Table, ...]:
        chosen = {
            table.name: table
            for text in texts
            for table in parse_board(text).wide.chosen(
                every_goal="goals" in options, listed="parquet" in options
            )
        }
        return tuple(chosen.values())

    def planned(self, texts: list[str]) -> tuple[Table, ...]:
        boards = (parse_board(text, len(MARKS)).wide for text in texts)
        return tuple(table for board in boards for table in board.chosen(every_goal=False))

    def among(self, published: Mapping[str, Mapping[str, Any]]) -> tuple[Table, ...]:
        known = ((goal_of(name), facts) for name, facts in published.items())
        return tuple(
            found[0].table(found[1], listed=bool(facts.get("rows")))
            for found, facts in known
            if found
        )

    def owns(self, table: str) -> bool:
        return goal_of(table) is not None

    def stage(self, table: str) -> str:
        found = goal_of(table)
        return found[0].stage(table) if found else self.name

    def grown(self, table: Table, published: Mapping[str, Mapping[str, Any]]) -> Table:
        """Rows that are published stay so, also where the index alone is asked for."""
        found = goal_of(table.name)
        if found is None or table.columns or not published.get(table.name, {}).get("rows"):
            return table
        return found[0].table(found[1], listed=True)


PUZZLE = Sliding()
