"""The proofs of tables that list knight's tours: every path is followed square by square."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import permutations

import numpy as np
import pyarrow as pa

from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.verify.claims import (
    ClaimCheck,
    Proof,
    PublishedTable,
    Rows,
    Seen,
    Verdict,
)
from puzzle_tablebase.pipeline.verify.files import check_records, decode_rows
from puzzle_tablebase.pipeline.verify.knight_counts import (
    COUNTED_AGAIN,
    list_jumps,
    recount_tours,
)
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import AllTours, TourPerPair

HOW = (
    "every path was walked, none appears twice, and a second count, path by path, finds as many "
    "from every square"
)
HOW_OF_PAIRS = (
    "every path was walked, and there is one for every pair of squares whose colours allow it; "
    "which of a pair's tours is listed follows from no rule"
)
COLUMNS = ("board", "start", "finish", "number", "closed", "path")
UNKNOWN_SQUARE = 255


def prove_every_tour(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove a table of all tours: in order, none twice, and none missing.

    The proof's result has the numbers of tours and of closed tours from each square.
    """
    board, last = _get_board(published), None
    near = list_jumps(board)
    tours, closed = np.zeros((2, board.squares), dtype=np.int64)
    text = "the paths strictly ascend in their square numbers: no tour appears twice"
    for rows, squares, check in _iter_checked_paths(published, text):
        # squares are numbered from 1 here, as numpy drops zeros at the end of such text
        texts = (squares + np.uint8(1)).view(f"S{board.squares}").ravel()
        rows.require_ascending(check, "path", texts, last)
        last = texts[-1]
        starts, is_closed = squares[:, 0], near[squares[:, 0]] >> squares[:, -1] & 1 == 1
        tours += np.bincount(starts, minlength=len(tours))
        closed += np.bincount(starts[is_closed], minlength=len(closed))
    counts = {"tours": tours, "closed": closed}
    # the tours are different, so equal counts show that none is missing
    text = f"no tour is missing: from every square {COUNTED_AGAIN}"
    with published.begin_claim(text) as check:
        for what, expected in recount_tours(board).items():
            for square in range(board.squares):
                name = f"{what} from {board.name_square(square)}:"
                check.require_equal(name, int(counts[what][square]), int(expected[square]))
    published.note_missing_proofs(COLUMNS)
    return published.make_proof(Verdict.PROVED, HOW, counts)


def prove_pairs(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove a table of one tour for every ordered pair of squares, and its index."""
    board, paths = _get_board(published), []
    ends = [pair for pair in permutations(range(board.squares), 2) if board.can_join(*pair)]
    pairs = [f"{board.name_square(start)} to {board.name_square(end)}" for start, end in ends]
    text = "there is one tour for every ordered pair of squares whose colours allow it, in order"
    for rows, squares, check in _iter_checked_paths(published, text):
        check.require_equal("rows", published.entry.rows, len(pairs))
        actual = [
            f"{board.name_square(path[0])} to {board.name_square(path[-1])}" for path in squares
        ]
        rows.require_column(check, "from", pairs[rows.begin :][: len(rows)], found=actual)
        paths.append(squares)
    text = "each record holds the squares of its row's path"
    check_records(published, text, {"squares": np.concatenate(paths)})
    published.note_missing_proofs(COLUMNS, ("squares",))
    return published.make_proof(Verdict.PROVED, HOW_OF_PAIRS)


def _get_board(published: PublishedTable) -> KnightBoard:
    recipe = published.definition.recipe
    assert isinstance(recipe, (AllTours, TourPerPair))
    return recipe.board


def _iter_checked_paths(
    published: PublishedTable, order: str
) -> Iterator[tuple[Rows, Array, ClaimCheck]]:
    """Yield the rows in chunks, each with its paths as square numbers and a check of their order.

    Two claims are proved here: that every path is a tour, and that the other columns match it. The
    caller uses the check to prove the third, `order`.
    """
    board = _get_board(published)
    tours = "every path is a tour: it visits each square once, by knight's jumps"
    with (
        published.begin_claim(order) as order_check,
        published.begin_claim(
            "board, start, finish, closed and number match the path"
        ) as column_check,
        published.begin_claim(tours) as tour_check,
    ):
        start, number = -1, 0
        for rows, squares in decode_rows(
            published, partial(_check_paths, tour_check, column_check, board)
        ):
            starts = np.append(start, squares[:, 0])  # numbers ascend by one within a start
            numbers = np.append(number, rows.read_numbers("number"))
            expected = np.where(starts[1:] == starts[:-1], numbers[:-1] + 1, 0)
            rows.require_column(column_check, "number", expected)
            yield rows, squares, order_check
            start, number = starts[-1], numbers[-1]
            tour_check.report_progress(rows.begin + len(rows))


def _check_paths(
    tour_check: ClaimCheck, column_check: ClaimCheck, board: KnightBoard, rows: Rows
) -> Array:
    """Follow every path and compare the other columns with it; return its squares as numbers.

    The returned array has a row for each path.
    """
    count, path = board.squares, rows.column("path")
    square_of_name = np.full(1 << 16, UNKNOWN_SQUARE, dtype=np.uint8)
    square_of_name[np.frombuffer("".join(board.name_squares()).encode(), "<u2")] = np.arange(count)
    # a name of no square has no bit, so a path with one never visits all squares
    bits, near = np.zeros((2, UNKNOWN_SQUARE + 1), dtype=np.int64)
    bits[:count], near[:count] = 1 << np.arange(count), list_jumps(board)
    squares: Array = square_of_name[rows.read_cells(tour_check, "path", 2 * count).view("<u2")]
    visited = np.zeros(len(rows), dtype=np.int64)
    has_illegal_jump = np.zeros(len(rows), dtype=np.bool_)
    reach = bits.sum()
    for here in squares.T:
        bit = bits[here]
        visited |= bit
        has_illegal_jump |= reach & bit == 0
        reach = near[here]
    wrong = (visited != bits.sum()) | has_illegal_jump
    rows.require_none(tour_check, wrong, lambda row: (path[row], "a tour"))
    start, end = squares[:, 0], squares[:, -1]
    rows.require_column(column_check, "board", pa.repeat(str(board), len(rows)))
    for name, square in (("start", start), ("finish", end)):
        rows.require_column(
            column_check, name, pa.DictionaryArray.from_arrays(square, list(board.name_squares()))
        )
    rows.require_column(column_check, "closed", near[start] >> end & 1 == 1)
    return squares
