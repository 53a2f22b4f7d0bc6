"""The 15-puzzle: its states are too many for a table, so its tables are pattern databases.

A pattern is a set of tiles, and a placement is a cell for each of them. The *order* of a placement
is the permutation of the tiles by cell. Its rank is the rank of the order times the number of sets
of cells, plus the rank of its set. A tile that moves along a row keeps the order, so such
neighbours are close to each other in a table. All tables are on request.
"""

from __future__ import annotations

from itertools import chain
from math import comb, factorial

from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.puzzles.sliding import SlidingBoard, rank_permutation
from puzzle_tablebase.schema import Recipe, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any


BOARD = SlidingBoard(4, 4)
TABLE_PREFIX = "fifteen_"
DEFAULT_PARTITION = "6-6-3"


class Pattern:
    """Some tiles of a board whose goal has the tiles in reading order and the blank last.

    `tiles` are up to eight numbers, ascending; the integers of a search hold no more. In the goal,
    tile t is on cell t - 1.

    >>> pattern = Pattern(4, 4, (2, 3, 4))
    >>> pattern.size, pattern.rank((1, 2, 3)), pattern.rank((3, 2, 1))
    (3360, 3, 2803)
    """

    def __init__(self, height: int, width: int, tiles: Iterable[int]) -> None:
        self.height = height
        self.width = width
        self.tiles = tuple(sorted(tiles))
        self.cells = height * width
        self.sets = comb(self.cells, len(self.tiles))
        """The number of sets of cells."""
        self.size = self.sets * factorial(len(self.tiles))

    def rank(self, cells: Sequence[int]) -> int:
        """Return the rank of a placement, given the cell of each tile."""
        order = sorted(range(len(cells)), key=cells.__getitem__)
        return rank_permutation(order) * self.sets + rank_set(sorted(cells))

    def find_cells(self, image: Sequence[int], board: Sequence[int]) -> list[int]:
        """Find the cells of the tiles on an image of a board, given as the tile on each cell."""
        # mirroring twice changes nothing, so it also leads back to the board's tiles
        return [image[board.index(image[tile - 1] + 1)] for tile in self.tiles]


def parse_pattern(parameters: Mapping[str, Any]) -> Pattern:
    """Return the pattern of a recipe's parameters."""
    height, width = map(int, parameters["board"].split("x"))
    return Pattern(height, width, parameters["tiles"])


def list_images(height: int, width: int) -> list[list[int]]:
    """List the image of each cell under the identity and under the board's reflection.

    A square board is reflected in its main diagonal; of any other, both images are the board
    itself.

    >>> list_images(2, 2)
    [[0, 1, 2, 3], [0, 2, 1, 3]]
    """
    cells = range(height * width)
    mirrored = [cell % width * width + cell // width if height == width else cell for cell in cells]
    return [[*cells], mirrored]


def list_neighbours(height: int, width: int) -> list[list[int]]:
    """List the neighbours of each cell: those of up, down, left and right that exist."""
    board = SlidingBoard(height, width)
    return [[to for _, to in board.list_exits(cell)] for cell in range(board.cells)]


def rank_set(cells: Sequence[int]) -> int:
    """Return the rank of a set of cells, in ascending order, among all sets of that size.

    The sets are ordered as numbers with a bit for each cell.

    >>> rank_set([0, 1, 2]), rank_set([0, 1, 3]), rank_set([13, 14, 15])
    (0, 1, 559)
    """
    return sum(comb(cell, at) for at, cell in enumerate(cells, 1))


def make_pattern_table(pattern: Pattern) -> Table:
    """Make the table of a pattern's distances, an index alone."""
    marks = "".join(CHARACTERS[tile] for tile in pattern.tiles)
    board = f"{pattern.height}x{pattern.width}"
    return Table(
        f"{TABLE_PREFIX}{marks}",
        f"The {pattern.size:,} placements of the tiles {' '.join(marks)} on the {board} board, "
        "each with the fewest moves that these tiles need to reach their cells in 1 2 3 ... 0; "
        "moves of other tiles are not counted",
        "row number = rank: the order of the tiles by cell comes first, in lexical order; then "
        "their set of cells, by the number that has a bit for each cell",
        (),
        Recipe("pattern", board=board, tiles=[*pattern.tiles]),
        index=(("distance", "B"),),
        rows=pattern.size,
    )


def make_partition(height: int, width: int, *patterns: str) -> tuple[Pattern, ...]:
    """Divide all tiles of a board into patterns, whose distances add up to a lower bound."""
    return tuple(Pattern(height, width, map(int, pattern.split())) for pattern in patterns)


PARTITIONS = {
    "7-8": make_partition(4, 4, "1 2 3 4 5 6 7 8", "9 10 11 12 13 14 15"),
    "6-6-3": make_partition(4, 4, "1 2 3", "4 7 8 11 12 15", "5 6 9 10 13 14"),
    "5-5-5": make_partition(4, 4, "1 2 3 5 6", "4 7 8 11 12", "9 10 13 14 15"),
}
"""The partitions by name, the best bounds first."""


def make_tables(partition: str) -> tuple[Table, ...]:
    """Make the tables of a partition's patterns, in their order."""
    return tuple(map(make_pattern_table, PARTITIONS[partition]))


def name_partition(partition: str) -> str:
    """Return the name of the tables of a partition."""
    return f"{TABLE_PREFIX}{partition}"


class Fifteen(Puzzle):
    """The 4x4 board; all tables are built on request."""

    name = "fifteen"
    title = "15-puzzle"
    example = "123456789abc0def"
    tables = ()

    def find_tables(self, name: str) -> tuple[Table, ...]:
        if name == self.name:
            name = name_partition(DEFAULT_PARTITION)
        for partition in PARTITIONS:
            if name == name_partition(partition):
                return make_tables(partition)
        every_table = chain.from_iterable(map(make_tables, PARTITIONS))
        return tuple(table for table in every_table if table.name == name)

    def list_requests(self) -> dict[str, list[str]]:
        return {"Partitions of the tiles": [*map(name_partition, PARTITIONS)]}

    def find_example(self, table: str) -> dict[str, object]:
        """Find an example question for the tables of a pattern's partition."""
        of_table = (name for name in PARTITIONS if table in [t.name for t in make_tables(name)])
        return {"key": self.example, "patterns": next(of_table)}


PUZZLE = Fifteen()
