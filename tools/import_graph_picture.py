"""`docs/rooms.svg`: the three floors, and which room stands on which, drawn from the imports."""

from __future__ import annotations

from queries.svg import AMBER, BLUE, BOLD, CELL, GREEN, GRID, INK, MUTED, Picture
from tests.support.import_graph import (
    PACKAGES,
    Imports,
    group_by_layer,
    read_imports,
    reduce_transitively,
)

WIDTH, ROW, BOX, MARGIN, HEAD = 960, 54, 24, 14, 20
COLOURS = dict(zip(PACKAGES, (GREEN, BLUE, AMBER), strict=True))
SAID = {
    "tablebase": "tablebase: the ground, which both sides stand on",
    "queries": "queries: answers",
    "pipeline": "pipeline: build, proof and the command line",
}


def floor_of(name: str) -> str:
    return name.partition(".")[0]


def rows_of(known: Imports, floor: str) -> list[list[str]]:
    """A floor's rooms in rows from the top: each above all that it imports on its floor."""
    level: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in level:
            level[name] = 0
            mine = [target for target in known[name] if floor_of(target) == floor]
            level[name] = max((height(target) + 1 for target in sorted(mine)), default=0)
        return level[name]

    mine = sorted(name for name in known if name.startswith(f"{floor}."))
    rows: list[list[str]] = [[] for _ in range(1 + max(map(height, mine)))]
    for name in mine:
        rows[-1 - level[name]].append(name)
    return rows


def places(known: Imports) -> tuple[dict[str, tuple[float, float]], dict[str, float], float]:
    """The middle of every room, the upper edge of every floor, and the picture's height."""
    place: dict[str, tuple[float, float]] = {}
    edges, y = {}, float(MARGIN)
    for floor in reversed(PACKAGES):
        edges[floor] = y
        y += HEAD
        for number, row in enumerate(rows_of(known, floor)):
            # under the middle of those above that stand on it
            def pull(name: str) -> tuple[float, str]:
                over = [place[other][0] for other in place if name in known[other]]
                return (sum(over) / len(over) if over else WIDTH / 2, name)

            free = (WIDTH - 2 * MARGIN - sum(map(box_width, row))) / (len(row) + 1)
            # a room alone in its row stands aside, so that it hides no line
            x = MARGIN + free + (number % 3 - 1) * 60 * (len(row) == 1)
            for name in sorted(row, key=pull):
                place[name] = x + box_width(name) / 2, y + ROW / 2
                x += box_width(name) + free
            y += ROW
        y += MARGIN
    return place, edges, y


def box_width(name: str) -> float:
    return 18 + 6.6 * len(name.partition(".")[2])


def draw_import_graph() -> str:
    """The picture as it is now."""
    known = {
        name: {target for target in targets if "." in target}
        for name, targets in group_by_layer(read_imports()).items()
        if "." in name
    }
    arrows = reduce_transitively(known)
    place, edges, height = places(arrows)
    picture = Picture("The rooms of the three floors, and which stands on which")
    ends = [*list(edges.values())[1:], height]
    for (floor, y), end in zip(edges.items(), ends, strict=True):
        picture.add_rect(MARGIN / 2, y, WIDTH - MARGIN, end - y - MARGIN / 2, CELL, ' rx="6"')
        picture.add_text(MARGIN + 4, y + 19, SAID[floor], 13, COLOURS[floor], "start", BOLD)
    for name, targets in sorted(arrows.items()):
        for target in sorted(targets):
            (x, y), (to_x, to_y) = place[name], place[target]
            near = floor_of(name) == floor_of(target)
            picture.add_line(
                x,
                y + BOX / 2,
                to_x,
                to_y - BOX / 2,
                MUTED if near else COLOURS[floor_of(name)],
                ' stroke-opacity="0.55"',
            )
            picture.add_dot(to_x, to_y - BOX / 2, 2.4, MUTED)
    for name, (x, y) in place.items():
        width = box_width(name)
        frame = f' rx="5" stroke="{COLOURS[floor_of(name)]}"'
        picture.add_rect(x - width / 2, y - BOX / 2, width, BOX, GRID, frame)
        picture.add_text(x, y + 4, name.partition(".")[2], 12, INK)
    return picture.to_svg(WIDTH, height)
