"""Many states of the 8-puzzle at a time: arrays of them, and the walks of answers to judge."""

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
MAX_MOVES = 999
"""The most moves that array code makes; a few long answers would keep all others waiting."""
WALKS = (MAX_MOVES + 1, MAX_MOVES + 1, MAX_MOVES + 1, 256, 2, len(LETTERS))
"""How many there are of what tells walks apart: their lengths, legal moves, first losses and
distances at the start, whether they end at the goal, and the letters of illegal moves."""
NUMBER_LETTERS = bytes.maketrans(LETTERS.encode(), bytes(range(len(LETTERS))))


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


def group_walks(
    keys: pl.Series, answers: pl.Series, distances: npt.NDArray[np.int16]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the rows whose answers to states are letters alone, and the walk of each as a number.

    Some rows at a time make their first move together, then their second, and so on; they are
    sorted by length, so that those that move on are the first ones.
    """
    ranks = rank_states(keys).to_numpy()
    is_plain = answers.str.contains(f"^[{LETTERS}]*$") & (answers.str.len_bytes() <= MAX_MOVES)
    plain = np.flatnonzero((ranks != NO_RANK) & is_plain.to_numpy())
    ranks = ranks[plain]
    array = answers.gather(plain).rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    _, ends, data = array.buffers()
    offsets = np.frombuffer(ends, np.int64)
    letters = np.frombuffer(bytes(data or b"").translate(NUMBER_LETTERS) + b"\0", np.uint8)
    successors, walks = list_successors().ravel(), np.zeros(len(ranks), dtype=np.int64)
    for at in range(0, len(ranks), CHUNK_ROWS):
        order = at + np.argsort(-np.diff(offsets[at : at + CHUNK_ROWS + 1]), kind="stable")
        here, begins, lengths = ranks[order], offsets[order], np.diff(offsets)[order]
        start = distances.take(here)
        done, loss = np.zeros((2, len(order)), dtype=np.int64)
        for step in range(lengths[0]):
            rows = slice(int(np.searchsorted(-lengths, -step)))
            letter = letters[begins[rows] + step].astype(np.uint32)
            here[rows] = successors.take(letter * np.uint32(NO_RANK + 1) + here[rows])
            is_legal = here[rows] != NO_RANK
            is_lost = distances.take(here[rows]) != start[rows] - step - 1
            loss[rows][is_legal & is_lost & (loss[rows] == 0)] = step + 1
            done[rows] += is_legal
        loss[start < 0] = 0
        letter = np.where(done < lengths, letters[begins + done], 0)
        facts = lengths, done, loss, start + 1, distances.take(here) == 0, letter
        walks[order] = np.ravel_multi_index(facts, WALKS)
    return plain, walks


def read_walk(number: int) -> tuple[int, ...]:
    """Return what a walk's number stands for: one number for each of `WALKS`."""
    return tuple(map(int, np.unravel_index(number, WALKS)))
