"""How good each partition of the tiles into patterns is, on a board that is searched whole.

`python -m benchmarks.patterns` prints the table of docs/fifteen.md: the distances of all states of
3x4 beside the bounds of four partitions (about five minutes; `3x3` as an argument: seconds).
"""

from __future__ import annotations

import os
import sys
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Row, format_table
from puzzle_tablebase.jit import compiled
from puzzle_tablebase.pipeline.builders.pattern_table import make_moves
from puzzle_tablebase.pipeline.builders.sliding_table import make_rows
from puzzle_tablebase.pipeline.search.pattern_search import search_pattern
from puzzle_tablebase.pipeline.search.word_bfs import search_words
from puzzle_tablebase.pipeline.tasks import run_in_threads
from puzzle_tablebase.puzzles.fifteen import Pattern, rank_set
from puzzle_tablebase.puzzles.sliding import CHARACTERS, SlidingBoard, parse_board
from puzzle_tablebase.word_space import WordSpace

Array = npt.NDArray[Any]
PARTITIONS = {
    "3x3": ("1/2/3/4/5/6/7/8", "1 2 3/4 5 6/7 8", "1 2 4 5/3 6 7 8"),
    "3x4": (
        "1/2/3/4/5/6/7/8/9/10/11",
        "1 2/3 4/5 6/7 8/9 10/11",
        "1 2 5 6/3 4 7 8/9 10 11",
        "1 2 5 6 9 10/3 4 7 8 11",
    ),
}
"""The tiles of the patterns of each partition; with a pattern for each tile, it is Manhattan."""
CHUNK_ROWS = 500


def search_distances(board: SlidingBoard) -> Array:
    """Search all states of a board; return their distances by rank."""
    depth = np.zeros(board.size, np.uint8)
    threads = os.cpu_count() or 1
    search_words(board.make_words(board.example), threads, _ignore, run_in_threads, depth)
    return depth


def make_flat_table(pattern: Pattern) -> Array:
    """Search a pattern; return its depths by the cells of its tiles, the first tile's first."""
    moves = make_moves(pattern)
    maps = moves.moves, moves.sources, moves.maps, moves.order_maps
    depth = search_pattern(moves.places, maps, moves.root, 1, _ignore, run_in_threads)
    count = len(pattern.tiles)
    flat = np.zeros(pattern.cells**count, np.uint8)
    sets = np.array(sorted(combinations(range(pattern.cells), count), key=rank_set))
    for number, order in enumerate(permutations(range(count))):
        # the tile `order[at]` stands on the cell that is number `at` of the set
        flat[sets @ (pattern.cells ** np.array(order))] = depth[:, number]
    return flat


def _ignore(*_: object) -> None:
    """Do nothing with progress."""


@compiled
def add_bounds(states: Array, flat: Array, digits: Array, bounds: Array) -> None:
    """Add a pattern's depths to the states' bounds; `digits`: each tile's place value, or 0."""
    for at in range(len(states)):
        index = 0
        for cell in range(states.shape[1]):
            index += cell * digits[states[at, cell]]
        bounds[at] += flat[index]


def measure_rows(
    board: SlidingBoard, words: WordSpace, depth: Array,
    patterns: list[list[tuple[Array, Array]]], block: int, first: int, last: int,
) -> Array:  # fmt: skip
    """Return for each partition the sum of what its bounds lack, and how many lack nothing."""
    columns = make_rows(board, board.example, depth, block, first, last)
    tile_of = np.zeros(128, np.uint8)
    tile_of[np.frombuffer(CHARACTERS.encode(), np.uint8)] = range(len(CHARACTERS))
    states = tile_of[columns["state"].view(np.uint8).reshape(-1, board.cells)]
    distance, results = columns["distance"].astype(np.int64), []
    for partition in patterns:
        bounds = np.zeros(len(states), np.int64)
        for flat, digits in partition:
            add_bounds(states, flat, digits, bounds)
        assert (bounds <= distance).all()
        results.append(((distance - bounds).sum(), (bounds == distance).sum()))
    return np.array(results)


def compare_partitions(text: str) -> str:
    """Format the table of a board's partitions."""
    board = parse_board(text)
    depth, patterns = search_distances(board), list[list[tuple[Array, Array]]]()
    for partition in PARTITIONS[text]:
        patterns.append([])
        for tiles in partition.split("/"):
            pattern = Pattern(board.height, board.width, map(int, tiles.split()))
            digits = np.zeros(board.cells, np.int64)
            digits[list(pattern.tiles)] = board.cells ** np.arange(len(pattern.tiles))
            patterns[-1].append((make_flat_table(pattern), digits))
    words = board.make_words(board.example)
    parts = (
        (block, first, min(words.rows, first + CHUNK_ROWS))
        for block in range(words.blocks)
        for first in range(0, words.rows, CHUNK_ROWS)
    )
    totals = np.zeros((len(patterns), 2))
    for result in run_in_threads(partial(measure_rows, board, words, depth, patterns), parts):
        totals += result
    head = ("partition", "patterns", "moves too low", "exact")
    rows = list[Row]()
    for partition, (short, exact) in zip(PARTITIONS[text], totals / board.size, strict=True):
        counts = [len(tiles.split()) for tiles in partition.split("/")]
        is_manhattan = max(counts) == 1
        name = "manhattan" if is_manhattan else "-".join(map(str, counts))
        tiles = "a pattern for each tile" if is_manhattan else partition.replace("/", ", ")
        rows.append((name, tiles, f"{short:.2f}", f"{exact:.1%}"))
    return format_table(head, rows)


if __name__ == "__main__":
    print(compare_partitions(sys.argv[1] if len(sys.argv) > 1 else "3x4"))
