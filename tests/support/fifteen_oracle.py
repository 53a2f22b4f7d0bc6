"""Slow and obvious answers about patterns of tiles; nothing is shared with the program."""

from collections import deque
from collections.abc import Iterator

Placement = tuple[int, ...]


def list_near(rows: int, columns: int) -> list[list[int]]:
    """Return the neighbours of each cell."""
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    return [
        [at for at, (r, c) in enumerate(cells) if abs(r - row) + abs(c - column) == 1]
        for row, column in cells
    ]


def distances(rows: int, columns: int, tiles: list[int]) -> dict[Placement, int]:
    """Return the fewest moves of the tiles to their cells, by the cell of each tile.

    The blank is followed cell by cell: its moves past other tiles cost nothing.
    """
    near = list_near(rows, columns)
    start = tuple(tile - 1 for tile in tiles), rows * columns - 1
    known = {start: 0}
    waiting = deque([start])
    while waiting:
        placement, blank = waiting.popleft()
        cost = known[placement, blank]
        for cell in near[blank]:
            if cell in placement:
                moved = tuple(blank if at == cell else at for at in placement)
                state, new = (moved, cell), cost + 1
            else:
                state, new = (placement, cell), cost
            if new < known.get(state, 1000):
                known[state] = new
                (waiting.append if new > cost else waiting.appendleft)(state)
    least: dict[Placement, int] = {}
    for (placement, _), cost in known.items():
        least[placement] = min(cost, least.get(placement, 1000))
    return least


def list_placements(cells: int, count: int) -> Iterator[Placement]:
    """Yield every placement in the documented order: by the tiles' order, then by their set."""

    def list_orders(left: list[int]) -> Iterator[list[int]]:
        if not left:
            yield []
        for tile in left:
            for rest in list_orders([other for other in left if other != tile]):
                yield [tile, *rest]

    masks = [mask for mask in range(1 << cells) if f"{mask:b}".count("1") == count]
    for order in list_orders(list(range(count))):
        for mask in masks:
            occupied = [cell for cell in range(cells) if mask >> cell & 1]
            yield tuple(occupied[order.index(tile)] for tile in range(count))
