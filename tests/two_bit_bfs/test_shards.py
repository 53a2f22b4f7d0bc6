"""Shards of any number find the states of each layer that slow code finds."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from hypothesis import example, given, settings
from hypothesis import strategies as st

from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.two_bit_bfs.codec import WORD_BYTES, decode_groups
from puzzle_tablebase.two_bit_bfs.shards import Encoded, Rows, Shard, Source, count_shards
from puzzle_tablebase.two_bit_bfs.space import ROW_STATES, WORD_STATES, WordSpace
from tests import usual_or_nightly
from tests.support import sliding_oracle as oracle

BOARDS = [parse_board(name) for name in ("3x3", "2x5")]
LEVELS = usual_or_nightly(9, 16)
Layer = list[Encoded]
"""A shard's states of a layer: block after block of the layer's colour."""


def read_source(source: Source, layer: Layer, shard: Shard, incoming: Rows) -> bool:
    """Add the groups of another shard's layer to the rows that they lead to, if any has states."""
    parts, starts = list[bytes](), [0]
    for number in source.numbers.tolist():
        slot, group = divmod(number, len(layer[0].starts) - 1)
        data, bounds = layer[slot]
        parts.append(data[bounds[group] : bounds[group + 1]].tobytes())
        starts.append(starts[-1] + len(parts[-1]))
    read = np.frombuffer(b"".join(parts) + bytes(WORD_BYTES), np.uint8)
    ends, rows = np.array(starts), source.rows
    decode_groups(read, ends, rows, shard.group, incoming.words, incoming.frontier, True)
    return starts[-1] > 0


def find_next(shard: Shard, level: int, before: list[Layer], earlier: Layer) -> Layer:
    """Find a shard's next layer, from the last layer of all shards, and its own before that."""
    last, is_inner = Rows(0), np.zeros(shard.groups, dtype=bool)
    if level:
        own = before[shard.number]
        last = Rows(shard.rows * len(own))
        targets = np.arange(0, shard.rows, shard.group)
        for slot, (data, starts) in enumerate(own):
            rows = slot * shard.rows + targets
            decode_groups(data, starts, rows, shard.group, last.words, last.frontier, False)
        is_inner = shard.find_reachable_groups(
            np.concatenate([np.diff(starts) for _, starts in own])
        )
    found = Layer()
    for slot, block in enumerate(shard.list_blocks(level)):
        incoming = Rows(shard.rows)
        is_added = level == 0 and shard.add_root(block, incoming)
        reachable = is_inner | is_added
        for source in shard.list_sources(block) if level else ():
            if read_source(source, before[source.shard], shard, incoming):
                reachable[source.rows // shard.group] = is_added = True
        data = np.empty(shard.estimate_data_bytes(), dtype=np.uint8)
        old = earlier[slot] if earlier else Encoded.make_empty(shard.groups)
        others = incoming if is_added else None
        _, starts = shard.find_rows(block, last, reachable, others, old, data)
        found.append(Encoded(data, starts))
    return found


def list_ranks(shard: Shard, block: int, encoded: Encoded) -> npt.NDArray[np.int64]:
    """List the ranks of a shard's states of a block."""
    rows = Rows(shard.rows)
    targets = np.arange(0, shard.rows, shard.group)
    decode_groups(*encoded, targets, shard.group, rows.words, rows.frontier, False)
    rows.words[rows.frontier == 0] = 0
    bits = np.unpackbits(rows.words.view(np.uint8), bitorder="little")
    row, at = np.divmod(np.flatnonzero(bits), 64 * 6)
    in_row = at // 64 * WORD_STATES + at % 64
    ranks: npt.NDArray[np.int64] = block * shard.space.states + (shard.first + row) * ROW_STATES
    ranks += in_row
    return ranks


def search(space: WordSpace, count: int) -> Iterator[list[int]]:
    """Yield the ranks of each layer's states, ascending."""
    shards = [Shard(space, number, count) for number in range(count)]
    earlier, before = [Layer() for _ in shards], [Layer() for _ in shards]
    for level in range(LEVELS):
        pairs = zip(shards, earlier, strict=True)
        layers = [find_next(shard, level, before, old) for shard, old in pairs]
        earlier, before = before, layers
        yield sorted(
            rank
            for shard, layer in zip(shards, layers, strict=True)
            for block, encoded in zip(shard.list_blocks(level), layer, strict=True)
            for rank in list_ranks(shard, block, encoded).tolist()
        )


@st.composite
def searches(draw: st.DrawFn) -> tuple[SlidingBoard, str, int]:
    """Draw a board, one of its goals, and a number of shards that it can have."""
    board = draw(st.sampled_from(BOARDS))
    goal = draw(st.sampled_from([*board.goals]))
    return board, goal, draw(st.integers(1, count_shards(board.make_words(goal), 0, 1)))


@settings(max_examples=usual_or_nightly(4, 100))
@example((BOARDS[1], BOARDS[1].example, 5))
@given(searches())
def test_shards_of_any_number_find_each_layer_of_the_oracles(
    searched: tuple[SlidingBoard, str, int],
) -> None:
    board, goal, count = searched
    known: list[list[int]] = [[] for _ in range(LEVELS)]
    near = oracle.distances_near(goal, board.height, board.width, LEVELS - 1)
    for state, distance in near.items():
        known[distance].append(board.rank(state))
    assert [*search(board.make_words(goal), count)] == [*map(sorted, known)]


@given(searches())
def test_shards_of_any_number_divide_the_rows(searched: tuple[SlidingBoard, str, int]) -> None:
    board, goal, count = searched
    space = board.make_words(goal)
    shards = [Shard(space, number, count) for number in range(count)]
    assert (shards[0].first, shards[-1].last) == (0, space.rows)
    assert all(one.last == other.first for one, other in pairwise(shards))
    assert max(shard.rows for shard in shards) == shards[0].most_rows


def test_a_state_may_lead_to_all_groups_of_its_unit() -> None:
    """On 3x4, a unit in three shards is the 504 rows whose first two tiles are the same."""
    board = parse_board("3x4")
    shard = Shard(board.make_words(board.example), 1, 3)
    per_unit = 504 // shard.group
    sizes = np.zeros(6 * shard.groups, dtype=np.uint32)
    sizes[[shard.groups + 3 * per_unit + 1, 5 * shard.groups + 8 * per_unit - 1]] = 1
    found = np.flatnonzero(shard.find_reachable_groups(sizes)).tolist()
    assert found == [*range(3 * per_unit, 4 * per_unit), *range(7 * per_unit, 8 * per_unit)]
