"""Pictures of answers as SVG text, with a light and a dark colour scheme.

Every colour is one of `COLOURS`, written into the picture as an attribute, so that any program
shows the light scheme. A browser that prefers dark replaces each with its dark partner, by the
rules of `make_dark_rules`.
"""

from __future__ import annotations

from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.senet import OPENING, SIDES, swap_squares

INK, MUTED, GRID, PAPER = "#1f2328", "#667080", "#e3e7ec", "#fdfdfc"
BLUE, AMBER, GREEN = "#2f6f9f", "#bf6a28", "#43885a"
CELL, CELL_DARK, ON_HIGH = "#f4f2ed", "#e7e3d9", "#fefefe"
RAMP = ["#dce8f3", "#c0d7ea", "#9fc3df", "#7cacd1", "#5893c0", "#3a77a9", "#245a8a", "#143d61"]
"""The light colours of heat maps, from few to many."""

RAMP_DARK = [
    *("#1f3040", "#234058", "#275272", "#2e648a"),
    *("#33759f", "#5698c6", "#80b5dc", "#b9daf2"),
]

COLOURS = {
    INK: "#e8eaed",
    MUTED: "#9aa4b2",
    GRID: "#2c333d",
    PAPER: "#12161c",
    BLUE: "#6fb1e0",
    AMBER: "#eba569",
    GREEN: "#86c793",
    CELL: "#262d37",
    CELL_DARK: "#1c222b",
    ON_HIGH: "#0d1117",
    **dict(zip(RAMP, RAMP_DARK, strict=True)),
}
"""Each light colour with its dark partner."""

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"


def make_dark_rules() -> str:
    """Return the style rules that make elements dark on a screen set to dark."""
    rules = "".join(
        f'[{name}="{light}"]{{{name}:{dark}}}'
        for light, dark in COLOURS.items()
        for name in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"


class Picture:
    """A picture: shapes that are collected and written as one SVG."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._shapes: list[str] = []

    def add_rect(
        self, x: float, y: float, width: float, height: float, fill: str, attributes: str = ""
    ) -> None:
        self._shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"'
            f"{attributes}/>"
        )

    def add_line(
        self, x: float, y: float, to_x: float, to_y: float, stroke: str, attributes: str = ""
    ) -> None:
        self._shapes.append(
            f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{stroke}" fill="none"{attributes}/>'
        )

    def add_path(self, points: list[tuple[float, float]], stroke: str, width: float) -> None:
        steps = "L".join(f"{x:g} {y:g}" for x, y in points)
        self._shapes.append(
            f'<path d="M{steps}" stroke="{stroke}" stroke-width="{width:g}" fill="none" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def add_dot(self, x: float, y: float, radius: float, fill: str) -> None:
        self._shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"/>')

    def add_text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 11,
        fill: str = MUTED,
        anchor: str = "middle",
        attributes: str = "",
    ) -> None:
        anchor_attribute = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._shapes.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}"{anchor_attribute}'
            f"{attributes}>{_escape(text)}</text>"
        )

    def to_svg(self, width: float, height: float) -> str:
        """Return the complete picture as SVG text."""
        shown = f"<title>{_escape(self.title)}</title><style>{make_dark_rules()}</style>"
        shown += f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="{FONT}"{label_svg(self.title)}>\n'
            f"{shown}\n{shapes}\n</svg>\n"
        )


def label_svg(title: str) -> str:
    """Return the attributes of an SVG by which screen readers announce its title."""
    return f' role="img" aria-label="{_escape(title)}"'


def _escape(text: str) -> str:
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    return "".join(marks.get(letter, letter) for letter in text)


BOLD = ' font-weight="600"'


# ---- boards and the tiles that slide, tours, lines of Senet ----------------------------------

SIDE = 26
CELLS_PER_ROW = 24
"""The most cells of the boards in one row of a picture."""


def draw_boards(
    title: str, states: list[str], heads: list[str], moved: list[str] | None = None, *, width: int
) -> str:
    """Draw states as boards of `width` columns, each with a head; `moved` are tiles to colour."""
    picture = Picture(title)
    edge, top = 20, 44
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


def draw_board(state: str, width: int) -> str:
    """Draw a board alone, to print: with numbers on its tiles, and in light colours only."""
    picture = Picture(" ".join("gap" if mark == "0" else str(int(mark, 16)) for mark in state))
    _draw_board(picture, 0, 0, state, "", width, base=10)
    drawn = picture.to_svg(width * SIDE, len(state) // width * SIDE)
    return drawn.replace(f"<style>{make_dark_rules()}</style>", "").strip()


def _draw_board(
    picture: Picture, left: float, top: float, state: str, moved: str, width: int, base: int = 16
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
        name = str(int(digit, 16)) if base == 10 else digit
        picture.add_text(x + SIDE / 2, y + 18, name, 13, ON_HIGH if is_moved else INK)


def draw_tour(board: KnightBoard, path: str) -> str:
    """Draw the board with the tour's line, its start green and its end amber."""
    squares = [board.parse_square(path[at : at + 2]) for at in range(0, len(path), 2)]
    closed = squares[-1] in board.list_neighbours(squares[0])
    kind = "closed" if closed else "open"
    title = f"{board} from {path[:2]} to {path[-2:]}, {kind}"
    picture = Picture(f"A knight's tour of {title}")
    square, edge, top = 44, 26, 42
    picture.add_text(edge, top - 10, title, 14, INK, "start", BOLD)

    centres = _draw_squares(picture, board, edge, top, square)
    points = [centres[number] for number in squares]
    if closed:
        picture.add_line(
            *points[-1], *points[0], AMBER, ' stroke-width="1.6" stroke-dasharray="4 4"'
        )
    picture.add_path(points, BLUE, 1.8)
    for place, (x, y) in enumerate(points, start=1):
        end = {1: GREEN, len(points): AMBER}.get(place)
        picture.add_dot(x, y, square / 8 if end else square / 18, end or BLUE)
        # an outline in the square's colour separates the number from the lines
        fill = CELL if board.is_light(squares[place - 1]) else CELL_DARK
        rim = f' stroke="{fill}" stroke-width="3.5" paint-order="stroke"'
        corner = x - square / 2 + 4, y - square / 2 + 12
        picture.add_text(*corner, str(place), 10, end or MUTED, "start", rim + BOLD * bool(end))
    bottom = top + board.ranks * square
    for file in range(board.files):
        x, _ = centres[file]
        picture.add_text(x, bottom + 16, board.name_square(file)[0])
    for rank in range(board.ranks):
        _, y = centres[rank * board.files]
        picture.add_text(edge - 10, y + 4, str(rank + 1))
    width = max(2 * edge + board.files * square, 2 * edge + 7.5 * len(title))
    return picture.to_svg(width, bottom + 26)


def _draw_squares(
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
