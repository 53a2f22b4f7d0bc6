"""Notation: what people type and read, and the constants of the puzzles. No moves, no ranks.

Builds, readers and proofs share it. Here is what all boards with cells share.
"""

from __future__ import annotations

SEPARATORS = ",;/|[](){}"
"""The characters that may stand between cells, beside white space."""
BLANKS = "._"
"""The characters that stand for the blank, beside 0."""

_REPLACEMENTS = {
    blank: str.maketrans(dict.fromkeys(SEPARATORS, " ") | dict.fromkeys(BLANKS, blank))
    for blank in "0."
}


def write_cells(given: object) -> object:
    """Return cells that are given as numbers, in rows or not, as text; all else as it is.

    >>> write_cells([[3, 7, 8], [5, 4, 6], [2, 0, 1]])
    '3 7 8 5 4 6 2 0 1'
    """
    rows = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(rows, list | tuple):
        return given
    parts = [row if isinstance(row, list | tuple) else [row] for row in rows]
    cells = [cell for part in parts for cell in part]
    if not all(hasattr(cell, "__index__") and not isinstance(cell, bool) for cell in cells):
        return given
    return " ".join([str(cell.__index__()) for cell in cells])


def split_cells(text: str, blank: str = "0") -> list[str]:
    """Split a text at white space and separators, with the blank in one spelling, 0 or a dot.

    >>> split_cells("[[3, 7, 8], [5, 4, 6], [2, ., 1]]")
    ['3', '7', '8', '5', '4', '6', '2', '0', '1']
    """
    return text.translate(_REPLACEMENTS[blank]).split()
