"""Kernels of the search in words of bits, many rows at a time, with 60 states a word."""

from __future__ import annotations

from typing import Any

import numpy as np

from puzzle_tablebase.intrinsics import count_ones
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.two_bit_bfs.codec import (
    SEGMENT_ROWS,
    WORD,
    encode_segment,
    exclude_segment,
    find_segment_end,
)
from puzzle_tablebase.two_bit_bfs.space import (
    BLOCK,
    CYCLE,
    INNER,
    IS_BORDER,
    MAX_TRANSPOSITIONS,
    OUTER,
    START,
    TRANSPOSITIONS,
    WEIGHT,
    WORD_STATES,
    WORDS,
)

CHUNK_ROWS = 128
"""Rows whose incoming states are collected at a time: few enough for a core's fastest cache."""
SCRATCH_ROWS = 2 * CHUNK_ROWS * (1 + WORDS)
"""Rows of scratch memory that `pull_rows` needs."""
ONE, LOW_GROUP, GROUP_BITS = np.uint64(1), np.uint64(0xFFF), 12
FULL_WORD = np.uint64((1 << WORD_STATES) - 1)


@compiled
def pull_rows(
    words: Array, frontier: Array, moves: Array, offsets: Array, sources: Array, masks: Array,
    row_parities: Array, bounds: Array, scratch: Array,
) -> None:  # fmt: skip
    """Find the next layer's states in the rows `first` to `last` of a block.

    Bounds: the block's first row, `first`, `last`, and the block's parity. `scratch` has words in
    the order of a row's words, and for each of these a chunk's rows.
    """
    base, first, last, parity = bounds
    for chunk in range(first, last, CHUNK_ROWS):
        end = min(last, chunk + CHUNK_ROWS)
        if _collect_states(
            words,
            frontier,
            moves,
            offsets,
            sources,
            masks,
            row_parities,
            parity,
            chunk,
            end,
            scratch,
        ):
            _add_states(words[base + chunk : base + end], frontier[base + chunk :], scratch)


@compiled
def find_shard_rows(
    words: Array, frontier: Array, moves: Array, offsets: Array, sources: Array, masks: Array,
    row_parities: Array, bounds: Array, reachable: Array, incoming: Array, has_incoming: Array,
    earlier: Array, starts: Array, data: Array, ends: Array, scratch: Array,
) -> Any:  # fmt: skip
    """Find the next layer's states in a shard's rows of a block; write and count them.

    `words`, `frontier`: the last layer in the shard. `reachable`: the groups that it may lead
    to; others are skipped. `incoming`: states that other shards lead to, if any. `earlier`: the
    layer before, in groups that begin at `starts`. `data` gets the next layer, and `ends` the ends
    of its groups. Bounds: the block's parity, and a group's number of rows.
    """
    parity, group = bounds
    count = group_count = np.int64(0)
    at = start = end = WORD(0)
    step = CHUNK_ROWS if group > CHUNK_ROWS else CHUNK_ROWS // group * group
    # chunks end where a group does
    for base in range(0, len(row_parities), max(step, group)):
        stop = min(len(row_parities), base + max(step, group))
        if not reachable[base // group : stop // group].any():
            ends[base // group : stop // group] = end
            continue
        for chunk in range(base, stop, step):
            last = min(stop, chunk + step)
            is_reached = _collect_states(
                words,
                frontier,
                moves,
                offsets,
                sources,
                masks,
                row_parities,
                parity,
                chunk,
                last,
                scratch,
            )
            if len(incoming):
                is_reached |= _add_incoming(incoming, has_incoming, chunk, last, scratch)
            for first in range(chunk, last, min(group, SEGMENT_ROWS)):
                number = first // group
                end_row = min(last, first + SEGMENT_ROWS, (number + 1) * group)
                if first == number * group:
                    at, start = WORD(starts[number]), end
                    group_count = np.int64(0)
                if at < WORD(starts[number + 1]):
                    if is_reached:
                        at = exclude_segment(earlier, at, scratch, first - chunk, end_row - chunk)
                    else:
                        at = find_segment_end(earlier, at)
                if is_reached:
                    for word in range(WORDS):
                        for row in range(first - chunk, end_row - chunk):
                            group_count += count_ones(scratch[word, row])
                end = encode_segment(scratch, first - chunk, end_row - chunk, data, end)
                if end_row == (number + 1) * group:
                    if group_count == 0:
                        end = start
                    ends[number] = end
                    count += group_count
    return count


@compiled
def _add_incoming(
    incoming: Array, has_incoming: Array, first: int, last: int, reached: Array
) -> bool:
    """Add the states that come from other shards; return whether there are any."""
    is_seen = False
    for row in range(first, last):
        if has_incoming[row]:
            is_seen = True
            for word in range(WORDS):
                reached[word, row - first] |= incoming[row, word]
    return is_seen


@compiled
def _collect_states(
    words: Array, frontier: Array, moves: Array, offsets: Array, sources: Array, masks: Array,
    row_parities: Array, parity: int, first: int, last: int, scratch: Array,
) -> bool:  # fmt: skip
    """Collect what the last layer leads to in some rows of a block, as the first rows of `scratch`.

    Return whether there may be any.
    """
    count = last - first
    reached, coming = scratch[:, :count], scratch[:, CHUNK_ROWS : CHUNK_ROWS + count]
    spare = scratch[:, 2 * CHUNK_ROWS :]
    reached[:] = 0
    is_reached = False
    for at in range(len(moves)):
        move = moves[at]
        start, outer = move[BLOCK] * len(row_parities), move[OUTER]
        into = reached
        if outer:
            into = coming
            coming[:] = 0
        if move[IS_BORDER]:
            is_seen = _pull_words(
                words[start:], frontier[start:], move, offsets, sources, masks, first, last, into,
                spare,
            )  # fmt: skip
        else:
            is_seen = _pull_rows(words[start:], frontier[start:], move, offsets, first, last, into)
        is_reached |= is_seen
        if is_seen and outer:
            parities = row_parities[first:last]
            for number in range(outer - 1, -1, -1):
                transposition = move[TRANSPOSITIONS + number]
                _transpose_tails(coming, spare, transposition, parity + number, parities, masks)
            for word in range(WORDS):
                for row in range(count):
                    reached[word, row] |= coming[word, row]
    return is_reached


@compiled
def _add_states(words: Array, frontier: Array, reached: Array) -> None:
    """Put the states that are reached for the first time into the next layer."""
    for row in range(len(words)):
        bits = np.uint64(0)
        for word in range(WORDS):
            bits |= reached[word, row]
        if bits:
            bits = np.uint64(0)
            for word in range(WORDS):
                new = reached[word, row] & ~(words[row, word] | words[row, WORDS + word])
                bits |= new
                words[row, word] |= new
                words[row, WORDS + word] |= new
            if bits:
                frontier[row] = 1


@compiled
def _pull_rows(
    words: Array, frontier: Array, move: Array, offsets: Array, first: int, last: int, into: Array
) -> bool:  # fmt: skip
    """Collect the last layer's states in the rows that a move leads from to `first` to `last`.

    `words` and `frontier` begin with the block that the move comes from. Return whether
    there are any. A row of `words` has two planes, or the last layer alone.
    """
    weight, cycle, start, other = move[WEIGHT], move[CYCLE], move[START], words.shape[1] - WORDS
    phase, step, is_seen = first // weight % cycle, first % weight, False
    for row in range(first, last):
        source = row + offsets[start + phase, 0]
        if frontier[source]:
            is_seen = True
            for word in range(WORDS):
                into[word, row - first] |= words[source, word] & words[source, other + word]
        step += 1
        if step == weight:
            step = 0
            phase += 1
            if phase == cycle:
                phase = 0
    return is_seen


@compiled
def _pull_words(
    words: Array, frontier: Array, move: Array, offsets: Array, sources: Array, masks: Array,
    first: int, last: int, into: Array, spare: Array,
) -> bool:  # fmt: skip
    """Collect the states like `_pull_rows` for a move that transposes tiles of head and tail.

    Each word of a row comes from a different row. The transpositions that would be undone last, in
    the tail, are made first, in all words of these rows: they are those of its first three tiles,
    which do not depend on parity.
    """
    weight, cycle, start, inner = move[WEIGHT], move[CYCLE], move[START], move[INNER]
    phase, step, is_seen = first // weight % cycle, first % weight, False
    count, other = (last - first) * WORDS, words.shape[1] - WORDS
    before, spare = spare[:, :count], spare[:, count:]
    if inner:
        before[:] = 0
    for row in range(first, last):
        for word in range(WORDS):
            source, source_word = row + offsets[start + phase, word], sources[start + phase, word]
            if frontier[source]:
                is_seen = True
                if inner:
                    column = (row - first) * WORDS + word
                    for at in range(WORDS):
                        before[at, column] = words[source, at] & words[source, other + at]
                else:
                    into[word, row - first] |= (
                        words[source, source_word] & words[source, other + source_word]
                    )
        step += 1
        if step == weight:
            step = 0
            phase += 1
            if phase == cycle:
                phase = 0
    if is_seen and inner:
        for number in range(inner - 1, -1, -1):
            transposition = move[TRANSPOSITIONS + MAX_TRANSPOSITIONS + number]
            _transpose_tails(before, spare, transposition, first * 0, frontier[:0], masks)
        for column in range(count):
            row = column // WORDS
            at = start + (first + row) // weight % cycle
            word = column % WORDS
            into[word, row] |= before[sources[at, word], column]
    return is_seen


@compiled
def _transpose_tails(
    rows: Array, spare: Array, transposition: int, parity: int, row_parities: Array, masks: Array
) -> None:  # fmt: skip
    """Make an adjacent transposition in the tails of rows.

    A row's tails are odd after it if `parity` differs from the row's own in `row_parities`.
    """
    if transposition >= WORDS - 2:  # that of the last two tiles, which no bit tells apart
        return
    count = rows.shape[1]
    for word in range(WORDS):
        spare[word, :count] = 0
        if transposition == 0:  # groups of bits change words
            for group in range(WORDS - 1):
                source = group + (group >= word)
                shift = np.uint64(GROUP_BITS * (word - (word > source)))
                left = np.uint64(GROUP_BITS * group)
                for row in range(count):
                    spare[word, row] |= (rows[source, row] >> shift & LOW_GROUP) << left
            continue
        for number in range(masks.shape[1]):
            even, odd, left, right = masks[transposition, number]
            if even | odd == 0:
                break
            if even == odd:
                for row in range(count):
                    spare[word, row] |= rows[word, row] << left >> right & even
            else:
                for row in range(len(row_parities)):
                    mask = odd if (parity ^ row_parities[row]) + word & 1 else even
                    spare[word, row] |= rows[word, row] << left >> right & mask
    for word in range(WORDS):
        for row in range(count):
            rows[word, row] = spare[word, row]


@compiled
def close_rows(words: Array, frontier: Array, bounds: Array) -> Any:
    """Close the last layer in some rows: clear one of its states' two bits; return their number.

    Bounds: the block's first row, `first`, `last`, and the layer's level.
    """
    base, first, last, level = bounds
    cleared = WORDS if level & 2 else 0
    count = 0
    for row in range(base + first, base + last):
        if frontier[row]:
            frontier[row] = 0
            for word in range(WORDS):
                bits = words[row, word] & words[row, WORDS + word]
                words[row, cleared + word] &= ~bits
                count += count_ones(bits)
    return count


@compiled
def pack_rows(words: Array, records: Array) -> None:
    """Write the 60 bits of each word of the first plane one after the other."""
    for row in range(len(words)):
        for pair in range(WORDS // 2):
            low, high = words[row, 2 * pair], words[row, 2 * pair + 1]
            low |= high << np.uint64(60)
            for byte in range(8):
                records[row, 15 * pair + byte] = low >> np.uint64(8 * byte) & np.uint64(255)
            high >>= np.uint64(4)
            for byte in range(7):
                records[row, 15 * pair + 8 + byte] = high >> np.uint64(8 * byte) & np.uint64(255)


@compiled
def add_rows(words: Array, frontier: Array, numbers: Array, records: Array, is_new: bool) -> None:
    """Add the states of records, as `pack_rows` writes them, to the rows with these numbers.

    `is_new`: states that have no bit yet get both and are the next layer's; otherwise they get a
    bit in the second plane alone.
    """
    for at in range(len(numbers)):
        row = numbers[at]
        added = np.uint64(0)
        for pair in range(WORDS // 2):
            low, high = np.uint64(0), np.uint64(0)
            for byte in range(8):
                low |= np.uint64(records[at, 15 * pair + byte]) << np.uint64(8 * byte)
            for byte in range(7):
                high |= np.uint64(records[at, 15 * pair + 8 + byte]) << np.uint64(8 * byte)
            high = high << np.uint64(4) | low >> np.uint64(60)
            for half in range(2):
                word = 2 * pair + half
                bits = high if half else low & FULL_WORD
                bits &= ~(words[row, word] | words[row, WORDS + word])
                words[row, WORDS + word] |= bits
                if is_new:
                    words[row, word] |= bits
                    added |= bits
        if added:
            frontier[row] = 1
