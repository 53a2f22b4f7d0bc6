"""Pictures of answers as SVG text, with a light and a dark colour scheme.

Every colour is one of `COLOURS`, written into the picture as an attribute, so that any program
shows the light scheme. A browser that prefers dark replaces each with its dark counterpart, by the
rules of `make_dark_rules`.
"""

from __future__ import annotations

from html import escape

from puzzle_tablebase.notation.senet import OPENING, SIDES
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.senet import swap_squares

INK, MUTED, GRID, PAPER = "#1f2328", "#667080", "#e3e7ec", "#fdfdfc"
BLUE, AMBER, GREEN = "#2f6f9f", "#bf6a28", "#43885a"
CELL, CELL_DARK, ON_HIGH = "#f4f2ed", "#e7e3d9", "#fefefe"
RAMP = ["#dce8f3", "#c0d7ea", "#9fc3df", "#7cacd1", "#5893c0", "#3a77a9", "#245a8a", "#143d61"]
"""The light colours of heat maps, from few to many."""
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
    **dict(zip(RAMP[:4], ["#1f3040", "#234058", "#275272", "#2e648a"], strict=True)),
    **dict(zip(RAMP[4:], ["#33759f", "#5698c6", "#80b5dc", "#b9daf2"], strict=True)),
}
"""Each light colour with its dark counterpart."""

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

    def add(self, tag: str, text: str = "", /, **attributes: float | str) -> None:
        """Add a shape; its attributes are those of SVG, with _ for -."""
        shown = "".join(
            f' {name.replace("_", "-")}="{value if isinstance(value, str) else f"{value:g}"}"'
            for name, value in attributes.items()
        )
        end = f">{escape(text)}</{tag}>" if text else "/>"
        self._shapes.append(f"<{tag}{shown}{end}")

    def add_square(self, x: float, y: float, side: float, fill: str, **more: float | str) -> None:
        """Add a square by its upper left corner."""
        self.add("rect", x=x, y=y, width=side, height=side, fill=fill, **more)

    def add_path(self, points: list[tuple[float, float]], stroke: str, **more: float | str) -> None:
        """Add a line through points."""
        steps = "L".join(f"{x:g} {y:g}" for x, y in points)
        self.add("path", d=f"M{steps}", stroke=stroke, fill="none", **more)

    def add_text(self, x: float, y: float, text: str, size: float = 11, **more: str) -> None:
        """Add a text, by default muted and centred on its point."""
        usual = {"fill": MUTED, "text_anchor": "middle"}
        self.add("text", text, x=x, y=y, font_size=size, **(usual | more))

    def add_title(self, x: float, y: float) -> None:
        self.add_text(x, y, self.title, 14, fill=INK, text_anchor="start", font_weight="600")

    def to_svg(self, width: float, height: float) -> str:
        """Return the complete picture as SVG text."""
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="{FONT}"{label_svg(self.title)}>\n'
            f"<title>{escape(self.title)}</title><style>{make_dark_rules()}</style>"
            f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>\n{shapes}\n</svg>\n'
        )


def label_svg(title: str) -> str:
    """Return the attributes of an SVG by which screen readers announce its title."""
    return f' role="img" aria-label="{escape(title)}"'


# ---- boards and the tiles that slide, tours, lines of Senet ----------------------------------

SIDE = 26
CELLS_PER_ROW = 24
"""The most cells of the boards in one row of a picture."""


def draw_boards(
    title: str, states: list[str], heads: list[str], moved: list[str], *, width: int
) -> str:
    """Draw states as boards of `width` columns, each with a head; `moved` are tiles to colour."""
    picture = Picture(title)
    edge, top = 20, 44
    picture.add_title(edge, 28)
    height, in_row = len(states[0]) // width, max(1, CELLS_PER_ROW // width)
    pitch_x, pitch_y = width * SIDE + 22, height * SIDE + 34
    for number, (state, head, tiles) in enumerate(zip(states, heads, moved, strict=True)):
        row, column = divmod(number, in_row)
        x, y = edge + column * pitch_x, top + row * pitch_y
        picture.add_text(x, y + 12, head, text_anchor="start")
        _draw_board(picture, x, y + 18, state, tiles, width)
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
    size = {"width": width * SIDE, "height": len(state) // width * SIDE}
    picture.add("rect", x=left, y=top, **size, fill=CELL_DARK, rx=4)
    for cell, mark in enumerate(state):
        if mark != "0":
            row, column = divmod(cell, width)
            x, y = left + column * SIDE, top + row * SIDE
            fill, ink = (BLUE, ON_HIGH) if mark in moved else (PAPER, INK)
            picture.add_square(x + 1.5, y + 1.5, SIDE - 3, fill, rx=3)
            picture.add_text(x + SIDE / 2, y + 18, str(int(mark, 16)), 13, fill=ink)


def draw_tour(board: KnightBoard, path: str) -> str:
    """Draw the board with the tour's line, its start green and its end amber."""
    squares = [board.parse_square(path[at : at + 2]) for at in range(0, len(path), 2)]
    is_closed = squares[-1] in board.list_neighbours(squares[0])
    adjective = "closed" if is_closed else "open"
    title = f"A knight's tour of {board} from {path[:2]} to {path[-2:]}, {adjective}"
    picture = Picture(title)
    side, edge, top = 44, 26, 42
    picture.add_title(edge, top - 10)
    centres = list[tuple[float, float]]()
    for square in range(board.squares):
        rank, file = divmod(square, board.files)
        x, y = edge + (file + 0.5) * side, top + (board.ranks - rank - 0.5) * side
        picture.add_square(x - side / 2, y - side / 2, side, _find_fill(board, square))
        centres.append((x, y))
    points = [centres[square] for square in squares]
    if is_closed:
        ends = [points[-1], points[0]]
        picture.add_path(ends, AMBER, stroke_width=1.6, stroke_dasharray="4 4")
    picture.add_path(points, BLUE, stroke_width=1.8, stroke_linejoin="round")
    for number, (square, (x, y)) in enumerate(zip(squares, points, strict=True), start=1):
        end = {1: GREEN, len(points): AMBER}.get(number)
        picture.add("circle", cx=x, cy=y, r=side / (8 if end else 18), fill=end or BLUE)
        # an outline in the square's colour separates the number from the lines
        rim = {"stroke": _find_fill(board, square), "stroke_width": "3.5", "paint_order": "stroke"}
        look = rim | {"fill": end or MUTED, "font_weight": "600" if end else "400"}
        picture.add_text(
            x - side / 2 + 4, y - side / 2 + 12, str(number), 10, text_anchor="start", **look
        )
    bottom = top + board.ranks * side
    for file in range(board.files):
        picture.add_text(centres[file][0], bottom + 16, board.name_square(file)[0])
    for rank in range(board.ranks):
        picture.add_text(edge - 10, centres[rank * board.files][1] + 4, str(rank + 1))
    width = max(2 * edge + board.files * side, 2 * edge + 8.5 * len(title))
    return picture.to_svg(width, bottom + 26)


def _find_fill(board: KnightBoard, square: int) -> str:
    return CELL if board.is_light(square) else CELL_DARK


SQUARE = 30


def draw_line(reached: str, dice: str, moves: list[str]) -> str:
    """Draw the line to a position, one position below the other, with a ring on the moved piece."""
    picture = Picture(f"{reached} after {len(moves)} {'ply' if len(moves) == 1 else 'plies'}")
    edge, left, top, pitch = 20, 156, 64, SQUARE + 14
    picture.add_title(edge, 28)
    centres = [left + (square + 0.5) * SQUARE for square in range(15)]
    for square, x in enumerate(centres, 1):
        picture.add_text(x, top - 8, str(square))
    position = OPENING
    for ply in range(len(moves) + 1):
        y = top + ply * pitch
        middle = y + SQUARE / 2
        words, goal = ["opening"], 0
        for square, x in enumerate(centres):
            picture.add_square(x - SQUARE / 2, y, SQUARE, CELL if square % 2 else CELL_DARK)
        if ply:
            move = moves[ply - 1]
            start, goal = map(int, move.replace("x", "-").split("-"))
            position = swap_squares(position, start, goal)
            words = [str(ply), f"{SIDES[(ply - 1) % 2]} throws {dice[ply - 1]}", move]
            under = y + SQUARE + 5
            picture.add_path([(centres[start - 1], under), (centres[goal - 1], under)], MUTED)
        for word, at in zip(words, (edge, edge + 22, edge + 91), strict=False):
            picture.add_text(at, middle + 4, word, text_anchor="start")
        for square, (x, piece) in enumerate(zip(centres, position, strict=True), start=1):
            if square == goal:
                picture.add("circle", cx=x, cy=middle, r=14, fill=INK)
            if piece != ".":
                fill = BLUE if piece == "A" else AMBER
                picture.add("circle", cx=x, cy=middle, r=11.5, fill=fill)
                picture.add_text(x, middle + 4.5, piece, 12, fill=ON_HIGH)
    return picture.to_svg(left + 15 * SQUARE + edge, top + (len(moves) + 1) * pitch + 6)
