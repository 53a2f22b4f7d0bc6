"""States and moves of sliding boards as text."""

from __future__ import annotations

from itertools import pairwise


def list_moved_tiles(states: list[str]) -> str:
    """Return the tile that each move slides: after the move it is on the cell of the blank."""
    return "".join(after[before.index("0")] for before, after in pairwise(states))


def format_slide(letter: str, tile: str) -> str:
    """Format a move with the tile that it slides."""
    return f"{letter} (tile {tile})"


def format_board(state: str, width: int) -> str:
    """Draw a state of a board of `width` columns as lines of text."""
    cells = state.replace("0", ".")
    rows = range(0, len(cells), width)
    return "".join(f" {' '.join(cells[row : row + width])}\n" for row in rows)
