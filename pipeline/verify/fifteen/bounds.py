"""The proof of the states by distance and bound, from a second search of the board and patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import Array
from pipeline.verify.fifteen.bound_counts import BoundTables, count_layer
from pipeline.verify.fifteen.placements import (
    UNKNOWN,
    find_least,
    list_masks,
    list_orders,
    search_placements,
)
from pipeline.verify.listed_table import ListedTable
from pipeline.verify.sliding.layers import Layers, iter_layers
from pipeline.verify.table_rows import read_rows
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.puzzles.fifteen.bounds import PatternBounds
from tablebase.puzzles.sliding.board import SlidingBoard

COLUMNS = ("board", "partition", "distance", "bound", "states")
HOW = (
    "every state was searched again from the goal, layer by layer, and its bounds were added up "
    "from a second search of all placements"
)
CHUNK_BYTES = 1 << 14
"""Bytes of a layer whose states one thread counts."""


def prove_bounds(listed: ListedTable, earlier: Seen) -> Outcome:
    """Count every state again by its distance and its bounds, and compare all numbers."""
    recipe = listed.definition.recipe
    assert isinstance(recipe, PatternBounds)
    names = [*recipe.list_partitions()]
    rows = read_rows(listed)
    with listed.begin_claim("each number of states is that of a second search") as check:
        tables = search_patterns(recipe, lambda: check.report_progress(0))
        counts, states = dict[tuple[int, int, int], int](), 0
        for distance, layers in iter_layers(recipe.board, recipe.board.example):
            parts = list_parts(recipe.board, layers, distance, tables)
            of_layer = np.sum([*run_in_threads(count_layer, parts)], axis=0)
            for partition, bound in np.argwhere(of_layer).tolist():
                counts[partition, distance, bound] = int(of_layer[partition, bound])
            states += int(of_layer[0].sum())
            check.report_progress(states)
        check.require_equal("states that reach the goal", states, recipe.board.size)
        keys = sorted(counts)
        expected: dict[str, list[object]] = {
            "board": [str(recipe.board)] * len(keys),
            "partition": [names[partition] for partition, _, _ in keys],
            "distance": [distance for _, distance, _ in keys],
            "bound": [bound for _, _, bound in keys],
            "states": [counts[key] for key in keys],
        }
        check.require_equal("rows", len(rows), len(keys))
        for name in COLUMNS:
            rows.require_column(check, name, pa.array(expected[name], rows.column(name).type))
    listed.note_missing_proofs(COLUMNS)
    return listed.make_outcome(Grade.PROVED, HOW)


def search_patterns(recipe: PatternBounds, on_level: Callable[[], None]) -> BoundTables:
    """Search the placements of every pattern; list the patterns of all partitions."""
    cells = recipe.board.cells
    flat, tiles, ends, partitions = list[Array](), list[int](), list[int](), list[int]()
    for number, partition in enumerate(recipe.list_partitions().values()):
        for pattern in partition.patterns:
            places, depth = search_placements(
                pattern.height, pattern.width, pattern.tiles, on_level
            )
            least = np.empty((len(depth), int(places.sets.max()) + 1), dtype=np.uint8)
            find_least(depth, places.sets, 0, len(depth), least)
            flat.append(_arrange_by_cells(least, cells, len(pattern.tiles)))
            tiles += [tile - 1 for tile in pattern.tiles]
            ends.append(len(tiles))
            partitions.append(number)
    starts = np.cumsum([0, *map(len, flat)])[:-1]
    return BoundTables(
        np.concatenate(flat), starts, np.array(tiles), np.array(ends), np.array(partitions)
    )


def _arrange_by_cells(least: Array, cells: int, tiles: int) -> Array:
    """Arrange the depths of placements by the cells of the tiles, read as digits."""
    masks = list_masks(cells, tiles)
    sets = np.array([[cell for cell in range(cells) if mask >> cell & 1] for mask in masks])
    flat = np.full(cells**tiles, UNKNOWN, dtype=np.uint8)
    for depths, order in zip(least, list_orders([*range(tiles)]), strict=True):
        # the tile `order[at]` is on the cell that is number `at` of the set
        flat[sets @ (cells ** (tiles - 1 - np.array(order)))] = depths
    return flat


def list_parts(
    board: SlidingBoard,
    layers: Layers,
    distance: int,
    tables: BoundTables,
    chunk_bytes: int = CHUNK_BYTES,
) -> Iterator[tuple[Any, ...]]:
    """List the parts of a layer that threads count, as the arguments of `count_layer`."""
    weights, cell_at = np.array(board.weights), np.array(board.cell_at)
    for place in layers.list_places(distance):
        bits = layers.bits[place]
        for first in range(0, len(bits), chunk_bytes):
            part = bits[first : first + chunk_bytes]
            kind = int(layers.parities[place])
            yield part, 8 * first, place, kind, weights, cell_at, tuple(tables)
