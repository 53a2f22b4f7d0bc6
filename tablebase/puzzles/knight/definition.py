"""The knight: boards, squares, jumps, and the tables of its tours.

On a board of C files and R ranks, square number = file + C * rank from 0: a1 = 0, b1 = 1. A tour
visits every square once; it is closed if the knight can jump from its last square to its first.
Tours are directed: one and its reverse are two.
"""

from __future__ import annotations

from tablebase.puzzle import Puzzle
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import (
    COUNTED_BOARDS,
    PAIRS_BOARD,
    TOUR_COLUMNS,
    TOURS_PREFIX,
    TourPerPair,
    make_count_table,
    make_tour_table,
)
from tablebase.schema import Table

_PAIRS = KnightBoard(*PAIRS_BOARD)


class Knight(Puzzle):
    name = "knight"
    title = "Knight's tour"
    example = "b1"
    tables = (
        make_tour_table(KnightBoard(5, 5)),
        make_tour_table(KnightBoard(6, 6)),
        Table(
            f"{TOURS_PREFIX}{_PAIRS}",
            f"One knight's tour of the {_PAIRS} board for every ordered pair of squares that a "
            "tour can connect",
            "rows sorted by start, then finish (square numbers); row number = 32 * start + number",
            TOUR_COLUMNS,
            TourPerPair(_PAIRS),
            index=(("squares", f"{_PAIRS.squares}s"),),
            rows=_PAIRS.squares**2 // 2,
        ),
        make_count_table(COUNTED_BOARDS),
    )

    def find_tables(self, name: str, *, with_rows: bool | None = None) -> tuple[Table, ...]:
        if tables := super().find_tables(name):
            return tables
        from tablebase.puzzles.knight.names import find_tables

        return find_tables(name)

    def list_requests(self) -> dict[str, list[str]]:
        from tablebase.puzzles.knight.names import list_requests

        return list_requests()

    def format_example(self, table: str) -> str:
        if table == f"{TOURS_PREFIX}{_PAIRS}":
            return f"{self.name} {self.example}"
        from tablebase.puzzles.knight.names import format_example

        return format_example(table) or f"{self.name} --board 5x5 --count"


PUZZLE = Knight()
