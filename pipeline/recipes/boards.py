"""Recipe of the distances of a large board's states, searched from one goal in words of bits.

The table is an index alone, with one bit of each distance, 360 states in a record. The board is
searched in memory, or in shards on a disk. Small boards are searched as graphs (`recipes.graph`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.counts import Depth
from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.pipeline.recipes.board_shards import Search, search_shards
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.schema import ROW_BYTES, Table
from puzzle_tablebase.two_bit_bfs.search import iter_word_records, search_words

Depths = npt.NDArray[np.uint8]


def make(table: Table, tasks: Tasks) -> TableData:
    """Search the board; return its records."""
    parameters, count = table.recipe.parameters, table.rows or 0
    board, (goal,) = parse_board(parameters["board"]), parameters["roots"]
    if tasks.shards.total:
        layers, search = search_shards(board, goal, tasks.shards.total, tasks)
        parts = _iter_shards(search, table)
    else:
        # a search that is killed begins again, as it takes little time
        layers, planes = search_words(
            board.make_words(goal), tasks.jobs, tasks.run_in_threads,
            lambda level: tasks.report("layers", level),
        )  # fmt: skip
        parts = _iter_records(iter_word_records(planes), count, tasks)
    depths: dict[Depth, int] = {(goal, at): states for at, states in enumerate(layers)}
    return TableData(parts, count, depths)


def _iter_shards(search: Search, table: Table) -> Parts:
    """Yield the records that the shards' tasks wrote."""
    yield Part(write_records=partial(search.write_bits, table))


def _iter_records(chunks: Iterator[Depths], count: int, tasks: Tasks) -> Parts:
    """Iterate over an index's records, given rows of bits in chunks."""
    done = 0
    for chunk in chunks:
        tasks.report("records", done, count)
        yield Part(records={"bits": chunk.view(f"S{ROW_BYTES}").ravel()})
        done += len(chunk)
