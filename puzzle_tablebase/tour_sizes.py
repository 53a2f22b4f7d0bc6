"""The sizes of sweeps over knight's boards: which boards are small enough, and their cost.

For puzzles, recipes and proofs. The numbers were measured on sweeps that build tables, in 2026-11
on the author's machine; a proof's sweep takes about as much.
"""

from __future__ import annotations

from math import ceil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from puzzle_tablebase.notation.knight import ChessBoard


class SideLimits:
    """For the boards of one shorter side: limits of the longer side, and sizes of layers."""

    __slots__ = ("counted", "ranked", "states")

    def __init__(self, counted: int, ranked: int, states: tuple[int, ...]) -> None:
        self.counted = counted
        """The longest side for which tours are counted."""
        self.ranked = ranked
        """The longest side for which they are ranked; 0: for none."""
        self.states = states
        """The states of the largest layer, by the number of columns of half the board, from 1; more
        columns make no larger layer."""


SIDE_LIMITS = {
    False: {
        3: SideLimits(26, 26, (9, 27, 58, 108, 178, 276, 337, 338, 364)),
        4: SideLimits(26, 26, (78, 701, 1_689, 3_647, 5_073, 5_222, 5_256, 5_262)),
        5: SideLimits(14, 14, (594, 5_642, 26_108, 115_906, 228_936)),
        6: SideLimits(12, 12, (3_840, 97_824, 653_477, 4_023_615, 6_774_595)),
        7: SideLimits(8, 8, (29_488, 1_635_202, 14_736_773)),
        8: SideLimits(8, 0, (195_088, 28_212_855, 335_484_807)),
    },
    True: {
        3: SideLimits(26, 26, (1, 2, 2, 8, 17, 35, 51, 58, 65)),
        4: SideLimits(26, 26, (9, 39, 85, 264, 504, 529, 533)),
        5: SideLimits(18, 18, (54, 172, 1_073, 11_133, 30_360, 33_543, 39_100)),
        6: SideLimits(14, 14, (306, 2_888, 32_510, 444_284, 929_917, 1_006_862)),
        7: SideLimits(10, 10, (1_855, 55_496, 790_745, 12_345_976)),
        8: SideLimits(10, 8, (11_021, 805_614, 16_759_503, 394_917_090)),
    },
}
"""For all tours (False) and for closed ones (True), by a board's shorter side."""
SWEEP_BYTES = 360_000_000
"""Bytes of a process that sweeps over the smallest board."""
BYTES_PER_STATE = 40
"""Memory for each state of the largest layer, approximately, as measured."""
DENSE_STATES, DENSE_BYTES = 20_000_000, 20
"""Each of the first `DENSE_STATES` states needs `DENSE_BYTES` more."""
RANKING_FACTORS = {False: 2.2, True: 2}
"""Factor of the bytes a state for a ranking of all tours (False), or of closed ones (True): it
keeps all encoded layers in memory, and no state represents its mirror image."""
BYTES_PER_TOUR, MAX_TOUR_BYTES = 60, 230_000_000
"""Memory for each tour of a list, and the most that concurrent tasks need."""


def list_longest_sides(*, closed: bool, are_ranked: bool = False) -> dict[int, int]:
    """List, by a board's shorter side, the longest other one for which tours are counted.

    >>> list_longest_sides(closed=False, are_ranked=True)
    {3: 26, 4: 26, 5: 14, 6: 12, 7: 8}
    """
    longest = {
        side: each.ranked if are_ranked else each.counted
        for side, each in SIDE_LIMITS[closed].items()
    }
    return {side: long for side, long in longest.items() if long}


def estimate_states(board: ChessBoard, *, closed: bool) -> int:
    """Estimate the states of the largest layer of a sweep; 0 if the board is too narrow for one."""
    short, long = board.sorted_sides
    columns, sides = (long - 1) // 2, SIDE_LIMITS[closed].get(short)
    states = sides.states if sides else ()
    return states[min(columns, len(states)) - 1] if states and columns else 0


def estimate_sweep_bytes(board: ChessBoard, *, closed: bool, factor: float = 1) -> int:
    """Estimate the bytes for a sweep over a board, with `factor` times the usual bytes a state."""
    states = estimate_states(board, closed=closed)
    layer = BYTES_PER_STATE * states + DENSE_BYTES * min(states, DENSE_STATES)
    return ceil(SWEEP_BYTES + factor * layer)


def estimate_list_bytes(tours: int) -> int:
    """Estimate the bytes for listing tours, without those of the program."""
    return min(BYTES_PER_TOUR * tours, MAX_TOUR_BYTES)
