"""Boards as text: in the notation that is printed, and in other usual ones.

A cell is one character, or a number between white space or separators.
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


def split_cells(text: str, blank: str = "0") -> list[str]:
    """Split a text at white space and separators, with the blank in one spelling, 0 or a dot.

    >>> split_cells("[[3, 7, 8], [5, 4, 6], [2, ., 1]]")
    ['3', '7', '8', '5', '4', '6', '2', '0', '1']
    """
    return text.translate(_REPLACEMENTS[blank]).split()
