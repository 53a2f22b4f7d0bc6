"""Plain Python made for asking the 8-puzzle a million times: a rank in two dictionary lookups.

A state's rank is a part that its first four digits settle, plus a part that its last five do, and
each part goes with the set of digits that it uses: the two sets must fill all nine bits.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from pipeline.puzzles.eight import EXITS, FACTORIALS, parse

HEAD = 4
RANK_BITS = 20
RANK = (1 << RANK_BITS) - 1
PARITY = 1 << RANK_BITS
SET_AT = RANK_BITS + 2
ALL = (1 << 9) - 1

Probe = tuple[str, str, int, str, int]
"""State, layout, distance, best moves, solutions."""


def parts(length: int, weights: tuple[int, ...], known: str) -> dict[str, int]:
    """For each run of so many digits: its part of the rank, its parity, and its set of digits.

    A digit counts those smaller that come later: of all nine but the run's earlier ones (`known`
    is all nine), or of the run alone (`known` is empty).
    """
    found = {}
    for run in permutations("012345678", length):
        part = smaller_total = used = 0
        for at, (digit, weight) in enumerate(zip(run, weights, strict=True)):
            later = set(known) - set(run[:at]) if known else run[at + 1 :]
            smaller = sum(other < digit for other in later)
            part += smaller * weight
            smaller_total += smaller
            used |= 1 << int(digit)
        found["".join(run)] = part | (smaller_total % 2) * PARITY | used << SET_AT
    return found


def rapid_eight(records: memoryview) -> tuple[Callable[[str], int], Callable[[str], Probe]]:
    """`distance` and `probe` over the records of `eight.idx`."""
    head = parts(HEAD, FACTORIALS[:HEAD], "012345678")
    tail = parts(9 - HEAD, FACTORIALS[HEAD:], "")
    distances = bytes(records[0::2])
    solutions = bytes(records[1::2])
    slides = [
        [(letter, min(cell, to), max(cell, to)) for letter, to in exits]
        for cell, exits in enumerate(EXITS)
    ]

    def distance(state: str) -> int:
        try:
            code = head[state[:HEAD]] + tail[state[HEAD:]]
        except KeyError:
            return distance(parse(state))
        if code >> SET_AT != ALL:
            return distance(parse(state))
        return distances[code & RANK]

    def probe(state: str) -> Probe:
        try:
            code = head[state[:HEAD]] + tail[state[HEAD:]]
        except KeyError:
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
