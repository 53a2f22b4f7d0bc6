"""A state space in words of bits: a bit for each state, 60 states in a word, six words in a row.

A state is an order of tiles, split into a head, whose rank is the row, and a tail of six. The
tail's first four Lehmer digits a, b, c, d are the word a and the bit 12 b + 3 c + d; its last two
tiles follow from parity. A move is a sequence of exchanges of neighbours in the order. The tables
here take a move back, from a row and word that it leads to, to those that it comes from.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

WORDS = 6
"""Words of a row."""
WORD_STATES = 60
"""States of a word: its low bits; the others are 0."""
ROW_STATES = WORDS * WORD_STATES
RECORD_BYTES = ROW_STATES // 8
"""Bytes of a row with one bit for each state."""


class WordTables(NamedTuple):
    """Tables that the moves of all blocks share."""

    offsets: npt.NDArray[np.int32]
    """For each run of rows and each word, how far the source row is from the target row."""
    sources: npt.NDArray[np.uint8]
    """For each run of rows and each word, the source word, before exchanges in the tail."""
    masks: npt.NDArray[np.uint64]
    """For each exchange in the tail, groups of bits of a word that move equally far: their mask in
    even words, that in odd words, and how far they move left, and right."""


class WordSpace(NamedTuple):
    """The blocks of a state space, with the tables of its moves; rank = block * states + place.

    A place is a row's number times 360, and a bit's number in the row. Every move changes the
    block's side, 0 or 1.
    """

    root: int
    """The rank of the state from which a search begins."""
    states: int
    """The number of states of each block."""
    sides: npt.NDArray[np.uint8]
    """The side of each block."""
    kinds: npt.NDArray[np.uint8]
    """For each block, whether its orders are odd."""
    moves: list[npt.NDArray[np.int64]]
    """For each block the moves to it, a row each: see `MOVE_FIELDS`."""
    tables: WordTables
    radices: list[int]
    """The number of values of each of the head's Lehmer digits."""

    @property
    def rows(self) -> int:
        """The number of rows of each block."""
        return prod(self.radices)

    @property
    def blocks(self) -> int:
        return len(self.sides)

    @property
    def size(self) -> int:
        """The number of all states."""
        return len(self.sides) * self.states

    def list_row_kinds(self, first: int, last: int) -> npt.NDArray[np.uint8]:
        """List for the rows `first` to `last` whether the sum of the head's digits is odd."""
        return _list_row_kinds(self.radices, first, last)


def _list_row_kinds(radices: list[int], first: int, last: int) -> npt.NDArray[np.uint8]:
    if not radices:
        return np.zeros(last - first, dtype=np.uint8)
    *others, radix = radices
    start = first // radix
    kinds = _list_row_kinds(others, start, -(-last // radix))
    all_kinds = (kinds[:, None] ^ (np.arange(radix) % 2).astype(np.uint8)).reshape(-1)
    return all_kinds[first - start * radix : last - start * radix]


MOVE_FIELDS = ("block", "weight", "cycle", "start", "is_border", "outer", "inner")
"""Fields of a move: the block that it comes from; the run of a row is `start` + `row` //
`weight` % `cycle`; whether head and tail exchange a tile; and how many exchanges in the tail must
be taken back before that and after it, which follow: the first three, then the other three."""
BLOCK, WEIGHT, CYCLE, START, IS_BORDER, OUTER, INNER, EXCHANGES = range(8)
MAX_EXCHANGES = 3
"""Most exchanges of a move: boards have at most four rows."""
