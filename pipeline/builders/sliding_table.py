"""Builder of the distances of a sliding board's states, searched from one goal in words of bits.

An index has the distances, a byte each, or one bit of each, 360 states in a record. The search runs
in this process, or by shards and layers on any number of machines: a task saves its result in the
store, a shard's layer and the states that it sends to each other shard. The tasks of the next layer
read them there. A lost task is repeated from the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pipeline.search.word_bfs import (
    Layer,
    Shard,
    count_max_shards,
    estimate_search_bytes,
    iter_word_records,
    search_words,
)
from pipeline.tasks import BuildContext, Chunks, TableData, TaskRunner
from tablebase.errors import MemoryShort, SearchError
from tablebase.graph import UNREACHED
from tablebase.puzzle import Puzzle
from tablebase.puzzles.sliding import (
    CHARACTERS,
    LETTERS,
    MOVE_SETS,
    BoardDistances,
    BoardWithTables,
    SlidingBoard,
)
from tablebase.resources import get_free_memory
from tablebase.schema import BITS_INDEX, ROW_BYTES, Table
from tablebase.tables.checkpoints import Arrays, Checkpoints
from tablebase.tables.manifest import Depth
from tablebase.tables.parquet import ROW_GROUP_ROWS
from tablebase.word_space import BLOCK, ROW_STATES, TAIL, WordSpace

if TYPE_CHECKING:
    from tablebase.puzzle import Columns


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

_spaces_by_name: dict[str, WordSpace] = {}
"""Cache of the space that this process searched last: making its moves takes longer than searching
a small layer."""


def count_shards(space: WordSpace, jobs: int, memory: int | None) -> int:
    """Count the shards of a search: as many for each job, and none with more than the memory."""
    rounds = -(-space.size * BYTES_PER_STATE // (jobs * (memory or MAX_SHARD_BYTES)))
    return min(count_max_shards(space), jobs * int(rounds))


def search_shards(
    board: BoardWithTables,
    root: str,
    runner: TaskRunner,
    memory: int | None = None,
    *,
    has_bits: bool,
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
    checkpoints: Checkpoints,
    board: BoardWithTables,
    root: str,
    number: int,
    shards: int,
    level: int,
) -> Arrays:
    """Find a shard's layer, as a task; save it and the states that it sends.

    Returns the layer's number of states. States that were sent for the layer before are removed.
    """
    shard = Shard(_get_words(board, root), number, shards)
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
    board: BoardWithTables,
    root: str,
    number: int,
    shards: int,
    levels: int,
    has_bits: bool,
) -> Arrays:
    """Save a shard's distances, or bit 1 of each, block by block, as a task."""
    shard = Shard(_get_words(board, root), number, shards)

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


def _get_words(board: BoardWithTables, root: str) -> WordSpace:
    name = f"{board!r} {root}"
    words = _spaces_by_name.get(name)
    if words is None:
        words = board.make_words(root)
        _spaces_by_name.clear()
        _spaces_by_name[name] = words
    return words


def _name_layer(number: int, shards: int, level: int) -> str:
    return f"layer {level} of shard {number} of {shards}"


def _name_message(sender: int, number: int, shards: int, level: int) -> str:
    return f"from shard {sender} to {number} of {shards} for layer {level}"


def _name_results(number: int, shards: int, block: int) -> str:
    return f"results of block {block} of shard {number} of {shards}"


Array = npt.NDArray[np.int64]
Depths = npt.NDArray[np.uint8]
CHUNK_STATES = 1024 * ROW_STATES
"""States in a chunk of records."""


def search_here(
    board: BoardWithTables, root: str, runner: TaskRunner, *, has_bits: bool
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
    board: SlidingBoard,
    goal: str,
    space: WordSpace,
    depth: Depths,
    block: int,
    first: int,
    last: int,
) -> Columns:
    """Make a table's columns for the states in rows `first` to below `last` of a block."""
    kinds = space.list_row_kinds(first, last) ^ space.kinds[block]
    rows = np.arange(first, last)
    tiles = np.insert(_list_orders(board.cells - 1, space, rows, kinds), block, 0, axis=0)
    starts = block * space.states + rows * ROW_STATES
    distance = depth[starts[:, None] + np.arange(tiles.shape[2])]
    best = np.zeros(distance.shape, dtype=np.uint8)
    letters = {cell: letter for letter, cell in board.list_exits(board.cell_at[block])}
    for move in space.moves[block]:
        neighbours = space.find_neighbours(move, rows, kinds)[:, : tiles.shape[2]]
        bit = 1 << LETTERS.index(letters[board.cell_at[move[BLOCK]]])
        best |= (depth[neighbours] < distance) * np.uint8(bit)
    goal_cells = [goal.index(mark) for mark in CHARACTERS[: board.cells]]
    manhattan = np.zeros(distance.shape, dtype=np.uint8)
    for place, tile in enumerate(tiles):
        steps = [board.count_steps(board.cell_at[place], goal_cell) for goal_cell in goal_cells]
        manhattan += np.array([0, *steps[1:]], dtype=np.uint8)[tile]
    marks = np.frombuffer(CHARACTERS.encode(), np.uint8)
    text = np.ascontiguousarray(np.moveaxis(marks[tiles[board.place]], 0, 2))
    return {
        "state": text.view(f"S{board.cells}").ravel(),
        "goal": np.full(distance.size, [*board.goals].index(goal), dtype=np.uint8),
        "distance": distance.ravel(),
        "best_moves": np.array(MOVE_SETS, dtype=np.bytes_)[best.ravel()],
        "manhattan": manhattan.ravel(),
    }


def _list_orders(
    tiles: int, space: WordSpace, rows: Array, kinds: npt.NDArray[np.uint8]
) -> npt.NDArray[np.uint8]:
    """List the orders in some rows, as tiles by position, row and place."""
    free_tiles = np.broadcast_to(np.arange(1, tiles + 1, dtype=np.uint8), (len(rows), tiles))
    weight, heads = space.rows, []
    for radix in space.radices:
        weight //= radix
        is_taken = np.arange(radix) == (rows // weight % radix)[:, None]
        heads.append(free_tiles[is_taken])
        free_tiles = free_tiles[~is_taken].reshape(len(rows), radix - 1)
    tails = _list_tails(tiles - len(heads))[kinds]
    orders = np.empty((tiles, len(rows), tails.shape[1]), dtype=np.uint8)
    for at, head in enumerate(heads):
        orders[at] = head[:, None]
    for at in range(tails.shape[2]):
        orders[len(heads) + at] = np.take_along_axis(free_tiles, tails[:, :, at], axis=1)
    return orders


@cache
def _list_tails(tiles: int) -> Array:
    """List the even tails of so many tiles, and the odd ones, each by place."""
    tails = np.array([*permutations(range(min(TAIL, tiles)))])
    pairs = [(a, b) for b in range(tails.shape[1]) for a in range(b)]
    odd = sum((tails[:, a] > tails[:, b] for a, b in pairs), np.zeros(len(tails), np.int64)) % 2
    return np.stack([tails[odd == kind] for kind in (0, 1)])


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


def _iter_rows(board: BoardWithTables, root: str, depth: Depths, runner: TaskRunner) -> Chunks:
    words = board.make_words(root)
    step = -(-ROW_GROUP_ROWS // ROW_STATES)
    arguments = (
        (root, words, depth, block, first, min(words.rows, first + step))
        for block in range(words.blocks)
        for first in range(0, words.rows, step)
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
