"""Tables of knight's tours: every path walked again, square by square, a row group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import permutations

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.verify.claims import Array, ClaimCheck, Rows
from pipeline.verify.knight.recount import COUNTED_AGAIN, list_jumps, recount_tours
from pipeline.verify.knight.references import FIVE_SQUARES, find_known_closed, find_known_total
from pipeline.verify.manifest_checks import ListedTable, check_records, decode_rows
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.definition import AllTours, TourPerPair

HOW = (
    "every path was walked, none appears twice, and a second count, path by path, finds as many "
    "from every square"
)
HOW_OF_PAIRS = (
    "every path was walked, and there is one for every pair of squares whose colours allow it; "
    "which of a pair's tours is listed follows from no rule"
)
COLUMNS = ("board", "start", "finish", "number", "closed", "path")
NO_SQUARE = 255


def prove_every_tour(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove a table of all tours: in order, none twice, and as many as there are.

    Its result: how many begin at each square, and how many of those are closed.
    """
    board = _get_board(listed)
    pairs, last = np.zeros(board.squares**2, dtype=np.int64), None
    text = "the paths strictly ascend in their square numbers: no tour appears twice"
    for rows, squares, check in _iter_walked(listed, text):
        # from 1, as such text ends before its last zeros
        texts = (squares + np.uint8(1)).view(f"S{board.squares}").ravel()
        rows.require_ascending(check, "path", texts, last)
        last = texts[-1]
        ends = squares[:, 0].astype(np.int64) * board.squares + squares[:, -1]
        pairs += np.bincount(ends, minlength=len(pairs))
    between = pairs.reshape(board.squares, board.squares)
    text = "equally many tours lead from a square to another and back, and between mirrored squares"
    with listed.begin_claim(text) as check:
        turned = np.array([board.find_images(square) for square in range(board.squares)]).T
        images = [("back", between.T), *(("mirrored", between[np.ix_(at, at)]) for at in turned)]
        for how, image in images:
            for start, end in np.argwhere(between != image)[:1]:
                pair = f"{board.name_square(start)} to {board.name_square(end)}"
                found = f"{between[start, end]:,} from {pair}"
                check.refute(found, f"{image[start, end]:,}, as {how}")
    closing = list_jumps(board)[:, None] >> np.arange(board.squares) & 1
    counts = {"tours": between.sum(axis=1), "closed": (between * closing).sum(axis=1)}
    _prove_counts(listed, board, counts)
    listed.note_missing_proofs(COLUMNS)
    return listed.make_outcome(Grade.PROVED, HOW, counts)


def _prove_counts(listed: ListedTable, board: KnightBoard, counts: Mapping[str, Array]) -> None:
    """As many as there are, and none twice: so no tour is missing. And as many as published."""

    def prove(text: str, known: Callable[[], Mapping[str, ArrayLike]]) -> None:
        with listed.begin_claim(text) as check:
            for what, expected in known().items():
                found, wanted = counts[what], np.broadcast_to(expected, board.squares)
                for square in range(board.squares):
                    check.require_equal(
                        f"{what} from {board.name_square(square)}:", found[square], wanted[square]
                    )

    prove(f"no tour is missing: from every square {COUNTED_AGAIN}", lambda: recount_tours(board))
    if total := find_known_total(board):
        with listed.begin_claim(f"{board} has {total[0]:,} directed tours ({total[1]})") as check:
            check.require_equal("tours", int(counts["tours"].sum()), total[0])
    if closed := find_known_closed(board):
        text = f"{closed[0]:,} directed closed tours of {board} start at every square ({closed[1]})"
        prove(text, lambda: {"closed": closed[0]})
    if (board.files, board.ranks) == (5, 5):
        text = "the numbers of tours from each square match published numbers"
        known = [*FIVE_SQUARES, *FIVE_SQUARES[-2::-1]]
        prove(f"{text} (OEIS A165134, example)", lambda: {"tours": known})


def prove_pairs(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove a table of one tour for every ordered pair of squares, and its index."""
    board, paths = _get_board(listed), []
    every = [pair for pair in permutations(range(board.squares), 2) if board.can_join(*pair)]
    pairs = [f"{board.name_square(start)} to {board.name_square(end)}" for start, end in every]
    text = "there is one tour for every ordered pair of squares whose colours allow it, in order"
    for rows, squares, check in _iter_walked(listed, text):
        check.require_equal("rows", listed.entry.rows, len(pairs))
        found = [
            f"{board.name_square(path[0])} to {board.name_square(path[-1])}" for path in squares
        ]
        rows.require_column(check, "from", pairs[rows.begin :][: len(rows)], found=found)
        paths.append(squares)
    text = "each record holds the squares of its row's path"
    check_records(listed, text, {"squares": np.concatenate(paths)})
    listed.note_missing_proofs(COLUMNS, ("squares",))
    return listed.make_outcome(Grade.PROVED, HOW_OF_PAIRS)


def _get_board(listed: ListedTable) -> KnightBoard:
    recipe = listed.definition.recipe
    assert isinstance(recipe, (AllTours, TourPerPair))
    return recipe.board


def _iter_walked(listed: ListedTable, order: str) -> Iterator[tuple[Rows, Array, ClaimCheck]]:
    """Some rows at a time, with their paths as square numbers; all of them prove three claims. Who
    takes them proves of each the one that is given with it, how they are ordered.
    """
    board, begins = _get_board(listed), {file.first for file in listed.entry.files}
    tours = "every path is a tour: it visits each square once, by knight's jumps"
    with (
        listed.begin_claim(order) as ordered,
        listed.begin_claim("board, start, finish, closed and number match the path") as matched,
        listed.begin_claim(tours) as walked,
    ):
        start, number = -1, 0
        for rows, squares in decode_rows(listed, partial(_walk_paths, walked, matched, board)):
            # numbers go on from row to row of a start, and begin anew in every file
            starts = np.append(-1 if rows.begin in begins else start, squares[:, 0])
            numbers = np.append(number, rows.read_numbers("number"))
            following = np.where(starts[1:] == starts[:-1], numbers[:-1] + 1, 0)
            rows.require_column(matched, "number", following)
            yield rows, squares, ordered
            start, number = starts[-1], numbers[-1]
            walked.report_progress(rows.begin + len(rows))


def _walk_paths(walked: ClaimCheck, matched: ClaimCheck, board: KnightBoard, rows: Rows) -> Array:
    """Walk every path, and match the columns beside it: its squares as numbers, a row a path."""
    count, path = board.squares, rows.column("path")
    written = np.full(1 << 16, NO_SQUARE, dtype=np.uint8)
    written[np.frombuffer("".join(board.name_squares()).encode(), "<u2")] = np.arange(count)
    # what is no square has no bit, so that its path never visits all
    bits, near = np.zeros((2, NO_SQUARE + 1), dtype=np.int64)
    bits[:count], near[:count] = 1 << np.arange(count), list_jumps(board)
    squares: Array = written[rows.read_cells(walked, "path", 2 * count).view("<u2")]
    visited, has_left = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.bool_)
    reach = bits.sum()
    for here in squares.T:
        bit = bits[here]
        visited |= bit
        has_left |= reach & bit == 0
        reach = near[here]
    rows.require_none(walked, (visited != bits.sum()) | has_left, lambda row: (path[row], "a tour"))
    start, end = squares[:, 0], squares[:, -1]
    rows.require_column(matched, "board", pa.repeat(str(board), len(rows)))
    for name, square in (("start", start), ("finish", end)):
        rows.require_column(
            matched, name, pa.DictionaryArray.from_arrays(square, list(board.name_squares()))
        )
    rows.require_column(matched, "closed", near[start] >> end & 1 == 1)
    return squares
