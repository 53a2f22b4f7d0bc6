"""The knight's figures: tours by start and end, closed ones, and a gallery of whole boards."""

from __future__ import annotations

import altair as alt
import polars as pl

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.queries.figure import (
    Section,
    Shown,
    draw_board_map,
    draw_grid,
    format_labels,
    make_even_bounds,
)
from puzzle_tablebase.queries.svg import Picture, draw_tour

EIGHT = KnightBoard(8, 8)


# ---- queries: a page shows the source of these functions ---------------------------------------


def count_starts(knight_tours_5x5: pl.LazyFrame, knight_tours_6x6: pl.LazyFrame) -> pl.DataFrame:
    return (
        pl.concat([knight_tours_5x5, knight_tours_6x6])
        .group_by("board", "start")
        .agg(pl.len().alias("tours"), pl.col("closed").sum())
        .sort("board", "start")
        .collect()
    )


def sum_counts(knight_counts: pl.LazyFrame) -> pl.DataFrame:
    return (
        knight_counts.drop_nulls("tours")
        .group_by("board", "files", "ranks")
        .agg(pl.col("tours").sum(), pl.col("closed").sum())
        .sort("files", "ranks")
        .collect()
    )


def count_ends(tours: pl.LazyFrame) -> pl.DataFrame:
    # one start of those that symmetries map to each other; on 5x5 no tour starts at b1 or c2
    return (
        tours.filter(pl.col("start").is_in(["a1", "b1", "c1", "b2", "c2", "c3"]))
        .group_by("start", "finish")
        .len("tours")
        .sort("start", "finish")
        .collect()
    )


def choose_gallery(knight_tours_8x8: pl.LazyFrame) -> pl.DataFrame:
    return (
        knight_tours_8x8.sort("closed", "number", descending=[True, False], maintain_order=True)
        .unique(["start", "closed"], keep="first", maintain_order=True)
        .filter(pl.col("start").is_in(["a1", "b1", "c2", "d4", "h8", "e5"]))
        .sort("start", "closed", descending=[False, True])
        .collect()
    )


# ---- what the figures show ----------------------------------------------------------------------


def _add_file_rank(frame: pl.DataFrame, square: str) -> pl.DataFrame:
    """Add the columns `file` and `rank` of a column of squares."""
    name = pl.col(square).cast(pl.String)
    file, rank = name.str.head(1), name.str.slice(1).cast(pl.UInt8)
    return frame.with_columns(file=file, rank=rank)


def _fill_board(frame: pl.DataFrame, side: int, square: str) -> pl.DataFrame:
    """Add a row of zeros for every square of a board that has no row, with `file` and `rank`."""
    names = [f"{file}{rank}" for rank in range(1, side + 1) for file in "abcdef"[:side]]
    squares = pl.DataFrame({square: names}, {square: frame.schema[square]})
    filled = squares.join(frame, on=square, how="left", maintain_order="left").fill_null(0)
    return _add_file_rank(filled, square)


SECTION = Section(
    "The knight's tour",
    "Tours are directed: a tour and its reverse count as two. A closed tour ends one knight's jump "
    "from its start.",
)


@SECTION.add("knight-starts", "Tours of 5x5 and 6x6 by start", count_starts)
def _show_starts(frame: pl.DataFrame) -> Shown:
    finding = "On both boards, more tours start from a corner than from any other square"
    total = frame.group_by("board").agg(pl.col("tours").sum()).sort("board")["tours"].to_list()
    text = (
        f"Directed open tours from each square: {total[0]:,} of 5x5, {total[1]:,} of 6x6. Each "
        "board has a scale of colours of its own. An empty square starts none: on a board of odd "
        "size a tour starts and ends on the corners' colour."
    )
    boards = {}
    for side in (5, 6):
        name = f"{side}x{side}"
        tours = frame.filter(pl.col("board") == name).drop("board")
        cells = _fill_board(tours, side, "start").with_columns(format_labels("tours"))
        boards[name] = draw_board_map(cells, "tours", name, 56)
    return finding, text, boards


@SECTION.add("knight-counts", "Tours of every small board", sum_counts)
def _show_counts(frame: pl.DataFrame) -> Shown:
    open_boards, closed_boards = (
        frame.filter(pl.col(column) > 0).height for column in ("tours", "closed")
    )
    finding = (
        f"{open_boards} of the {frame.height} boards that are counted have a tour, "
        f"{closed_boards} a closed one"
    )
    text = (
        f"The exact number of directed tours: {open_boards} of the {frame.height} boards "
        "that are counted have any. An empty square means none, or a board that is not counted."
    )
    bounds: list[float] = [10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]
    charts = []
    for column, title in (("tours", "open tours"), ("closed", "closed tours")):
        chart = draw_grid(
            frame.with_columns(format_labels(column)),
            alt.X("files:O", title="files"),
            alt.Y("ranks:O", sort="descending", title="ranks"),
            column,
            bounds,
        )
        files, ranks = frame["files"].n_unique(), frame["ranks"].n_unique()
        charts.append(chart.properties(title=title, width=files * 76, height=ranks * 30))
    return finding, text, alt.vconcat(*charts).resolve_scale(color="independent")


@SECTION.add("knight-closed", "The share of closed tours of 6x6, by start", count_starts)
def _show_closed_shares(frame: pl.DataFrame) -> Shown:
    by_board = frame.group_by("board").agg(pl.col("tours").sum(), pl.col("closed").sum())
    six = by_board.sort("board").row(-1, named=True)
    starts = frame.filter(pl.col("board") == "6x6")
    finding = (
        "Each square of 6x6 starts equally many closed tours: their share is highest where the "
        "fewest tours start"
    )
    text = (
        f"Of the tours of 6x6 {six['closed']:,} are closed, {six['closed'] / six['tours']:.1%} of "
        f"all. From every square {starts['closed'][0]:,} are closed, because a closed tour can "
        "start at any of its squares; so the share is high where few tours start. No tour of 5x5 "
        "is closed."
    )
    cells = _add_file_rank(starts, "start").with_columns(
        (100 * pl.col("closed") / pl.col("tours")).alias("share")
    )
    cells = cells.with_columns(format_labels("share", "{:.1f}%"))
    return finding, text, draw_board_map(cells, "share", "6x6", 50)


@SECTION.add("knight-ends-6x6", "Where tours of 6x6 end", count_ends, "knight_tours_6x6")
@SECTION.add("knight-ends-5x5", "Where tours of 5x5 end", count_ends, "knight_tours_5x5")
def _show_ends(frame: pl.DataFrame) -> Shown:
    top = frame.sort("tours", descending=True, maintain_order=True).row(0, named=True)
    finding = (
        f"From {top['start']}, most tours end on {top['finish']}: {top['tours']:,}, "
        "more than between any other two squares"
        if (frame["tours"] == top["tours"]).sum() == 1
        else f"At most {top['tours']:,} tours connect two squares"
    )
    text = (
        "The number of tours from a square to each other square, on one scale of colours. The "
        "starts shown represent all starts, which follow by turning and mirroring the board. "
        f"At most {top['tours']:,} connect two squares (for example {top['start']} and "
        f"{top['finish']})."
    )
    boards, bounds = {}, make_even_bounds(frame["tours"])
    side = 6 if "a6" in frame["finish"] else 5
    for start in frame["start"].unique(maintain_order=True):
        ends = frame.filter(pl.col("start") == start).drop("start")
        cells = _fill_board(ends, side, "finish").with_columns(format_labels("tours"))
        name = f"from {start}"
        boards[name] = draw_board_map(cells, "tours", name, 48 if side == 6 else 38, bounds)
    return finding, text, boards


@SECTION.add("knight-gallery", "A gallery of tours of 8x8", choose_gallery)
def _show_gallery(frame: pl.DataFrame) -> Shown:
    closed = frame["closed"].sum()
    finding = f"{closed} tours that close and {frame.height - closed} that do not"
    text = (
        f"{frame.height} tours of the 8x8 board: for some starts, the first closed and the first "
        "open tour. The start is green, the end amber; a dashed line closes a closed tour."
    )
    columns, pitch_x, pitch_y = 4, 236, 262
    picture = Picture()
    shapes = []
    for number, path in enumerate(frame["path"]):
        row, column = divmod(number, columns)
        tour = draw_tour(EIGHT, path, is_small=True)
        shapes.append(
            f'<g transform="translate({column * pitch_x} {row * pitch_y})">'
            f"{tour[tour.index('>') + 1 : tour.rindex('</svg>')].strip()}</g>"
        )
    svg = picture.to_svg(columns * pitch_x - 16, -(-frame.height // columns) * pitch_y - 18)
    return finding, text, svg.replace("</svg>", "\n".join(shapes) + "\n</svg>")
