"""Numbers of a board's states, up to ten cells: the sum of a code for each half of the state.

So a lookup adds two numbers instead of ranking nine tiles.
"""

from __future__ import annotations

from itertools import combinations, permutations
from math import factorial

DIGITS = "0123456789"
"""The marks of boards of up to ten cells."""
NUMBER_BITS = 22
"""Bits of the largest number of a state of ten cells."""
NUMBER_MASK = (1 << NUMBER_BITS) - 1
SET_SHIFT = NUMBER_BITS + 2


def make_number_parts(cells: int) -> tuple[dict[str, int], dict[str, int]]:
    """Make the codes of all first and all second halves of states, which add up to a state's code.

    A code has the number of a state, then two bits for a sum with the parity of the permutation,
    then a bit for each tile: all are set if and only if the halves make a state.
    """
    marks, half = DIGITS[:cells], cells // 2
    bits = {mark: 1 << SET_SHIFT + at for at, mark in enumerate(marks)}
    head, tail = dict[str, int](), dict[str, int]()
    parities = list_parities(cells, half)
    for number, part in enumerate(permutations(marks, half)):
        mark_set = sum([bits[mark] for mark in part])
        value = number * factorial(cells - half) | parities[number] << NUMBER_BITS
        head["".join(part)] = value | mark_set
    parities = list_parities(cells - half, cells - half)
    values = [number | odd << NUMBER_BITS for number, odd in enumerate(parities)]
    for group in combinations(marks, cells - half):
        mark_set = sum([bits[mark] for mark in group])
        for part, value in zip(permutations(group), values, strict=True):
            tail["".join(part)] = value | mark_set
    return head, tail


def list_parities(marks: int, length: int) -> list[int]:
    """List the parities of all orders of `length` of the tiles."""
    parities = [0]
    for radix in range(marks - length + 1, marks + 1):
        parities = [digit + odd & 1 for digit in range(radix) for odd in parities]
    return parities
