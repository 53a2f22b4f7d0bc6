"""States and moves of sliding boards as text."""

from __future__ import annotations


def list_moved_tiles(states: list[str]) -> str:
    """Return the tile that each move slides: after the move it is on the cell of the blank."""
    blanks = [state.index("0") for state in states[:-1]]
    return "".join([state[blank] for state, blank in zip(states[1:], blanks, strict=True)])


def format_slide(letter: str, tile: str) -> str:
    """Format a move with the tile that it slides."""
    return f"{letter} (tile {tile})"


def format_board(state: str, width: int) -> str:
    """Draw a state of a board of `width` columns as lines of text."""
    cells = state.replace("0", ".")
    rows = range(0, len(cells), width)
    return "".join(f" {' '.join(cells[row : row + width])}\n" for row in rows)
