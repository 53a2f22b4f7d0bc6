"""A report's section on a sample of closed tours: how often each jump occurs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.errors import BadRequest, NotationError, quote
from puzzle_tablebase.process import expand_path
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.queries.batch_input import translate_input_errors
from puzzle_tablebase.queries.figure import Section, Shown, Source
from puzzle_tablebase.queries.svg import BOLD, INK, MUTED, RAMP, Picture, draw_board

CHUNK_ROWS = 1 << 16
"""Tours that are checked at a time."""


# ---- a sample as a file -------------------------------------------------------------------------


def load_sample(path: str) -> tuple[Section, Source]:
    """Load a sample file: return the report's section and the rows; BadRequest for other files."""
    path = expand_path(path)
    name = f"The sample {quote(path)}"

    def make_error(problem: str) -> BadRequest:
        example = "pipeline sample knight --board 8x8 --closed --size 1000000 --output FILE.parquet"
        return BadRequest(f"{name} cannot be shown: {problem}", f"Draw one: {example}")

    with translate_input_errors(name):
        rows = pl.scan_parquet(path, glob=False)
        types = rows.collect_schema()
        if any(types.get(column) != pl.String for column in ("board", "path")):
            raise make_error("it has no columns of text named board and path")
        boards = rows.select(pl.col("board").unique().sort()).collect()["board"].to_list()
        if len(boards) != 1:
            board_names = ", ".join(quote(str(board), 12) for board in boards[:3])
            raise make_error(
                f"its tours are of several boards ({board_names})" if boards else "it is empty"
            )
        try:
            board = parse_board(boards[0] or "")
        except NotationError as error:
            raise make_error(f"{quote(error.text)} is not a board") from error
        size = rows.select(pl.len()).collect().item()
        for begin in range(0, size, CHUNK_ROWS):
            paths = rows.select("path").slice(begin, CHUNK_ROWS).collect()["path"]
            is_closed = check_closed(board, paths)
            if not is_closed.all():
                at = int(np.argmin(is_closed))
                path_text = quote(str(paths[at]))
                raise make_error(
                    f"its row {begin + at + 1:,}, {path_text}, is no closed tour of {board}"
                )
    return SECTION, Source(path, size, rows)


def check_closed(board: KnightBoard, paths: pl.Series) -> npt.NDArray[np.bool_]:
    """Return for each path whether it is a closed tour."""
    width = 2 * board.squares
    has_width = (paths.str.len_bytes() == width).fill_null(value=False)
    text = "".join(paths.set(~has_width, "-" * width)).encode()
    names = np.frombuffer(text, np.uint8).reshape(len(paths), board.squares, 2).astype(np.int16)
    files, ranks = names[:, :, 0] - ord("a"), names[:, :, 1] - ord("1")
    on_board = (files >= 0) & (files < board.files)
    is_once = np.sort(files + board.files * ranks) == np.arange(board.squares)
    file_steps, rank_steps = (np.diff(sides, append=sides[:, :1]) for sides in (files, ranks))
    # the product of the steps is 2 for a knight's jump alone
    is_jump = abs(file_steps * rank_steps) == 2
    is_closed: npt.NDArray[np.bool_] = (on_board & is_once & is_jump).all(axis=1)
    return is_closed


# ---- the query: a page shows its source ---------------------------------------------------------


def count_jumps(sample: pl.LazyFrame) -> pl.DataFrame:
    squares = pl.col("path") + pl.col("path").str.head(2)  # the first again at the end
    length = sample.select(pl.col("path").str.len_chars().first()).collect().item()
    counts = [
        sample.group_by("board", jump=squares.str.slice(at, 4)).len("tours")
        for at in range(0, length, 2)
    ]
    start, end = pl.col("jump").str.head(2), pl.col("jump").str.tail(2)
    return (
        pl.concat(counts)
        .group_by("board", low=pl.min_horizontal(start, end), high=pl.max_horizontal(start, end))
        .agg(pl.col("tours").sum())
        .sort("board", "low", "high")
        .collect(engine="streaming")
    )


# ---- description and drawing of the answer ------------------------------------------------------


def find_images(board: KnightBoard, one: int, other: int) -> set[frozenset[int]]:
    """Return the images of a jump under the board's symmetries, each as a pair of squares."""
    pairs = zip(board.find_images(one), board.find_images(other), strict=True)
    return {frozenset(pair) for pair in pairs}


def compute_shares(frame: pl.DataFrame) -> tuple[KnightBoard, int, dict[str, float]]:
    """Return the board, the number of tours, and the share of tours that use each jump.

    A jump stands for all its images: it appears once, and its share is the mean over the images.
    The highest share comes first.
    """
    board = parse_board(frame["board"][0])
    uses = {
        frozenset((board.parse_square(low), board.parse_square(high))): count
        for low, high, count in frame.select("low", "high", "tours").rows()
    }
    tours = sum(uses.values()) // board.squares  # each has as many jumps as squares
    share_by_jump, counted = dict[str, float](), set[frozenset[int]]()
    for one in range(board.squares):
        for other in board.list_neighbours(one):
            if frozenset((one, other)) not in counted:
                images = find_images(board, one, other)
                uses_of_images = sum(uses.get(jump, 0) for jump in images)
                share_by_jump[board.name_square(one) + board.name_square(other)] = (
                    uses_of_images / (tours * len(images))
                )
                counted |= images
    return board, tours, dict(sorted(share_by_jump.items(), key=lambda item: -item[1]))


SIDE, LEFT, TOP = 56, 30, 70
ROW, BAR = 21, 170


def draw_jumps(
    board: KnightBoard, tours: int, shares: dict[str, float], *, bare: bool = False
) -> str:
    """Draw the board with every jump, and a bar for each jump of `compute_shares`."""
    title = "" if bare else f"How often each jump occurs among the closed tours of {board}"
    picture = Picture(title)
    picture.add_text(LEFT, 28, "The closed tours with each jump, of all", 15, INK, "start", BOLD)
    caption = f"{board}, from {tours:,} uniform samples; the thicker, the more"
    picture.add_text(LEFT, 48, caption, 12, MUTED, "start")
    centres = draw_board(picture, board, LEFT, TOP, SIDE)
    colours = {jump: RAMP[min(int(shares[jump] * len(RAMP)), len(RAMP) - 1)] for jump in shares}
    for jump, share in reversed(shares.items()):
        for pair in sorted(
            map(sorted, find_images(board, *map(board.parse_square, (jump[:2], jump[2:]))))
        ):
            picture.add_path([centres[square] for square in pair], colours[jump], 1 + 4 * share)
    name = LEFT + board.files * SIDE + 30
    bar, number = name + 50, name + 50 + BAR + 70
    for row, (jump, share) in enumerate(shares.items()):
        y = TOP + 14 + ROW * row
        picture.add_text(name, y, f"{jump[:2]}-{jump[2:]}", 12, INK, "start")
        picture.add_rect(bar, y - 9, round(BAR * share, 2), 10, colours[jump])
        error = (share * (1 - share) / tours) ** 0.5
        low, high = (round(bar + BAR * (share + off), 2) for off in (-error, error))
        picture.add_line(low, y - 4, high, y - 4, INK)
        for end in (low, high):
            # beyond the bar, so that the mark is visible on the darkest colour
            picture.add_line(end, y - 11, end, y + 3, INK)
        picture.add_text(number, y, f"{100 * share:.2f} %", 12, INK, "end")
        picture.add_text(number + 15, y, f"± {100 * error:.2f}", 12, MUTED, "start")
    bottom = TOP + max(board.ranks * SIDE, ROW * len(shares))
    return picture.to_svg(number + 75, bottom + 24)


SECTION = Section(
    "A sample of closed tours",
    "Every closed tour has a number, so that tours can be drawn with equal chances, also of boards "
    "that have too many to list. A tour and its reverse count as one.",
)


@SECTION.add("knight-jumps", "How often each jump occurs", count_jumps)
def _show_jumps(frame: pl.DataFrame) -> Shown:
    board, tours, shares = compute_shares(frame)
    most, *_, rarest = shares
    finding = (
        f"{most[:2]}-{most[2:]} is in {shares[most]:.0%} of the closed tours, "
        f"{rarest[:2]}-{rarest[2:]} in {shares[rarest]:.0%}"
    )
    text = (
        f"The share of {tours:,} closed tours of {board}, drawn with equal chances, that use each "
        "jump. A jump stands for its images when the board is turned and mirrored; its share is "
        "their mean. An error bar reaches one standard error to either side: the binomial one of a "
        f"single jump's share of so many tours. The rarest is {rarest[:2]}-{rarest[2:]}, in "
        f"{shares[rarest]:.1%} of the tours."
    )
    return finding, text, draw_jumps(board, tours, shares, bare=True)
