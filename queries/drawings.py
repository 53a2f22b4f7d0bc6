"""Pictures of answers and counts as SVG text, drawn by hand: light, and dark where that is wanted.

Every colour is one of `COLOURS`, written plainly into the picture, so that any program shows it
light. A browser that prefers dark swaps each for its partner, by the rules of `dark_rules`.
"""

from __future__ import annotations

from tablebase.errors import BadRequest
from tablebase.puzzles.eight import moves
from tablebase.puzzles.knight import parse_board
from tablebase.puzzles.senet import OPENING, SIDES, exchanged

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from queries.forms import Facts

INK, MUTED, GRID, PAPER = "#1f2328", "#667080", "#e3e7ec", "#fdfdfc"
BLUE, AMBER, GREEN = "#2f6f9f", "#bf6a28", "#43885a"
CELL, CELL_DARK, TILE, EMPTY = "#f4f2ed", "#e7e3d9", "#eeebe3", "#f6f4f0"
ON_LOW, ON_HIGH = "#1f2329", "#fefefe"
RAMP = ["#dce8f3", "#c0d7ea", "#9fc3df", "#7cacd1", "#5893c0", "#3a77a9", "#245a8a", "#143d61"]
"""From few to many."""

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
    TILE: "#2a323d",
    EMPTY: "#171c23",
    ON_LOW: "#e8eaee",
    ON_HIGH: "#0d1117",
    **dict(zip(RAMP, RAMP_DARK, strict=True)),
}
"""Each colour by day, and by night."""

LAYOUT_COLOURS = {"corner": BLUE, "centre": AMBER, "edge": GREEN}
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"


def dark_rules(within: str = "") -> str:
    """The style that turns what stands within a selector dark on a screen that prefers it."""
    rules = "".join(
        f'{within}[{name}="{light}"]{{{name}:{dark}}}'
        for light, dark in COLOURS.items()
        for name in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"


class Picture:
    """Shapes gathered into one SVG."""

    def __init__(self, title: str, *, bare: bool = False) -> None:
        """`bare`: to stand within a page that has the colours' rules and a background already."""
        self.title = title
        self._bare = bare
        self._shapes: list[str] = []

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, more: str = ""
    ) -> None:
        self._shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{more}/>'
        )

    def line(
        self, x: float, y: float, to_x: float, to_y: float, stroke: str, more: str = ""
    ) -> None:
        self._shapes.append(
            f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{stroke}" fill="none"{more}/>'
        )

    def path(self, points: list[tuple[float, float]], stroke: str, width: float) -> None:
        drawn = "L".join(f"{x:g} {y:g}" for x, y in points)
        self._shapes.append(
            f'<path d="M{drawn}" stroke="{stroke}" stroke-width="{width:g}" fill="none" '
            'stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        self._shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 11,
        fill: str = MUTED,
        anchor: str = "middle",
        more: str = "",
    ) -> None:
        where = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._shapes.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}"{where}{more}>'
            f"{_escaped(text)}</text>"
        )

    def svg(self, width: float, height: float) -> str:
        """The whole picture."""
        behind = "" if self._bare else f"<style>{dark_rules()}</style>"
        if not self._bare:
            behind += f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
        title = _escaped(self.title)
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="{FONT}" role="img" '
            f'aria-label="{title}">\n<title>{title}</title>{behind}\n{shapes}\n</svg>\n'
        )


def _escaped(text: str) -> str:
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    return "".join(marks.get(letter, letter) for letter in text)


BOLD = ' font-weight="600"'


# ---- the number of states at each depth -------------------------------------------------------

PANEL, PANEL_HIGH, GAP, AXIS = 268, 150, 26, 52


def histogram_svg(counts: pl.DataFrame) -> str:
    """The frame of `queries.overview.histogram`: one panel a goal, all on one scale."""
    depth = next(name for name in counts.columns if name not in ("goal", "states"))
    panels: dict[str, dict[int | None, int]] = {}
    for goal in LAYOUT_COLOURS if "goal" in counts.columns else ():
        panels[goal] = {}
    for row in counts.to_dicts():
        panels.setdefault(row.get("goal", ""), {})[row[depth]] = row["states"]
    panels = {goal: panel for goal, panel in panels.items() if panel}
    deepest = max(d for panel in panels.values() for d in panel if d is not None)
    most = max(n for panel in panels.values() for d, n in panel.items() if d is not None)
    step, top = _ticks(most)
    wide = PANEL if len(panels) > 1 else 2 * PANEL
    picture = Picture(f"Number of states by {depth}")
    head = 58
    floor = head + PANEL_HIGH
    for at, (goal, panel) in enumerate(panels.items()):
        left = AXIS + at * (wide + GAP)
        reached = {d: n for d, n in panel.items() if d is not None}
        picture.text(left, 26, goal or "All positions", 14, INK, "start", BOLD)
        peak = max(reached, key=lambda d: reached[d])
        said = f"{sum(panel.values()):,} states, most at {peak}, the last at {max(reached)}"
        if None in panel:
            said += f"; {panel[None]} never reached"
        picture.text(left, 42, said, 11, MUTED, "start")
        for value in range(0, top + 1, step):
            y = floor - PANEL_HIGH * value / top
            picture.line(left, y, left + wide, y, MUTED if not value else GRID)
            if not at:
                picture.text(left - 7, y + 4, f"{value:,}", 10, MUTED, "end")
        pitch = wide / (deepest + 1)
        for d, n in sorted(reached.items()):
            high = PANEL_HIGH * n / top
            colour = LAYOUT_COLOURS.get(goal, BLUE)
            picture.rect(round(left + d * pitch + pitch * 0.1, 2), round(floor - high, 2),
                         round(pitch * 0.8, 2), round(high, 2), colour)  # fmt: skip
        for d in range(0, deepest + 1, 5 if deepest > 20 else 1):
            picture.text(round(left + (d + 0.5) * pitch, 2), floor + 15, str(d), 10)
        picture.text(left + wide / 2, floor + 33, depth, 11)
    return picture.svg(AXIS + len(panels) * (wide + GAP), floor + 46)


def _ticks(most: int) -> tuple[int, int]:
    """A round step and the last tick, so that at most six steps hold the largest value.

    >>> _ticks(25134), _ticks(151000), _ticks(3)
    ((5000, 30000), (50000, 200000), (1, 3))
    """
    sizes = (digit * 10**power for power in range(20) for digit in (1, 2, 5))
    step = next(size for size in sizes if most <= 6 * size)
    return step, -(-most // step) * step


# ---- the knight ---------------------------------------------------------------------------------


def tour_svg(facts: Facts, *, square: float = 44, numbered: bool = True, bare: bool = False) -> str:
    """A knight's answer: the board with the tour's line, its start green and its end amber."""
    if "path" not in facts:
        raise BadRequest("There is no picture of --count", "Leave out --count or --svg")
    board, path = parse_board(str(facts["board"])), str(facts["path"])
    squares = [board.number(path[at : at + 2]) for at in range(0, len(path), 2)]
    closed = bool(facts["closed"])
    kind = "closed" if closed else "open"
    title = f"{board} from {facts['start']} to {facts['finish']}, {kind}"
    picture = Picture(f"A knight's tour of {title}", bare=bare)
    edge, top = (26, 42) if numbered else (2, 24)
    size, weight = (14, BOLD) if numbered else (12, "")
    picture.text(edge, top - 10, title, size, INK, "start", weight)

    def centre(number: int) -> tuple[float, float]:
        rank, file = divmod(number, board.files)
        return edge + (file + 0.5) * square, top + (board.ranks - rank - 0.5) * square

    for number in range(board.squares):
        x, y = centre(number)
        fill = CELL if board.light(number) else CELL_DARK
        picture.rect(x - square / 2, y - square / 2, square, square, fill)
    points = [centre(number) for number in squares]
    if closed and len(points) > 1:
        picture.line(*points[-1], *points[0], AMBER, ' stroke-width="1.6" stroke-dasharray="4 4"')
    picture.path(points, BLUE, 1.8 if numbered else 1.4)
    for place, (x, y) in enumerate(points, start=1):
        end = {1: GREEN, len(points): AMBER}.get(place)
        picture.dot(x, y, square / 8 if end else square / 18, end or BLUE)
        if numbered:
            # a rim in the square's colour keeps the lines off the number
            fill = CELL if board.light(squares[place - 1]) else CELL_DARK
            rim = f' stroke="{fill}" stroke-width="3.5" paint-order="stroke"'
            corner = x - square / 2 + 4, y - square / 2 + 12
            picture.text(*corner, str(place), 10, end or MUTED, "start", rim + BOLD * bool(end))
    bottom = top + board.ranks * square
    if numbered:
        for file in range(board.files):
            x, _ = centre(file)
            picture.text(x, bottom + 16, board.name(file)[0])
        for rank in range(board.ranks):
            _, y = centre(rank * board.files)
            picture.text(edge - 10, y + 4, str(rank + 1))
    width = max(2 * edge + board.files * square, 2 * edge + 7.5 * len(title))
    return picture.svg(width, bottom + (26 if numbered else 2))


# ---- the 8-puzzle -------------------------------------------------------------------------------

SIDE = 26
BOARD = 3 * SIDE
ACROSS = 8


def boards_svg(facts: Facts) -> str:
    """An 8-puzzle answer: every board on the way, each with the move that made it."""
    state, letters = str(facts["state"]), str(facts["solution"])
    states, heads, moved = [state], ["start"], [""]
    for number, letter in enumerate(letters, start=1):
        after = dict(moves(state))[letter]
        # the tile that slid stands now where the blank was
        moved.append(after[state.index("0")])
        heads.append(f"{number}  {letter}")
        states.append(after)
        state = after
    title = f"{facts['state']} to {facts['goal']} in {facts['distance']} moves"
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


# ---- Senet --------------------------------------------------------------------------------------

SPOT = 9
COLUMNS = 5


def strips_svg(title: str, positions: list[str]) -> str:
    """Many Senet positions, each as a strip of 15 squares, down the columns; for a page."""
    picture = Picture(title, bare=True)
    down = -(-len(positions) // COLUMNS)
    for number, position in enumerate(positions):
        column, row = divmod(number, down)
        for square, piece in enumerate(position):
            x = column * (15 * SPOT + 36) + square * SPOT
            fill = {"A": BLUE, "B": AMBER}.get(piece, TILE)
            picture.rect(x, row * 16, SPOT - 1.5, SPOT + 1, fill, ' rx="1.5"')
    return picture.svg(COLUMNS * (15 * SPOT + 36) - 36, down * 16 - 5)


SQUARE = 30


def line_svg(facts: Facts) -> str:
    """A Senet answer: the line's positions, one under the other; the piece that moved is ringed."""
    moves, dice = str(facts["moves"]).split(), str(facts["dice"])
    title = f"{facts['position']} after {len(moves)} {'ply' if len(moves) == 1 else 'plies'}"
    picture = Picture(title)
    edge, left, top, pitch = 20, 156, 64, SQUARE + 14
    picture.text(edge, 28, title, 14, INK, "start", BOLD)
    for square in range(1, 16):
        picture.text(left + (square - 0.5) * SQUARE, top - 8, str(square))
    position = OPENING
    for ply in range(len(moves) + 1):
        up = top + ply * pitch
        middle = up + SQUARE / 2
        words, goal = ["opening"], 0
        for square in range(15):
            fill = CELL if square % 2 else CELL_DARK
            picture.rect(left + square * SQUARE, up, SQUARE, SQUARE, fill)
        if ply:
            move = moves[ply - 1]
            start, goal = map(int, move.replace("x", "-").split("-"))
            position = exchanged(position, start, goal)
            words = [str(ply), f"{SIDES[(ply - 1) % 2]} throws {dice[ply - 1]}", move]
            ends = [left + (square - 0.5) * SQUARE for square in (start, goal)]
            picture.line(ends[0], up + SQUARE + 5, ends[1], up + SQUARE + 5, MUTED)
        for word, at in zip(words, (edge, edge + 22, edge + 91), strict=False):
            picture.text(at, middle + 4, word, 11, MUTED, "start")
        for square, piece in enumerate(position, start=1):
            x = left + (square - 0.5) * SQUARE
            if square == goal:
                picture.dot(x, middle, 14, INK)
            if piece != ".":
                picture.dot(x, middle, 11.5, BLUE if piece == "A" else AMBER)
                picture.text(x, middle + 4.5, piece, 12, ON_HIGH)
    return picture.svg(left + 15 * SQUARE + edge, top + (len(moves) + 1) * pitch + 6)
