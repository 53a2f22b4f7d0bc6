"""8-puzzle states as pictures of boards."""

from __future__ import annotations

from queries.drawings import BLUE, BOLD, CELL_DARK, INK, MUTED, ON_HIGH, PAPER, Picture
from tablebase.puzzles.eight import moves

SIDE = 26
BOARD = 3 * SIDE
ACROSS = 8


def boards_svg(state: str, letters: str, goal: str) -> str:
    """Every board on the way that letters lead, each with the move that made it."""
    title = f"{state} to {goal} in {len(letters)} moves"
    states, heads, moved = [state], ["start"], [""]
    for number, letter in enumerate(letters, start=1):
        after = dict(moves(state))[letter]
        # the tile that slid stands now where the blank was
        moved.append(after[state.index("0")])
        heads.append(f"{number}  {letter}")
        states.append(after)
        state = after
    return drawn_boards(title, states, heads, moved)


def drawn_boards(
    title: str, states: list[str], heads: list[str], moved: list[str] | None = None, *,
    bare: bool = False,
) -> str:  # fmt: skip
    """States as boards in rows, each with a head; the tile that moved stands out."""
    picture = Picture(title, bare=bare)
    edge = 2 if bare else 20
    top = 0 if bare else 44
    if not bare:
        picture.text(edge, 28, title, 14, INK, "start", BOLD)
    wide, high = BOARD + 22, BOARD + 34
    for number, (state, head) in enumerate(zip(states, heads, strict=True)):
        row, column = divmod(number, ACROSS)
        left, up = edge + column * wide, top + row * high
        picture.text(left, up + 12, head, 11, MUTED, "start")
        _board(picture, left, up + 18, state, moved[number] if moved else "")
    across = min(ACROSS, len(states))
    rows = -(-len(states) // ACROSS)
    width = max(across * wide - 22 + 2 * edge, 0 if bare else 2 * edge + 7.5 * len(title))
    return picture.svg(width, top + rows * high - 16 + edge)


def _board(picture: Picture, left: float, top: float, state: str, moved: str) -> None:
    picture.rect(left, top, BOARD, BOARD, CELL_DARK, ' rx="4"')
    for cell, digit in enumerate(state):
        if digit == "0":
            continue
        row, column = divmod(cell, 3)
        x, y = left + column * SIDE, top + row * SIDE
        here = digit == moved
        picture.rect(x + 1.5, y + 1.5, SIDE - 3, SIDE - 3, BLUE if here else PAPER, ' rx="3"')
        picture.text(x + SIDE / 2, y + 18, digit, 13, ON_HIGH if here else INK)
