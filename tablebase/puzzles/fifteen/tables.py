"""The tables of patterns: their names, columns and recipes, and the partitions that use them."""

from __future__ import annotations

from tablebase.puzzles.fifteen.pattern import Pattern
from tablebase.puzzles.sliding.board import CHARACTERS, SlidingBoard
from tablebase.schema import Column, Recipe, Table

BOARD = SlidingBoard(4, 4)
TABLE_PREFIX = "fifteen_"


class PatternDistances(Recipe):
    """Recipe of a breadth-first search over all placements of a pattern's tiles.

    `rows`: whether the table has rows beside its index.
    """

    __slots__ = ("pattern", "rows")
    search = "placements of a pattern"

    def __init__(self, pattern: Pattern, *, rows: bool) -> None:
        self.pattern = pattern
        self.rows = rows

    def list_parameters(self) -> dict[str, object]:
        pattern = self.pattern
        return {
            "search": self.search,
            "board": f"{pattern.height}x{pattern.width}",
            "tiles": list(pattern.tiles),
            "rows": self.rows,
        }


def make_pattern_table(pattern: Pattern, *, with_rows: bool = False) -> Table:
    """Make the table of a pattern's distances; `with_rows`: with rows beside its index."""
    marks = "".join(CHARACTERS[tile] for tile in pattern.tiles)
    cells = f"cells of the tiles {' '.join(marks)} in this order, 0-9 and a-f in reading order"
    return Table(
        f"{TABLE_PREFIX}{marks}",
        f"The {pattern.size:,} placements of the tiles {' '.join(marks)} on the "
        f"{pattern.height}x{pattern.width} board, each with the fewest moves that these tiles need "
        "to reach their cells in 1 2 3 ... 0; moves of other tiles are not counted",
        "row number = rank: the order of the tiles by cell comes first, in lexical order; then "
        "their set of cells, by the number that has a bit for each cell",
        (
            Column("cells", "string", cells, distinct=True),
            Column("distance", "int8", "fewest moves of these tiles to their cells in the goal"),
        )
        if with_rows
        else (),
        PatternDistances(pattern, rows=with_rows),
        index=(("distance", "B"),),
        rows=pattern.size,
    )


class Partition:
    """All tiles of a board in disjoint patterns, whose distances add up to a lower bound."""

    __slots__ = ("patterns",)

    def __init__(self, height: int, width: int, *patterns: str) -> None:
        self.patterns = tuple(
            Pattern(height, width, map(int, pattern.split())) for pattern in patterns
        )

    def make_tables(self, *, with_rows: bool = False) -> tuple[Table, ...]:
        """Make the tables of the patterns, in their order."""
        return tuple(make_pattern_table(pattern, with_rows=with_rows) for pattern in self.patterns)


PARTITIONS = {
    "7-8": Partition(4, 4, "1 2 3 4 5 6 7 8", "9 10 11 12 13 14 15"),
    "6-6-3": Partition(4, 4, "1 2 3", "4 7 8 11 12 15", "5 6 9 10 13 14"),
    "5-5-5": Partition(4, 4, "1 2 3 5 6", "4 7 8 11 12", "9 10 13 14 15"),
}
"""The partitions by name, the best bounds first."""
DEFAULT_PARTITION = "6-6-3"


def name_partition(partition: str) -> str:
    """Return the name that stands for the tables of a partition."""
    return f"{TABLE_PREFIX}{partition}"


def find_partition(table: str) -> str | None:
    """Find the partition that a table of that name belongs to.

    >>> find_partition("fifteen_123")
    '6-6-3'
    """
    for name, partition in PARTITIONS.items():
        if any(table == known.name for known in partition.make_tables()):
            return name
    return None
