"""Columns of keys as texts: numbers get back lost zeros, and the cells of a key are joined.

Also views of the bytes of texts, and messages for keys that do not reach a goal.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from tablebase.board_text import BLANKS, SEPARATORS
from tablebase.errors import GoalUnreachable
from tablebase.puzzle import GoalPuzzle

TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Null)
"""The types of columns that can hold keys; a column of nulls alone is allowed too."""


class KeyFormat(NamedTuple):
    """The format of an input's keys; see the attributes of `Reader` with these names.

    `second`: the column that is read beside the keys; in text, the rest of a key's line.
    """

    column: str
    joined_characters: int = 0
    long_cells: tuple[str, ...] = ()
    key_digits: int = 0
    second: str | None = None

    def strip_cell(self, word: str) -> str | None:
        """Return the cell that a word is without separators; "" for separators, None for a key.

        >>> form = KeyFormat("state", 12, long_cells=("10", "11"))
        >>> form.strip_cell("[[3,"), form.strip_cell("10]"), form.strip_cell("/")
        ('3', '10', '')
        >>> form.strip_cell("12") is None
        True
        """
        if len(word) == 1 and word not in SEPARATORS:
            return word
        cell = word.strip(SEPARATORS)
        return cell if len(cell) < 2 or cell in self.long_cells else None

    def may_have_cells(self, text: bytes, words: list[str]) -> bool:
        """Return whether some words of a text may be single cells; it is a fast filter."""
        longest = max(map(len, ("0", *self.long_cells)))
        has_separator = any(ord(separator) in text for separator in SEPARATORS)
        return has_separator or any(len(word) <= longest for word in words)

    def join_key(self, cells: list[str]) -> str:
        """Join cells to a key."""
        return ("" if all(len(cell) == 1 for cell in cells) else " ").join(cells)


def can_hold_keys(kind: pl.DataType | None, digits: int) -> bool:
    """Return whether a column of this type can hold keys.

    `digits`: how many a key has that can be read as a number; 0: no key can.
    """
    if kind is None:
        return False
    is_text = kind in TEXT or isinstance(kind, pl.Binary) or _has_cells(kind)
    return is_text or (digits > 0 and _is_number(kind))


def can_hold_answers(kind: pl.DataType | None) -> bool:
    """Return whether a column of this type can hold answers; one tile in a list is no claim."""
    return can_hold_keys(kind, 1) and not isinstance(kind, pl.List | pl.Array)


def _has_cells(kind: pl.DataType) -> bool:
    """Return whether a column of this type has the numbers of a board's cells."""
    inner = kind.inner if isinstance(kind, pl.List | pl.Array) else None
    return isinstance(inner, pl.DataType) and inner.is_integer()


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_integer() or kind.is_float() or (isinstance(kind, pl.Decimal) and not kind.scale)


def read_key_column(column: pl.Series, digits: int = 0, *, is_untyped: bool = False) -> pl.Series:
    """Return a column's keys as text.

    For `digits` see `can_hold_keys`. `is_untyped`: the column is of a format without types, whose
    texts may be numbers too.
    """
    kind = column.dtype
    if isinstance(kind, pl.Binary):
        return _decode(column)
    if _has_cells(kind):
        return column.cast(pl.List(pl.String)).list.join(" ")
    if not _is_number(kind):
        keys = column.cast(pl.String)
        return _restore_zeros(keys, digits) if is_untyped else keys
    if kind.is_float():  # integers with a missing value among them become floats in pandas
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        is_whole = (whole.cast(kind) == column).fill_null(value=False)
        texts = whole.cast(pl.String).zip_with(is_whole, column.cast(pl.String))
    else:
        texts = column.cast(pl.String)
    return _restore_zeros(texts, digits)


def _restore_zeros(keys: pl.Series, digits: int) -> pl.Series:
    """Put a 0 before the keys that have all digits of a key but the 0."""
    if not digits:
        return keys
    is_short = (keys.str.len_bytes() == digits - 1).fill_null(value=False)
    if not is_short.any():
        return keys
    is_short &= keys.str.contains(r"^[1-9]+$").fill_null(value=False)
    rows = is_short.arg_true()
    short = keys.gather(rows)
    has_all = short.str.split("").list.n_unique() == digits - 1
    return keys.clone().scatter(rows.filter(has_all), "0" + short.filter(has_all))


def _decode(column: pl.Series) -> pl.Series:
    """Decode bytes as UTF-8; what is not becomes a text that is no key."""
    try:
        return column.cast(pl.String)
    except pl.exceptions.ComputeError:
        texts = (None if key is None else key.decode(errors="replace") for key in column)
        return pl.Series(column.name, [*texts], dtype=pl.String)


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
