"""Recipe of the distances of a sliding board's states, searched from one goal in words of bits.

A small board has rows, and an index with a byte for each distance. A large board has only an index,
with one bit of each distance, 360 states in a record; it is searched in this process, or in shards
by the workers of a cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.manifest import Depth
from puzzle_tablebase.frontier.word_bfs import (
    Planes,
    estimate_search_bytes,
    iter_word_records,
    search_words,
)
from puzzle_tablebase.pipeline.recipes.board_shards import search_shards
from puzzle_tablebase.pipeline.tasks import Chunks, TableData, Tasks
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.sliding import (
    CHARACTERS,
    LETTERS,
    MOVE_SETS,
    SlidingBoard,
    parse_board,
)
from puzzle_tablebase.schema import ROW_BYTES, UNREACHED, Table

if TYPE_CHECKING:
    from puzzle_tablebase.puzzle import Columns

Depths = npt.NDArray[np.uint8]
CHUNK_RECORDS = 1 << 18
"""Records in a chunk."""


def make(table: Table, puzzle: Puzzle, tasks: Tasks) -> TableData:
    """Search the board; return rows and records of a small board, or records of a large one."""
    parameters, count = table.recipe.parameters, table.rows or 0
    board, (goal,) = parse_board(parameters["board"]), parameters["roots"]
    if not board.is_packed:
        depth = np.full(board.size, UNREACHED, dtype=np.uint8)
        layers, _ = search_here(board, goal, tasks, depth)
        rows, records = _iter_rows(board, goal, depth, tasks), _iter_depths(depth)
    elif tasks.is_remote:
        layers, parts = search_shards(board, goal, tasks)
        rows, records = (
            _iter_records((saved.require(name)[0] for saved, name in parts), count, tasks)
            for _ in range(2)
        )
    else:
        tasks.require_memory(estimate_search_bytes(board.size))
        layers, planes = search_here(board, goal, tasks)
        rows, records = (_iter_records(iter_word_records(planes), count, tasks) for _ in range(2))
    depths: dict[Depth, int] = {(goal, at): states for at, states in enumerate(layers)}
    return TableData(rows, records, count, depths)


def search_here(
    board: SlidingBoard, root: str, tasks: Tasks, depth: Depths | None = None
) -> tuple[list[int], Planes]:
    """Search all states in this process; return the number of states at each depth, and the planes.

    A search that is killed begins again, as it takes little time. `depth`: a byte for each state,
    which gets its depth.
    """
    layers: list[int] = []

    def layer_done(level: int, states: int) -> None:
        layers.append(states)
        tasks.report("layers", level)

    words = board.make_words(root)
    return layers, search_words(words, tasks.jobs, layer_done, tasks.run_in_threads, depth)


def _iter_depths(depth: Depths) -> Chunks:
    yield {"distance": depth}


def _iter_records(chunks: Iterator[Depths], count: int, tasks: Tasks) -> Chunks:
    """Iterate over an index's records, given rows of bits in chunks."""
    done = 0
    for chunk in chunks:
        for first in range(0, len(chunk), CHUNK_RECORDS):
            tasks.report("records", done, count)
            records = chunk[first : first + CHUNK_RECORDS]
            yield {"bits": records.view(f"S{ROW_BYTES}").ravel()}
            done += len(records)


def _iter_rows(board: SlidingBoard, goal: str, depth: Depths, tasks: Tasks) -> Chunks:
    """Iterate over the rows of a small board, those with the blank on one place together."""
    for place in range(board.cells):
        tasks.report("rows", place * board.orders, board.size)
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
