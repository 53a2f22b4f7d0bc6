"""Pictures of answers and counts as SVG text, drawn by hand: light, and dark where that is wanted.

Every colour is one of `COLOURS`, written plainly into the picture, so that any program shows it
light. A browser that prefers dark swaps each for its partner, by the rules of `make_dark_rules`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

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

SERIES = (BLUE, AMBER, GREEN)
"""The colours of what is compared, in turn."""

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"


def make_dark_rules(within: str = "") -> str:
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

    def add_rect(
        self, x: float, y: float, width: float, height: float, fill: str, more: str = ""
    ) -> None:
        self._shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}"{more}/>'
        )

    def add_line(
        self, x: float, y: float, to_x: float, to_y: float, stroke: str, more: str = ""
    ) -> None:
        self._shapes.append(
            f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{stroke}" fill="none"{more}/>'
        )

    def add_path(self, points: list[tuple[float, float]], stroke: str, width: float) -> None:
        drawn = "L".join(f"{x:g} {y:g}" for x, y in points)
        self._shapes.append(
            f'<path d="M{drawn}" stroke="{stroke}" stroke-width="{width:g}" fill="none" '
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
        more: str = "",
    ) -> None:
        where = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._shapes.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{fill}"{where}{more}>'
            f"{_escape(text)}</text>"
        )

    def to_svg(self, width: float, height: float) -> str:
        """The whole picture."""
        behind = "" if self._bare else f"<style>{make_dark_rules()}</style>"
        if not self._bare:
            behind += f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
        title = _escape(self.title)
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="{FONT}" role="img" '
            f'aria-label="{title}">\n<title>{title}</title>{behind}\n{shapes}\n</svg>\n'
        )


def _escape(text: str) -> str:
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    return "".join(marks.get(letter, letter) for letter in text)


BOLD = ' font-weight="600"'


# ---- the number of states at each depth -------------------------------------------------------

PANEL, PANEL_HIGH, GAP, AXIS = 268, 150, 26, 52


def draw_histogram(counts: pl.DataFrame) -> str:
    """The frame of `queries.histogram.count_states`: one panel a goal, all on one scale."""
    depth = next(name for name in counts.columns if name not in ("goal", "states"))
    panels: dict[str, dict[int | None, int]] = {}
    for row in counts.to_dicts():
        panels.setdefault(row.get("goal", ""), {})[row[depth]] = row["states"]
    deepest = max(d for panel in panels.values() for d in panel if d is not None)
    most = max(n for panel in panels.values() for d, n in panel.items() if d is not None)
    step, top = _choose_ticks(most)
    wide = PANEL if len(panels) > 1 else 2 * PANEL
    picture = Picture(f"Number of states by {depth}")
    head = 58
    floor = head + PANEL_HIGH
    for at, (goal, panel) in enumerate(panels.items()):
        left = AXIS + at * (wide + GAP)
        reached = {d: n for d, n in panel.items() if d is not None}
        picture.add_text(left, 26, goal or "All positions", 14, INK, "start", BOLD)
        peak = max(reached, key=lambda d: reached[d])
        caption = f"{sum(panel.values()):,} states, most at {peak}, the last at {max(reached)}"
        if None in panel:
            caption += f"; {panel[None]} never reached"
        picture.add_text(left, 42, caption, 11, MUTED, "start")
        for value in range(0, top + 1, step):
            y = floor - PANEL_HIGH * value / top
            picture.add_line(left, y, left + wide, y, MUTED if not value else GRID)
            if not at:
                picture.add_text(left - 7, y + 4, f"{value:,}", 10, MUTED, "end")
        pitch = wide / (deepest + 1)
        for d, n in sorted(reached.items()):
            high = PANEL_HIGH * n / top
            bar = (left + d * pitch + pitch * 0.1, floor - high, pitch * 0.8, high)
            x, y, width, height = (round(side, 2) for side in bar)
            picture.add_rect(x, y, width, height, SERIES[at % len(SERIES)])
        for d in range(0, deepest + 1, 5 if deepest > 20 else 1):
            picture.add_text(round(left + (d + 0.5) * pitch, 2), floor + 15, str(d), 10)
        picture.add_text(left + wide / 2, floor + 33, depth, 11)
    return picture.to_svg(AXIS + len(panels) * (wide + GAP), floor + 46)


def _choose_ticks(most: int) -> tuple[int, int]:
    """A round step and the last tick, so that at most six steps hold the largest value.

    >>> _choose_ticks(25134), _choose_ticks(151000), _choose_ticks(3)
    ((5000, 30000), (50000, 200000), (1, 3))
    """
    sizes = (digit * 10**power for power in range(20) for digit in (1, 2, 5))
    step = next(size for size in sizes if most <= 6 * size)
    return step, -(-most // step) * step
