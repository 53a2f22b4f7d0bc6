"""The catalogue of the tables of sliding boards, which are all optional."""

from __future__ import annotations

from tablebase.errors import BadRequest, require_choice
from tablebase.puzzle import BuildOption, Catalogue
from tablebase.puzzles.sliding.board import MARKS, MAX_CELLS
from tablebase.puzzles.sliding.definition import (
    MAX_LISTED_CELLS,
    BoardWithTables,
    find_goal,
    parse_board,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from tablebase.puzzle import BuildValues, Table


class SlidingCatalogue(Catalogue):
    """The tables of all boards."""

    options = (
        BuildOption(
            "board", f"Build this board, of at most {MAX_CELLS} cells.", "RxC", example="3x4"
        ),
        BuildOption(
            "goals",
            f"Build all goals of boards over {MAX_LISTED_CELLS} cells, not only the first.",
            "all",
            example="all",
            choices=("all",),
        ),
        BuildOption("parquet", f"Also write Parquet for boards over {MAX_LISTED_CELLS} cells."),
    )

    def list_boards(self) -> list[str]:
        sides = range(2, MAX_CELLS // 2 + 1)
        return [f"{high}x{wide}" for high in sides for wide in sides if high * wide <= MAX_CELLS]

    def request_tables(
        self, values: BuildValues, *, with_unbuildable: bool = False
    ) -> tuple[Table, ...]:
        for text in values.get("goals", ()):
            require_choice(text, "set of goals", "all")
        boards = values.get("board", ())
        for name in ("goals", "parquet"):
            if name in values and not boards:
                raise BadRequest(f"--{name} needs --board", f"Example: --board 3x4 --{name}")
        max_cells = len(MARKS) if with_unbuildable else MAX_CELLS
        tables = {
            table.name: table
            for text in boards
            for table in parse_board(text, max_cells).wide.select_tables(
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
