"""States of the 8-puzzle as arrays: nine numbers a state, 0 for the blank, one state a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.boards.eight_columns import (
    CHUNK_ROWS,
    NO_RANK,
    list_successors,
    list_texts,
    rank_columns,
    rank_states,
)
from queries.key_columns import read_key_column
from tablebase.errors import BadRequest
from tablebase.puzzles.eight import LETTERS

CELLS = 9
NO_MARK = 255
"""The number on every cell of what is no state."""
LETTER_SETS = [
    "".join(letter for at, letter in enumerate(LETTERS) if bits >> at & 1) for bits in range(16)
]

Ranks = npt.NDArray[np.uint32]


def rank_any(states: Any) -> Ranks:
    """Return the rank of each state of an array, a list of lists or a column; `NO_RANK` for others.

    BadRequest for what has no states.
    """
    if isinstance(states, pl.Series) and not isinstance(states.dtype, pl.Array):
        return rank_states(read_key_column(states, CELLS)).to_numpy()
    try:
        array = np.asarray(states)
        if array.size == 0:
            array = array.reshape(-1, CELLS).astype(np.uint8)
        if array.shape[1:] == (3, 3):
            array = array.reshape(-1, CELLS)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim == 1 and array.dtype.kind in "UO" and len(array):
        return rank_any(pl.Series(array.tolist(), strict=False))
    if array.ndim != 2 or array.shape[1] != CELLS or array.dtype.kind not in "ui":
        raise BadRequest("States are an array of whole numbers with nine columns, or a column")
    ranks = np.empty(len(array), dtype=np.uint32)
    for at in range(0, len(array), CHUNK_ROWS):
        chunk = array[at : at + CHUNK_ROWS]
        if array.dtype != np.uint8:  # a number that a byte cannot hold must not become a tile
            chunk = np.where((chunk < 0) | (chunk > CELLS), NO_MARK, chunk).astype(np.uint8)
        ranks[at : at + CHUNK_ROWS] = rank_columns(np.array(chunk.T, order="C"))
    return ranks


def find_best_moves(ranks: Ranks, distances: npt.NDArray[np.int16]) -> list[str]:
    """Return the letters of the best first moves from states; none where there are none."""
    best = np.zeros(len(ranks), dtype=np.uint8)
    here = distances[ranks]
    for at, targets in enumerate(list_successors()):
        there = distances[targets[ranks]]
        best |= ((there == here - 1) & (there >= 0)).astype(np.uint8) << np.uint8(at)
    return [LETTER_SETS[each] for each in best.tolist()]


def make_next_boards(ranks: Ranks) -> npt.NDArray[np.uint8]:
    """Return the state after each of the moves U D L R; an illegal one's cells are all 255."""
    boards = list_texts() - np.uint8(ord("0"))
    boards[NO_RANK] = NO_MARK
    moved: npt.NDArray[np.uint8] = boards[list_successors()[:, ranks].T]
    return moved
