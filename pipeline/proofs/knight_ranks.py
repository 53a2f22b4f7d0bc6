"""The proof of tables that rank tours: every record is made again.

The walker makes all layers from the empty board (`tour_walker`): the records must have exactly its
states and numbers, as many in each as fit. docs/format/ranks.md puts the partial tours that lead to
a state, and the ways to complete it, in an order; so where every number is right, each rank is one
tour and each tour has one rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.proofs.claims import ListedTable, Proof, compare_records
from puzzle_tablebase.pipeline.proofs.tour_walker import HalfBoard, walk_layers
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.puzzles.knight.board import parse_board
from puzzle_tablebase.puzzles.knight.tables import RANKING_FIELDS

HOW = "every layer was counted again from the empty board, so each rank is one tour"
RECORD_BYTES = int(RANKING_FIELDS[-1][1].removesuffix("s"))
"""The bytes of the states of a record."""
LONGEST_STATE = 18
"""The bytes of a difference of keys and a number, nine each at most."""
PART_RECORDS = 1 << 12
"""The records that are made at a time."""


def prove_ranks(listed: ListedTable, proved: Mapping[str, ListedTable]) -> Proof:
    """Prove the ranking of a board's tours."""
    recipe = listed.definition.recipe
    board, is_open = parse_board(recipe.parameters["board"]), recipe.search == "ranked tours"
    half = HalfBoard(board, is_open=is_open)
    colours = ", of those whose colours need as many edges" * is_open
    text = (
        "every layer is counted again from the empty board: each state with the partial tours that "
        f"lead to it, at the cut with the tours that pass it, and no other state{colours}"
    )
    yield listed.claim_records(text, compare_records(listed, make_records(half)))
    return Proved(Verdict.PROVED, HOW, fields=[name for name, _ in RANKING_FIELDS])


def make_records(half: HalfBoard) -> Iterator[dict[str, Array]]:
    """Make the records of all layers, some at a time."""
    for layer, (keys, numbers) in enumerate(walk_layers(half)):
        state = before = 0
        while state < len(keys):
            firsts, sums = np.zeros((2, PART_RECORDS), dtype=np.int64)
            states = np.zeros((PART_RECORDS, RECORD_BYTES), dtype=np.uint8)
            count, state, before = pack(keys, numbers, state, before, firsts, sums, states)
            layers = np.full(count, layer)
            made: tuple[Array, ...] = layers, firsts[:count], sums[:count], states[:count]
            yield {name: values for (name, _), values in zip(RANKING_FIELDS, made, strict=True)}


@compiled
def pack(
    keys: Array, numbers: Array, state: int, before: int, firsts: Array, sums: Array, states: Array
) -> tuple[int, int, int]:
    """Fill records from a state on; `before`: the sum of the numbers of the states before it.

    Return how many records have states, the first state that no longer fits, and its `before`. A
    record is followed by another one when the longest state no longer fits.
    """
    record, end = -1, states.shape[1]
    while state < len(keys):
        if end + LONGEST_STATE > states.shape[1]:
            if record + 1 == len(states):
                break
            record, end = record + 1, 0
            firsts[record], sums[record] = keys[state], before
        else:
            end = write_value(states[record], end, keys[state] - keys[state - 1])
        end = write_value(states[record], end, numbers[state])
        before += numbers[state]
        state += 1
    return record + 1, state, before


@compiled
def write_value(states: Array, at: int, value: int) -> int:
    """Write a value in groups of seven bits, the lowest first; return where the next one begins."""
    while value > 127:
        states[at] = value & 127 | 128
        at, value = at + 1, value >> 7
    states[at] = value
    return at + 1
