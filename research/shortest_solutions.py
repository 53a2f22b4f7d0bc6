"""The number of shortest solutions of every state of a sliding board, by distance.

The search is breadth-first, with a byte and a 64-bit number for each state: 2.2 GB for 3x4. It
shares no code with the searches that build the tables, so its layers are also a second count of the
states at each distance. A state's number is the blank's cell, then the order of the tiles in
reading order, as digits that count the smaller tiles left over.

`python -m research.shortest_solutions 3x4 3x4:11` prints a row for each of the goals with
the tiles in reading order and the blank on the last cell, and on cell 11. With `--results DIR` it
also writes a row for each of their distances.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from puzzle_tablebase.jit import Array, compiled
from research.report import make_parser, save, show

UNREACHABLE = 255
MAX_CELLS = 12
COLUMNS = ("board", "blank", "distance", "states", "one_solution", "most_solutions", "local_maxima")


def list_layers(height: int, width: int, blank: int) -> pl.DataFrame:
    """Return a row for each distance from the goal with the blank on a cell, from 1.

    A state is a local maximum if no move leads farther from the goal.
    """
    cells = height * width
    if not 4 <= cells <= MAX_CELLS or min(height, width) < 2:
        raise ValueError(f"boards have 4 to {MAX_CELLS} cells, and 2 or more rows and columns")
    orders = math.factorial(cells - 1) // 2
    distance = np.full(cells * orders, UNREACHABLE, dtype=np.uint8)
    solutions = np.zeros(cells * orders, dtype=np.int64)
    root = (blank - 1) * orders  # the tiles in reading order have the number 0
    distance[root], solutions[root] = 0, 1
    sides = np.array([height, width, blank - 1])
    rows: list[tuple[str | int, ...]] = []
    total = most = 0
    for level in range(UNREACHABLE - 1):
        counts, scratch = np.zeros(4, dtype=np.int64), np.zeros((2, MAX_CELLS), dtype=np.int64)
        expand(distance, solutions, level, sides, scratch, counts)
        if not counts[0]:
            break
        rows.append((f"{height}x{width}", blank, level, *counts.tolist()))
        total, most = total + int(counts[0]), max(most, int(counts[2]))
    if total != len(distance) or most >= 1 << 60:
        raise ValueError("not all states were reached, or numbers of solutions may not fit")
    return pl.DataFrame(rows, COLUMNS, orient="row")


@compiled
def expand(
    distance: Array, solutions: Array, level: int, sides: Array, scratch: Array, counts: Array
) -> None:
    """Give the neighbours of the states at a distance their distance and their solutions.

    `counts`: the states at that distance, those with one solution, the most solutions of any, and
    the local maxima.
    """
    height, width, goal = sides
    cells = height * width
    orders = len(distance) // cells
    tiles, board = scratch
    for state in range(len(distance)):
        if distance[state] != level:
            continue
        blank = state // orders
        read_tiles(state % orders, (blank // width - goal // width) * (width - 1), tiles, cells - 1)
        for cell in range(cells):
            board[cell] = 0 if cell == blank else tiles[cell - (cell > blank)]
        is_farthest = True
        for move in range(4):
            row, column = blank // width, blank % width
            row += (move == 1) - (move == 0)
            column += (move == 3) - (move == 2)
            if not (0 <= row < height and 0 <= column < width):
                continue
            cell = row * width + column
            board[blank], board[cell] = board[cell], 0
            neighbour = cell * orders + number_tiles(board, cells)
            board[cell], board[blank] = board[blank], 0
            if distance[neighbour] > level:
                is_farthest = False
                distance[neighbour] = level + 1
                solutions[neighbour] += solutions[state]
        counts[0] += 1
        counts[1] += solutions[state] == 1
        counts[2] = max(counts[2], solutions[state])
        counts[3] += is_farthest


@compiled
def number_tiles(board: Array, cells: int) -> int:
    """Return the number of an order of tiles; the last two follow from its parity."""
    number, left = 0, (1 << cells) - 2
    rest = cells - 1
    for cell in range(cells):
        tile = board[cell]
        if tile and rest > 2:
            smaller, below = 0, left & (1 << tile) - 1
            while below:
                below &= below - 1
                smaller += 1
            number = number * rest + smaller
            left ^= 1 << tile
            rest -= 1
    return number


@compiled
def read_tiles(number: int, parity: int, tiles: Array, count: int) -> None:
    """Set the tiles of a number's order, which is odd if `parity` is."""
    for at in range(2, count):  # the digits, from the last to the first
        tiles[count - 1 - at] = number % (at + 1)
        number //= at + 1
    left = (1 << count + 1) - 2
    odd = parity
    for at in range(count):
        smaller = tiles[at]
        if at == count - 2:
            smaller = odd & 1
        elif at == count - 1:
            smaller = 0
        odd += smaller
        rest = left
        for _ in range(smaller):
            rest &= rest - 1
        tile = 0
        while not rest >> tile & 1:
            tile += 1
        tiles[at] = tile
        left ^= 1 << tile


def summarize(layers: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each goal, with the share of the states with one solution in per cent."""
    ones, states, most = pl.col("one_solution"), pl.col("states"), pl.col("most_solutions")
    return layers.group_by("board", "blank", maintain_order=True).agg(
        most.max(),
        pl.col("distance").get(most.arg_max()).alias("at_distance"),
        ones.sum(),
        (100 * ones.sum() / states.sum()).alias("share"),
        pl.col("local_maxima").sum(),
    )


def main() -> None:
    """Print a row for each goal."""
    parser = make_parser(main.__doc__)
    parser.add_argument("goals", nargs="+", metavar="ROWSxCOLUMNS[:CELL]")
    options = parser.parse_args()
    goals = []
    for text in options.goals:
        board, _, blank = text.partition(":")
        height, width = map(int, board.split("x"))
        goals.append(list_layers(height, width, int(blank or height * width)))
    layers = pl.concat(goals)
    show(summarize(layers), decimals=1)
    for (board,), rows in layers.group_by("board"):
        save(options.results, **{f"shortest_solutions_{board}": rows})


if __name__ == "__main__":
    main()
