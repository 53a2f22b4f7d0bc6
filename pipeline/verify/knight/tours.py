"""Tables of knight's tours: every path walked again, square by square, a row group at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import permutations

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from pipeline.verify.claims import Array, Fact, Rows
from pipeline.verify.knight.recount import COUNTED_AGAIN, jumps, recounted
from pipeline.verify.knight.references import FIVE_SQUARES, known_closed, known_total
from pipeline.verify.manifest_checks import Listed, check_records, decoded
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.puzzles.knight.board import Board
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


def prove_every_tour(listed: Listed, seen: Seen) -> Outcome:
    """Prove a table of all tours: in order, none twice, and as many as there are.

    Its result: how many begin at each square, and how many of those are closed.
    """
    board = _board(listed)
    pairs, last = np.zeros(board.squares**2, dtype=np.int64), None
    text = "the paths strictly ascend in their square numbers: no tour appears twice"
    for rows, squares, fact in _walked(listed, text):
        # from 1, as such text ends before its last zeros
        texts = (squares + np.uint8(1)).view(f"S{board.squares}").ravel()
        rows.ascend(fact, "path", texts, last)
        last = texts[-1]
        ends = squares[:, 0].astype(np.int64) * board.squares + squares[:, -1]
        pairs += np.bincount(ends, minlength=len(pairs))
    between = pairs.reshape(board.squares, board.squares)
    text = "equally many tours lead from a square to another and back, and between mirrored squares"
    with listed.claim(text) as fact:
        turned = np.array([board.turned(square) for square in range(board.squares)]).T
        images = [("back", between.T), *(("mirrored", between[np.ix_(at, at)]) for at in turned)]
        for how, image in images:
            for start, end in np.argwhere(between != image)[:1]:
                found = f"{between[start, end]:,} from {board.name(start)} to {board.name(end)}"
                fact.refuted(found, f"{image[start, end]:,}, as {how}")
    closing = jumps(board)[:, None] >> np.arange(board.squares) & 1
    counts = {"tours": between.sum(axis=1), "closed": (between * closing).sum(axis=1)}
    _prove_counts(listed, board, counts)
    listed.name_unproved(COLUMNS)
    return listed.outcome(Grade.PROVED, HOW, counts)


def _prove_counts(listed: Listed, board: Board, counts: Mapping[str, Array]) -> None:
    """As many as there are, and none twice: so no tour is missing. And as many as published."""

    def prove(text: str, known: Callable[[], Mapping[str, ArrayLike]]) -> None:
        with listed.claim(text) as fact:
            for what, expected in known().items():
                found, wanted = counts[what], np.broadcast_to(expected, board.squares)
                for square in range(board.squares):
                    fact.same(f"{what} from {board.name(square)}:", found[square], wanted[square])

    prove(f"no tour is missing: from every square {COUNTED_AGAIN}", lambda: recounted(board))
    if total := known_total(board):
        with listed.claim(f"{board} has {total[0]:,} directed tours ({total[1]})") as fact:
            fact.same("tours", int(counts["tours"].sum()), total[0])
    if closed := known_closed(board):
        text = f"{closed[0]:,} directed closed tours of {board} start at every square ({closed[1]})"
        prove(text, lambda: {"closed": closed[0]})
    if (board.files, board.ranks) == (5, 5):
        text = "the numbers of tours from each square match published numbers"
        known = [*FIVE_SQUARES, *FIVE_SQUARES[-2::-1]]
        prove(f"{text} (OEIS A165134, example)", lambda: {"tours": known})


def prove_pairs(listed: Listed, seen: Seen) -> Outcome:
    """Prove a table of one tour for every ordered pair of squares, and its index."""
    board, paths = _board(listed), []
    every = [pair for pair in permutations(range(board.squares), 2) if board.can_join(*pair)]
    pairs = [f"{board.name(start)} to {board.name(end)}" for start, end in every]
    text = "there is one tour for every ordered pair of squares whose colours allow it, in order"
    for rows, squares, fact in _walked(listed, text):
        fact.same("rows", listed.entry.rows, len(pairs))
        found = [f"{board.name(path[0])} to {board.name(path[-1])}" for path in squares]
        rows.equal(fact, "from", pairs[rows.begin :][: len(rows)], found=found)
        paths.append(squares)
    text = "each record holds the squares of its row's path"
    check_records(listed, text, {"squares": np.concatenate(paths)})
    listed.name_unproved(COLUMNS, ("squares",))
    return listed.outcome(Grade.PROVED, HOW_OF_PAIRS)


def _board(listed: Listed) -> Board:
    recipe = listed.known.recipe
    assert isinstance(recipe, (AllTours, TourPerPair))
    return recipe.board


def _walked(listed: Listed, order: str) -> Iterator[tuple[Rows, Array, Fact]]:
    """Some rows at a time, with their paths as square numbers; all of them prove three claims. Who
    takes them proves of each the one that is given with it, how they are ordered.
    """
    board, begins = _board(listed), {file.first for file in listed.entry.files}
    tours = "every path is a tour: it visits each square once, by knight's jumps"
    with (
        listed.claim(order) as ordered,
        listed.claim("board, start, finish, closed and number match the path") as matched,
        listed.claim(tours) as walked,
    ):
        start, number = -1, 0
        for rows, squares in decoded(listed, partial(_paths, walked, matched, board)):
            # numbers go on from row to row of a start, and begin anew in every file
            starts = np.append(-1 if rows.begin in begins else start, squares[:, 0])
            numbers = np.append(number, rows.numbers("number"))
            following = np.where(starts[1:] == starts[:-1], numbers[:-1] + 1, 0)
            rows.equal(matched, "number", following)
            yield rows, squares, ordered
            start, number = starts[-1], numbers[-1]
            walked.step(rows.begin + len(rows))


def _paths(walked: Fact, matched: Fact, board: Board, rows: Rows) -> Array:
    """Walk every path, and match the columns beside it: its squares as numbers, a row a path."""
    count, path = board.squares, rows.column("path")
    written = np.full(1 << 16, NO_SQUARE, dtype=np.uint8)
    written[np.frombuffer("".join(board.names()).encode(), "<u2")] = np.arange(count)
    # what is no square has no bit, so that its path never visits all
    bits, near = np.zeros((2, NO_SQUARE + 1), dtype=np.int64)
    bits[:count], near[:count] = 1 << np.arange(count), jumps(board)
    squares: Array = written[rows.cells(walked, "path", 2 * count).view("<u2")]
    visited, left = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.bool_)
    reach = bits.sum()
    for here in squares.T:
        bit = bits[here]
        visited |= bit
        left |= reach & bit == 0
        reach = near[here]
    rows.none(walked, (visited != bits.sum()) | left, lambda row: (path[row], "a tour"))
    start, end = squares[:, 0], squares[:, -1]
    rows.equal(matched, "board", pa.repeat(str(board), len(rows)))
    for name, square in (("start", start), ("finish", end)):
        rows.equal(matched, name, pa.DictionaryArray.from_arrays(square, list(board.names())))
    rows.equal(matched, "closed", near[start] >> end & 1 == 1)
    return squares
