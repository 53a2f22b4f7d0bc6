"""The proof of tables that count a board's tours from each square to each.

The tours of small boards are counted again, path by path, or in a proved list of them. Of larger
boards, what several numbers add up to is counted again: the tours from each square by the walker of
`tour_walker`, where they are few enough, and the closed tours, which are those to a square a jump
away. A number that is not counted again must still be that of its images, most of which the search
finds in other sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import polars as pl

from puzzle_tablebase.jit import Array
from puzzle_tablebase.notation.knight import TOURS_PREFIX, ChessBoard, parse_sides
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    Difference,
    ListedTable,
    Proof,
    Prover,
    compare,
    compare_records,
    require_equal,
)
from puzzle_tablebase.pipeline.proofs.knight_counts import (
    COUNTED_AGAIN,
    PUBLISHED_TOURS,
    choose_way,
    recount_by_sweep,
    recount_pairs,
)
from puzzle_tablebase.pipeline.proofs.knight_rules import find_ends, find_jumps, list_images
from puzzle_tablebase.pipeline.proofs.knight_tours import compare_pairs
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.resources import PROCESS_BYTES
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tour_sizes import estimate_sweep_bytes

COLUMNS = ("board", "start", "finish", "closed", "tours")
COUNTED_ONCE = "the number of each pair was only counted once"
CLOSED_AGAIN = "the closed tours were counted again, by a second sweep"
HOWS = {
    "list": (Verdict.PROVED, f"every pair was compared with {TOURS_PREFIX}{{}}, which is proved"),
    "walk": (Verdict.RECOUNTED, "every pair was counted again, path by path"),
    "sweep": (
        Verdict.INTACT,
        f"{CLOSED_AGAIN}, and the tours from each square, start by start; {COUNTED_ONCE}",
    ),
    "totals": (
        Verdict.PUBLISHED,
        f"tours are as many as published (OEIS A165134); {CLOSED_AGAIN}; {COUNTED_ONCE}",
    ),
    "": (Verdict.INTACT, f"{CLOSED_AGAIN}; {COUNTED_ONCE}"),
}
"""The verdict on a board by the way in which it is counted again."""


def prove_pair_counts(
    listed: ListedTable, proved: Mapping[str, ListedTable] | None = None
) -> Proof:
    """Prove a table of the numbers of tours by both ends, as far as they are counted again."""
    proved = proved or {}
    board = _get_board(listed.definition)
    ends, jumps = (find(board.files, board.ranks) for find in (find_ends, find_jumps))
    text = "there is one row for every ordered pair of squares whose colours allow it, in order"
    yield Claim(text, compare_pairs(listed, board))
    yield Claim("board and closed match the pair", compare_columns(listed, board, jumps[ends]))
    text = "as many tours lead back, and as many between the images of both squares"
    yield Claim(text, compare_images(listed, board, ends))
    way, name = choose_way(board, is_open=True, proved=proved), f"{TOURS_PREFIX}{board}"
    if way == "list":
        text, tours = f"between each two squares, tours are as many as in {name}", proved[name]
        yield Claim(text, compare_counts(listed, ends, lambda: count_listed(tours, board)))
    elif way == "walk":
        text = f"between each two squares, {COUNTED_AGAIN}"
        yield Claim(text, compare_counts(listed, ends, lambda: recount_pairs(board)))
    else:
        is_open = way == "sweep"
        what = "all tours, and the closed ones," if is_open else "the closed tours"
        text = f"{what} from each square are as many as in a second sweep"
        yield Claim(text, compare_sums(listed, board, is_open=is_open))
    if way == "totals":
        text = "all tours together are as many as published (OEIS A165134)"
        yield Claim(text, compare_total(listed))
    text = "each record holds the tours of its row"
    yield listed.claim_records(text, compare_records(listed, iter_tours(listed)))
    verdict, how = HOWS[way]
    return Proved(verdict, how.format(board), COLUMNS, ("tours",))


def _get_board(table: Table) -> ChessBoard:
    return ChessBoard(*parse_sides(table.recipe.parameters["board"]))


def estimate_memory(table: Table) -> int:
    """Estimate the bytes for the sweep that counts again, if one does."""
    board = _get_board(table)
    way = choose_way(board, is_open=True)
    needed = 0 if way == "walk" else estimate_sweep_bytes(board, closed=way != "sweep")
    return PROCESS_BYTES + needed


TOUR_PAIR_COUNTS = Prover(prove_pair_counts, estimate_memory, rests_on_proved=True)


def compare_columns(listed: ListedTable, board: ChessBoard, closed: Array) -> Iterator[Difference]:
    """Yield the first row with another board, or whose squares are a jump apart or not."""
    rows = listed.scan_rows("board", "closed").collect()
    expected = rows.with_columns(pl.Series("closed, expected", closed)).lazy()
    yield from compare(expected, "closed", board=pl.lit(str(board)))


def read_tours(listed: ListedTable) -> Array:
    """Return the numbers of all rows."""
    tours: Array = listed.scan_rows("tours").collect()["tours"].to_numpy()
    return tours


def iter_tours(listed: ListedTable) -> Iterator[dict[str, Array]]:
    """Yield what the records of all rows hold."""
    yield {"tours": read_tours(listed)}


def compare_counts(
    listed: ListedTable, ends: Array, count: Callable[[], Array]
) -> Iterator[Difference]:
    """Yield the first pair whose number differs from a count from each square to each."""
    expected = pl.Series("tours, expected", count()[ends])
    rows = listed.scan_rows("tours").collect().with_columns(expected)
    yield from compare(rows.lazy(), "tours")


def compare_images(listed: ListedTable, board: ChessBoard, ends: Array) -> Iterator[Difference]:
    """Yield the first pair whose number differs from that of an image in the other direction.

    One of the images is the pair itself.
    """
    tours = np.zeros(ends.shape, dtype=np.int64)
    tours[ends] = read_tours(listed)
    for image in list_images(board.files, board.ranks):
        turned = tours[np.ix_(image, image)].T
        yield from compare_counts(listed, ends, partial(np.copy, turned))


def count_listed(tours: ListedTable, board: ChessBoard) -> Array:
    """Count the listed tours from each square to each."""
    squares = {name: square for square, name in enumerate(board.name_squares())}
    counts = np.zeros((board.squares, board.squares), dtype=np.int64)
    pairs = tours.scan_rows("start", "finish").group_by("start", "finish").len().collect()
    for start, finish, count in pairs.iter_rows():
        counts[squares[start], squares[finish]] = count
    return counts


def compare_sums(listed: ListedTable, board: ChessBoard, *, is_open: bool) -> Iterator[Difference]:
    """Yield a square whose closed tours are not as many as in a second sweep.

    With `is_open`, compare all tours too.
    """
    rows = listed.scan_rows("start", "closed", "tours").collect()
    found = {"tours": rows, "closed": rows.filter("closed")}
    for what, expected in recount_by_sweep(board, is_open=is_open).items():
        sums = dict(found[what].group_by("start").agg(pl.col("tours").sum()).iter_rows())
        by_square = np.broadcast_to(expected, board.squares).tolist()
        for name, must_be in zip(board.name_squares(), by_square, strict=True):
            yield from require_equal(f"{what} from {name}:", sums.get(name, 0), must_be)


def compare_total(listed: ListedTable) -> Iterator[Difference]:
    """Yield the difference between the sum of all numbers and the published one."""
    yield from require_equal("tours", int(read_tours(listed).sum()), PUBLISHED_TOURS)
