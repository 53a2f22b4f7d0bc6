"""Recipe of the distances of a sliding board's states, searched from one goal in words of bits.

A small board has rows, and an index with a byte for each distance. A large board has only an index,
with one bit of each distance, 360 states in a record; it is searched in memory, or in shards on a
disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import factorial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.counts import Depth
from puzzle_tablebase.formats.encoder import Part
from puzzle_tablebase.notation.sliding import MOVE_SETS
from puzzle_tablebase.pipeline.recipes.board_shards import search_shards
from puzzle_tablebase.pipeline.tasks import Parts, RecordWriter, TableData, Tasks
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.board_arrays import (
    Tiles,
    iter_moves,
    list_boards,
    make_numbering,
    sum_steps,
    write_states,
)
from puzzle_tablebase.puzzles.board_numbers import list_parities
from puzzle_tablebase.puzzles.sliding import SlidingBoard, parse_board
from puzzle_tablebase.schema import ROW_BYTES, UNREACHED, Table
from puzzle_tablebase.two_bit_bfs.search import iter_word_records, search_words

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns

Depths = npt.NDArray[np.uint8]


def make(table: Table, puzzle: Puzzle, tasks: Tasks) -> TableData:
    """Search the board; return rows and records of a small board, or records of a large one."""
    parameters, count = table.recipe.parameters, table.rows or 0
    board, (goal,) = parse_board(parameters["board"]), parameters["roots"]
    write_records: RecordWriter | None = None
    if tasks.shards:
        layers, search = search_shards(board, goal, tasks.shards, tasks)
        parts, write_records = (
            _iter_records(iter(()), 0, tasks),
            partial(search.write_records, table),
        )
    else:
        depth = None if board.is_packed else np.full(board.size, UNREACHED, dtype=np.uint8)
        # a search that is killed begins again, as it takes little time
        layers, planes = search_words(
            board.make_words(goal), tasks.jobs, tasks.run_in_threads, depth,
            lambda level: tasks.report("layers", level),
        )  # fmt: skip
        if depth is None:
            parts = _iter_records(iter_word_records(planes), count, tasks)
        else:
            parts = _iter_rows(board, goal, depth, tasks)
    depths: dict[Depth, int] = {(goal, at): states for at, states in enumerate(layers)}
    return TableData(parts, count, depths, write_records)


def _iter_records(chunks: Iterator[Depths], count: int, tasks: Tasks) -> Parts:
    """Iterate over an index's records, given rows of bits in chunks."""
    done = 0
    for chunk in chunks:
        tasks.report("records", done, count)
        yield Part(records={"bits": chunk.view(f"S{ROW_BYTES}").ravel()})
        done += len(chunk)


def _iter_rows(board: SlidingBoard, goal: str, depth: Depths, tasks: Tasks) -> Parts:
    """Iterate over a small board's rows and records, those with the blank on one place together."""
    states = [list_reached(board, goal, place) for place in range(board.cells)]
    by_number = np.full(factorial(board.cells) + 1, UNREACHED, dtype=np.uint8)
    by_number[make_numbering(board.cells)(np.hstack(states))] = depth
    for place, tiles in enumerate(states):
        first = place * board.orders
        tasks.report("rows", first, board.size)
        distance = depth[first : first + board.orders]
        rows = make_rows(board, goal, tiles, distance, by_number)
        yield Part(rows, {"distance": distance})


def list_reached(board: SlidingBoard, goal: str, place: int) -> Tiles:
    """List the states that reach a goal with the blank on a place, by rank, one in each column."""
    tiles = board.cells - 1
    is_odd = board.is_odd(board.unrank(place * board.orders, goal))
    orders = list_boards(tiles)[:, np.array(list_parities(tiles, tiles)) == is_odd] + np.uint8(1)
    return np.insert(orders, place, 0, axis=0)[board.place]


def make_rows(
    board: SlidingBoard, goal: str, tiles: Tiles, distance: Depths, depth_by_number: Depths
) -> Columns:
    """Make a table's columns for some states."""
    best = np.zeros(len(distance), dtype=np.uint8)
    for letter, sources, numbers in iter_moves(board, tiles):
        best[sources] |= (depth_by_number[numbers] < distance[sources]).astype(np.uint8) << letter
    return {
        "state": write_states(tiles),
        "goal": np.full(len(distance), [*board.goals].index(goal), dtype=np.uint8),
        "distance": distance,
        "best_moves": np.array(MOVE_SETS, dtype=np.bytes_)[best],
        "manhattan": sum_steps(board, goal, tiles),
    }
