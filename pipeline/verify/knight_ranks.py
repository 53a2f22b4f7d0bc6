"""The proof of tables that rank tours: every layer is counted again.

The walker makes all layers from the empty board (`tour_walker`): the records must have exactly its
states and numbers. docs/format/tours.md puts the partial tours that lead to a state, and the ways
to complete it, in an order; so where every number is right, each rank is one tour and each tour has
one rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.verify.claims import ClaimCheck, Proof, PublishedTable, Seen, Verdict
from puzzle_tablebase.pipeline.verify.files import iter_records, view_field
from puzzle_tablebase.pipeline.verify.tour_walker import CountedLayer, HalfBoard, walk
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import RANKING_FIELDS, TourRanking

HOW = "every layer was counted again from the empty board, so each rank is one tour"


def prove_ranks(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove the ranking of a board's tours."""
    recipe = published.definition.recipe
    assert isinstance(recipe, TourRanking)
    board, is_open = recipe.board, not recipe.closed
    half = HalfBoard(KnightBoard(*sorted((board.files, board.ranks))), is_open=is_open)
    colours = ", of those whose colours need as many edges" * is_open
    text = (
        "every layer is counted again from the empty board: each state with the partial tours that "
        f"lead to it, at the cut with the tours that pass it, and no other state{colours}"
    )
    order = "layer after layer, each sum is that of the numbers before it"
    with (
        published.begin_claim(order) as order_check,
        published.begin_claim(text) as check,
    ):
        comparison = _Comparison(_iter_parts(published, order_check), check)
        walk(half, comparison.require_layer)
        comparison.require_end()
    published.note_missing_proofs((), [name for name, _ in RANKING_FIELDS])
    return published.make_proof(Verdict.PROVED, HOW)


LONGEST_STATE = 18
"""The bytes of a difference of keys and a number, nine each at most."""

# ---- records ----------------------------------------------------------------------------------


class _Part(NamedTuple):
    """Consecutive states of a layer, and the number of records up to the last of theirs."""

    layer: int
    states: CountedLayer
    records: int


def _iter_parts(published: PublishedTable, check: ClaimCheck) -> Iterator[_Part]:
    """Yield all states, layer after layer; refute the claim at a record that is out of order."""
    at = np.array([-1, 0, 0])
    for begin, records in iter_records(published, check):
        layers = records["layer"].astype(np.int64)
        states, ends = _decode(records, at, check, begin)
        edges = np.flatnonzero(np.diff(layers)) + 1
        for first, last in pairwise([0, *edges.tolist(), len(records)]):
            span = slice(ends[first], ends[last])
            part = CountedLayer(states.keys[span], states.numbers[span])
            yield _Part(int(layers[first]), part, begin + last)


def _decode(
    records: Array, at: Array, check: ClaimCheck, begin: int
) -> tuple[CountedLayer, list[int]]:
    """Return the states of some records, and where those of each record end, from 0.

    `at`: the layer, the sum and the used bytes at the end of the record before, to be updated.
    """
    packed = view_field(records, "states")
    # signed, or compiled code compares them as floating point numbers
    fields = [records[name].astype(np.int64) for name, _ in RANKING_FIELDS[:3]]
    count = len(records) + int(np.count_nonzero((packed > 0) & (packed < 128))) // 2
    states, ends = np.empty((2, count), dtype=np.int64), np.zeros(len(records) + 1, np.int64)
    layers, firsts, sums = fields
    keys, numbers = states
    wrong = _decode_records(layers, firsts, sums, packed, keys, numbers, ends, at)
    if wrong < len(records):
        check.refute(f"layer {records['layer'][wrong]}", "one in order", begin + wrong)
    return CountedLayer(keys[: ends[-1]], numbers[: ends[-1]]), ends.tolist()


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


class _Comparison:
    """The comparison of a table's layers with those of the walker, in order."""

    def __init__(self, parts: Iterator[_Part], check: ClaimCheck) -> None:
        self._parts, self._check = parts, check
        self._part = next(parts, None)
        self._layer = 0

    def require_layer(self, expected: CountedLayer) -> None:
        """Refute the claim unless the next layer has these states and numbers."""
        done = 0
        while self._part and self._part.layer == self._layer:
            found = self._part.states
            self._require_same(found, CountedLayer(*(a[done:][: len(found[0])] for a in expected)))
            done += len(found.keys)
            self._check.report_progress(self._part.records)
            self._part = next(self._parts, None)
        rest = CountedLayer(*(values[done:] for values in expected))
        self._require_same(CountedLayer(*(values[:0] for values in rest)), rest)
        self._layer += 1

    def _require_same(self, found: CountedLayer, expected: CountedLayer) -> None:
        if all(map(np.array_equal, found, expected)):
            return
        shorter = min(len(found.keys), len(expected.keys))
        differ = np.zeros(1 + shorter, dtype=np.bool_)
        for one, other in zip(found, expected, strict=True):
            differ[:-1] |= one[:shorter] != other[:shorter]
        at = np.argmax(np.append(differ[:-1], True))
        states = [
            dict(zip(keys[at : at + 1].tolist(), numbers[at : at + 1].tolist(), strict=True))
            for keys, numbers in (found, expected)
        ]
        key = min(chain(*states))
        what = f"ways to the state {key:#x} of layer {self._layer}:"
        self._check.require_equal(what, *(each.get(key, 0) for each in states))

    def require_end(self) -> None:
        """Refute the claim if there are more layers."""
        if self._part:
            self._check.refute(f"layer {self._part.layer}", f"{self._layer} layers")
