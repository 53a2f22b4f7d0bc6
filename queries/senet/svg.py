"""Pictures of Senet: a line of play, or many positions as strips."""

from __future__ import annotations

from queries.svg import AMBER, BLUE, BOLD, CELL, CELL_DARK, INK, MUTED, ON_HIGH, TILE, Picture
from tablebase.puzzles.senet import OPENING, SIDES, swap_squares

SPOT = 9
COLUMNS = 5


def draw_strips(positions: list[str]) -> str:
    """Draw many positions, each as a strip of 15 squares, column by column; for a page."""
    picture = Picture()
    rows = -(-len(positions) // COLUMNS)
    for number, position in enumerate(positions):
        column, row = divmod(number, rows)
        for square, piece in enumerate(position):
            x = column * (15 * SPOT + 36) + square * SPOT
            fill = {"A": BLUE, "B": AMBER}.get(piece, TILE)
            picture.add_rect(x, row * 16, SPOT - 1.5, SPOT + 1, fill, ' rx="1.5"')
    return picture.to_svg(COLUMNS * (15 * SPOT + 36) - 36, rows * 16 - 5)


SQUARE = 30


def draw_line(reached: str, dice: str, moves: list[str]) -> str:
    """Draw the line to a position: each position under the one before, the moved piece ringed."""
    title = f"{reached} after {len(moves)} {'ply' if len(moves) == 1 else 'plies'}"
    picture = Picture(title)
    edge, left, top, pitch = 20, 156, 64, SQUARE + 14
    picture.add_text(edge, 28, title, 14, INK, "start", BOLD)
    for square in range(1, 16):
        picture.add_text(left + (square - 0.5) * SQUARE, top - 8, str(square))
    position = OPENING
    for ply in range(len(moves) + 1):
        y = top + ply * pitch
        middle = y + SQUARE / 2
        words, goal = ["opening"], 0
        for square in range(15):
            fill = CELL if square % 2 else CELL_DARK
            picture.add_rect(left + square * SQUARE, y, SQUARE, SQUARE, fill)
        if ply:
            move = moves[ply - 1]
            start, goal = map(int, move.replace("x", "-").split("-"))
            position = swap_squares(position, start, goal)
            words = [str(ply), f"{SIDES[(ply - 1) % 2]} throws {dice[ply - 1]}", move]
            ends = [left + (square - 0.5) * SQUARE for square in (start, goal)]
            picture.add_line(ends[0], y + SQUARE + 5, ends[1], y + SQUARE + 5, MUTED)
        for word, at in zip(words, (edge, edge + 22, edge + 91), strict=False):
            picture.add_text(at, middle + 4, word, 11, MUTED, "start")
        for square, piece in enumerate(position, start=1):
            x = left + (square - 0.5) * SQUARE
            if square == goal:
                picture.add_dot(x, middle, 14, INK)
            if piece != ".":
                picture.add_dot(x, middle, 11.5, BLUE if piece == "A" else AMBER)
                picture.add_text(x, middle + 4.5, piece, 12, ON_HIGH)
    return picture.to_svg(left + 15 * SQUARE + edge, top + (len(moves) + 1) * pitch + 6)
