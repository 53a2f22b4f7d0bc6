"""The states and the memory of counting and ranking tours, and the boards that are too large."""

from __future__ import annotations

from tablebase.errors import BadRequest
from tablebase.puzzles.knight.board import KnightBoard

TYPE_CHECKING = False
if TYPE_CHECKING:
    Sides = tuple[int, int]

MAX_LAYER_STATES = {
    False: {
        3: (26, 364), 4: (26, 5_262), 5: (14, 228_936), 6: (12, 6_774_595), 7: (8, 14_736_773),
        8: (8, 335_484_807),
    },
    True: {
        3: (26, 65), 4: (26, 533), 5: (18, 39_100), 6: (14, 1_017_017), 7: (10, 12_345_976),
        8: (8, 16_759_503),
    },
}  # fmt: skip
"""For all tours (False) and for closed ones (True), by a board's shorter side: the longest other
side for which they are counted, and the measured number of states of its largest layer.
"""
BYTES_PER_STATE = 40
"""Memory for each state of the largest layer, approximately, as measured."""
DENSE_STATES, DENSE_BYTES = 20_000_000, 20
"""The first so many states need so many more bytes each."""
MIN_COST = 400_000_000
"""Bytes of memory for the smallest board."""
GROWTH = {False: 1.45, True: 2.2}
"""How many times more states the largest layer has on a board with one more square in its longer
side: for all tours (False) and for closed ones (True)."""
COUNTED_LAYERS, RANKED_LAYERS = 4, {False: 14, True: 7}
"""The states of all layers, as a multiple of those of the largest one."""
MIN_STATES = 20_000
"""States of a sweep that would take as long as the smallest board."""
MAX_RANKED_SIDE = 7
"""Shorter side of the largest boards whose open tours are ranked."""


def estimate_rank_cost(board: Sides, *, closed: bool) -> int:
    """Estimate the bytes of memory for ranking tours; raise BadRequest if a board is too large.

    More than for counting: no state stands for its mirror image.
    """
    if not closed and min(board) > MAX_RANKED_SIDE:
        name = f"{board[0]}x{board[1]}"
        hint = f"The largest board is {MAX_RANKED_SIDE}x{MAX_RANKED_SIDE + 1}"
        if _has_countable_closed_tours(board):
            hint = f"knight_closed_ranks_{name} has every closed tour by its rank"
        raise BadRequest(f"{name} has too many open tours to rank", hint)
    # all encoded layers stay in memory, and open tours have more of them
    factor = 2 if closed else 2.2
    return MIN_COST + int(factor * (estimate_count_cost(board, closed=closed) - MIN_COST))


def estimate_count_cost(board: Sides, *, closed: bool) -> int:
    """Estimate the bytes of memory for counting tours; raise BadRequest if a board is too large."""
    (short, long), name = sorted(board), f"{board[0]}x{board[1]}"
    if short < 3:
        raise BadRequest(f"{name} has no tours to count", "It needs three files and ranks")
    longest, states = MAX_LAYER_STATES[closed].get(short, (0, 0))
    if long > longest:
        largest_sides = [(side, longest) for side, (longest, _) in MAX_LAYER_STATES[closed].items()]
        # boards may have more files than ranks
        sides = ", ".join(f"{max(side_pair)}x{min(side_pair)}" for side_pair in largest_sides)
        tours, hint = f"{'closed ' * closed}tours", f"The largest boards are {sides}"
        if not closed and _has_countable_closed_tours(board):
            hint = f"knight_closed_counts_{name} counts closed tours alone"
        raise BadRequest(f"{name} has too many {tours} to count", hint)
    return MIN_COST + BYTES_PER_STATE * states + DENSE_BYTES * min(states, DENSE_STATES)


def estimate_counted_states(board: Sides, *, closed: bool) -> float:
    """Estimate the states of all layers of a sweep that counts tours."""
    return MIN_STATES + COUNTED_LAYERS * _estimate_layer_states(board, closed=closed)


def estimate_ranked_states(board: Sides, *, closed: bool) -> float:
    """Estimate the states of all layers of a sweep that ranks tours."""
    return MIN_STATES + RANKED_LAYERS[closed] * _estimate_layer_states(board, closed=closed)


def _estimate_layer_states(board: Sides, *, closed: bool) -> float:
    """Estimate the number of states of a board's largest layer."""
    short, long = sorted(board)
    longest, states = MAX_LAYER_STATES[closed].get(short, (0, 0))
    return states * GROWTH[closed] ** min(0, long - longest)


def _has_countable_closed_tours(board: Sides) -> bool:
    """Return whether a board has closed tours, and few enough to count and rank them."""
    short, long = sorted(board)
    longest, _ = MAX_LAYER_STATES[True].get(short, (0, 0))
    return long <= longest and KnightBoard(*board).has_closed_tours()
