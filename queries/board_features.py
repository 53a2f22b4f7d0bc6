"""Features of many states of a board at a time: simple heuristics for the distance to a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.puzzles.board_arrays import sum_weights
from puzzle_tablebase.queries.board_columns import normalize_keys, read_tiles
from puzzle_tablebase.queries.questions import FEATURE_NAMES

if TYPE_CHECKING:
    from puzzle_tablebase.puzzles.sliding import SlidingBoard


def add_features(rows: pl.DataFrame, keys: pl.Series, board: SlidingBoard) -> pl.DataFrame:
    """Add the features of keys to their rows, which name a goal each; null without a goal."""
    named = rows["goal"].cast(pl.String)
    tiles, is_state = read_tiles(normalize_keys(keys, board.cells), board.cells)
    features = np.zeros((len(FEATURE_NAMES), len(keys)), np.int16)
    for name in named.drop_nulls().unique():
        goal = board.goals.get(name, name)
        chosen = np.flatnonzero((named == name).fill_null(value=False).to_numpy() & is_state)
        boards = tiles[:, chosen]
        steps, misplaced = (
            sum_weights(board, feature, goal, boards).astype(np.int16)
            for feature in FEATURE_NAMES[:2]
        )
        home = np.array([goal.index(mark) for mark in CHARACTERS[: board.cells]], np.int64)
        conflicts = np.empty(len(chosen), np.int16)
        count_conflicts(np.ascontiguousarray(boards.T), home, board.width, conflicts)
        features[:, chosen] = steps, misplaced, steps + 2 * conflicts
    has_goal = named.is_not_null() & pl.Series(is_state)
    columns = pl.DataFrame(dict(zip(FEATURE_NAMES, features, strict=True)))
    return rows.hstack(columns.select(pl.when(has_goal).then(pl.all())))


@compiled
def count_conflicts(tiles: Array, home: Array, width: int, conflicts: Array) -> None:
    """Count the linear conflicts of states: tiles that have to leave the line of their goal cell.

    `tiles` has a state in each row; `home` is the cell of each tile in the goal.
    """
    cells = tiles.shape[1]
    height = cells // width
    line = np.empty(max(width, height), np.int64)
    for at in range(len(tiles)):
        removed = 0
        for row in range(height):
            count = 0
            for column in range(width):
                tile = tiles[at, row * width + column]
                if tile and home[tile] // width == row:
                    line[count] = home[tile] % width
                    count += 1
            removed += count - _measure_longest_increasing(line, count)
        for column in range(width):
            count = 0
            for row in range(height):
                tile = tiles[at, row * width + column]
                if tile and home[tile] % width == column:
                    line[count] = home[tile] // width
                    count += 1
            removed += count - _measure_longest_increasing(line, count)
        conflicts[at] = removed


@compiled
def _measure_longest_increasing(line: Array, count: int) -> int:
    """Return the length of the longest increasing subsequence; other tiles must leave the line."""
    most, lengths = 0, np.empty(len(line), np.int64)
    for at in range(count):
        lengths[at] = 1
        for before in range(at):
            if line[before] < line[at]:
                lengths[at] = max(lengths[at], lengths[before] + 1)
        most = max(most, lengths[at])
    return most
