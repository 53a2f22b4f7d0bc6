"""Second counts of tours, by other methods than the search's, and published numbers of them.

Tours are followed path by path, or counted by a sweep over the whole board where there are too many
paths to follow. Published numbers have a source each, and none is ever put into a table: a second
count proves that a list is complete, and these confirm it. A board without a second count has
nothing but these, and then its verdict is *published*.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import Array
from tablebase.jit import compiled
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

COUNTED_AGAIN = "counts match an independent recount, path by path"
SWEPT_AGAIN = "the tours and closed tours are as many as in a sweep over the whole board"
USED = 255
"""The mark of a square that needs no further edge."""
COUNT_BITS = 64
"""The width of one square's count in an integer that holds the counts of all squares."""


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


def recount_tours(board: KnightBoard) -> dict[str, Array]:
    """Count the tours and the closed tours from each square.

    Of squares that are mirror images of each other, only one is counted.
    """
    least = [min(board.find_images(square)) for square in range(board.squares)]
    squares, image_of = np.unique(least, return_inverse=True)
    near = list_jumps(board)
    counts = np.array(
        [*run_in_threads(count_tours_from, [(near, square) for square in squares.tolist()])]
    )
    return dict(zip(("tours", "closed"), counts[image_of].T, strict=True))


def list_jumps(board: KnightBoard) -> npt.NDArray[np.int64]:
    """Return, for each square, the squares that a knight can jump to, as bits."""
    squares = np.arange(board.squares)
    ranks, files = np.divmod(squares, board.files)
    far = np.subtract.outer(files, files) * np.subtract.outer(ranks, ranks)
    near: npt.NDArray[np.int64] = (abs(far) == 2) @ (1 << squares)
    return near


def count_tours_from(near: npt.NDArray[np.int64], start: int) -> tuple[int, int]:
    """Count the tours and the closed tours from a square by following every path.

    Row s of `near` has a bit for each square that a knight can jump to from s.
    """
    free = (1 << len(near)) - 1 - (1 << start)
    lonely = 0
    for square, beside in enumerate((near & free).tolist()):
        lonely |= (beside & (beside - 1) == 0) << square
    return _count_onward(near, start, start, free, lonely)


@compiled
def _count_onward(
    near: npt.NDArray[np.int64], start: int, here: int, free: int, lonely: int
) -> tuple[int, int]:
    """Count the ways to continue a path from its last square over all free squares.

    `lonely` has the free squares with at most one free neighbour. A path is abandoned if a free
    square that is not its next one has no free neighbour, or if two such squares have only one:
    a square like that can only be the tour's end.
    """
    if not free:
        return 1, near[here] >> start & 1
    tours = closed = 0
    ways = near[here] & free
    for square in range(len(near)):
        if not ways >> square & 1:
            continue
        remaining = free ^ (1 << square)
        # only neighbours of the square that the path leaves have lost a free neighbour
        next_lonely, has_stranded = lonely & remaining, False
        for other in range(len(near)):
            if ways & remaining & (1 << other):
                beside = near[other] & remaining
                if not beside & (beside - 1):
                    next_lonely |= 1 << other
                has_stranded |= not beside
        ends = next_lonely & ~near[square]
        if not remaining or (not has_stranded and not ends & (ends - 1)):
            new_tours, new_closed = _count_onward(near, start, square, remaining, next_lonely)
            tours, closed = tours + new_tours, closed + new_closed
    return tours, closed


def recount_by_sweep(board: KnightBoard, *, by_files: bool) -> dict[str, Array]:
    """Count the tours and the closed tours from each square, file after file or rank after rank."""
    squares = np.arange(board.squares).reshape(board.ranks, board.files)
    order: list[int] = (squares.T if by_files else squares).ravel().tolist()
    near = [[to for to in order if beside >> to & 1] for beside in list_jumps(board).tolist()]
    _, ends = _count_cycles(order, near, virtual=True)
    cycles, _ = _count_cycles(order, near, virtual=False)
    tours = [
        ends >> COUNT_BITS * square & ((1 << COUNT_BITS) - 1) for square in range(board.squares)
    ]
    return {"tours": np.array(tours), "closed": np.array([2 * cycles] * board.squares)}


def _count_cycles(order: list[int], near: list[list[int]], *, virtual: bool) -> tuple[int, int]:
    """Count the cycles through all squares, and those through each square's edge to a virtual one.

    With `virtual`, a virtual square joined to all others is part of each cycle, so that a cycle is
    a tour and its two edges to that square mark the tour's ends. The second number holds the counts
    of all squares, COUNT_BITS bits each.

    A state has one byte for each square: the square itself if no edge meets it, the other end of
    its path if it is the end of one, and otherwise USED.
    """
    squares = len(order)
    begin = bytes([*range(squares), squares if virtual else USED])
    layer, complete = {begin: (1, 0)}, bytes([USED] * (squares + 1))
    cycles = ends = 0
    for step, here in enumerate(order):
        others = [*(to for to in near[here] if to in order[step + 1 :]), squares]
        after: dict[bytes, tuple[int, int]] = {}
        for state, (ways, by_end) in layer.items():
            missing = 2 if state[here] == here else state[here] != USED
            for chosen in combinations(others, missing):
                next_squares = bytearray(state)
                if not all(_add_edge(next_squares, here, to) for to in chosen):
                    continue
                next_state = bytes(next_squares)
                before = after.get(next_state, (0, 0))
                through = ways << COUNT_BITS * here if squares in chosen else 0
                after[next_state] = before[0] + ways, before[1] + by_end + through
        ways, by_end = after.pop(complete, (0, 0))
        cycles, ends, layer = cycles + ways, ends + by_end, after
    return cycles, ends


def _add_edge(state: bytearray, here: int, to: int) -> bool:
    """Add an edge to a state and return whether that is allowed.

    An edge may close a cycle only if the cycle has all squares.
    """
    one, other = state[here], state[to]
    if USED in (one, other):
        return False
    state[here] = state[to] = USED
    if one == to:
        return set(state) == {USED}
    state[one], state[other] = other, one
    return True
