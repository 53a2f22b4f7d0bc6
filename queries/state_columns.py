"""Columns of states as texts: views of their bytes, and messages for unreachable goals."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import polars as pl

from tablebase.board_text import BLANKS, SEPARATORS
from tablebase.errors import GoalUnreachable
from tablebase.puzzle import GoalPuzzle

WHITE_SPACE = r"[\s\x1c-\x1f]"
"""The characters that `str.split` takes for white space, as a pattern."""
BETWEEN_CELLS = rf"{WHITE_SPACE[:-1]}{re.escape(SEPARATORS)}]"
"""White space and the other characters between cells, as a pattern."""

Bytes = npt.NDArray[np.uint8]


def join_cells(texts: pl.Series) -> pl.Series:
    """Join the cells of each text: without what stands between them, and with the blank as 0."""
    bare = texts.str.replace_all(BETWEEN_CELLS, "")
    return bare.str.replace_all(f"[{re.escape(BLANKS)}]", "0")


def explain_unreachable_states(
    puzzle: GoalPuzzle, goal: str, states: pl.Series, is_unreached: npt.NDArray[np.bool_]
) -> pl.Series:
    """Return the error message of each state that does not reach a goal, null for the others.

    States with the blank on the same cell have the same reason, so it is computed once for each
    cell.
    """
    reasons = pl.Series(dtype=pl.String).extend_constant(None, len(states))
    blanks = states.str.find("0", literal=True)
    for blank in blanks.filter(pl.Series(is_unreached)).unique():
        rows = np.flatnonzero((blanks == blank).fill_null(value=False).to_numpy() & is_unreached)
        group = states.gather(rows)
        head, _, tail = str(
            GoalUnreachable(group[0], goal, puzzle.explain_unreachable(group[0], goal))
        ).partition(group[0])
        reasons = reasons.scatter(
            rows, pl.select(pl.format(f"{head}{{}}{tail}", group)).to_series()
        )
    return reasons


def view_texts(states: pl.Series) -> Bytes:
    """Return Arrow's 16-byte view of each text: its length in four bytes, then a short text itself.

    The length of a null is set to 0, as its bytes are undefined. A text over 12 bytes has other
    bytes in place of its own: the number of a buffer, which is never as large as digits would be.
    """
    array = states.rechunk().to_arrow(compat_level=pl.CompatLevel.newest())
    texts: Bytes = np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, 16)
    texts = texts[array.offset : array.offset + len(array)]
    if array.null_count:
        texts = texts.copy()
        texts[array.is_null().to_numpy(zero_copy_only=False), 0] = 0
    return texts
