"""Features of many states of a board at a time: simple lower bounds of the distance to a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.queries.board_columns import normalize_keys, read_tiles
from puzzle_tablebase.queries.options import FEATURE_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping


def add_features(
    rows: pl.DataFrame, keys: pl.Series, goals: Mapping[str, str], width: int
) -> pl.DataFrame:
    """Add the features of keys to their rows, which name a goal each; null where there is none."""
    named = rows["goal"].cast(pl.String)
    names, cells = named.drop_nulls().unique(), len(next(iter(goals.values())))
    tiles, is_state = read_tiles(normalize_keys(keys, cells), cells)
    features = np.zeros((len(keys), len(FEATURE_NAMES)), np.int16)
    for name in names:
        goal = goals.get(name, name)
        chosen = np.flatnonzero((named == name).fill_null(value=False).to_numpy() & is_state)
        home = np.array([goal.index(mark) for mark in CHARACTERS[:cells]], np.int64)
        found = np.empty((len(chosen), len(FEATURE_NAMES)), np.int16)
        measure_features(np.ascontiguousarray(tiles[:, chosen].T), home, width, found)
        features[chosen] = found
    has_goal = named.is_not_null() & pl.Series(is_state)
    columns = pl.DataFrame(features, [*FEATURE_NAMES])
    return rows.hstack(columns.select(pl.when(has_goal).then(pl.all())))


@compiled
def measure_features(tiles: Array, home: Array, width: int, features: Array) -> None:
    """Fill the features of states, one in each row; `home` is the cell of each tile in the goal."""
    cells = tiles.shape[1]
    height = cells // width
    line = np.empty(max(width, height), np.int64)
    for at in range(len(tiles)):
        steps, misplaced, removed = 0, 0, 0
        for cell in range(cells):
            tile = tiles[at, cell]
            if tile:
                to = home[tile]
                misplaced += to != cell
                steps += abs(to // width - cell // width) + abs(to % width - cell % width)
        for row in range(height):
            count = 0
            for column in range(width):
                tile = tiles[at, row * width + column]
                if tile and home[tile] // width == row:
                    line[count] = home[tile] % width
                    count += 1
            removed += count - _count_longest_rise(line, count)
        for column in range(width):
            count = 0
            for row in range(height):
                tile = tiles[at, row * width + column]
                if tile and home[tile] % width == column:
                    line[count] = home[tile] // width
                    count += 1
            removed += count - _count_longest_rise(line, count)
        features[at, 0], features[at, 1] = steps, misplaced
        features[at, 2] = steps + 2 * removed


@compiled
def _count_longest_rise(line: Array, count: int) -> int:
    """Count the most numbers that stand in ascending order; the others have to leave the line."""
    most, lengths = 0, np.empty(len(line), np.int64)
    for at in range(count):
        lengths[at] = 1
        for before in range(at):
            if line[before] < line[at]:
                lengths[at] = max(lengths[at], lengths[before] + 1)
        most = max(most, lengths[at])
    return most
