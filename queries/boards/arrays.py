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

CELLS = 9
NO_MARK = 255
"""The number on every cell of what is no state."""


def rank_any(states: Any) -> npt.NDArray[np.uint32]:
    """Return the rank of each state of an array, a list of lists or a column; `NO_RANK` for others.

    BadRequest for what has no states.
    """
    if isinstance(states, pl.Series):
        return rank_states(read_key_column(states, CELLS)).to_numpy()
    try:
        array = np.asarray(states)
    except ValueError:  # lists of different lengths
        array = np.zeros(1)
    if array.ndim == 1 and array.dtype.kind in "UO" and len(array):
        return rank_any(pl.Series(array.tolist(), strict=False))
    is_board = array.ndim > 1 and array.dtype.kind in "ui" and array.size == CELLS * len(array)
    if array.size and not is_board:
        raise BadRequest("States are an array of whole numbers with nine columns, or a column")
    array = array.reshape(-1, CELLS)
    ranks = np.empty(len(array), dtype=np.uint32)
    for at in range(0, len(array), CHUNK_ROWS):
        chunk = array[at : at + CHUNK_ROWS]
        if array.dtype != np.uint8:  # a number that a byte cannot hold must not become a tile
            chunk = np.where((chunk < 0) | (chunk > CELLS), NO_MARK, chunk).astype(np.uint8)
        ranks[at : at + CHUNK_ROWS] = rank_columns(np.array(chunk.T, order="C"))
    return ranks


def make_next_boards(ranks: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """Return the state after each of the moves U D L R; an illegal one's cells are all 255."""
    boards = list_texts() - np.uint8(ord("0"))
    boards[NO_RANK] = NO_MARK
    moved: npt.NDArray[np.uint8] = boards[list_successors()[:, ranks].T]
    return moved
