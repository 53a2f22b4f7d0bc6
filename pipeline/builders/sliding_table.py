"""Builder of the distances of a sliding board's states, searched from one goal in words of bits.

An index has the distances, a byte each, or one bit of each, 360 states in a record.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pipeline.builders.sliding_shards import ShardedSearch
from pipeline.search.word_bfs import Planes, estimate_search_bytes, iter_word_records, search_words
from pipeline.tasks import (
    BuildContext,
    Chunks,
    TableData,
    TaskRunner,
    TimedThreadPool,
    run_in_threads,
)
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
from tablebase.schema import BITS_INDEX, ROW_BYTES, Table
from tablebase.tables.manifest import Depth
from tablebase.tables.parquet import ROW_GROUP_ROWS
from tablebase.word_space import (
    BLOCK,
    CYCLE,
    EXCHANGES,
    INNER,
    IS_BORDER,
    MAX_EXCHANGES,
    OUTER,
    ROW_STATES,
    START,
    TAIL,
    WEIGHT,
    WORD_STATES,
    WordSpace,
    trace_places,
)

if TYPE_CHECKING:
    from tablebase.puzzle import Columns

Array = npt.NDArray[np.int64]
Depths = npt.NDArray[np.uint8]
CHUNK_STATES = 1024 * ROW_STATES
"""States in a chunk of records."""


def search_space(
    words: WordSpace, runner: TaskRunner, depth: npt.NDArray[np.uint8] | None = None
) -> tuple[Planes, list[int]]:
    """Search a space; return the planes, and the number of states at each depth.

    A search that is killed begins again, as it takes little time. `depth`: a byte for each state,
    which gets its depth.
    """
    layers: list[int] = []

    def layer_done(level: int, states: int) -> None:
        layers.append(states)
        runner.report_progress("layers", level)

    planes = search_words(
        words,
        runner.jobs,
        layer_done,
        runner.require_no_failure,
        depth,
        partial(TimedThreadPool, usage=runner.usage),
    )
    return planes, layers


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
        neighbours = _find_neighbours(space, move, rows, kinds)[:, : tiles.shape[2]]
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
        "goal": np.full(distance.size, [*board.layouts].index(goal), dtype=np.uint8),
        "distance": distance.ravel(),
        "best_moves": np.array(MOVE_SETS, dtype=np.bytes_)[best.ravel()],
        "manhattan": manhattan.ravel(),
    }


def _find_neighbours(
    space: WordSpace, move: Array, rows: Array, kinds: npt.NDArray[np.uint8]
) -> Array:
    """Find the ranks of the states that a move leads from to each state of some rows.

    The move back leads to them. `kinds`: for each row whether its tails are odd.
    """
    outer = move[EXCHANGES : EXCHANGES + move[OUTER]]
    inner = move[EXCHANGES + MAX_EXCHANGES :][: move[INNER]]
    by_kind = np.array([trace_places(tuple(outer.tolist()), kind) for kind in (0, 1)])
    words, bits = np.divmod(by_kind[kinds], WORD_STATES)
    runs = (move[START] + rows // move[WEIGHT] % move[CYCLE])[:, None]
    offsets = space.tables.offsets[runs, words if move[IS_BORDER] else 0]
    if move[IS_BORDER]:
        words = space.tables.sources[runs, words].astype(np.int64)
    places = trace_places(tuple(inner.tolist()), 0)[words * WORD_STATES + bits]
    ranks: Array = move[BLOCK] * space.states + (rows[:, None] + offsets) * ROW_STATES + places
    return ranks


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
    board, has_bits_alone = recipe.board, not table.columns and table.index == BITS_INDEX
    count = board.size // ROW_STATES if table.index == BITS_INDEX else board.size
    runner = context.tasks
    if runner.is_remote:
        search = ShardedSearch(board, root, runner, context.memory.bytes)
        read_results = search.collect_results(has_bits=has_bits_alone)
        depths = _list_depths(goal, search.layers)
        if has_bits_alone:
            bits = (_iter_bits(read_results(), count, runner) for _ in range(2))
            return TableData(next(bits), next(bits), count, depths)
        if not table.columns:
            records = (_iter_records(table, read_results(), board.size, runner) for _ in range(2))
            return TableData(next(records), next(records), count, depths)
        context.reserve_memory(table, board.size)
        depth = join_parts(read_results(), board.size)
    else:
        size = estimate_search_bytes(board.size) + (0 if has_bits_alone else board.size)
        context.reserve_memory(table, size)
        words = board.make_words(root)
        if has_bits_alone:
            planes, layers = search_space(words, runner)
            bits = (_iter_bits(iter_word_records(planes), count, runner) for _ in range(2))
            return TableData(next(bits), next(bits), count, _list_depths(goal, layers))
        depth = np.full(board.size, UNREACHED, dtype=np.uint8)
        depths = _list_depths(goal, search_space(words, runner, depth)[1])
    rows = (
        _iter_rows(board, root, depth, runner)
        if table.columns
        else _iter_records(table, [depth], board.size, runner)
    )
    return TableData(rows, _iter_records(table, [depth], board.size, runner), count, depths)


def join_parts(parts: Iterable[Depths], size: int) -> Depths:
    """Join parts into one array, one part at a time: all of them together would need it twice."""
    joined = np.empty(size, dtype=np.uint8)
    end = 0
    for part in parts:
        joined[end : end + len(part)] = part
        end += len(part)
    return joined


def _list_depths(goal: str, layers: Iterable[int]) -> dict[Depth, int]:
    return {(goal, distance): states for distance, states in enumerate(layers)}


def _iter_bits(chunks: Iterable[Depths], total: int, runner: TaskRunner) -> Chunks:
    done = 0
    for records in chunks:
        runner.report_progress("records", done, total)
        done += len(records)
        yield {"bits": _view_as_bytes(records)}


def _view_as_bytes(records: Depths) -> npt.NDArray[np.bytes_]:
    """View rows of bytes as one value each."""
    return records.view(f"S{ROW_BYTES}").ravel()


def _iter_rows(board: BoardWithTables, root: str, depth: Depths, runner: TaskRunner) -> Chunks:
    words = board.make_words(root)
    step = -(-ROW_GROUP_ROWS // ROW_STATES)
    arguments = (
        (root, words, depth, block, first, min(words.rows, first + step))
        for block in range(words.blocks)
        for first in range(0, words.rows, step)
    )
    done = 0
    for columns in run_in_threads(partial(make_rows, board), arguments, runner.jobs, runner.usage):
        runner.report_progress("rows", done, len(depth))
        done += len(columns["distance"])
        yield columns


def _iter_records(table: Table, chunks: Iterable[Depths], size: int, runner: TaskRunner) -> Chunks:
    """Iterate over an index's records, given distances in chunks of whole rows."""
    done = 0
    for depths in chunks:
        for first in range(0, len(depths), CHUNK_STATES):
            runner.report_progress("records", done, size)
            chunk = depths[first : first + CHUNK_STATES]
            done += len(chunk)
            if table.index == BITS_INDEX:
                bits = (chunk >> 1 & 1).reshape(-1, ROW_STATES)
                yield {"bits": _view_as_bytes(np.packbits(bits, axis=1, bitorder="little"))}
            else:
                yield {"distance": chunk}
