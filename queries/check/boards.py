"""Many answers for a sliding board, judged by array code: letters of the blank's moves alone.

All rows make their first move together, then their second, and so on; rows are sorted by length, so
that those that move on are the first ones.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.check.goals import EDGES, BoardJudge
from queries.check.reading import SEPARATORS
from tablebase.puzzles.sliding import LETTERS
from tablebase.resources import count_cores

CHUNK_ROWS = 1 << 15
"""Rows judged at a time: few enough to stay in a core's cache."""
MAX_MOVES = 999
"""The most moves of a row; a few long ones would keep all others waiting."""
RESULTS = pl.Series(["illegal", "incomplete", "shortest", "longer"])
CODES = np.zeros(256, dtype=np.uint8)
CODES[np.frombuffer(LETTERS.encode(), np.uint8)] = np.arange(len(LETTERS))

Numbers = npt.NDArray[np.int64]


class Walk(Protocol):
    """States of which the first ones move on together."""

    def measure(self, rows: int) -> npt.NDArray[np.int16]:
        """Return the distances of the first states, -1 where no moves lead to the goal."""

    def move(self, rows: int, letters: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
        """Move the blank of the first states; return whether all moves so far were legal."""


class ArrayJudge(BoardJudge):
    """A judge of a board whose answers are judged by array code if there are many."""

    min_rows = 0
    """The rows from which on that is faster."""

    def read_starts(self, keys: pl.Series) -> tuple[npt.NDArray[np.bool_], Callable[..., Walk]]:
        """Return which keys are states, and a function that makes a walk from some rows' states."""
        raise NotImplementedError

    def judge_columns(self, keys: pl.Series, answers: pl.Series) -> pl.DataFrame | None:
        if len(keys) < self.min_rows:
            return None
        answers = answers.fill_null("")
        if answers.str.contains(f"[{SEPARATORS}]").any():
            answers = answers.str.replace_all(f"[{SEPARATORS}]", "")
        is_state, make_walk = self.read_starts(keys)
        is_plain = answers.str.contains(f"^[{LETTERS}]*$") & (answers.str.len_bytes() <= MAX_MOVES)
        rows = np.flatnonzero(is_state & is_plain.to_numpy())
        if not len(rows):
            return None
        texts = answers.gather(rows).rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
        _, ends, data = texts.buffers()
        offsets = np.frombuffer(ends, np.int64)
        letters = CODES[np.frombuffer(data or b"", np.uint8)]
        judged = _judge_rows(make_walk, rows, letters, offsets)
        columns = _make_columns(*judged, np.diff(offsets), letters, offsets[:-1])
        if len(rows) == len(keys):
            return columns
        places = np.full(len(keys), len(rows))
        places[rows] = np.arange(len(rows))
        columns.extend(columns.clear(1))
        return columns[places]


def _judge_rows(
    make_walk: Callable[[Numbers], Walk], rows: Numbers, letters: Any, offsets: Numbers
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Make all moves; return the distances at the start, those at the end, moves and losses.

    The moves are the legal ones, and the loss is the first move that led no nearer, 0 if none did.
    """
    lengths = np.diff(offsets)
    judged = np.zeros((4, len(rows)), dtype=np.int64)

    def judge_chunk(at: int) -> None:
        order = at + np.argsort(-lengths[at : at + CHUNK_ROWS], kind="stable")
        walk, begins = make_walk(rows[order]), offsets[order]
        start = walk.measure(len(order))
        end, done, loss = start.copy(), np.zeros_like(order), np.zeros_like(order)
        for step in range(int(lengths[order[0]])):
            here = slice(int(np.searchsorted(-lengths[order], -step)))
            is_legal = walk.move(here.stop, letters[begins[here] + step])
            after = walk.measure(here.stop)
            loss[here][is_legal & (loss[here] == 0) & (after != end[here] - 1)] = step + 1
            done[here] += is_legal
            end[here] = after
        loss[start < 0] = 0
        judged[:, order] = start, end, done, loss

    with ThreadPoolExecutor(count_cores()) as pool:
        list(pool.map(judge_chunk, range(0, len(rows), CHUNK_ROWS)))
    start, end, done, loss = judged
    return start, end, done, loss


def _make_columns(
    start: Numbers, end: Numbers, done: Numbers, loss: Numbers, length: Numbers,
    letters: npt.NDArray[np.uint8], begins: Numbers,
) -> pl.DataFrame:  # fmt: skip
    """Make the columns of judgements."""
    is_illegal = done < length
    is_home = ~is_illegal & (end == 0) & (start >= 0)
    excess = length - start
    result = np.select([is_illegal, ~is_home], [0, 1], np.where(excess == 0, 2, 3))
    score = np.where(is_home, np.where(excess == 0, 1, start / np.maximum(length, 1)), 0.0)
    illegal = np.flatnonzero(is_illegal)
    reasons = pl.Series([f", {letter}: the blank is in the {EDGES[letter]}" for letter in LETTERS])
    steps = pl.Series(done[illegal] + 1, dtype=pl.Int64)
    why = "move " + steps.cast(pl.String) + reasons.gather(letters[begins[illegal] + steps - 1])
    none = pl.Series(dtype=pl.String).extend_constant(None, len(length))
    columns = pl.DataFrame(
        {
            "result": RESULTS.gather(result),
            "length": length,
            "shortest": start.astype(np.int16),
            "excess": excess,
            "first_loss": loss,
            "step": done + 1,
            "problem": none.scatter(illegal, why),
            "score": score,
        }
    )

    def keep(name: str, where: npt.NDArray[np.bool_]) -> pl.Expr:
        return pl.when(pl.Series(where)).then(pl.col(name))

    return columns.with_columns(
        keep("shortest", start >= 0),
        keep("excess", is_home),
        keep("first_loss", loss > 0),
        keep("step", is_illegal),
    )
