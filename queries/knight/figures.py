"""The knight's figures: tours by start and end, closed ones, and a gallery of whole boards."""

from __future__ import annotations

import altair as alt
import polars as pl

from queries.charts import board, grid, labelled, side_by_side
from queries.figure import Drawn, Figure, Section
from queries.knight.svg import tour_svg
from queries.svg import Picture
from tablebase.puzzles.knight.board import Board

EIGHT = Board(8, 8)


# ---- queries: what a page shows is the source of these -----------------------------------------


def starts(knight_tours_5x5: pl.LazyFrame, knight_tours_6x6: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([knight_tours_5x5, knight_tours_6x6])
        .group_by("board", "start")
        .agg(pl.len().alias("tours"), pl.col("closed").sum())
        .sort("board", "start")
        .collect()
    )


def counts(knight_counts: pl.LazyFrame) -> pl.DataFrame:
    return (
        knight_counts.drop_nulls("tours")
        .group_by("board", "files", "ranks")
        .agg(pl.col("tours").sum(), pl.col("closed").sum())
        .sort("files", "ranks")
        .collect()
    )


def closed(knight_tours_8x8: pl.LazyFrame) -> pl.DataFrame:
    return (
        knight_tours_8x8.group_by("start")
        .agg(pl.len().alias("tours"), pl.col("closed").sum())
        .sort("start")
        .collect()
    )


def ends_5x5(knight_tours_5x5: pl.LazyFrame) -> pl.DataFrame:
    return (
        knight_tours_5x5.filter(pl.col("start").is_in(["a1", "c1", "b2", "c3"]))
        .group_by("start", "finish")
        .len("tours")
        .sort("start", "finish")
        .collect()
    )


def ends_6x6(knight_tours_6x6: pl.LazyFrame) -> pl.DataFrame:
    return (
        knight_tours_6x6.filter(pl.col("start").is_in(["a1", "b1", "c1", "b2", "c2", "c3"]))
        .group_by("start", "finish")
        .len("tours")
        .sort("start", "finish")
        .collect()
    )


def gallery(knight_tours_8x8: pl.LazyFrame) -> pl.DataFrame:
    return (
        knight_tours_8x8.sort("closed", "number", descending=[True, False], maintain_order=True)
        .unique(["start", "closed"], keep="first", maintain_order=True)
        .filter(pl.col("start").is_in(["a1", "b1", "c2", "d4", "h8", "e5"]))
        .sort("start", "closed", descending=[False, True])
        .collect()
    )


# ---- what they show -----------------------------------------------------------------------------


def _placed(frame: pl.DataFrame, square: str) -> pl.DataFrame:
    """With file and rank of a column of squares."""
    name = pl.col(square).cast(pl.String)
    file, rank = name.str.head(1), name.str.slice(1).cast(pl.UInt8)
    return frame.with_columns(file=file, rank=rank)


def _filled(frame: pl.DataFrame, side: int, square: str) -> pl.DataFrame:
    """With a row for every square of a board, 0 where there was none."""
    names = [f"{file}{rank}" for rank in range(1, side + 1) for file in "abcdef"[:side]]
    every = pl.DataFrame({square: names}, {square: frame.schema[square]})
    filled = every.join(frame, on=square, how="left", maintain_order="left").fill_null(0)
    return _placed(filled, square)


def _starts(frame: pl.DataFrame) -> Drawn:
    boards = []
    for side in (5, 6):
        tours = frame.filter(pl.col("board") == f"{side}x{side}")
        cells = _filled(tours.drop("board"), side, "start").with_columns(labelled("tours"))
        boards.append(board(cells, "tours", f"{side}x{side}", 50))
    return side_by_side(boards)


def _text_starts(frame: pl.DataFrame) -> str:
    total = frame.group_by("board").agg(pl.col("tours").sum()).sort("board")["tours"].to_list()
    return (
        f"Directed open tours from each square: {total[0]:,} of 5x5, {total[1]:,} of 6x6. An empty "
        "square starts none: on a board of odd size a tour starts and ends on the corners' colour."
    )


def _counts(frame: pl.DataFrame) -> Drawn:
    bounds: list[float] = [10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
    charts = []
    for column, title in (("tours", "open tours"), ("closed", "closed tours")):
        drawn = grid(
            frame.with_columns(labelled(column)),
            alt.X("files:O", title="files"),
            alt.Y("ranks:O", sort="descending", title="ranks"),
            column,
            bounds,
        )
        charts.append(drawn.properties(title=title, width=6 * 64, height=6 * 34))
    return side_by_side(charts)


def _text_counts(frame: pl.DataFrame) -> str:
    some = frame.filter(pl.col("tours") > 0).height
    return (
        f"The exact number of directed tours: {some} of the {frame.height} boards that are counted "
        "have any. An empty square means none, or a board that is not counted."
    )


def _closed_shares(frame: pl.DataFrame) -> Drawn:
    six = _placed(frame.filter(pl.col("board") == "6x6"), "start").with_columns(
        (100 * pl.col("closed") / pl.col("tours")).alias("share")
    )
    return board(six.with_columns(labelled("share", "{:.1f} %")), "share", "6x6", 50)


def _text_closed_shares(frame: pl.DataFrame) -> str:
    by_board = frame.group_by("board").agg(pl.col("tours").sum(), pl.col("closed").sum())
    five, six = by_board.sort("board").to_dicts()
    same = frame.filter(pl.col("board") == "6x6")["closed"].unique()
    assert five["closed"] == 0
    each = (
        f" From every square {same[0]:,} are closed, because a closed tour can start at any of "
        "its squares; so the share is high where few tours start."
        if same.len() == 1
        else ""
    )
    return (
        f"Of the tours of 6x6 {six['closed']:,} are closed, {six['closed'] / six['tours']:.1%} of "
        f"all.{each} No tour of 5x5 is closed."
    )


def _closed_pairs(frame: pl.DataFrame) -> Drawn:
    cells = _placed(frame, "start").with_columns(labelled("closed"))
    return board(cells, "closed", "8x8", 36)


def _text_closed_pairs(frame: pl.DataFrame) -> str:
    jumps = {name: len(EIGHT.neighbours(EIGHT.number(name))) for name in frame["start"]}
    assert dict(frame.select("start", "closed").rows()) == jumps
    return (
        f"The table of 8x8 has one tour for each of the {frame['tours'].sum():,} ordered pairs "
        f"of squares that a tour can connect; {frame['closed'].sum()} are closed. Each square "
        "shows how many closed tours start there: one for each jump from it."
    )


def _ends(frame: pl.DataFrame, side: int, columns: int) -> Drawn:
    boards = []
    for start in frame["start"].unique(maintain_order=True):
        ends = frame.filter(pl.col("start") == start).drop("start")
        cells = _filled(ends, side, "finish").with_columns(labelled("tours"))
        boards.append(board(cells, "tours", f"from {start}", 44 if side == 6 else 38))
    return side_by_side(boards, columns)


def _text_ends(frame: pl.DataFrame) -> str:
    top = frame.sort("tours", descending=True, maintain_order=True).to_dicts()[0]
    return (
        "The number of tours from a square to each other square. The starts shown represent all "
        "starts, which follow by turning and mirroring the board. At most "
        f"{top['tours']:,} connect two squares (for example {top['start']} and {top['finish']})."
    )


def _gallery(frame: pl.DataFrame) -> str:
    """The tours' pictures side by side in one."""
    across, wide, high = 4, 236, 262
    picture = Picture("Tours of the 8x8 board", bare=True)
    shapes = []
    for number, path in enumerate(frame["path"]):
        row, column = divmod(number, across)
        tour = tour_svg(EIGHT, path, square=27, numbered=False, bare=True)
        shapes.append(
            f'<g transform="translate({column * wide} {row * high})">'
            f"{tour[tour.index('</title>') + 8 : tour.rindex('</svg>')].strip()}</g>"
        )
    whole = picture.svg(across * wide - 16, -(-frame.height // across) * high - 18)
    return whole.replace("</svg>", "\n".join(shapes) + "\n</svg>")


def _text_gallery(frame: pl.DataFrame) -> str:
    return (
        f"{frame.height} tours of the 8x8 board: for some starts, the first closed and the first "
        "open tour. The start is green, the end amber; a dashed line closes a closed tour."
    )


SECTION = Section(
    "The knight's tour",
    "Tours are directed: a tour and its reverse count as two. A closed tour ends one knight's jump "
    "from its start.",
    Figure("knight-starts", "Tours by start", starts, _text_starts, _starts),
    Figure("knight-counts", "Tours of every small board", counts, _text_counts, _counts),
    Figure(
        "knight-closed", "The share of closed tours", starts, _text_closed_shares, _closed_shares
    ),
    Figure("knight-closed-8x8", "Closed tours of 8x8", closed, _text_closed_pairs, _closed_pairs),
    Figure(
        "knight-ends-5x5", "Where tours of 5x5 end", ends_5x5, _text_ends, lambda f: _ends(f, 5, 4)
    ),
    Figure(
        "knight-ends-6x6", "Where tours of 6x6 end", ends_6x6, _text_ends, lambda f: _ends(f, 6, 3)
    ),
    Figure("knight-gallery", "Gallery", gallery, _text_gallery, _gallery),
)
