"""Vectorized ranking of 8-puzzle states: whole columns at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.state_columns import join_cells, view_texts
from tablebase.errors import NotationError
from tablebase.puzzles.eight import (
    ALL_DIGITS,
    HEAD_LENGTH,
    RANK_MASK,
    SET_SHIFT,
    make_rank_part_arrays,
    parse,
    to_number,
)
from tablebase.resources import count_cores

CHUNK_ROWS = 1 << 15
"""Rows ranked at a time: few enough to stay in a core's cache."""
NO_RANK = 362_880
"""The rank of texts that are not states: that of a row of nulls after the table's last row."""
STATE_LENGTH = 9

_get_rank_parts = cache(make_rank_part_arrays)
"""The parts of ranks, made once per process: a batch and a lazy frame rank chunk by chunk."""


def rank_states(states: pl.Series) -> pl.Series:
    """Return the rank of each text, as `parse` reads it; `NO_RANK` for a text that is no state."""
    return read_states(states)[1]


def read_states(keys: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return each text in standard notation with its rank; `NO_RANK` for one that is no state."""
    ranks = _rank_texts(keys)
    longer = (keys.str.len_bytes() >= STATE_LENGTH).fill_null(value=False).to_numpy()
    odd = np.flatnonzero((ranks == NO_RANK) & longer)
    if len(odd):
        states = join_cells(keys.gather(odd))
        # a blank that no character stands for is found by the slow parser
        gaps = (states.str.len_bytes() == STATE_LENGTH - 1).arg_true()
        if len(gaps):
            states = states.scatter(gaps, [_parse_or_empty(keys[int(odd[at])]) for at in gaps])
        ranks[odd] = _rank_texts(states)
        keys = keys.clone().scatter(odd, states)
    return keys, pl.Series(ranks)


def _parse_or_empty(text: str) -> str:
    try:
        return parse(text)
    except NotationError:
        return ""


def _rank_texts(states: pl.Series) -> npt.NDArray[np.uint32]:
    """Return the ranks of texts; `NO_RANK` for a text that is not nine digits of a state."""
    texts = view_texts(states)
    ranks = np.empty(len(texts), dtype=np.uint32)
    _get_rank_parts()  # before the threads start: otherwise each would make them

    def rank_block(at: int) -> None:
        view = texts[at : at + CHUNK_ROWS]
        digits = np.array(view[:, 4:13].T, order="C")
        digits -= np.uint8(ord("0"))
        bad = (view[:, 0] != STATE_LENGTH) | (digits.max(axis=0) > 8)
        if bad.any():
            digits[:, bad] = 0
        code = _encode_digits(digits)
        ranks[at : at + CHUNK_ROWS] = np.where(
            code >> SET_SHIFT == ALL_DIGITS, code & RANK_MASK, NO_RANK
        )

    with ThreadPoolExecutor(count_cores()) as pool:
        list(pool.map(rank_block, range(0, len(texts), CHUNK_ROWS)))
    return ranks


def rank_digits(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return the ranks of states given as digits, one state per column."""
    return _encode_digits(boards) & np.uint32(RANK_MASK)


def _encode_digits(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    head, tail = _get_rank_parts()
    codes: npt.NDArray[np.uint32] = head.take(to_number(digits[:HEAD_LENGTH]))
    codes += tail.take(to_number(digits[HEAD_LENGTH:]))
    return codes
