"""The tables of how patterns' bounds compare with the true distances, on boards small enough."""

from __future__ import annotations

from tablebase.errors import require_choice
from tablebase.puzzles.fifteen.tables import Partition
from tablebase.puzzles.sliding.definition import BoardWithTables, parse_board
from tablebase.schema import Column, Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tablebase.cost import Cost
    from tablebase.schema import PublishedParameters

PREFIX = "pattern_bounds_"
PARTITIONS_BY_BOARD = {
    "3x3": {
        "manhattan": "1/2/3/4/5/6/7/8",
        "3-3-2": "1 2 3/4 5 6/7 8",
        "4-4": "1 2 4 5/3 6 7 8",
    },
    "3x4": {
        "manhattan": "1/2/3/4/5/6/7/8/9/10/11",
        "2-2-2-2-2-1": "1 2/3 4/5 6/7 8/9 10/11",
        "4-4-3": "1 2 5 6/3 4 7 8/9 10 11",
        "6-5": "1 2 5 6 9 10/3 4 7 8 11",
    },
}
"""The tiles of the patterns of each partition, by board; with a tile each, they are Manhattan."""


class PatternBounds(Recipe):
    """Recipe of the numbers of a board's states by partition, distance and bound."""

    __slots__ = ("board",)
    search = "bounds of patterns"

    def __init__(self, board: BoardWithTables) -> None:
        self.board = board

    def list_partitions(self) -> dict[str, Partition]:
        """List the partitions by name, in the order of the rows."""
        return {
            name: Partition(self.board.height, self.board.width, *text.split("/"))
            for name, text in PARTITIONS_BY_BOARD[str(self.board)].items()
        }

    def list_parameters(self) -> dict[str, object]:
        partitions = PARTITIONS_BY_BOARD[str(self.board)]
        return {"search": self.search, "board": str(self.board), "partitions": partitions}

    def estimate_cost(
        self, table: Table, published: PublishedParameters | None = None
    ) -> Cost | None:
        from tablebase.cost import estimate_bounds

        return estimate_bounds(self.board.size, len(self.list_partitions()))


def make_bounds_table(text: str) -> Table:
    """Make the table of a board's bounds, given as rows x columns."""
    require_choice(text, "board", *PARTITIONS_BY_BOARD)
    board = parse_board(text)
    names = tuple(PARTITIONS_BY_BOARD[text])
    return Table(
        f"{PREFIX}{board}",
        f"The {board.size:,} states of the {board} sliding board that can reach {board.example}, "
        "counted by their distance and by the bound of each partition of its tiles into patterns",
        "rows by partition in the order of its Enum, then by distance, then by bound",
        (
            Column("board", "string", "board, rows x columns"),
            Column(
                "partition",
                "enum",
                "partition, by the tiles of its patterns; manhattan: a pattern for each tile",
                values=names,
            ),
            Column("distance", "int8", "fewest moves to the goal"),
            Column("bound", "int8", "sum of the patterns' distances; never more than distance"),
            Column("states", "int64", "number of states at that distance with that bound"),
        ),
        PatternBounds(board),
    )


def find_bounds_board(table: str) -> str | None:
    """Find the board of a table of bounds.

    >>> find_bounds_board("pattern_bounds_3x4"), find_bounds_board("pattern_bounds_9x9")
    ('3x4', None)
    """
    board = table.removeprefix(PREFIX)
    return board if board in PARTITIONS_BY_BOARD and board != table else None
