"""Encoded rows equal those that slow code writes, and damage is noticed."""

from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.two_bit_bfs.codec import (
    WORD,
    check_groups,
    decode_groups,
    encode_groups,
    estimate_bytes,
    exclude_segment,
    find_segment_end,
)

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
GROUPS = [(1, 10), (7, 13), (64, 3), (100, 5), (300, 2)]
"""Rows of a group, and groups."""
FULL = (1 << 60) - 1
"""A word with all its states."""


def make_rows(rows: int, seed: int) -> Words:
    """Make rows of words that are empty, sparse or full."""
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 1 << 60, (rows, 6), dtype=np.uint64)
    for _ in range(3):
        thin = rng.random((rows, 6)) < 0.5
        words[thin] &= rng.integers(0, 1 << 60, int(thin.sum()), dtype=np.uint64)
    words[rng.random((rows, 6)) < 0.3] = 0
    words[rng.random(rows) < 0.3] = 0
    words[: rows // 4] = 0
    words[-1] = (1 << 60) - 1
    return words


def encode_slowly(words: Words, group: int) -> list[bytes]:
    """Encode each group as the module says, by Python's own bytes."""
    groups = []
    for first in range(0, len(words), group):
        rows, encoded = words[first : first + group].tolist(), b""
        for at in range(0, group, 64):
            mask, body = 0, b""
            for number, row in enumerate(rows[at : at + 64]):
                if any(row):
                    mask |= 1 << number
                    texts = [word.to_bytes(8, "little") for word in row]
                    body += bytes(
                        sum(bool(byte) << at for at, byte in enumerate(text)) for text in texts
                    )
                    body += b"".join(texts).replace(b"\0", b"")
            encoded += mask.to_bytes(8, "little") + len(body).to_bytes(2, "little") + body
        groups.append(encoded if any(map(any, rows)) else b"")
    return groups


def encode(words: Words, group: int) -> tuple[Bytes, npt.NDArray[np.int64]]:
    frontier = np.array(words.any(axis=1), dtype=np.uint8)
    data = np.zeros(estimate_bytes(len(words), group), dtype=np.uint8)
    starts = np.zeros(len(words) // group + 1, dtype=np.int64)
    # words of rows without states mean nothing
    words = np.where(frontier[:, None], words, WORD(123))
    encode_groups(words, frontier, group, data, starts[1:], np.empty((6, 64), dtype=np.uint64))
    return data, starts


def make_layer(states: set[int], rows: int) -> Words:
    """Make the rows of a set of states, 360 in a row and 60 in a word."""
    words = np.zeros((rows, 6), dtype=np.uint64)
    for state in states:
        words[state // 360, state % 360 // 60] |= WORD(1 << state % 60)
    return words


@pytest.mark.parametrize(("group", "groups"), GROUPS)
def test_rows_are_written_as_slow_code_does_and_read_again(group: int, groups: int) -> None:
    words = make_rows(group * groups, group)
    data, starts = encode(words, group)
    known = encode_slowly(words, group)
    assert data[: starts[-1]].tobytes() == b"".join(known)
    assert np.diff(starts).tolist() == [*map(len, known)]
    into, frontier = np.full_like(words, 5), np.ones(len(words), dtype=np.uint8)
    rows = np.arange(groups)[::-1].copy() * group  # in another order
    decode_groups(data, starts, rows, group, into, frontier, False)
    back = words.reshape(groups, group, 6)[::-1].reshape(-1, 6)
    assert np.array_equal(frontier, back.any(axis=1))
    assert np.array_equal(into[frontier > 0], back[frontier > 0])


SIZES = st.tuples(st.integers(1, 140), st.integers(1, 4))
"""Rows of a group, and groups: of any size around that of a segment, which is 64 rows."""


def read(data: Bytes, starts: npt.NDArray[np.int64], group: int, into: Words) -> None:
    """Add the states of all groups to those of words."""
    frontier = np.array(into.any(axis=1), dtype=np.uint8)
    rows = np.arange(len(starts) - 1) * group
    decode_groups(data, starts, rows, group, into, frontier, True)
    assert np.array_equal(frontier, into.any(axis=1))


@given(SIZES, st.dictionaries(st.tuples(st.integers(0), st.integers(0, 5)), st.integers(0, FULL)))
def test_any_words_at_any_places_are_read_as_they_were_written(
    size: tuple[int, int], cells: dict[tuple[int, int], int]
) -> None:
    group, groups = size
    words = np.zeros((group * groups, 6), dtype=np.uint64)
    for (row, word), states in cells.items():
        words[row % len(words), word] = states
    data, starts = encode(words, group)
    assert data[: starts[-1]].tobytes() == b"".join(encode_slowly(words, group))
    into = np.zeros_like(words)
    read(data, starts, group, into)
    assert np.array_equal(into, words)


@given(SIZES, st.lists(st.sets(st.integers(0, 140 * 4 * 360 - 1)), max_size=5), st.randoms())
def test_states_that_are_added_in_any_order_make_the_same_layer(
    size: tuple[int, int], parts: list[set[int]], random: Random
) -> None:
    group, groups = size
    rows = group * groups
    sets = [{state % (rows * 360) for state in part} for part in parts]
    whole, _ = encode(make_layer(set[int]().union(*sets), rows), group)
    for _ in range(2):
        words = np.zeros((rows, 6), dtype=np.uint64)
        for states in sets:
            read(*encode(make_layer(states, rows), group), group, words)
        assert np.array_equal(encode(words, group)[0], whole)
        random.shuffle(sets)


@pytest.mark.parametrize(("group", "groups"), GROUPS)
def test_rows_are_added_and_taken_out(group: int, groups: int) -> None:
    words, others = make_rows(group * groups, group), make_rows(group * groups, group + 1)
    data, starts = encode(words, group)
    into = others.copy()
    frontier = np.array(others.any(axis=1), dtype=np.uint8)
    rows = np.arange(groups) * group
    decode_groups(data, starts, rows, group, into, frontier, True)
    assert np.array_equal(into[frontier > 0], (words | others)[frontier > 0])
    assert np.array_equal(frontier, (words | others).any(axis=1))
    for number in np.flatnonzero(np.diff(starts)).tolist():
        at, end = WORD(starts[number]), WORD(starts[number])
        for first in range(0, group, 64):
            last = min(group, first + 64)
            span = slice(number * group + first, number * group + last)
            states = np.ascontiguousarray(others[span].T)
            end, at = find_segment_end(data, at), exclude_segment(data, at, states, 0, last - first)
            assert at == end
            assert np.array_equal(states.T, others[span] & ~words[span])
        assert at == starts[number + 1]


def test_no_row_takes_more_than_is_estimated() -> None:
    for group, groups in GROUPS:
        words = np.full((group * groups, 6), (1 << 60) - 1, dtype=np.uint64)
        data, starts = encode(words, group)
        assert starts[-1] == len(data) - 8


def test_each_changed_byte_and_each_changed_position_is_noticed() -> None:
    words = make_rows(70, 1)
    data, starts = encode(words, 7)
    numbers, checks = np.arange(10), np.zeros(10, dtype=np.uint32)
    check_groups(data, starts, numbers, WORD(7), checks, True)
    assert check_groups(data, starts, numbers, WORD(7), checks, False) == -1
    for at in range(int(starts[-1])):
        for bit in (1, 128):
            data[at] ^= bit
            group = int(np.searchsorted(starts, at, side="right")) - 1
            assert check_groups(data, starts, numbers, WORD(7), checks, False) == group
            data[at] ^= bit
    data[starts[-1] :] ^= 255  # what follows is not part of a group
    assert check_groups(data, starts, numbers, WORD(7), checks, False) == -1
    assert check_groups(data, starts, numbers + 1, WORD(7), checks, False) >= 0
    assert check_groups(data, starts, numbers, WORD(8), checks, False) >= 0
