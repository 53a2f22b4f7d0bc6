"""Encoder and decoder of layers: ascending keys, each with a number, in records of one width.

Published files have this format. A record has the first of its keys and the sum of all numbers
before it; then alternately the number of a state and the difference to the next key. These are
written in groups of seven bits, the lowest first; the eighth bit is set in all bytes of a value but
the last. No value is 0, so the first byte that is 0 ends the record.
"""

from __future__ import annotations

import numpy as np

from tablebase.frontier.keys import Array
from tablebase.jit import compiled

MAX_STATE_BYTES = 18
"""Most bytes of a number and a difference together."""


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
            at = _write_number(states[record], at, keys[state] - keys[state - 1])
        at = _write_number(states[record], at, numbers[state])
        total += numbers[state]
    return record + 1


@compiled
def _write_number(states: Array, at: int, number: int) -> int:
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
