"""Samples of tours and counts from the rows of tables, and the answer of a count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from puzzle_tablebase.errors import (
    BadRequest,
)
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import (
    COUNTED_BOARDS,
    MAX_LISTED_SQUARES,
    get_sides,
    make_board_counts,
    make_count_table,
    make_ranking_table,
    make_tour_table,
)
from puzzle_tablebase.queries.prober import Prober
from puzzle_tablebase.queries.questions import Answer, align_rows
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Store

if TYPE_CHECKING:
    from typing import NoReturn

    from puzzle_tablebase.queries.knight.ranked_tours import RankedTours
    from puzzle_tablebase.queries.samples import Numbers, SampleRequest

CHUNK_TOURS = 1_000
"""Tours that are drawn by rank before they are written."""


class CountAnswer(Answer):
    """The number of directed tours from a square, and of the closed ones among them.

    `start` is None for the tours from all squares, `finish` for those to all, and `tours` where
    only closed ones are counted.
    """

    board: str
    start: str | None = None
    finish: str | None = None
    tours: int | None = None
    closed: int

    def to_text(self) -> str:
        """Format the answer as `pipeline query` prints it."""
        rows, adjective = [("closed", f"{self.closed:,}")], "closed"
        if self.tours is not None:
            rows, adjective = [("tours", f"{self.tours:,}"), *rows], "open"
        ends = f"{self.start or 'all squares'}{f' to {self.finish}' if self.finish else ''}"
        return f"{self.board} from {ends}, directed {adjective} tours\n\n{align_rows(rows)}"

    def to_svg(self) -> NoReturn:
        """Raise BadRequest, as a number has no picture."""
        raise BadRequest("--svg cannot be used with --count", "Leave out --count or --svg")


def read_tour_counts(
    prober: Prober, board: KnightBoard, start: int | None, *, is_closed: bool = False
) -> CountAnswer:
    """Return the number of tours from a table of counts; `start` None: from all squares.

    `is_closed`: count only closed tours.
    """
    table = _find_count_table(prober.files.store, board, is_closed=is_closed)
    rows = prober.files.scan(table).filter(board=str(board))
    if start is not None:
        rows = rows.filter(start=board.name_square(start))
    counts = prober.files.collect(table, rows.select("tours", "closed"))
    if counts.is_empty():
        problem = f"it has no row of {board}"
        raise prober.files.make_error(table.name, problem, "parquet")
    has_all = not is_closed and not counts["tours"].null_count()
    return CountAnswer(
        board=str(board),
        start=None if start is None else board.name_square(start),
        tours=int(counts["tours"].sum()) if has_all else None,
        closed=sum(counts["closed"].to_list()),  # of 8x10, they do not fit 64 bits
    )


def read_pair_count(
    prober: Any, board: KnightBoard, start: int, end: int, *, is_closed: bool
) -> CountAnswer:
    """Return the number of tours from a square to another, or only of closed ones."""
    tours = prober.find_pair_count(board, start, end, is_wanted=True)
    return CountAnswer(
        board=str(board),
        start=board.name_square(start),
        finish=board.name_square(end),
        tours=None if is_closed else tours,
        closed=tours if board.is_jump(start, end) else 0,
    )


def _find_count_table(store: Store, board: KnightBoard, *, is_closed: bool) -> Table:
    """Find the published table that counts a board's tours, or at least the closed ones.

    If there is none, return the table to build; raise BadRequest if the board is too large.
    """
    if get_sides(board) in COUNTED_BOARDS:
        return make_count_table(COUNTED_BOARDS)
    tables = list[Table]()
    for closed in (False, True)[: 1 + board.has_closed_tours()]:
        with suppress(BadRequest):  # the board is too large
            tables.append(make_board_counts(board, closed=closed))
    if not tables:
        raise BadRequest(f"No count for {board}: the board is too large")
    published = read_manifest(store)
    wanted = tables[-1 if is_closed else 0]  # closed tours alone are counted far quicker
    return next((table for table in tables if table.name in published), wanted)


def draw_tours(
    prober: Any, board: KnightBoard, request: SampleRequest, *, closed: bool
) -> Iterator[pl.DataFrame]:
    """Draw tours of a board, and yield them in chunks; see `Prober.draw`."""
    make_ranking_table(board, closed=closed)  # raises an error if there are none, or too many
    if closed or board.squares > MAX_LISTED_SQUARES:
        tours = prober.open_ranked_tours(board, closed=closed)
        counts = tours.list_counts()
        parts = request._replace(chunk_numbers=CHUNK_TOURS)
        for numbers in parts.draw_numbers(sum(counts), "tour"):
            yield sample_by_rank(tours, counts, numbers)
        return
    table = make_tour_table(board)
    rows = prober.files.scan(table).with_row_index("row")
    total = prober.files.collect(table, rows.select(pl.len())).item()
    for numbers in request.draw_numbers(total, "tour"):
        drawn = pl.DataFrame({"row": numbers}, {"row": pl.get_index_type()})
        chosen = prober.files.collect(table, rows.join(drawn.unique().lazy(), on="row", how="semi"))
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
    for at in np.argsort(numbers, kind="stable").tolist():
        squares = ranked.unrank(int(ranks[at]), int(starts[at]))
        paths[at] = "".join([names[square] for square in squares])
    rows = pl.DataFrame({"start": [names[start] for start in starts], "rank": ranks, "path": paths})
    rows = rows.drop("start") if ranked.closed else rows
    return rows.insert_column(0, pl.repeat(str(board), len(rows), eager=True).alias("board"))
