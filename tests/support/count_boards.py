"""A table of counts of small boards, by whose limits some are walked again and others swept."""

from itertools import accumulate
from pathlib import Path

import pyarrow as pa

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline.proofs.claims import ListedTable
from puzzle_tablebase.pipeline.proofs.knight_counts import CountLimits
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_count_table, make_tour_table
from puzzle_tablebase.stores.folder import Folder
from tests.support.tampered import Change, cell

COUNTED = (2, 3), (3, 4), (4, 3), (4, 4), (4, 5), (5, 4), (7, 3)
CLOSED = (5, 6), (6, 5)
"""Boards of which only closed tours are counted."""
TABLE = make_count_table(COUNTED, CLOSED)
BOARDS = sorted((*COUNTED, *CLOSED))
ENDS = accumulate(files * ranks for files, ranks in BOARDS)
FIRST_ROWS = {f"{c}x{r}": end - c * r for (c, r), end in zip(BOARDS, ENDS, strict=True)}
LIMITS = CountLimits(walked_squares=16)


def open_counts(folder: Path) -> ListedTable:
    store, name = Folder(folder), TABLE.name
    return ListedTable(store, name, read_manifest(store)[name], PUZZLE, TABLE)


def list_proved(folder: Path, *names: str) -> dict[str, ListedTable]:
    """Return the lists of tours of these boards, by name, as if they were proved."""
    store, tables = Folder(folder), [make_tour_table(parse_board(name)) for name in names]
    entries = read_manifest(store)
    return {
        table.name: ListedTable(store, table.name, entries[table.name], PUZZLE, table)
        for table in tables
    }


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
