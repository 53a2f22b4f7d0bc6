"""Builder of the distances of a sliding board's states, searched from one goal in words of bits.

A small board has rows, and an index with a byte for each distance. A large board has only an index,
with one bit of each distance, 360 states in a record; it is searched in this process, or by shards
and layers on any number of machines: a task saves its result in the store, a shard's layer and the
states that it sends to each other shard. The tasks of the next layer read them there. A lost task
is repeated from the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import MemoryShort, SearchError
from puzzle_tablebase.formats.manifest import Depth
from puzzle_tablebase.frontier.word_bfs import (
    Shard,
    count_max_shards,
    estimate_search_bytes,
    iter_word_records,
    search_words,
)
from puzzle_tablebase.graph import UNREACHED
from puzzle_tablebase.pipeline.tasks import Chunks, TableData, Tasks
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.sliding import (
    CHARACTERS,
    LETTERS,
    MOVE_SETS,
    BoardDistances,
    SlidingBoard,
    parse_board,
)
from puzzle_tablebase.resources import get_free_memory
from puzzle_tablebase.schema import ROW_BYTES, Table
from puzzle_tablebase.stores.checkpoints import Arrays, Checkpoints
from puzzle_tablebase.word_space import WordSpace

if TYPE_CHECKING:
    from puzzle_tablebase.puzzle import Columns


MAX_SHARD_BYTES = 1 << 30
"""Most bytes of memory for a shard, if no limit is given: a worker then needs less than 2 GB."""
BYTES_PER_STATE = 0.5
"""Bytes of memory for each state of a shard: two bits, in words of 60 states, and its layers; as
measured on 3x4, with one to eight shards."""

STORED_BYTES_PER_STATE = 0.65
"""Most bytes in the store for each state: all layers, what is sent for one, and the bits of all
states; measured on 3x4."""

Blocks = Iterator[npt.NDArray[np.uint8]]
ReadResults = Callable[[], Blocks]
"""Function that iterates over the results of a search by rank, in chunks."""


def count_shards(space: WordSpace, jobs: int, memory: int | None) -> int:
    """Count the shards of a search: as many for each job, and none with more than the memory."""
    rounds = -(-space.size * BYTES_PER_STATE // (jobs * (memory or MAX_SHARD_BYTES)))
    return min(count_max_shards(space), jobs * int(rounds))


def search_shards(
    board: SlidingBoard, root: str, runner: Tasks, memory: int | None = None
) -> tuple[ReadResults, list[int]]:
    """Search all states in shards; return bit 1 of every distance, and the states at each depth.

    `memory`: the bytes that a shard may use.
    """
    assert runner.checkpoints
    checkpoints, words = runner.checkpoints, board.make_words(root)
    size, blocks, shards = words.size, words.blocks, count_shards(words, runner.jobs, memory)
    del words  # large, and the tasks make their own
    checkpoints.require_space(int(size * STORED_BYTES_PER_STATE))
    arguments = [(checkpoints, board, root, number, shards) for number in range(shards)]
    layers: list[int] = []
    while True:
        tasks = [(*shard, len(layers)) for shard in arguments]
        states = sum(int(counts[0][0]) for counts in runner.run(search_layer, tasks))
        if not states:
            break
        runner.report("layers", len(layers))
        layers.append(states)
        if len(layers) == UNREACHED:
            raise SearchError(f"A state lies {len(layers) - 1} or more moves from the root.")
    if sum(layers) != size:
        raise SearchError(f"{sum(layers):,} of {size:,} states were reached.")
    for _ in runner.run(collect_results, [(*shard, len(layers)) for shard in arguments]):
        pass

    def iter_results() -> Blocks:
        for block in range(blocks):
            for number in range(shards):
                yield checkpoints.require(_name_results(number, shards, block))[0]

    return iter_results, layers


def search_layer(
    checkpoints: Checkpoints, board: SlidingBoard, root: str, number: int, shards: int, level: int
) -> Arrays:
    """Find a shard's layer, as a task; save it and the states that it sends.

    Returns the layer's number of states. States that were sent for the layer before are removed.
    """
    shard = Shard(_get_words(str(board), root), number, shards)
    needed, free = int(shard.states * BYTES_PER_STATE), get_free_memory()
    if free is not None and free < needed:
        hint = "Use more workers, or limit the memory of a shard (--memory)"
        raise MemoryShort(f"A shard of the {board}", needed, free, hint)
    if level == 0:
        layer = shard.make_root_layer()
    else:
        layers = (
            checkpoints.require(_name_layer(number, shards, back))
            for back in range(level - 1, max(-1, level - 3), -1)
        )
        incoming = (
            checkpoints.require(_name_message(sender, number, shards, level))
            for sender in shard.partners
        )
        layer = shard.find_next_layer(level, layers, incoming)
    for receiver, rows in zip(shard.partners, shard.iter_outgoing(layer, level), strict=True):
        checkpoints.save(_name_message(number, receiver, shards, level + 1), rows)
    checkpoints.save(_name_layer(number, shards, level), layer)
    if level > 1:
        for sender in shard.partners:
            checkpoints.remove(_name_message(sender, number, shards, level - 1))
    return [np.array([np.bitwise_count(layer[1]).sum(dtype=np.int64)])]


def collect_results(
    checkpoints: Checkpoints, board: SlidingBoard, root: str, number: int, shards: int, levels: int
) -> Arrays:
    """Save bit 1 of the distances of a shard's states, block by block, as a task."""
    shard = Shard(_get_words(str(board), root), number, shards)
    names = (_name_layer(number, shards, level) for level in range(levels))
    for block, bits in enumerate(shard.collect_bits(map(checkpoints.require, names))):
        checkpoints.save(_name_results(number, shards, block), [bits])
    return []


@lru_cache(maxsize=1)
def _get_words(board: str, root: str) -> WordSpace:
    """Return a board's states in words, and keep the last: making them takes longer than layers."""
    return parse_board(board).make_words(root)


def _name_layer(number: int, shards: int, level: int) -> str:
    return f"layer {level} of shard {number} of {shards}"


def _name_message(sender: int, number: int, shards: int, level: int) -> str:
    return f"from shard {sender} to {number} of {shards} for layer {level}"


def _name_results(number: int, shards: int, block: int) -> str:
    return f"results of block {block} of shard {number} of {shards}"


Depths = npt.NDArray[np.uint8]
CHUNK_RECORDS = 1 << 18
"""Records in a chunk."""


def search_here(
    board: SlidingBoard, root: str, runner: Tasks, depth: Depths | None = None
) -> tuple[ReadResults, list[int]]:
    """Search all states in this process, with the results of `search_shards`.

    A search that is killed begins again, as it takes little time. `depth`: a byte for each state,
    which gets its depth.
    """
    layers: list[int] = []

    def layer_done(level: int, states: int) -> None:
        layers.append(states)
        runner.report("layers", level)

    words = board.make_words(root)
    planes = search_words(words, runner.jobs, layer_done, runner.run_in_threads, depth)
    return partial(iter_word_records, planes), layers


def make(recipe: BoardDistances, puzzle: Puzzle, table: Table, tasks: Tasks) -> TableData:
    """Search the board; return rows and records of a small board, or records of a large one."""
    ((goal, root),) = recipe.roots.items()
    board, runner = recipe.board, tasks
    count = table.rows or 0
    if not board.is_packed:
        depth = np.full(board.size, UNREACHED, dtype=np.uint8)
        _, layers = search_here(board, root, runner, depth)
        rows, records = _iter_rows(board, root, depth, runner), _iter_depths(depth)
    else:
        if runner.is_remote:
            read_results, layers = search_shards(board, root, runner, tasks.memory)
        else:
            tasks.require_memory(estimate_search_bytes(board.size))
            read_results, layers = search_here(board, root, runner)
        rows, records = (_iter_records(read_results(), count, runner) for _ in range(2))
    depths: dict[Depth, int] = {(goal, at): states for at, states in enumerate(layers)}
    return TableData(rows, records, count, depths)


def _iter_depths(depth: Depths) -> Chunks:
    yield {"distance": depth}


def _iter_records(chunks: Blocks, count: int, runner: Tasks) -> Chunks:
    """Iterate over an index's records, given rows of bits in chunks."""
    done = 0
    for chunk in chunks:
        for first in range(0, len(chunk), CHUNK_RECORDS):
            runner.report("records", done, count)
            records = chunk[first : first + CHUNK_RECORDS]
            yield {"bits": records.view(f"S{ROW_BYTES}").ravel()}
            done += len(records)


def _iter_rows(board: SlidingBoard, goal: str, depth: Depths, runner: Tasks) -> Chunks:
    """Iterate over the rows of a small board, those with the blank on one place together."""
    for place in range(board.cells):
        runner.report("rows", place * board.orders, board.size)
        yield make_rows(board, goal, depth, place)


def make_rows(board: SlidingBoard, goal: str, depth: Depths, place: int) -> Columns:
    """Make a table's columns for the states with the blank on one place, by rank."""
    first = place * board.orders
    distance = depth[first : first + board.orders]
    tiles = list_orders(board, is_odd=board.is_odd(board.unrank(first, goal)))
    best = np.zeros(board.orders, dtype=np.uint8)
    for letter, cell in board.list_exits(board.cell_at[place]):
        to, moved = board.place[cell], tiles.copy()
        # the tile on the place that the blank comes to passes the tiles between the two
        passed = slice(min(place, to), max(place, to))
        moved[:, passed] = np.roll(moved[:, passed], 1 if to > place else -1, axis=1)
        is_nearer = depth[to * board.orders + rank_orders(board, moved)] < distance
        best |= is_nearer.astype(np.uint8) << np.uint8(LETTERS.index(letter))
    marks = np.frombuffer(CHARACTERS.encode(), np.uint8)
    on_place = np.insert(tiles + 1, place, 0, axis=1)
    manhattan = np.zeros(board.orders, dtype=np.uint8)
    for cell, at in enumerate(board.place):
        steps = [board.count_steps(cell, goal.index(mark)) for mark in CHARACTERS[: board.cells]]
        manhattan += np.array([0, *steps[1:]], dtype=np.uint8)[on_place[:, at]]
    return {
        "state": marks[on_place.take(board.place, axis=1)].view(f"S{board.cells}").ravel(),
        "goal": np.full(board.orders, [*board.goals].index(goal), dtype=np.uint8),
        "distance": distance,
        "best_moves": np.array(MOVE_SETS, dtype=np.bytes_)[best],
        "manhattan": manhattan,
    }


def list_orders(board: SlidingBoard, *, is_odd: bool) -> npt.NDArray[np.int8]:
    """List the orders of a board's tiles, numbered from 0, that are odd or even, by number."""
    numbers, count = np.arange(board.orders), board.cells - 1
    tiles = np.zeros((board.orders, count), dtype=np.int8)
    for at, weight in enumerate(board.weights):  # first, each tile among those that follow
        tiles[:, at] = numbers // weight % (count - at)
    tiles[:, -2] = (tiles.sum(axis=1) + is_odd) % 2
    for at in reversed(range(count - 1)):
        tiles[:, at + 1 :] += tiles[:, at + 1 :] >= tiles[:, at : at + 1]
    return tiles


def rank_orders(board: SlidingBoard, tiles: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Return the numbers of orders."""
    numbers = np.zeros(len(tiles), dtype=np.int64)
    for at, weight in enumerate(board.weights):
        earlier = (tiles[:, :at] < tiles[:, at : at + 1]).sum(axis=1)
        numbers += weight * (tiles[:, at] - earlier)
    return numbers
