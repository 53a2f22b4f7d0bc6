"""Patterns: some tiles of a sliding board, and a rank for each set of cells that they can be on.

The rank of a placement is its order times the number of sets of cells, plus the rank of its set.
The *order* is the sequence of the tiles by cell. A tile that moves along a row keeps the order, so
such neighbours are close to each other in a table.
"""

from __future__ import annotations

from tablebase.errors import BadRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


MAX_TILES = 8
"""The most tiles of a pattern: the numbers of a search are not wider."""


class Pattern:
    """Some tiles of a board whose goal has the tiles in reading order and the blank last.

    `tiles` are their numbers, ascending; in the goal, tile t is on cell t - 1.

    >>> pattern = Pattern(4, 4, (2, 3, 4))
    >>> pattern.size, pattern.rank((1, 2, 3)), pattern.rank((3, 2, 1))
    (3360, 3, 2803)
    >>> pattern.unrank(2803)
    (3, 2, 1)
    """

    __slots__ = ("height", "sets", "size", "tiles", "width")

    def __init__(self, height: int, width: int, tiles: Iterable[int]) -> None:
        self.height = height
        self.width = width
        self.tiles = tuple(sorted(tiles))
        if len(self.tiles) > MAX_TILES:
            hint = "Divide the tiles into more patterns"
            raise BadRequest(f"A pattern has {MAX_TILES} tiles at most", hint)
        self.sets = count_sets(self.cells, len(self.tiles))
        """The number of sets of cells."""
        self.size = self.sets * count_orders(len(self.tiles))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Pattern({self.height}, {self.width}, {self.tiles})"

    @property
    def _key(self) -> tuple[int, int, tuple[int, ...]]:
        return self.height, self.width, self.tiles

    @property
    def cells(self) -> int:
        """The number of cells of the board."""
        return self.height * self.width

    def rank(self, cells: Sequence[int]) -> int:
        """Return the rank of a placement, given the cell of each tile."""
        order = sorted(range(len(cells)), key=cells.__getitem__)
        return rank_order(order) * self.sets + rank_set(sorted(cells))

    def unrank(self, rank: int) -> tuple[int, ...]:
        """Return the cell of each tile in the placement of a rank."""
        order_rank, set_rank = divmod(rank, self.sets)
        cells = unrank_set(set_rank, len(self.tiles))
        order = unrank_order(order_rank, len(self.tiles))
        return tuple(cell for _, cell in sorted(zip(order, cells, strict=True)))


def mirror_cell(cell: int, width: int) -> int:
    """Return the cell to which mirroring a square board in its main diagonal takes a cell."""
    return cell % width * width + cell // width


def list_neighbours(height: int, width: int) -> list[list[int]]:
    """List the neighbours of each cell: up, down, left and right, as far as they exist."""
    neighbours = []
    for cell in range(height * width):
        row, column = divmod(cell, width)
        steps = (
            (row > 0, -width), (row < height - 1, width), (column > 0, -1), (column < width - 1, 1)
        )  # fmt: skip
        neighbours.append([cell + step for exists, step in steps if exists])
    return neighbours


def count_orders(tiles: int) -> int:
    """Return the number of orders of so many tiles."""
    number = 1
    for factor in range(2, tiles + 1):
        number *= factor
    return number


def count_sets(cells: int, tiles: int) -> int:
    """Return the number of sets of so many of the cells.

    >>> count_sets(16, 8)
    12870
    """
    number = 1
    for factor in range(tiles):
        number = number * (cells - factor) // (factor + 1)
    return number


def rank_set(cells: Sequence[int]) -> int:
    """Return the rank of a set of cells, in ascending order, among all sets of as many.

    Read as a number with a bit for each cell, the sets are in ascending order.

    >>> rank_set([0, 1, 2]), rank_set([0, 1, 3]), rank_set([13, 14, 15])
    (0, 1, 559)
    """
    return sum(count_sets(cell, at) for at, cell in enumerate(cells, 1))


def unrank_set(rank: int, tiles: int) -> list[int]:
    """Return the set of cells of a rank, in ascending order."""
    cells = list[int]()
    for at in range(tiles, 0, -1):
        cell = at - 1
        while count_sets(cell + 1, at) <= rank:
            cell += 1
        rank -= count_sets(cell, at)
        cells.insert(0, cell)
    return cells


def rank_order(order: Sequence[int]) -> int:
    """Return the rank of an order of the numbers from 0, in lexical order.

    >>> rank_order([0, 1, 2]), rank_order([0, 2, 1]), rank_order([2, 1, 0])
    (0, 1, 5)
    """
    rank = 0
    for at, tile in enumerate(order):
        rank = rank * (len(order) - at) + sum(later < tile for later in order[at + 1 :])
    return rank


def unrank_order(rank: int, tiles: int) -> list[int]:
    """Return the order of a rank."""
    digits = list[int]()
    for base in range(1, tiles + 1):
        rank, digit = divmod(rank, base)
        digits.insert(0, digit)
    left = list(range(tiles))
    return [left.pop(digit) for digit in digits]
