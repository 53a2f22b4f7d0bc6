"""Pictures of answers and counts as SVG text, with a light and a dark colour scheme.

Every colour is one of `COLOURS`, written into the picture as an attribute, so that any program
shows the light scheme. A browser that prefers dark replaces each with its dark partner, by the
rules of `make_dark_rules`.
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
    TILE: "#2a323d",
    EMPTY: "#171c23",
    ON_LOW: "#e8eaee",
    ON_HIGH: "#0d1117",
    **dict(zip(RAMP, RAMP_DARK, strict=True)),
}
"""Each light colour with its dark partner."""

SERIES = (BLUE, AMBER, GREEN)
"""The colours of series that are compared, in order."""

FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"


def make_dark_rules(within: str = "") -> str:
    """Return the style rules that make elements within a selector dark on a screen set to dark."""
    rules = "".join(
        f'{within}[{name}="{light}"]{{{name}:{dark}}}'
        for light, dark in COLOURS.items()
        for name in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme:dark){{{rules}}}"


class Picture:
    """A picture: shapes that are collected and written as one SVG."""

    def __init__(self, title: str = "") -> None:
        """Begin an empty picture; one without a title is for a page, which has one, the rules, and
        a background.
        """
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
        head = shown = ""
        if self.title:
            head, shown = label_svg(self.title), f"<title>{_escape(self.title)}</title>"
            shown += f"<style>{make_dark_rules()}</style>"
            shown += f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="{FONT}"{head}>\n'
            f"{shown}\n{shapes}\n</svg>\n"
        )


def label_svg(title: str) -> str:
    """Return the attributes of an SVG by which screen readers announce its title."""
    return f' role="img" aria-label="{_escape(title)}"'


def _escape(text: str) -> str:
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    return "".join(marks.get(letter, letter) for letter in text)


BOLD = ' font-weight="600"'


# ---- the number of states at each depth -------------------------------------------------------

PANEL, PANEL_HIGH, GAP, AXIS = 268, 150, 26, 52


def draw_histogram(counts: pl.DataFrame, *, bare: bool = False) -> str:
    """Draw a frame of `queries.histogram.count_states`: one panel per goal, all on one scale.

    A `bare` picture has no title.
    """
    depth = next(name for name in counts.columns if name not in ("goal", "states"))
    panels: dict[str, dict[int | None, int]] = {}
    for row in counts.to_dicts():
        panels.setdefault(row.get("goal", ""), {})[row[depth]] = row["states"]
    max_depth = max(d for panel in panels.values() for d in panel if d is not None)
    max_states = max(n for panel in panels.values() for d, n in panel.items() if d is not None)
    step, top = _choose_ticks(max_states)
    panel_width = PANEL if len(panels) > 1 else 2 * PANEL
    picture = Picture("" if bare else f"Number of states by {depth}")
    head = 58
    baseline = head + PANEL_HIGH
    for at, (goal, panel) in enumerate(panels.items()):
        left = AXIS + at * (panel_width + GAP)
        reached = {d: n for d, n in panel.items() if d is not None}
        picture.add_text(left, 26, goal or "All positions", 14, INK, "start", BOLD)
        peak = max(reached, key=lambda d: reached[d])
        caption = f"{sum(panel.values()):,} states, most at {peak}, the last at {max(reached)}"
        if None in panel:
            caption += f"; {panel[None]} never reached"
        picture.add_text(left, 42, caption, 11, MUTED, "start")
        for value in range(0, top + 1, step):
            y = baseline - PANEL_HIGH * value / top
            picture.add_line(left, y, left + panel_width, y, MUTED if not value else GRID)
            if not at:
                picture.add_text(left - 7, y + 4, f"{value:,}", 10, MUTED, "end")
        pitch = panel_width / (max_depth + 1)
        for d, n in sorted(reached.items()):
            bar_height = PANEL_HIGH * n / top
            bar = (left + d * pitch + pitch * 0.1, baseline - bar_height, pitch * 0.8, bar_height)
            x, y, width, height = (round(side, 2) for side in bar)
            picture.add_rect(x, y, width, height, SERIES[at % len(SERIES)])
        for d in range(0, max_depth + 1, 5 if max_depth > 20 else 1):
            picture.add_text(round(left + (d + 0.5) * pitch, 2), baseline + 15, str(d), 10)
        picture.add_text(left + panel_width / 2, baseline + 33, depth, 11)
    return picture.to_svg(AXIS + len(panels) * (panel_width + GAP), baseline + 46)


def _choose_ticks(max_value: int) -> tuple[int, int]:
    """Return a round step and the last tick, so that six steps at most reach the largest value.

    >>> _choose_ticks(25134), _choose_ticks(151000), _choose_ticks(3)
    ((5000, 30000), (50000, 200000), (1, 3))
    """
    sizes = (digit * 10**power for power in range(20) for digit in (1, 2, 5))
    step = next(size for size in sizes if max_value <= 6 * size)
    return step, -(-max_value // step) * step
