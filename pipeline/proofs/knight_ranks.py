"""The proof of tables that rank tours: every layer is counted again.

The walker makes all layers from the empty board (`tour_walker`): the records must have exactly its
states and numbers. docs/format/ranks.md puts the partial tours that lead to a state, and the ways
to complete it, in an order; so where every number is right, each rank is one tour and each tour has
one rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.proofs.claims import (
    Difference,
    ListedTable,
    Proof,
    require_equal,
    view_field,
)
from puzzle_tablebase.pipeline.proofs.tour_walker import CountedLayer, HalfBoard, walk_layers
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.puzzles.knight.board import KnightBoard, parse_board
from puzzle_tablebase.puzzles.knight.tables import RANKING_FIELDS

HOW = "every layer was counted again from the empty board, so each rank is one tour"


def prove_ranks(listed: ListedTable, proved: Mapping[str, ListedTable]) -> Proof:
    """Prove the ranking of a board's tours."""
    recipe = listed.definition.recipe
    board, is_open = parse_board(recipe.parameters["board"]), recipe.search == "ranked tours"
    half = HalfBoard(KnightBoard(*sorted((board.files, board.ranks))), is_open=is_open)
    text = "layer after layer, each sum is that of the numbers before it"
    yield listed.claim_records(text, find_bad_records(listed))

    colours = ", of those whose colours need as many edges" * is_open
    text = (
        "every layer is counted again from the empty board: each state with the partial tours that "
        f"lead to it, at the cut with the tours that pass it, and no other state{colours}"
    )
    yield listed.claim_records(text, find_bad_layers(listed, half))
    return Proved(Verdict.PROVED, HOW, fields=[name for name, _ in RANKING_FIELDS])


LONGEST_STATE = 18
"""The bytes of a difference of keys and a number, nine each at most."""

# ---- records ----------------------------------------------------------------------------------


class _Part(NamedTuple):
    """Consecutive states of a layer, and the number of records up to the last of theirs."""

    layer: int
    states: CountedLayer
    records: int


def find_bad_records(listed: ListedTable) -> Iterator[Difference | int]:
    """Yield the first record that is out of order."""
    at = np.array([-1, 0, 0])
    for begin, records in listed.iter_records():
        _, _, wrong = _decode(records, at)
        if wrong < len(records):
            yield Difference(f"layer {records['layer'][wrong]}", "one in order", begin + wrong, {})
        yield begin + len(records)


def _iter_parts(listed: ListedTable) -> Iterator[_Part]:
    """Yield all states, layer after layer; the records are in order."""
    at = np.array([-1, 0, 0])
    for begin, records in listed.iter_records():
        layers = records["layer"].astype(np.int64)
        states, ends, _ = _decode(records, at)
        edges = np.flatnonzero(np.diff(layers)) + 1
        for first, last in pairwise([0, *edges.tolist(), len(records)]):
            span = slice(ends[first], ends[last])
            part = CountedLayer(states.keys[span], states.numbers[span])
            yield _Part(int(layers[first]), part, begin + last)


def _decode(records: Array, at: Array) -> tuple[CountedLayer, list[int], int]:
    """Return the states of some records, where those of each record end, and the first bad record.

    `at`: the layer, the sum and the used bytes at the end of the record before, to be updated. The
    third value is the number of records if all are in order.
    """
    packed = view_field(records, "states")
    # signed, or compiled code compares them as floating point numbers
    fields = [records[name].astype(np.int64) for name, _ in RANKING_FIELDS[:3]]
    count = len(records) + int(np.count_nonzero((packed > 0) & (packed < 128))) // 2
    states, ends = np.empty((2, count), dtype=np.int64), np.zeros(len(records) + 1, np.int64)
    layers, firsts, sums = fields
    keys, numbers = states
    wrong = _decode_records(layers, firsts, sums, packed, keys, numbers, ends, at)
    end = ends[wrong]
    return CountedLayer(keys[:end], numbers[:end]), ends.tolist(), wrong


@compiled
def _decode_records(
    layers: Array, firsts: Array, sums: Array, packed: Array, keys: Array, numbers: Array,
    ends: Array, at: Array,
) -> int:  # fmt: skip
    """Decode records, and return the first one that is out of order, or their number.

    A record is followed by one of the same layer when the longest state no longer fits.
    """
    state, last_begin = 0, packed.shape[1] - LONGEST_STATE
    for record in range(len(layers)):
        is_new = layers[record] > at[0] and sums[record] == 0
        if not is_new and (layers[record] != at[0] or sums[record] != at[1]):
            return record
        if not is_new and at[2] <= last_begin:
            return record
        at[0], at[1] = layers[record], sums[record]
        key, value, shift, is_key, ended = firsts[record], 0, 0, False, False
        for place, byte in enumerate(packed[record]):
            if (ended and byte) or shift > 56:
                return record
            if byte and is_key and shift == 0 and place > last_begin:
                return record
            value |= int(byte & 127) << shift
            shift += 7
            if byte & 128:
                continue
            if byte == 0:
                ended = True
                if shift > 7:
                    return record
            elif is_key:
                key += value
            else:
                keys[state], numbers[state] = key, value
                at[1] += value
                at[2] = place + 1
                state += 1
            is_key = is_key != (byte > 0)
            value = shift = 0
        if not is_key or shift or at[1] < 0:
            return record
        ends[record + 1] = state
    return len(layers)


def find_bad_layers(listed: ListedTable, half: HalfBoard) -> Iterator[Difference | int]:
    """Yield the first state that a layer lacks, has too much, or has with another number.

    The layers of the walker and those of the table are taken one after the other.
    """
    parts, layer = _iter_parts(listed), 0
    part = next(parts, None)
    for expected in walk_layers(half):
        done = 0
        while part and part.layer == layer:
            count = len(part.states.keys)
            same = CountedLayer(*(values[done:][:count] for values in expected))
            yield from _compare_states(layer, part.states, same)
            done += count
            yield part.records
            part = next(parts, None)
        rest = CountedLayer(*(values[done:] for values in expected))
        yield from _compare_states(layer, CountedLayer(*(values[:0] for values in rest)), rest)
        layer += 1
    if part:
        yield Difference(f"layer {part.layer}", f"{layer} layers")


def _compare_states(
    layer: int, found: CountedLayer, expected: CountedLayer
) -> Iterator[Difference]:
    """Yield the smallest state that only one side has, or that has two numbers."""
    if all(map(np.array_equal, found, expected)):
        return
    shorter = min(len(found.keys), len(expected.keys))
    differ = np.zeros(1 + shorter, dtype=np.bool_)
    differ[shorter] = True
    for one, other in zip(found, expected, strict=True):
        differ[:shorter] |= one[:shorter] != other[:shorter]
    at = int(np.argmax(differ))
    states = [
        dict(zip(keys[at : at + 1].tolist(), numbers[at : at + 1].tolist(), strict=True))
        for keys, numbers in (found, expected)
    ]
    key = min(chain(*states))
    what = f"ways to the state {key:#x} of layer {layer}:"
    yield from require_equal(what, *(each.get(key, 0) for each in states))
