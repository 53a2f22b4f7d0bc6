"""The cost of counting, listing and ranking tours, as estimated from the sides of a board alone.

The number of states of a sweep grows with both sides of a board; it is known for the longest board
of each shorter side. The rates were measured on one core, as those of `tablebase.cost`.
"""

from __future__ import annotations

from tablebase.cost import PROCESS_BYTES, Cost
from tablebase.puzzles.knight.memory import (
    MAX_LAYER_STATES,
    estimate_count_cost,
    estimate_rank_cost,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Sides = tuple[int, int]

GROWTH = {False: 1.45, True: 2.2}
"""How many times more states the largest layer has on a board with one more square in its longer
side: for all tours (False) and for closed ones (True)."""
COUNTED_LAYERS, RANKED_LAYERS = 4, {False: 14, True: 7}
"""The states of all layers, as a multiple of those of the largest one."""
SECONDS_PER_STATE = 1e-6
"""Processor seconds for each state of a sweep."""
SECONDS_PER_BOARD = 0.02
"""Processor seconds for the smallest board."""
RANKED_BYTES_PER_STATE = 2.7
"""Bytes of an index for each ranked state."""
SECONDS_PER_TOUR, BYTES_PER_TOUR = 7e-7, 7
"""Processor seconds to find and write a listed tour, and its bytes."""
MAX_KNOWN_SQUARES = 40
"""Squares of the largest boards whose tours are in `TOURS`, if there are any."""
COUNT_ROW_BYTES = 8
"""Bytes for each row of the counts."""
PAIR_SECONDS, PAIR_BYTES = 2e-4, 90
"""Processor seconds for each pair of squares that a tour joins, and bytes with its record."""

TOURS = {
    (3, 4): 16, (3, 7): 100, (3, 8): 790, (3, 9): 1_100, (3, 10): 6_100, (3, 11): 21_000,
    (3, 12): 114_000, (4, 5): 160, (4, 6): 1_500, (4, 7): 13_000, (4, 8): 62_000,
    (4, 9): 380_000, (4, 10): 2_400_000, (5, 5): 1_700, (5, 6): 38_000, (5, 7): 1_200_000,
    (5, 8): 36_000_000, (6, 6): 6_600_000, (7, 7): 166_000_000_000,
}  # fmt: skip
"""The number of directed open tours of some boards, as counted and rounded; boards of three or more
files and ranks up to 40 squares that are missing here have none."""


def estimate_layer_states(sides: Sides, *, closed: bool) -> float:
    """Estimate the number of states of a board's largest layer."""
    short, long = sorted(sides)
    longest, states = MAX_LAYER_STATES[closed].get(short, (0, 0))
    return states * GROWTH[closed] ** min(0, long - longest)


def estimate_counts(boards: Iterable[tuple[Sides, bool]], rows: int) -> Cost:
    """Estimate the cost of counting the tours of boards, each with whether only of closed ones.

    `rows`: the rows of the table, including those of boards that are not counted again.
    """
    seconds, memory = 0.0, PROCESS_BYTES
    for sides, closed in boards:
        states = COUNTED_LAYERS * estimate_layer_states(sides, closed=closed)
        seconds += SECONDS_PER_BOARD + SECONDS_PER_STATE * states
        if min(sides) > 2:
            memory = max(memory, estimate_count_cost(sides, closed=closed))
    return Cost(rows, seconds, COUNT_ROW_BYTES * rows, memory)


def estimate_ranked_tours(sides: Sides, *, closed: bool) -> Cost:
    """Estimate the cost of ranking a board's tours; its rows are the states of all layers."""
    states = round(RANKED_LAYERS[closed] * estimate_layer_states(sides, closed=closed))
    return Cost(
        states,
        SECONDS_PER_BOARD + SECONDS_PER_STATE * states,
        round(RANKED_BYTES_PER_STATE * states),
        estimate_rank_cost(sides, closed=closed),
    )


def estimate_list(sides: Sides) -> Cost | None:
    """Estimate the cost of listing a board's tours; None if their number is not known here."""
    short, long = sorted(sides)
    tours = TOURS.get((short, long), 0 if short * long <= MAX_KNOWN_SQUARES else None)
    if tours is None:
        return None
    return Cost(tours, SECONDS_PER_TOUR * tours, BYTES_PER_TOUR * tours, PROCESS_BYTES)


def estimate_pairs(pairs: int) -> Cost:
    """Estimate the cost of finding one tour for each pair of squares."""
    return Cost(pairs, PAIR_SECONDS * pairs, PAIR_BYTES * pairs, PROCESS_BYTES)
