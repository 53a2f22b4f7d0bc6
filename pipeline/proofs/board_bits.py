"""The proof of a table with one bit of each distance: a second search, layer by layer.

The bits of a layer must be bit 1 of its distance. No state's distance is concluded from the table:
wrong values could agree with all their neighbours and never lead to the goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from puzzle_tablebase.formats.manifest import Depth
from puzzle_tablebase.pipeline.proofs.board_layers import (
    WORD_STATES,
    Words,
    compare_words,
    iter_layers,
    split_records,
)
from puzzle_tablebase.pipeline.proofs.claims import (
    Difference,
    ListedTable,
    Proof,
    require_equal,
    view_field,
)
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.pipeline.tasks import run_in_threads
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.schema import ROW_BYTES

HOW = "every state was searched again from the goal, layer by layer"


def prove_bits(listed: ListedTable, proved: Mapping[str, ListedTable]) -> Proof:
    """Prove the distances of a large board to one goal."""
    parameters = listed.definition.recipe.parameters
    board, (goal,) = parse_board(parameters["board"]), parameters["roots"]
    records = board.size // (8 * ROW_BYTES)
    text = "there is a record for every 360 states"
    yield listed.claim_records(text, require_equal("records", listed.index.records, records))

    bits, depths = read_bits(listed, board), dict[Depth, int]()
    text = "each bit is bit 1 of the state's distance, layer by layer from the goal"
    yield listed.claim_records(text, find_bad_bits(board, goal, bits, depths))
    return Proved(Verdict.PROVED, HOW, fields=("bits",), depths=depths)


def read_bits(listed: ListedTable, board: SlidingBoard) -> Words:
    """Read the index: a row for each place of the blank, a bit for each order of the tiles."""
    bits = np.empty(board.size // WORD_STATES, dtype=np.uint64)
    words = 8 * ROW_BYTES // WORD_STATES
    for begin, records in listed.iter_records():
        part = slice(words * begin, words * (begin + len(records)))
        bits[part] = split_records(view_field(records, "bits"))
    return bits.reshape(board.cells, -1)


def find_bad_bits(
    board: SlidingBoard, goal: str, bits: Words, depths: dict[Depth, int]
) -> Iterator[Difference | int]:
    """Yield the first bit that differs from a second search, whose layers are counted."""
    states = 0
    for distance, layers in iter_layers(board, goal):
        is_set, parts, before = bool(distance & 2), layers.list_parts(distance), states
        tasks = (
            (layers.words[place, first:end], bits[place, first:end], is_set)
            for place, first, end in parts
        )
        compared = run_in_threads(compare_words, tasks)
        for (place, first, _), (count, word, bit) in zip(parts, compared, strict=True):
            if word >= 0:
                rank = place * board.orders + (first + word) * WORD_STATES + bit
                content = {"state": board.unrank(rank, goal), "distance": distance}
                yield Difference(f"bit {1 - is_set}", f"{is_set:d}", rank, content)
            states += count
        depths[goal, distance] = states - before
        yield states // (8 * ROW_BYTES)
    yield from require_equal("states that reach the goal", states, board.size)
