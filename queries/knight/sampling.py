"""Uniform samples of tours: from the list of a board, or by rank, one tour after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import (
    MAX_LISTED_SQUARES,
    make_ranking_table,
    make_tour_table,
)

if TYPE_CHECKING:
    from puzzle_tablebase.queries.knight.ranked_tours import RankedTours
    from puzzle_tablebase.queries.samples import Numbers, SampleRequest

CHUNK_TOURS = 1_000
"""Tours that are drawn by rank before they are written."""


def draw_tours(
    reader: Any, board: KnightBoard, request: SampleRequest, *, closed: bool
) -> Iterator[pl.DataFrame]:
    """Draw tours of a board, and yield them a chunk at a time; see `Reader.draw`."""
    make_ranking_table(board, closed=closed)  # raises an error if there are none, or too many
    if closed or board.squares > MAX_LISTED_SQUARES:
        tours = reader.open_ranked_tours(board, closed=closed)
        counts = tours.list_counts()
        parts = request._replace(chunk_numbers=CHUNK_TOURS)
        for numbers in parts.draw_numbers(sum(counts), "tour"):
            yield sample_by_rank(tours, counts, numbers)
        return
    table = make_tour_table(board)
    rows = reader.scan_table(table).with_row_index("row")
    total = reader.collect(table, rows.select(pl.len())).item()
    for numbers in request.draw_numbers(total, "tour"):
        drawn = pl.DataFrame({"row": numbers}, {"row": pl.get_index_type()})
        chosen = reader.collect(table, rows.join(drawn.unique().lazy(), on="row", how="semi"))
        yield drawn.join(chosen, on="row", how="left", maintain_order="left").drop("row")


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
    rows = pl.DataFrame({"start": [names[start] for start in starts], "rank": ranks, "path": paths})
    rows = rows.drop("start") if ranked.closed else rows
    return rows.insert_column(0, pl.repeat(str(board), len(rows), eager=True).alias("board"))
