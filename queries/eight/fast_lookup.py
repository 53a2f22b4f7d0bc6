"""Plain Python made for asking the 8-puzzle a million times: a rank in two dictionary lookups.

A state's rank is a part that its first four digits settle, plus a part that its last five do.
"""

from __future__ import annotations

from collections.abc import Callable

from tablebase.puzzles.eight import ALL, EXITS, HEAD, RANK, RANK_BITS, SET_AT, parse, rank_parts

Probe = tuple[str, str, int, str, int]
"""State, layout, distance, best moves, solutions."""


def rapid_eight(records: bytes) -> tuple[Callable[[str], int], Callable[[str], Probe]]:
    """`distance` and `probe` over the records of `eight.idx`."""
    head, tail = rank_parts()
    distances = records[0::2]
    solutions = records[1::2]
    slides = [
        [(letter, min(cell, to), max(cell, to)) for letter, to in exits]
        for cell, exits in enumerate(EXITS)
    ]

    def distance(state: str) -> int:
        try:
            code = head[state[:HEAD]] + tail[state[HEAD:]]
        except (KeyError, TypeError):
            return distance(parse(state))
        if code >> SET_AT != ALL:
            return distance(parse(state))
        return distances[code & RANK]

    def probe(state: str) -> Probe:
        try:
            code = head[state[:HEAD]] + tail[state[HEAD:]]
        except (KeyError, TypeError):
            return probe(parse(state))
        if code >> SET_AT != ALL:
            return probe(parse(state))
        rank = code & RANK
        here = distances[rank]
        blank = state.index("0")
        best = ""
        for letter, low, high in slides[blank]:
            after = (
                f"{state[:low]}{state[high]}{state[low + 1 : high]}{state[low]}{state[high + 1 :]}"
            )
            if distances[head[after[:HEAD]] + tail[after[HEAD:]] & RANK] < here:
                best += letter
        # the blank is passed by as many tiles as its cell's number, which parity must not count
        odd = (code >> RANK_BITS) + blank & 1
        return state, "centre" if odd else "corner", here, best, solutions[rank]

    return distance, probe
