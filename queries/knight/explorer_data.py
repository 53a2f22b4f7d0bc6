"""What the page carries of a board whose every tour is listed: where each tour is to be found.

The tours themselves would be forty million bytes. The page searches for the one asked for, and is
told how many begin with each few squares, so that it passes whole branches by; and which is the
first between two squares.
"""

from __future__ import annotations

import json

import polars as pl

from queries.scans import scanned
from tablebase.puzzle import Table
from tablebase.puzzles.knight.board import Board, parse_board
from tablebase.puzzles.knight.definition import TOURS
from tablebase.tables.store import Store

BEGUN = 6
"""Squares of a beginning: of 6x6, the most tours with one beginning are 65,908."""


def signposts(store: Store, stage: str, table: Table) -> bytes:
    """For each start, as JSON: `begun`, the number of tours with each beginning, in ascending
    order of squares; `first`, the number of the first tour to each end.
    """
    board = parse_board(table.name.removeprefix(TOURS))
    tours = scanned(store, stage, table)
    beginnings = tours.group_by(pl.col("path").str.slice(0, 2 * BEGUN)).len().collect()
    counts = dict(beginnings.rows())
    firsts = tours.group_by("start", "finish").agg(pl.col("number").min()).sort("start", "finish")
    ends: dict[str, dict[str, int]] = {name: {} for name in board.names()}
    for start, end, number in firsts.collect().rows():
        ends[start][end] = number
    rows = [
        {
            "begun": [counts.get(path, 0) for path in _beginnings(board, [start])],
            "first": ends[board.name(start)],
        }
        for start in range(board.squares)
    ]
    return json.dumps(rows, separators=(",", ":")).encode()


def _beginnings(board: Board, path: list[int]) -> list[str]:
    """Every way on from a path to `BEGUN` squares, in ascending order, as in the tables."""
    if len(path) == BEGUN:
        return ["".join(map(board.name, path))]
    onward = [square for square in board.neighbours(path[-1]) if square not in path]
    return [found for square in onward for found in _beginnings(board, [*path, square])]
