"""Bits of a word: how many are set, and which is the lowest. By sums, for numbers below 2^63.

Searches use processor instructions for this; a fault there must not affect a proof.
"""

from __future__ import annotations

from puzzle_tablebase.jit import compiled

PAIRS, QUARTETS, BYTES = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
"""The lower half of each pair of bits, of each four, and of each eight."""
EVERY_BYTE = 0x0101010101010101


@compiled
def count_ones(word: int) -> int:
    """Count the bits that are set: the sums of pairs, of fours, and of eights, all added up.

    >>> count_ones(0b1011), count_ones((1 << 63) - 1)
    (3, 63)
    """
    sums = int(word)  # without the compiler, numpy's numbers would overflow
    sums -= sums >> 1 & PAIRS
    sums = (sums & QUARTETS) + (sums >> 2 & QUARTETS)
    sums = sums + (sums >> 4) & BYTES
    return sums * EVERY_BYTE >> 56 & 127


@compiled
def count_trailing_zeros(word: int) -> int:
    """Return the position of the lowest bit that is set, from 0: how many zeros are below it.

    >>> count_trailing_zeros(0b1000), count_trailing_zeros(1 << 62)
    (3, 62)
    """
    return count_ones(~word & word - 1)
