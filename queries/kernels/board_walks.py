"""A kernel that makes the moves of many answers on a sliding board."""

from __future__ import annotations

from puzzle_tablebase.jit import Array, compiled


@compiled
def make_moves(
    cells: Array, symbols: Array, begins: Array, counts: Array, ways: Array, flip: int, done: Array
) -> None:
    """Make the first moves of each answer, up to one that is illegal; `done` gets how many.

    `cells` has the tiles of a state in each row, 0 for the blank, and gets those of the last one.
    The moves of a row are the symbols from `begins`, `counts` of them: a way of the blank, or the
    number of ways plus a tile. `ways` has the cells that the blank can go to, or -1. `flip` is 1 to
    exchange U with D and L with R, else 0.
    """
    for row in range(len(cells)):
        blank, done[row] = 0, 0
        for cell in range(cells.shape[1]):
            if cells[row, cell] == 0:
                blank = cell
        for at in range(begins[row], begins[row] + counts[row]):
            symbol, to = symbols[at], -1
            if symbol < ways.shape[1]:
                to = ways[blank, symbol ^ flip]
            else:
                for way in range(ways.shape[1]):
                    target = ways[blank, way]
                    if target >= 0 and cells[row, target] == symbol - ways.shape[1]:
                        to = target
            if to < 0:
                break
            cells[row, blank], cells[row, to] = cells[row, to], 0
            blank = to
            done[row] += 1
