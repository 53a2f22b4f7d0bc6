"""The explorer page's data of a board whose tours are all listed: an outline of its tours.

The tours themselves would be forty million bytes. The page searches for a requested tour. The data
has the number of tours that begin with each few squares, so that the search skips complete
branches, and the number of the first tour between two squares.
"""

from __future__ import annotations

import json

import polars as pl

from tablebase.puzzles.knight.board import KnightBoard, parse_board
from tablebase.puzzles.knight.tables import TOURS_PREFIX
from tablebase.schema import Table

PREFIX_SQUARES = 6
"""Squares of a tour's beginning: on 6x6 at most 65,908 tours share one."""


def make_signposts(tours: pl.LazyFrame, table: Table) -> bytes:
    """Make the page's data of the rows of a board's list, as JSON with an object for each start.

    `begun` has the number of tours with each beginning, in ascending order of squares, and `first`
    the number of the first tour to each end.
    """
    board = parse_board(table.name.removeprefix(TOURS_PREFIX))
    beginnings = tours.group_by(pl.col("path").str.slice(0, 2 * PREFIX_SQUARES)).len().collect()
    counts = dict(beginnings.rows())
    firsts = tours.group_by("start", "finish").agg(pl.col("number").min()).sort("start", "finish")
    ends: dict[str, dict[str, int]] = {name: {} for name in board.name_squares()}
    for start, end, number in firsts.collect().rows():
        ends[start][end] = number
    rows = [
        {
            "begun": [counts.get(path, 0) for path in _list_prefixes(board, [start])],
            "first": ends[board.name_square(start)],
        }
        for start in range(board.squares)
    ]
    return json.dumps(rows, separators=(",", ":")).encode()


def _list_prefixes(board: KnightBoard, path: list[int]) -> list[str]:
    """Return every continuation of a path to `PREFIX_SQUARES` squares, in ascending order.

    They are texts as in the tables.
    """
    if len(path) == PREFIX_SQUARES:
        return ["".join(map(board.name_square, path))]
    next_squares = [square for square in board.list_neighbours(path[-1]) if square not in path]
    return [prefix for square in next_squares for prefix in _list_prefixes(board, [*path, square])]
