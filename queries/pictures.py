"""Pictures of answers: boards and the tiles that slide, tours on their boards, lines of Senet."""

from __future__ import annotations

from queries.svg import (
    AMBER,
    BLUE,
    BOLD,
    CELL,
    CELL_DARK,
    GREEN,
    INK,
    MUTED,
    ON_HIGH,
    PAPER,
    TILE,
    Picture,
)
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.senet import OPENING, SIDES, swap_squares

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


def draw_tour(
    board: KnightBoard,
    path: str,
    *,
    square: float = 44,
    with_numbers: bool = True,
    bare: bool = False,
) -> str:
    """Draw the board with the tour's line, its start green and its end amber."""
    squares = [board.parse_square(path[at : at + 2]) for at in range(0, len(path), 2)]
    closed = squares[-1] in board.list_neighbours(squares[0])
    kind = "closed" if closed else "open"
    title = f"{board} from {path[:2]} to {path[-2:]}, {kind}"
    picture = Picture("" if bare else f"A knight's tour of {title}")
    edge, top = (26, 42) if with_numbers else (2, 24)
    size, weight = (14, BOLD) if with_numbers else (12, "")
    picture.add_text(edge, top - 10, title, size, INK, "start", weight)

    centres = draw_board(picture, board, edge, top, square)
    points = [centres[number] for number in squares]
    if closed:
        picture.add_line(
            *points[-1], *points[0], AMBER, ' stroke-width="1.6" stroke-dasharray="4 4"'
        )
    picture.add_path(points, BLUE, 1.8 if with_numbers else 1.4)
    for place, (x, y) in enumerate(points, start=1):
        end = {1: GREEN, len(points): AMBER}.get(place)
        picture.add_dot(x, y, square / 8 if end else square / 18, end or BLUE)
        if with_numbers:
            # an outline in the square's colour separates the number from the lines
            fill = CELL if board.is_light(squares[place - 1]) else CELL_DARK
            rim = f' stroke="{fill}" stroke-width="3.5" paint-order="stroke"'
            corner = x - square / 2 + 4, y - square / 2 + 12
            picture.add_text(*corner, str(place), 10, end or MUTED, "start", rim + BOLD * bool(end))
    bottom = top + board.ranks * square
    if with_numbers:
        for file in range(board.files):
            x, _ = centres[file]
            picture.add_text(x, bottom + 16, board.name_square(file)[0])
        for rank in range(board.ranks):
            _, y = centres[rank * board.files]
            picture.add_text(edge - 10, y + 4, str(rank + 1))
    width = max(2 * edge + board.files * square, 2 * edge + 7.5 * len(title))
    return picture.to_svg(width, bottom + (26 if with_numbers else 2))


def draw_board(
    picture: Picture, board: KnightBoard, left: float, top: float, side: float
) -> list[tuple[float, float]]:
    """Draw a board's squares; return the centre of each."""
    centres = list[tuple[float, float]]()
    for square in range(board.squares):
        rank, file = divmod(square, board.files)
        x, y = left + (file + 0.5) * side, top + (board.ranks - rank - 0.5) * side
        fill = CELL if board.is_light(square) else CELL_DARK
        picture.add_rect(x - side / 2, y - side / 2, side, side, fill)
        centres.append((x, y))
    return centres


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
