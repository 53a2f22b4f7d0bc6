"""Fast lookups of the 8-puzzle in plain Python, for a million calls: two dictionary lookups a rank.

A state's rank is the sum of a part given by its first four digits and a part given by its last
five.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from queries.board_query import BoardAnswer
from tablebase.puzzles.eight import (
    ALL_DIGITS,
    EXITS,
    HEAD_LENGTH,
    RANK_BITS,
    RANK_MASK,
    SET_SHIFT,
    WIDTH,
    make_rank_parts,
    parse,
)


def make_fast_lookups(
    distances: Sequence[int], solutions: Sequence[int], measure: Callable[[str, str | None], int]
) -> tuple[Callable[[object, str, str | None], int], Callable[[str], BoardAnswer]]:
    """Make the functions `distance` and `probe` over the fields of the records of `eight.idx`.

    `distance` is a method: bound to an object, it can be sent to another process. For a goal it
    calls `measure`, and also when the tables are closed: then the fields are empty.
    """
    head, tail = make_rank_parts()
    slides = [
        [(letter, min(cell, to), max(cell, to)) for letter, to in exits]
        for cell, exits in enumerate(EXITS)
    ]

    def distance(table: object, key: str, goal: str | None = None) -> int:
        """Return the fewest moves (0-31) from a state to the goal, or the layout it reaches."""
        if goal is not None:
            return measure(key, goal)
        try:
            code = head[key[:HEAD_LENGTH]] + tail[key[HEAD_LENGTH:]]
        except (KeyError, TypeError):
            return distance(table, parse(key))
        if code >> SET_SHIFT != ALL_DIGITS:
            return distance(table, parse(key))
        try:
            return distances[code & RANK_MASK]
        except IndexError:
            return measure(key, None)

    def probe(state: str) -> BoardAnswer:
        try:
            code = head[state[:HEAD_LENGTH]] + tail[state[HEAD_LENGTH:]]
        except (KeyError, TypeError):
            return probe(parse(state))
        if code >> SET_SHIFT != ALL_DIGITS:
            return probe(parse(state))
        rank = code & RANK_MASK
        depth = distances[rank]
        blank = state.index("0")
        best = ""
        for letter, low, high in slides[blank]:
            moved = (
                f"{state[:low]}{state[high]}{state[low + 1 : high]}{state[low]}{state[high + 1 :]}"
            )
            if distances[head[moved[:HEAD_LENGTH]] + tail[moved[HEAD_LENGTH:]] & RANK_MASK] < depth:
                best += letter
        # the code's parity counts inversions with the blank too: as many as its cell's number
        is_odd = (code >> RANK_BITS) + blank & 1
        return BoardAnswer(
            _width=WIDTH,
            state=state,
            goal="centre" if is_odd else "corner",
            distance=depth,
            best_moves=best,
            solutions=solutions[rank],
        )

    return distance, probe
