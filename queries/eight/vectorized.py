"""Whole columns of 8-puzzle states at once: their ranks, by arithmetic."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.state_columns import WHITE_SPACE, views
from tablebase.puzzles.eight import ALL, HEAD, RANK, SET_AT, as_number, rank_parts_by_number
from tablebase.resources import cores

BLOCK = 1 << 15
"""Rows ranked at a time: few enough to stay in a core's cache."""
NO_RANK = 362_880
"""The number of a row of nulls, put after the table's own."""
LENGTH = 9

_rank_parts = cache(rank_parts_by_number)
"""Made once a process: a batch and a lazy frame rank their rows a stretch at a time."""


def ranks(states: pl.Series) -> pl.Series:
    """Each state's rank, as `parse` reads it; `NO_RANK` for what is not a state."""
    found = _ranks(states)
    longer = (states.str.len_bytes() > LENGTH).fill_null(value=False).to_numpy()
    spaced = np.flatnonzero((found == NO_RANK) & longer)
    if len(spaced):
        found[spaced] = _ranks(states.gather(spaced).str.replace_all(WHITE_SPACE, ""))
    return pl.Series(found)


def _ranks(states: pl.Series) -> npt.NDArray[np.uint32]:
    """The ranks of states without white space."""
    texts = views(states)
    found = np.empty(len(texts), dtype=np.uint32)
    _rank_parts()  # before there are threads that would each make them

    def rank_block(at: int) -> None:
        view = texts[at : at + BLOCK]
        digits = np.array(view[:, 4:13].T, order="C")
        digits -= np.uint8(ord("0"))
        bad = (view[:, 0] != LENGTH) | (digits.max(axis=0) > 8)
        if bad.any():
            digits[:, bad] = 0
        code = _codes(digits)
        found[at : at + BLOCK] = np.where(code >> SET_AT == ALL, code & RANK, NO_RANK)

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(rank_block, range(0, len(texts), BLOCK)))
    return found


def digit_ranks(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """The ranks of states given as digits, one state a column."""
    return _codes(boards) & np.uint32(RANK)


def _codes(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    head, tail = _rank_parts()
    codes: npt.NDArray[np.uint32] = head.take(as_number(digits[:HEAD]))
    codes += tail.take(as_number(digits[HEAD:]))
    return codes
