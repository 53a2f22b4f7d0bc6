"""A sliding board's states in words of bits, and its moves on whole words.

A bit stands for each state, 60 states in a word, six words in a row. A state is an order of tiles,
split into a head, whose rank is the row, and a tail of six. The tail's first four Lehmer digits a,
b, c, d are the word a and the bit 12 b + 3 c + d; its last two tiles follow from parity. A move
along a short line changes the block alone. One from line to line takes a tile past `line - 1`
others: as many adjacent transpositions of the permutation of tiles. The tables here undo these one
after the other, from a row and word that a move leads to, to those that it comes from.
"""

from __future__ import annotations

from math import factorial, prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

WORDS = 6
"""Words of a row."""
WORD_STATES = 60
"""States of a word: its low bits; the others are 0."""
ROW_STATES = WORDS * WORD_STATES
RECORD_BYTES = ROW_STATES // 8
"""Bytes of a row with one bit for each state."""

# The fields of a move:
#   BLOCK                the block that it comes from
#   WEIGHT, CYCLE, START the phase of a row: START + row // WEIGHT % CYCLE
#   IS_BORDER            whether a tile of the head changes with one of the tail
#   OUTER, INNER         transpositions in the tail that are taken back before that, and after it
#   TRANSPOSITIONS            those transpositions: MAX_TRANSPOSITIONS before, then as many after
BLOCK, WEIGHT, CYCLE, START, IS_BORDER, OUTER, INNER, TRANSPOSITIONS = range(8)
MAX_TRANSPOSITIONS = 3
"""Most transpositions of a move: boards have at most four rows."""
TAIL = 6
"""Tiles of the tail."""
MAX_GROUPS = 8
"""Most groups of bits that a transposition moves equally far."""
Digits = Any


class WordTables(NamedTuple):
    """Tables that the moves of all blocks share."""

    offsets: npt.NDArray[np.int32]
    """For each phase of rows and each word, how far the source row is from the target row."""
    sources: npt.NDArray[np.uint8]
    """For each phase of rows and each word, the source word, before transpositions in the tail."""
    masks: npt.NDArray[np.uint64]
    """For each transposition in the tail, groups of bits of a word that move equally far: the mask
    in even words, that in odd words, and how far they move left, and right."""


class WordSpace(NamedTuple):
    """The blocks of a state space, with the tables of its moves; rank = block * states + offset.

    There is a block for each place of the blank. An offset is a row's number times 360, plus a
    bit's number in the row.
    """

    root: int
    """The rank of the state from which a search begins."""
    states: int
    """The number of states of each block."""
    colours: npt.NDArray[np.uint8]
    """The colour of each block's place, 0 or 1 as on a chess board: every move changes it."""
    parities: npt.NDArray[np.uint8]
    """For each block, whether the permutations of its tiles are odd."""
    moves: list[npt.NDArray[np.int64]]
    """For each block the moves to it, a row each: see `BLOCK` and the fields after it."""
    tables: WordTables
    radices: list[int]
    """The number of values of each of the head's Lehmer digits."""

    @property
    def rows(self) -> int:
        """The number of rows of each block."""
        return prod(self.radices)

    @property
    def blocks(self) -> int:
        return len(self.colours)

    @property
    def size(self) -> int:
        """The number of all states."""
        return len(self.colours) * self.states


def list_row_parities(radices: list[int], first: int, last: int) -> npt.NDArray[np.uint8]:
    """List for the rows `first` to `last` whether the sum of the head's digits is odd."""
    if not radices:
        return np.zeros(last - first, dtype=np.uint8)
    *others, radix = radices
    start = first // radix
    parities = list_row_parities(others, start, -(-last // radix))
    all_parities = (parities[:, None] ^ (np.arange(radix) % 2).astype(np.uint8)).reshape(-1)
    return all_parities[first - start * radix : last - start * radix]


def make_word_space(line: int, cells: int, goal_place: int, is_odd: bool, root: int) -> WordSpace:
    """Make the blocks of the states that reach a goal, one for each place of the blank.

    `is_odd`: whether the goal's permutation of the tiles is odd. A board of fewer than six tiles is
    padded with tiles in front that never move.
    """
    tiles = cells - 1
    radices = [tiles - at for at in range(tiles - TAIL)]
    padding = max(0, TAIL - tiles)
    moves: list[npt.NDArray[np.int64]] = []
    offsets, sources = [np.zeros((1, WORDS), np.int32)], [np.arange(WORDS, dtype=np.uint8)[None]]
    start = 1
    for target in range(cells):
        rows = []
        for source in (target - line, target - 1, target + 1, target + line):
            is_along = abs(target - source) == 1
            if not 0 <= source < cells or (is_along and source // line != target // line):
                continue
            first = min(source, target) + padding
            # transposition `at` is of the tiles at positions `at` and `at + 1`
            transpositions = [] if is_along else [*range(first, first + line - 1)]
            transpositions = transpositions if target > source else transpositions[::-1]
            weight, move_offsets, move_sources = _trace_rows(radices, transpositions)
            cycle = len(move_offsets)
            numbers = [source, weight, cycle, start if cycle > 1 else 0]
            rows.append([*numbers, *_describe_transpositions(len(radices), transpositions)])
            if cycle > 1:
                offsets.append(move_offsets)
                sources.append(move_sources)
                start += cycle
        moves.append(np.array(rows, dtype=np.int64))
    lines, steps = np.divmod(np.arange(cells), line)
    parities = (lines - goal_place // line) * (line - 1) % 2 ^ is_odd
    tables = WordTables(np.concatenate(offsets), np.concatenate(sources), make_masks())
    colours = ((lines + steps) % 2).astype(np.uint8)
    states = factorial(tiles) // 2
    return WordSpace(root, states, colours, parities.astype(np.uint8), moves, tables, radices)


def _trace_rows(
    radices: list[int], transpositions: list[int]
) -> tuple[int, npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Return a move's weight, and its offsets and source words for each phase.

    Transpositions in the head, and between head and tail, are taken back from every phase and word.
    """
    head, weights = len(radices), [prod(radices[at + 1 :]) for at in range(len(radices))]
    changed = [at for at in range(head) if {at - 1, at} & {*transpositions}]
    weight = weights[changed[-1]] if changed else 1
    phases = np.arange(prod(radices[at] for at in changed))[:, None]
    digits: dict[int, Digits] = {
        at: phases // (weights[at] // weight) % radices[at] for at in changed
    }
    traced = {**digits, head: np.arange(WORDS)[None]}
    for at in transpositions:
        if at < head:
            traced[at], traced[at + 1] = transpose_digits(traced[at], traced[at + 1])
    offsets, sources = (
        np.zeros((len(phases), WORDS), np.int32),
        np.zeros((len(phases), WORDS), np.uint8),
    )
    for at in changed:
        offsets += ((traced[at] - digits[at]) * weights[at]).astype(np.int32)
    sources += traced[head].astype(np.uint8)
    return weight, offsets, sources


def transpose_digits(first: Digits, second: Digits) -> tuple[Digits, Digits]:
    """Return the Lehmer digits of two neighbouring tiles after their transposition."""
    new_first = second + (second >= first)
    return new_first, first - (first > new_first)


def _describe_transpositions(head: int, transpositions: list[int]) -> list[int]:
    """Return the fields of a move from `IS_BORDER` on."""
    is_border = head > 0 and head - 1 in transpositions
    split = transpositions.index(head - 1) if is_border else len(transpositions)
    outer, inner = (
        [at - head for at in part if at >= head]
        for part in (transpositions[:split], transpositions[split:])
    )
    padded = [[*part, *[0] * (MAX_TRANSPOSITIONS - len(part))] for part in (outer, inner)]
    return [int(is_border), len(outer), len(inner), *padded[0], *padded[1]]


def make_masks() -> npt.NDArray[np.uint64]:
    """Make the masks and shifts of the transpositions that keep each word: all but the first.

    A row is a group of bits that move equally far: those of even words, those of odd words (the
    parity of the tails and the number of the word are added), how far they move left and how far
    right.
    """
    masks = np.zeros((TAIL - 1, MAX_GROUPS, 4), dtype=np.uint64)
    bits = np.arange(WORD_STATES)
    for transposition in range(1, TAIL - 1):
        groups: dict[int, list[int]] = {}
        for odd in range(2):
            digits: list[Digits] = [bits // 12, bits // 3 % 4, bits % 3]
            digits += [(odd + sum(digits)) % 2, 0 * bits]  # the sum is as odd as the tail's parity
            pair = slice(transposition - 1, transposition + 1)
            digits[pair] = transpose_digits(*digits[pair])
            moved = bits - (12 * digits[0] + 3 * digits[1] + digits[2])
            for bit, far in enumerate(moved.tolist()):
                groups.setdefault(far, [0, 0])[odd] |= 1 << bit
        for number, (far, group) in enumerate(sorted(groups.items())):
            masks[transposition, number] = [*group, max(far, 0), max(-far, 0)]
    return masks
