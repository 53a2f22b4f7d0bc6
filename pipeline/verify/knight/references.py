"""Published numbers of knight's tours, each with its source. None is ever put into a table.

A second count (`recount`) proves that a list is complete; these numbers confirm it. A board without
a second count has nothing but these, and then its verdict is *published*.
"""

from __future__ import annotations

from tablebase.puzzles.knight.board import KnightBoard

Known = tuple[int, str] | None
"""A published number and its source, or None."""

SEQUENCES = {
    3: ("A118067", 1, (0, 0, 0, 16, 0, 0, 104, 792, 1120, 6096, 21344, 114496)),
    4: ("A079137", 2, (0, 0, 8, 0, 82, 744, 6378, 31088, 189688, 1213112)),
    5: ("A083386", 2, (0, 0, 0, 82, 864, 18784, 622868, 18061054, 264895640, 7886117822)),
}
"""Tours of k x n boards, n = 1, 2, ..., by k: OEIS sequence, factor to directed tours, terms."""

SQUARES = (1, 0, 0, 0, 1728, 6637920, 165575218320, 19591828170979904)
"""Directed tours of n x n boards, n = 1, 2, ... (OEIS A165134)."""

TOTALS = {
    (short, long): (directed * count, f"OEIS {name}")
    for short, (name, directed, terms) in SEQUENCES.items()
    for long, count in enumerate(terms, start=1)
} | {(side, side): (count, "OEIS A165134") for side, count in enumerate(SQUARES, start=1)}
"""Directed tours by short and long side, each with its source."""

CLOSED = {
    (6, 6): (9862, "OEIS A001230"),
    (8, 8): (13267364410532, "OEIS A001230"),
    (5, 6): (8, "OEIS A175881"),
    (6, 7): (1067638, "OEIS A175881"),
    (6, 8): (55488142, "OEIS A175881"),
    (6, 9): (3374967940, "OEIS A175881"),
    (6, 10): (239187240144, "OEIS A175881"),
    (5, 8): (44202, "OEIS A383661"),
    (5, 10): (13311268, "OEIS A383661"),
    (3, 4): (0, "OEIS A070030"),
    (3, 6): (0, "OEIS A070030"),
    (3, 8): (0, "OEIS A070030"),
    (3, 10): (16, "OEIS A070030"),
    (3, 12): (176, "OEIS A070030"),
}
"""Closed tours by short and long side, a tour and its reverse as one, each with its source."""

FIVE_SQUARES = (304, 0, 56, 0, 304, 0, 56, 0, 56, 0, 56, 0, 64)
"""Directed tours of 5 x 5 by start, to the middle square (OEIS A165134, example by G. Coserea)."""


def find_known_total(board: KnightBoard) -> Known:
    """Return the known number of directed tours of a board, and its source."""
    short, long = sorted((board.files, board.ranks))
    # a board of one row has no jumps; on two rows a knight reaches only every second file
    none = (0, "none on one or two rows") if short <= 2 else None
    return TOTALS.get((short, long), none)


def find_known_closed(board: KnightBoard) -> Known:
    """Return the known number of directed closed tours from each square, and its source."""
    short, long = sorted((board.files, board.ranks))
    if board.squares % 2:
        return 0, "none on an odd number of squares"
    if short <= 2:
        return 0, "none on one or two rows"
    if short == 4:
        return 0, "none on four rows: A. Schwenk, Mathematics Magazine 64, 1991"
    count, source = CLOSED.get((short, long), (0, ""))
    # each closed tour has two directions, and starts at any square
    return (2 * count, source) if source else None
