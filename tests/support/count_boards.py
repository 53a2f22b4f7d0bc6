"""A table of counts of small boards, of each way in which they are counted again."""

from itertools import accumulate

import pyarrow as pa

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import make_count_table
from tests.support.tampered import Change, cell

COUNTED = (2, 3), (3, 4), (4, 3), (4, 4), (4, 5), (5, 4), (7, 3)
CLOSED = (5, 6), (6, 5)
"""Boards of which only closed tours are counted."""
TABLE = make_count_table(COUNTED, CLOSED)
BOARDS = sorted((*COUNTED, *CLOSED))
ENDS = accumulate(files * ranks for files, ranks in BOARDS)
FIRST_ROWS = {f"{c}x{r}": end - c * r for (c, r), end in zip(BOARDS, ENDS, strict=True)}


def change_counts(*changes: tuple[str, str, int, int]) -> Change:
    """Return a change of a column at all images of a square, by column, board and square.

    A square below 0 stands for the whole board.
    """

    def change(rows: pa.Table) -> pa.Table:
        for column, name, square, difference in changes:
            board = KnightBoard(*map(int, name.split("x")))
            for at in set(board.find_images(square)) if square >= 0 else range(board.squares):
                row = FIRST_ROWS[name] + at
                rows = cell(column, row, rows[column][row].as_py() + difference)(rows)
        return rows

    return change
