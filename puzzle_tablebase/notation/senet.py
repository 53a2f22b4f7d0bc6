"""The notation of Senet.

A position is 15 characters of `A`, `B` and `.`; squares are numbered 1-15 from the left. `5-10` is
a move to an empty square, `4x7` a swap.
"""

from __future__ import annotations

from puzzle_tablebase.errors import NotationError, require_text

SQUARES = 15
SIDES = "AB"
OPENING = "ABABABABAB....."
MAX_COUNTED = 20
"""The most squares of an invalid position whose pieces a message counts."""
CHARACTERS = ".AB"


def parse_position(text: str) -> str:
    """Return the position that a text names: 15 characters, or squares with separators.

    The line with the squares' numbers, which is printed below a position, is skipped.

    >>> parse_position("ababABABAB....."), parse_position("A B A B A B A B A B _ _ _ _ _")
    ('ABABABABAB.....', 'ABABABABAB.....')
    """
    position = require_text(text, "a Senet position", OPENING).strip().upper()
    if sorted(position) == sorted(OPENING):
        return position
    from puzzle_tablebase.notation.sliding import split_cells  # few write them with separators

    pieces, _, last_line = text.rstrip().rpartition("\n")
    if pieces and last_line.split() == [str(square) for square in range(1, SQUARES + 1)]:
        text = pieces
    position = "".join(split_cells(text, ".")).upper()
    if sorted(position) == sorted(OPENING):
        return position
    problem = f"it has {len(position):,} squares, not {SQUARES}"
    if len(position) <= MAX_COUNTED:
        counts = ", ".join(f"{position.count(mark)} {mark!r}" for mark in "AB.")
        problem = f"it has {len(position):,} squares with {counts}, not 15 with five of each"
    raise NotationError("a Senet position", text, problem, OPENING)


def format_move(position: str, throw: int, start: int) -> str:
    """Format a move from a position as in the table: `5-10`, or `4x7` for a swap."""
    goal = start + throw
    return f"{start}{'-' if position[goal - 1] == '.' else 'x'}{goal}"


def parse_squares(move: str) -> tuple[int, int]:
    """Return the squares that a move leads from and to.

    >>> parse_squares("4x7")
    (4, 7)
    """
    start, goal = move.replace("x", "-").split("-")
    return int(start), int(goal)
