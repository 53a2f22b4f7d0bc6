"""Pictures of sliding boards' states."""

from __future__ import annotations

from queries.svg import BLUE, BOLD, CELL_DARK, INK, MUTED, ON_HIGH, PAPER, Picture

SIDE = 26
CELLS_PER_ROW = 24
"""The most cells of the boards in one row of a picture."""


def draw_boards(
    title: str, states: list[str], heads: list[str], moved: list[str] | None = None, *, width: int
) -> str:
    """Draw states as boards of `width` columns, each with a head; `moved` are tiles to colour.

    Without a title the picture is for a page.
    """
    picture = Picture(title)
    edge, top = (20, 44) if title else (2, 0)
    if title:
        picture.add_text(edge, 28, title, 14, INK, "start", BOLD)
    height, in_row = len(states[0]) // width, max(1, CELLS_PER_ROW // width)
    pitch_x, pitch_y = width * SIDE + 22, height * SIDE + 34
    for number, (state, head) in enumerate(zip(states, heads, strict=True)):
        row, column = divmod(number, in_row)
        x, y = edge + column * pitch_x, top + row * pitch_y
        picture.add_text(x, y + 12, head, 11, MUTED, "start")
        _draw_board(picture, x, y + 18, state, moved[number] if moved else "", width)
    across = min(in_row, len(states))
    rows = -(-len(states) // in_row)
    total = max(across * pitch_x - 22 + 2 * edge, 2 * edge + 8.5 * len(title))
    return picture.to_svg(total, top + rows * pitch_y - 16 + edge)


def draw_slides(title: str, states: list[str], letters: str, tiles: str, *, width: int) -> str:
    """Draw the states that some moves pass through, each with the tile that was slid."""
    heads = ["start", *(f"{number}  {letter}" for number, letter in enumerate(letters, 1))]
    return draw_boards(title, states[: len(heads)], heads, ["", *tiles], width=width)


def _draw_board(
    picture: Picture, left: float, top: float, state: str, moved: str, width: int
) -> None:
    picture.add_rect(left, top, width * SIDE, len(state) // width * SIDE, CELL_DARK, ' rx="4"')
    for cell, digit in enumerate(state):
        if digit == "0":
            continue
        row, column = divmod(cell, width)
        x, y = left + column * SIDE, top + row * SIDE
        is_moved = digit in moved
        picture.add_rect(
            x + 1.5, y + 1.5, SIDE - 3, SIDE - 3, BLUE if is_moved else PAPER, ' rx="3"'
        )
        picture.add_text(x + SIDE / 2, y + 18, digit, 13, ON_HIGH if is_moved else INK)
