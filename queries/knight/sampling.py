"""Uniform samples of tours: from the list of a board, or by rank, one tour after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from puzzle_tablebase.errors import BadRequest, NoAnswer
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import (
    MAX_RANKED_SIDE,
    explain_no_tour,
    get_sides,
    make_ranking_table,
    make_tour_table,
)
from puzzle_tablebase.queries.reader import Reader

if TYPE_CHECKING:
    from puzzle_tablebase.queries.knight.ranked_tours import RankedTours
    from puzzle_tablebase.queries.samples import Numbers, SampleRequest
    from puzzle_tablebase.schema import Table

CHUNK_TOURS = 1_000
"""Tours that are drawn by rank before they are written."""
CHUNK_ROWS = 1 << 20
"""Rows of a list that are read at a time."""


def draw_tours(
    reader: Any, board: KnightBoard, request: SampleRequest, *, closed: bool
) -> Iterator[pl.DataFrame]:
    """Draw tours of a board, and yield them a chunk at a time; see `Reader.draw`."""
    if not closed and not board.has_tours():
        raise NoAnswer(explain_no_tour(board, None))
    if not closed and min(get_sides(board)) > MAX_RANKED_SIDE:
        hint = "Add --closed" if board.has_closed_tours() else "Choose a smaller --board"
        raise BadRequest(f"{board} has too many open tours to draw from", hint)
    is_listed = board.squares <= reader.max_listed_squares
    if closed and is_listed and board.has_closed_tours() and not _has_ranking(reader, board):
        rows = list_closed_tours(reader, board)
        for numbers in request.draw_numbers(len(rows), "tour"):
            yield rows[numbers]
    elif closed or not is_listed:
        tours = reader.open_ranked_tours(board, closed=closed)
        counts = tours.list_counts()
        parts = request._replace(chunk_numbers=CHUNK_TOURS)
        for numbers in parts.draw_numbers(sum(counts), "tour"):
            yield sample_by_rank(tours, counts, numbers)
    else:
        table = make_tour_table(board)
        total = reader.collect(table, reader.scan_table(table).select(pl.len())).item()
        for numbers in request.draw_numbers(total, "tour"):
            yield sample_list(reader, table, total, numbers)


def _has_ranking(reader: Reader, board: KnightBoard) -> bool:
    """Return whether the closed tours of a board have numbers, or no list has them."""
    published = read_manifest(reader.store)
    ranking = make_ranking_table(board, closed=True).name
    return ranking in published or make_tour_table(board).name not in published


def sample_by_rank(ranked: RankedTours, counts: list[int], numbers: Numbers) -> pl.DataFrame:
    """Return the tours with these numbers, one row per number; `counts`: `RankedTours.list_counts`.

    Open tours are numbered through all starts: those from b1 follow those from a1, and so on.
    Closed tours go from a1 towards the lower of its neighbours.
    """
    board, names, ends = ranked.board, ranked.board.name_squares(), np.cumsum(counts)
    starts = np.searchsorted(ends, numbers, side="right")
    ranks = numbers - np.append(0, ends)[starts]
    paths = [""] * len(numbers)
    # neighbouring ranks pass the same states, whose records stay in memory
    for place in np.argsort(numbers, kind="stable").tolist():
        squares = ranked.unrank(int(ranks[place]), int(starts[place]))
        paths[place] = "".join([names[square] for square in squares])
    start_names = {} if ranked.closed else {"start": [names[start] for start in starts]}
    return pl.DataFrame(
        {
            "board": pl.repeat(str(board), len(numbers), eager=True),
            **start_names,
            "rank": ranks,
            "path": paths,
        }
    )


def list_closed_tours(reader: Reader, board: KnightBoard) -> pl.DataFrame:
    """List the closed tours of a board from the list of all: each once, as ranked ones are drawn.

    They go from the first square towards the lower of its neighbours.
    """
    start, (ahead, _) = board.name_square(0), sorted(board.list_neighbours(0))
    is_first = pl.col("path").str.slice(2, 2) == board.name_square(ahead)
    is_wanted = pl.col("closed") & (pl.col("start").cast(pl.String) == start) & is_first
    table = make_tour_table(board)
    rows = reader.scan_table(table).filter(is_wanted).select("board", "path")
    return reader.keep(("closed", table.name), lambda: reader.collect(table, rows))


def sample_list(reader: Reader, table: Table, total: int, numbers: Numbers) -> pl.DataFrame:
    """Return the rows of a list with these row numbers, in the order of the numbers."""
    rows = reader.scan_table(table)
    order = np.argsort(numbers, kind="stable")
    ascending, frames = numbers[order], list[pl.DataFrame]()
    for begin in range(0, total, CHUNK_ROWS):
        first, last = np.searchsorted(ascending, (begin, begin + CHUNK_ROWS))
        if first < last:
            chunk = reader.collect(table, rows.slice(begin, CHUNK_ROWS))
            frames.append(chunk[ascending[first:last] - begin])
    return pl.concat(frames)[np.argsort(order)]
