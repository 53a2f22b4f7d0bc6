"""All states of the 8-puzzle at once, by rank: their answers to any goal, and their ways there."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from queries.eight.columns import BLOCK, NO_RANK, digit_ranks, ranks
from tablebase.graph import UNREACHED
from tablebase.puzzle import View
from tablebase.puzzles.eight import EXITS, LETTERS, PUZZLE, STEP

Bytes = npt.NDArray[np.uint8]
SPACE = ord(" ")


@cache
def _texts() -> Bytes:
    """Every state as a row of nine characters; after the last a row of none."""
    states = PUZZLE.states().view(np.uint8).reshape(-1, 9)
    return np.vstack([states, np.zeros((1, 9), dtype=np.uint8)])


@cache
def _after() -> npt.NDArray[np.uint32]:
    """For each letter the state that each state's move leads to, `NO_RANK` where there is none."""
    boards = _texts()[:NO_RANK].T - np.uint8(ord("0"))
    blank = np.argmin(boards, axis=0)
    found = np.full((len(LETTERS), NO_RANK + 1), NO_RANK, dtype=np.uint32)
    for letter, to in zip(LETTERS, found, strict=True):
        states = np.flatnonzero(np.array([letter in dict(exits) for exits in EXITS])[blank])
        here, everyone = blank[states], np.arange(len(states))
        moved = boards[:, states]
        moved[here, everyone] = moved[here + STEP[letter], everyone]
        moved[here + STEP[letter], everyone] = 0
        to[states] = digit_ranks(moved)
    return found


def answers_to(goal: str, view: View, records: bytes, layouts: pl.Series) -> pl.DataFrame:
    """What a batch has of every state, for one goal; nulls where it is out of reach.

    `layouts` is the one that each state reaches, `records` the index of the view's layout.
    """
    texts = _texts()[:NO_RANK].copy().view("S9").ravel().astype(str)
    seen = ranks(pl.Series([view.state(state) for state in texts.tolist()]))
    distance, solutions = np.frombuffer(records, np.uint8).reshape(-1, 2)[seen.to_numpy()].T
    own = PUZZLE.layout_of(PUZZLE.layouts[view.layout])
    reached = (layouts.gather(seen) == own).to_numpy() & (distance != UNREACHED)
    # a row more, for what is no state
    depth = np.append(np.where(reached, distance, UNREACHED), UNREACHED).astype(np.int16)
    best = np.zeros(NO_RANK, dtype=f"S{len(LETTERS)}")
    for letter, after in zip(LETTERS, _after(), strict=True):
        nearer = reached & (depth[after[:NO_RANK]] == distance.astype(np.int16) - 1)
        best[nearer] = np.strings.add(best[nearer], letter.encode())
    found = pl.DataFrame(
        {
            "goal": pl.repeat(goal, NO_RANK, eager=True),
            "distance": distance,
            "best_moves": best.astype(str).tolist(),
            "solutions": solutions,
        },
        schema_overrides={"distance": pl.Int8, "solutions": pl.Int16},
        strict=False,
    )
    return found.select(pl.when(pl.Series(reached)).then(pl.all()))


def walked(rows: pl.DataFrame, asked: pl.Series) -> pl.DataFrame:
    """The first shortest solution of each state asked, and the states on its way.

    `rows` are all states' answers, by rank, and `asked` are ranks.
    """
    first, letter_of = rows["best_moves"].str.slice(0, 1), np.zeros(len(rows), dtype=np.uint8)
    onward = np.arange(len(rows), dtype=np.uint32)
    for letter, after in zip(LETTERS, _after(), strict=True):
        takers = (first == letter).fill_null(value=False).to_numpy()
        letter_of[takers], onward[takers] = ord(letter), after[takers]
    depth = rows["distance"].gather(asked)
    parts = [
        _walked(asked[at : at + BLOCK].to_numpy(), letter_of, onward, depth[at : at + BLOCK].max())
        for at in range(0, max(1, len(asked)), BLOCK)
    ]
    return pl.concat(parts).select(pl.when(depth.is_not_null()).then(pl.all()))


def _walked(
    here: npt.NDArray[np.uint32], letter_of: Bytes, onward: npt.NDArray[np.uint32], longest: object
) -> pl.DataFrame:
    solution, path = [], [_texts()[here]]
    for _ in range(longest if isinstance(longest, int) else 0):
        letter = letter_of[here][:, None]
        here = onward[here]
        solution.append(letter)
        step = np.hstack([np.full((len(here), 1), SPACE, dtype=np.uint8), _texts()[here]])
        path.append(step * (letter > 0))
    return pl.DataFrame(
        {"solution": _joined(solution, len(here)), "path": _joined(path, len(here))}
    )


def _joined(pieces: list[Bytes], rows: int) -> pl.Series:
    """Rows of characters as texts, without the zeros among them."""
    letters = np.hstack(pieces) if pieces else np.zeros((rows, 0), dtype=np.uint8)
    ends = np.cumsum(np.count_nonzero(letters, axis=1), dtype=np.int64)
    buffers = [None, pa.py_buffer(np.append(np.int64(0), ends)), pa.py_buffer(letters[letters > 0])]
    return pl.Series(pl.from_arrow(pa.Array.from_buffers(pa.large_string(), rows, buffers)))
