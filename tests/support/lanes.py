"""A puzzle whose tables are lists, written like a plugin: every tour of two small boards."""

from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import TOUR_COLUMNS, AllTours
from puzzle_tablebase.schema import Table


def lane(files: int, ranks: int) -> Table:
    return Table(
        f"lane_{files}x{ranks}",
        f"Every knight's tour of the {files}x{ranks} board",
        "rows sorted by the tour's sequence of square numbers",
        TOUR_COLUMNS,
        AllTours(KnightBoard(files, ranks)),
    )


class Lanes(Puzzle):
    name = "lanes"
    title = "Lanes"
    tables = (lane(3, 4), lane(4, 3))


PUZZLE = Lanes()
