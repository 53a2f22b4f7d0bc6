"""Sets of states as bytes: rows of words without their zero bytes.

Rows form consecutive *groups* of equal size. A group without states has no bytes. Another group is
a sequence of *segments* of up to 64 rows: a bit for each row, set if it has states, then the number
of bytes that follow, and for each row with states a bit for each byte of its words, then the bytes
that are not 0. Most words of a layer have many zero bytes, so this needs no general compression.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.two_bit_bfs.space import WORDS

# positions are unsigned, so the compiled code tests none for being negative
WORD = np.uint64
ZERO, ONE, BYTE = WORD(0), WORD(1), WORD(255)
EIGHT, SIXTEEN, THIRTY_TWO = WORD(8), WORD(16), WORD(32)
WORD_BYTES = 8
SEGMENT_ROWS = 64
"""Rows of a segment."""
MASK_BYTES, HEAD_BYTES = WORD(WORD_BYTES), WORD(10)
"""Bytes of a segment's bits, and of these and its size."""
ROW_HEAD = WORD(WORDS)
ROW_BYTES = WORDS + WORD_BYTES * WORDS
"""Most bytes of a row."""
LOW_BITS, HIGH_BITS = WORD(0x7F7F7F7F7F7F7F7F), WORD(0x8080808080808080)
LOW_WORD, PRIMES = WORD(0xFFFFFFFF), (WORD(0x9E3779B1), WORD(0x85EBCA77))


def _list_byte_moves() -> tuple[Array, Array, Array]:
    """List how to compress a word to the bytes of each mask, as PEXT does.

    For each mask: the bytes that move down by 1, 2 and 4 bytes, its bytes, and their number.
    """
    moved, kept = np.zeros((256, 3), WORD), np.zeros(256, WORD)
    for mask in range(256):
        set_bytes = [byte for byte in range(WORD_BYTES) if mask >> byte & 1]
        kept[mask] = sum(0xFF << 8 * byte for byte in set_bytes)
        for step in range(3):
            far = [(byte - at) >> step & 1 for at, byte in enumerate(set_bytes)]
            # where each byte is, after it has moved by the steps before
            now = [byte - ((byte - at) & (1 << step) - 1) for at, byte in enumerate(set_bytes)]
            moved[mask, step] = sum(
                0xFF << 8 * byte for byte, moves in zip(now, far, strict=True) if moves
            )
    return moved, kept, np.bitwise_count(np.arange(256)).astype(WORD)


MOVED, KEPT, COUNT = _list_byte_moves()


def estimate_bytes(rows: int, group: int) -> int:
    """Return the most bytes of rows in groups of this size, with those written past the end."""
    segments = -(-group // SEGMENT_ROWS) * (rows // group)
    return rows * ROW_BYTES + segments * int(HEAD_BYTES) + WORD_BYTES


@compiled
def _load_word(data: Array, at: Any) -> Any:
    word = ZERO
    for byte in range(WORD_BYTES):
        word |= WORD(data[at + WORD(byte)]) << WORD(8 * byte)
    return word


@compiled
def _store_word(data: Array, at: Any, word: Any) -> None:
    for byte in range(WORD_BYTES):
        data[at + WORD(byte)] = word >> WORD(8 * byte) & BYTE


@compiled
def _expand(word: Any, mask: Any) -> Any:
    """Move the first bytes of a word to the positions in a mask; the others are 0."""
    moved = MOVED[mask, 2]
    word = (word & ~moved) | (word << THIRTY_TWO & moved)
    moved = MOVED[mask, 1]
    word = (word & ~moved) | (word << SIXTEEN & moved)
    moved = MOVED[mask, 0]
    word = (word & ~moved) | (word << EIGHT & moved)
    return word & KEPT[mask]


@compiled
def encode_segment(states: Array, first: int, last: int, data: Array, at: Any) -> Any:
    """Write the rows `first` to `last` of states, an array by word and row; return the end.

    Up to eight bytes after the end are written too.
    """
    mask, start = ZERO, at
    at += HEAD_BYTES
    for row in range(first, last):
        any_bits = ZERO
        for number in range(WORDS):
            any_bits |= states[number, row]
        if any_bits == ZERO:
            continue
        mask |= ONE << WORD(row - first)
        head = at
        at += ROW_HEAD
        for number in range(WORDS):
            word = states[number, row]
            # the highest bit of each byte that is not 0, then these bits together
            bits = ((word & LOW_BITS) + LOW_BITS | word) & HIGH_BITS
            bits >>= WORD(7)
            bits |= bits >> WORD(7)
            bits |= bits >> WORD(14)
            bits = (bits | bits >> WORD(28)) & BYTE
            data[head + WORD(number)] = bits
            moving = word & MOVED[bits, 0]
            word = word ^ moving | moving >> EIGHT
            moving = word & MOVED[bits, 1]
            word = word ^ moving | moving >> SIXTEEN
            moving = word & MOVED[bits, 2]
            _store_word(data, at, word ^ moving | moving >> THIRTY_TWO)
            at += COUNT[bits]
    size = at - start - HEAD_BYTES
    for byte in range(WORD_BYTES):
        data[start + WORD(byte)] = mask >> WORD(8 * byte) & BYTE
    data[start + MASK_BYTES], data[start + MASK_BYTES + ONE] = size & BYTE, size >> EIGHT
    return at


@compiled
def exclude_segment(data: Array, at: Any, states: Array, first: int, last: int) -> Any:
    """Remove the states of a segment from the rows `first` to `last`; return the segment's end."""
    mask = _load_word(data, at)
    at += HEAD_BYTES
    for row in range(first, last):
        if mask >> WORD(row - first) & ONE:
            head = at
            at += ROW_HEAD
            for number in range(WORDS):
                bits = WORD(data[head + WORD(number)])
                states[number, row] &= ~_expand(_load_word(data, at), bits)
                at += COUNT[bits]
    return at


@compiled
def find_segment_end(data: Array, at: Any) -> Any:
    """Return the end of a segment."""
    size = at + MASK_BYTES
    return at + HEAD_BYTES + WORD(data[size]) + (WORD(data[size + ONE]) << EIGHT)


@compiled
def decode_groups(
    data: Array,
    starts: Array,
    rows: Array,
    group: int,
    words: Array,
    frontier: Array,
    is_added: bool,
) -> None:
    """Read groups, which begin at `starts`, into the rows that begin with these numbers.

    `frontier`: whether a row has states; ignore the words of other rows. `is_added`: rows keep the
    states that they have. Eight bytes after the last group are read too.
    """
    for number in range(len(rows)):
        base, at, end = rows[number], WORD(starts[number]), WORD(starts[number + 1])
        if at == end:
            if not is_added:
                frontier[base : base + group] = 0
            continue
        for first in range(base, base + group, SEGMENT_ROWS):
            mask = _load_word(data, at)
            at += HEAD_BYTES
            for row in range(first, min(base + group, first + SEGMENT_ROWS)):
                is_there = mask >> WORD(row - first) & ONE
                if is_there == ZERO:
                    if not is_added:
                        frontier[row] = 0
                    continue
                old = BYTE if is_added and frontier[row] else ZERO
                frontier[row] = 1
                head = at
                at += ROW_HEAD
                for word in range(WORDS):
                    bits = WORD(data[head + WORD(word)])
                    states = _expand(_load_word(data, at), bits)
                    if old:
                        states |= words[row, word]
                    words[row, word] = states
                    at += COUNT[bits]


@compiled
def encode_groups(
    words: Array, frontier: Array, group: int, data: Array, ends: Array, scratch: Array
) -> None:
    """Write rows, as `decode_groups` reads them, in groups, with the end of each."""
    at = ZERO
    for number in range(len(ends)):
        start, is_empty = at, True
        base = number * group
        for first in range(base, base + group, SEGMENT_ROWS):
            count = min(base + group - first, SEGMENT_ROWS)
            for row in range(count):
                is_there = frontier[first + row]
                is_empty &= not is_there
                for word in range(WORDS):
                    scratch[word, row] = words[first + row, word] if is_there else ZERO
            at = encode_segment(scratch, 0, count, data, at)
        if is_empty:
            at = start
        ends[number] = at


@compiled
def check_groups(
    data: Array, starts: Array, numbers: Array, seed: Any, checks: Array, is_written: bool
) -> int:
    """Compare the checksum of each group with those given; return the first that differs, or -1.

    `is_written`: write the checksums instead. They begin with the seed and the group's number.
    """
    for number in range(len(checks)):
        at, end = WORD(starts[number]), WORD(starts[number + 1])
        low, high = seed & LOW_WORD, WORD(numbers[number])
        while at < end:
            word = _load_word(data, at)
            if at + MASK_BYTES > end:  # what follows belongs to the next group
                word &= (ONE << WORD(8) * (end - at)) - ONE
            low = (low >> THIRTY_TWO ^ low & LOW_WORD ^ word & LOW_WORD) * PRIMES[0]
            high = (high >> THIRTY_TWO ^ high & LOW_WORD ^ word >> THIRTY_TWO) * PRIMES[1]
            at += MASK_BYTES
        check = (low ^ low >> THIRTY_TWO ^ (high >> SIXTEEN)) & LOW_WORD
        if is_written:
            checks[number] = check
        elif checks[number] != check:
            return number
    return -1
