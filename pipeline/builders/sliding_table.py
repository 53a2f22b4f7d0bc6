"""Builder of the distances of a sliding board's states, searched from one goal in words of bits.

An index has the distances, a byte each, or one bit of each, 360 states in a record. The search runs
in this process, or by shards and layers on any number of machines: a task saves its result in the
store, a shard's layer and the states that it sends to each other shard. The tasks of the next layer
read them there. A lost task is repeated from the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import MemoryShort, SearchError
from puzzle_tablebase.graph import UNREACHED
from puzzle_tablebase.pipeline.search.board_rows import fill_orders
from puzzle_tablebase.pipeline.search.word_bfs import (
    Layer,
    Shard,
    count_max_shards,
    estimate_search_bytes,
    iter_word_records,
    search_words,
)
from puzzle_tablebase.pipeline.tasks import BuildContext, Chunks, TableData, TaskRunner
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
from puzzle_tablebase.schema import BITS_INDEX, ROW_BYTES, Table
from puzzle_tablebase.tables.checkpoints import Arrays, Checkpoints
from puzzle_tablebase.tables.manifest import Depth
from puzzle_tablebase.tables.parquet import ROW_GROUP_ROWS
from puzzle_tablebase.word_space import ROW_STATES, WordSpace

if TYPE_CHECKING:
    from puzzle_tablebase.puzzle import Columns


MAX_SHARD_BYTES = 1 << 30
"""Most bytes of memory for a shard, if no limit is given: a worker then needs less than 2 GB."""
BYTES_PER_STATE = 0.5
"""Bytes of memory for each state of a shard: two bits, in words of 60 states, and its layers; as
measured on 3x4, with one to eight shards."""

STORED_BYTES_PER_STATE = 0.65
"""Most bytes in the store for each state: all layers, what is sent for one, and the bits of all
states; measured on 3x4. Distances take more."""

Blocks = Iterator[npt.NDArray[Any]]
ReadResults = Callable[[], Blocks]
"""Function that iterates over the results of a search by rank, in chunks."""


def count_shards(space: WordSpace, jobs: int, memory: int | None) -> int:
    """Count the shards of a search: as many for each job, and none with more than the memory."""
    rounds = -(-space.size * BYTES_PER_STATE // (jobs * (memory or MAX_SHARD_BYTES)))
    return min(count_max_shards(space), jobs * int(rounds))


def search_shards(
    board: SlidingBoard, root: str, runner: TaskRunner, memory: int | None = None, *, has_bits: bool
) -> tuple[ReadResults, list[int]]:
    """Search all states in shards; return the results, and the number of states at each depth.

    `memory`: the bytes that a shard may use. `has_bits`: the results have bit 1 of every distance,
    45 bytes a row, else a byte each.
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
        states = sum(int(counts[0][0]) for counts in runner.run_tasks(search_layer, tasks))
        if not states:
            break
        runner.report_progress("layers", len(layers))
        layers.append(states)
        if len(layers) == UNREACHED:
            raise SearchError(f"A state lies {len(layers) - 1} or more moves from the root.")
    if sum(layers) != size:
        raise SearchError(f"{sum(layers):,} of {size:,} states were reached.")
    for _ in runner.run_tasks(
        collect_results, [(*shard, len(layers), has_bits) for shard in arguments]
    ):
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
    checkpoints: Checkpoints,
    board: SlidingBoard,
    root: str,
    number: int,
    shards: int,
    levels: int,
    has_bits: bool,
) -> Arrays:
    """Save a shard's distances, or bit 1 of each, block by block, as a task."""
    shard = Shard(_get_words(str(board), root), number, shards)

    def iter_layers() -> Iterator[Layer]:
        names = (_name_layer(number, shards, level) for level in range(levels))
        return map(checkpoints.require, names)

    def save(results: Iterable[Depths], first: int = 0) -> None:
        for block, block_results in enumerate(results, start=first):
            checkpoints.save(_name_results(number, shards, block), [block_results])

    if has_bits:
        save(shard.collect_bits(iter_layers()))
        return []
    blocks = shard.space.blocks
    # a byte a state is more than was promised: half of that is for the layers
    step = max(1, int(blocks * BYTES_PER_STATE / 2))
    for first in range(0, blocks, step):
        part = range(first, min(first + step, blocks))
        save(shard.collect_depths(iter_layers(), part), first)
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
CHUNK_STATES = 1024 * ROW_STATES
"""States in a chunk of records."""


def search_here(
    board: SlidingBoard, root: str, runner: TaskRunner, *, has_bits: bool
) -> tuple[ReadResults, list[int]]:
    """Search all states in this process, with the results of `search_shards`.

    A search that is killed begins again, as it takes little time.
    """
    layers: list[int] = []

    def layer_done(level: int, states: int) -> None:
        layers.append(states)
        runner.report_progress("layers", level)

    depth = None if has_bits else np.full(board.size, UNREACHED, dtype=np.uint8)
    words = board.make_words(root)
    planes = search_words(words, runner.jobs, layer_done, runner.run_in_threads, depth)
    return partial(iter_word_records, planes) if depth is None else lambda: iter([depth]), layers


def make_rows(
    board: SlidingBoard, goal: str, depth: Depths, block: int, first: int, last: int
) -> Columns:
    """Make a table's columns for the states of a block with orders `first` to below `last`."""
    start = block * board.orders
    tiles = np.empty((last - first, board.cells - 1), dtype=np.uint8)
    best = np.zeros(last - first, dtype=np.uint8)
    exits = dict(board.list_exits(board.cell_at[block]))
    ways = [board.place[exits[letter]] if letter in exits else -1 for letter in LETTERS]
    weights = np.array([*board.weights, 0, 0][: board.cells - 1])
    is_odd = board.is_odd(board.unrank(start, goal))
    fill_orders(depth, weights, np.array(ways), block, is_odd, first, tiles, best)
    tiles = np.insert(tiles + 1, block, 0, axis=1)
    goal_cells = [goal.index(mark) for mark in CHARACTERS[: board.cells]]
    manhattan = np.zeros(last - first, dtype=np.uint8)
    for cell, place in enumerate(board.place):
        steps = [board.count_steps(cell, goal_cell) for goal_cell in goal_cells]
        manhattan += np.array([0, *steps[1:]], dtype=np.uint8)[tiles[:, place]]
    marks = np.frombuffer(CHARACTERS.encode(), np.uint8)
    return {
        "state": marks[tiles.take(board.place, axis=1)].view(f"S{board.cells}").ravel(),
        "goal": np.full(last - first, [*board.goals].index(goal), dtype=np.uint8),
        "distance": depth[start + first : start + last],
        "best_moves": np.array(MOVE_SETS, dtype=np.bytes_)[best],
        "manhattan": manhattan,
    }


def make(recipe: BoardDistances, puzzle: Puzzle, table: Table, context: BuildContext) -> TableData:
    """Search the board, in this process or as shards on other machines; return rows and records.

    A table without columns has an index alone; the shards' distances then need not fit in memory.
    """
    ((goal, root),) = recipe.roots.items()
    board, runner = recipe.board, context.tasks
    has_bits = not table.columns and table.index == BITS_INDEX
    count = board.size // ROW_STATES if table.index == BITS_INDEX else board.size
    if runner.is_remote:
        memory = context.memory.bytes
        read_results, layers = search_shards(board, root, runner, memory, has_bits=has_bits)
        if table.columns:
            context.reserve_memory(table, board.size)
    else:
        size = estimate_search_bytes(board.size) + (0 if has_bits else board.size)
        context.reserve_memory(table, size)
        read_results, layers = search_here(board, root, runner, has_bits=has_bits)
    depths: dict[Depth, int] = {(goal, at): states for at, states in enumerate(layers)}
    if table.columns:
        depth = join_parts(read_results(), board.size)
        records = _iter_records(table, [depth], count, runner)
        return TableData(_iter_rows(board, root, depth, runner), records, count, depths)
    rows, records = (_iter_records(table, read_results(), count, runner) for _ in range(2))
    return TableData(rows, records, count, depths)


def join_parts(parts: Iterable[Depths], size: int) -> Depths:
    """Join parts into one array, one part at a time: all of them together would need it twice."""
    joined = np.empty(size, dtype=np.uint8)
    end = 0
    for part in parts:
        if len(part) == size:
            return part
        joined[end : end + len(part)] = part
        end += len(part)
    return joined


def _iter_rows(board: SlidingBoard, root: str, depth: Depths, runner: TaskRunner) -> Chunks:
    arguments = (
        (root, depth, block, first, min(board.orders, first + ROW_GROUP_ROWS))
        for block in range(board.cells)
        for first in range(0, board.orders, ROW_GROUP_ROWS)
    )
    done = 0
    for columns in runner.run_in_threads(partial(make_rows, board), arguments):
        runner.report_progress("rows", done, len(depth))
        done += len(columns["distance"])
        yield columns


def _iter_records(table: Table, chunks: Iterable[Depths], count: int, runner: TaskRunner) -> Chunks:
    """Iterate over an index's records, given distances in chunks of whole rows, or rows of bits."""
    done = 0
    for chunk in chunks:
        for first in range(0, len(chunk), CHUNK_STATES):
            runner.report_progress("records", done, count)
            records = chunk[first : first + CHUNK_STATES]
            if table.index != BITS_INDEX:
                yield {"distance": records}
            else:
                if records.ndim == 1:
                    bits = (records >> 1 & 1).reshape(-1, ROW_STATES)
                    records = np.packbits(bits, axis=1, bitorder="little")
                yield {"bits": records.view(f"S{ROW_BYTES}").ravel()}
            done += len(records)
