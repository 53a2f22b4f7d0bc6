"""Builder of the distances of a sliding board's states, searched from one goal in words of bits.

An index has the distances, a byte each, or one bit of each, 360 states in a record.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
import numpy.typing as npt

from pipeline.build_context import BuildContext
from pipeline.builders.sliding_search import search_space
from pipeline.builders.sliding_shards import ShardedSearch
from pipeline.search.word_bfs import estimate_search_bytes, iter_word_records
from pipeline.tasks import Chunks, TableData, TaskRunner, run_in_threads
from tablebase.graph import UNREACHED
from tablebase.puzzle import Puzzle
from tablebase.puzzles.sliding.definition import BoardDistances, BoardWithTables
from tablebase.puzzles.sliding.table_rows import make_rows
from tablebase.schema import BITS_INDEX, ROW_BYTES, Table
from tablebase.tables.parquet import ROW_GROUP_ROWS
from tablebase.tables.state_counts import Depth
from tablebase.word_space import ROW_STATES

Depths = npt.NDArray[np.uint8]
CHUNK_STATES = 1024 * ROW_STATES
"""States in a chunk of records."""


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
        depth = np.concatenate([*read_results()])
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
