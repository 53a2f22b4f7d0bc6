"""Published numbers of knight's tours, each with its source. None is ever put into a table.

That no tour is missing is proved by a second count (`recount`); these numbers confirm it.
"""

from __future__ import annotations

from tablebase.puzzles.knight import Board

SQUARE = (1, 0, 0, 0, 1728, 6637920)
"""Directed tours of n x n boards, n = 1, 2, ... (OEIS A165134)."""

BY_SHORT_SIDE = {
    3: ("A118067", 1, (0, 0, 0, 16, 0, 0, 104, 792, 1120, 6096, 21344, 114496)),
    4: ("A079137", 2, (0, 0, 8, 0, 82, 744, 6378, 31088, 189688)),
    5: ("A083386", 2, (0, 0, 0, 82, 864, 18784, 622868)),
}
"""Tours of k x n boards, n = 1, 2, ...: OEIS sequence, directed tours for each it counts, terms.

The second and third count a tour and its reverse as one.
"""

CLOSED = {
    (6, 6): (9862, "OEIS A001230"),
    (5, 6): (8, "OEIS A175881"),
    **{
        (3, 2 * n): (count, "OEIS A070030")
        for n, count in enumerate((0, 0, 0, 0, 16, 176), start=1)
        if n > 1
    },
}
"""Closed tours by short and long side, a tour and its reverse as one, and who counted them."""

FIVE_SQUARES = (
    (304, 0, 56, 0, 304),
    (0, 56, 0, 56, 0),
    (56, 0, 64, 0, 56),
    (0, 56, 0, 56, 0),
    (304, 0, 56, 0, 304),
)
"""Directed tours of the 5 x 5 board by starting square (OEIS A165134, example by G. Coserea)."""


def known_total(board: Board) -> tuple[int, str] | None:
    """How many directed tours a board has, and who says so."""
    short, long = sorted((board.files, board.ranks))
    if short == long and short <= len(SQUARE):
        return SQUARE[short - 1], "OEIS A165134"
    if short <= 2:
        # one row has no jumps, and on two a knight never leaves every second file
        return 0, "none on one or two rows"
    if short in BY_SHORT_SIDE:
        name, directed, terms = BY_SHORT_SIDE[short]
        if long <= len(terms):
            return directed * terms[long - 1], f"OEIS {name}"
    return None


def known_closed(board: Board) -> tuple[int, str] | None:
    """How many directed closed tours begin at each square of a board, and who says so."""
    short, long = sorted((board.files, board.ranks))
    if board.squares % 2:
        return 0, "none on an odd number of squares"
    if short <= 2:
        return 0, "none on one or two rows"
    if short == 4:
        return 0, "none on four rows: A. Schwenk, Mathematics Magazine 64, 1991"
    if (short, long) in CLOSED:
        # either way round, from any square
        count, source = CLOSED[short, long]
        return 2 * count, source
    return None


def known_starts(board: Board) -> tuple[tuple[int, ...], str] | None:
    """How many directed tours begin at each square of a board, and who says so."""
    if (board.files, board.ranks) == (5, 5):
        # symmetric, so that it does not matter which rank is named first
        return sum(FIVE_SQUARES, ()), "OEIS A165134, example"
    return None
