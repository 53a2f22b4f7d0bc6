"""Keys of the states of a frontier (`tour_frontier.states`), and layers of them as records.

A layer is ascending keys, each with a number, in records of one width. Published files have this
format. A record has the first of its keys and the sum of all numbers before it; then alternately
the number of a state and the difference to the next key, as variable-length integers (unsigned
LEB128): groups of seven bits, the lowest first, with the eighth bit set in all bytes of a value but
the last. No value is 0, so the first byte that is 0 ends the record.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from puzzle_tablebase.intrinsics import count_ones, count_trailing_zeros
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.tour_frontier.states import END, MATCHING_BITS

MAX_PAIRS = 9
MATCHING_COUNTS = np.cumprod([1, *range(1, 2 * MAX_PAIRS, 2)], dtype=np.int64)
"""The number of matchings of 0, 1, 2 ... pairs of ends."""
MATCHING_STARTS = np.cumsum([0, *MATCHING_COUNTS])
"""Where the matchings of 0, 1, 2 ... pairs begin in a list of all of them, in that order."""
MATCHING_MASK = (1 << MATCHING_BITS) - 1
MAX_CELLS = 18
END_BITS = sum(END << 2 * cell for cell in range(MAX_CELLS + 1))
"""The bits of needs that are set for cells that are ends."""
MAX_STATE_BYTES = 18
"""Most bytes of a number and a difference together."""


@cache
def list_all_mates(cells: int) -> Array:
    """List the mates in all matchings of up to `cells` ends, each without its first pair.

    A matching has four bits for each end. Matchings of fewer pairs come first.
    """
    max_pairs = max(cells // 2 - 1, 0)
    mates = np.zeros(MATCHING_STARTS[max_pairs + 1], dtype=np.int64)
    for pairs in range(1, max_pairs + 1):
        before, begin, end = MATCHING_STARTS[pairs - 1 : pairs + 2].tolist()
        # a row for each mate of the first end, with the matchings of all ends but these two
        rows = mates[begin:end].reshape(2 * pairs - 1, begin - before)
        for chosen in range(1, 2 * pairs):
            rows[chosen - 1] = chosen
            for number in range(2 * pairs - 2):
                mate = (mates[before:begin] >> 4 * number & 15) + 1
                mate += mate >= chosen
                rows[chosen - 1] |= mate << 4 * (number + 1 + (number + 1 >= chosen))
    return mates


@compiled
def unpack_key(key: int, mates: Array, mate: Array, ends: Array) -> int:
    """Set the mate of each cell that is an end, list these cells in `ends`, and count them."""
    ends_left = key >> MATCHING_BITS & END_BITS
    count = 0
    while ends_left:
        ends[count] = count_trailing_zeros(ends_left) // 2
        ends_left &= ends_left - 1
        count += 1
    if count == 0:
        return 0
    rest = count // 2 - 1
    chosen, first = 1 + (key & MATCHING_MASK) // MATCHING_COUNTS[rest], ends[0]
    mate[first], mate[ends[chosen]] = ends[chosen], first
    matched = mates[MATCHING_STARTS[rest] + (key & MATCHING_MASK) % MATCHING_COUNTS[rest]]
    for number in range(count - 2):  # the ends without the first and its mate
        end, other = number + 1, (matched >> 4 * number & 15) + 1
        end += end >= chosen
        other += other >= chosen
        mate[ends[end]] = ends[other]
    return count


@compiled
def rank_matching(needs: int, mate: Array) -> int:
    """Return the number of the matching of the cells that are ends."""
    ends_left = needs & END_BITS
    others = count_ones(ends_left) - 1
    matching = 0
    while ends_left:
        other = 1 << 2 * mate[count_trailing_zeros(ends_left) // 2]
        ends_left = ends_left & (ends_left - 1) ^ other
        matching = matching * others + count_ones(ends_left & (other - 1))
        others -= 2
    return matching


def encode_layer(keys: Array, numbers: Array, width: int) -> tuple[Array, Array, Array]:
    """Encode a layer: return each record's first key, sum before, and `width` bytes of states."""
    capacity = 1 + len(keys) // (width // MAX_STATE_BYTES)
    firsts, sums = np.zeros((2, capacity), dtype=np.int64)
    states = np.zeros((capacity, width), dtype=np.uint8)
    count = _encode(keys, numbers, firsts, sums, states)
    return firsts[:count], sums[:count], states[:count].copy().view(f"S{width}").ravel()


def decode_layer(firsts: Array, states: Array) -> tuple[Array, Array]:
    """Decode the states of a layer: return the keys and their numbers."""
    rows = states.view(np.uint8).reshape(len(states), states.itemsize)
    # a state has two values, each ended by a byte without the eighth bit, a record's last state one
    count = (int(np.count_nonzero((rows > 0) & (rows < 128))) + len(rows)) // 2
    keys, numbers = np.empty((2, count), dtype=np.int64)
    _decode(firsts, rows, keys, numbers)
    return keys, numbers


@compiled
def _encode(keys: Array, numbers: Array, firsts: Array, sums: Array, states: Array) -> int:
    record, at, total = -1, states.shape[1], 0
    for state in range(len(keys)):
        if at + MAX_STATE_BYTES > states.shape[1]:
            record, at = record + 1, 0
            firsts[record], sums[record] = keys[state], total
        else:
            at = _write_varint(states[record], at, keys[state] - keys[state - 1])
        at = _write_varint(states[record], at, numbers[state])
        total += numbers[state]
    return record + 1


@compiled
def _write_varint(states: Array, at: int, number: int) -> int:
    while number >= 128:
        states[at] = number & 127 | 128
        number >>= 7
        at += 1
    states[at] = number
    return at + 1


@compiled
def _decode(firsts: Array, states: Array, keys: Array, numbers: Array) -> None:
    state = 0
    for record in range(len(firsts)):
        key, number, shift, is_key = firsts[record], 0, 0, False
        for byte in states[record]:
            number |= int(byte & 127) << shift
            shift += 7
            if byte & 128:
                continue
            if byte == 0:
                break
            if is_key:
                key += number
            else:
                keys[state], numbers[state] = key, number
                state += 1
            is_key = not is_key
            number = shift = 0
