"""Pictures of tours on their boards."""

from __future__ import annotations

from queries.svg import AMBER, BLUE, BOLD, CELL, CELL_DARK, GREEN, INK, MUTED, Picture
from tablebase.puzzles.knight.board import KnightBoard


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
