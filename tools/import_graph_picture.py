"""`docs/import-layers.svg`: the modules of the three packages and their imports, as a picture."""

from __future__ import annotations

from queries.svg import AMBER, BLUE, BOLD, CELL, GREEN, GRID, INK, MUTED, Picture
from tests.support.import_graph import (
    PACKAGES,
    Imports,
    group_by_layer,
    read_imports,
    reduce_transitively,
)

WIDTH, ROW_HEIGHT, BOX_HEIGHT, MARGIN, HEADING_HEIGHT = 960, 54, 24, 14, 20
COLOURS = dict(zip(PACKAGES, (GREEN, BLUE, AMBER), strict=True))
HEADINGS = {
    "tablebase": "tablebase: the foundation of the other two packages",
    "queries": "queries: answers",
    "pipeline": "pipeline: building, verification and the command line",
}


def get_package(name: str) -> str:
    return name.partition(".")[0]


def arrange_rows(imports: Imports, package: str) -> list[list[str]]:
    """Return a package's modules in rows from the top, each module above those that it imports."""
    level_of: dict[str, int] = {}

    def find_level(name: str) -> int:
        if name not in level_of:
            level_of[name] = 0
            targets = [target for target in imports[name] if get_package(target) == package]
            level_of[name] = max((find_level(target) + 1 for target in sorted(targets)), default=0)
        return level_of[name]

    modules = sorted(name for name in imports if name.startswith(f"{package}."))
    rows: list[list[str]] = [[] for _ in range(1 + max(map(find_level, modules)))]
    for name in modules:
        rows[-1 - level_of[name]].append(name)
    return rows


def lay_out(imports: Imports) -> tuple[dict[str, tuple[float, float]], dict[str, float], float]:
    """Return every module's centre, every package's upper edge, and the picture's height."""
    centres: dict[str, tuple[float, float]] = {}
    edges, y = {}, float(MARGIN)
    for package in reversed(PACKAGES):
        edges[package] = y
        y += HEADING_HEIGHT
        for number, row in enumerate(arrange_rows(imports, package)):
            # below the average position of the modules above that import it
            def find_sort_key(name: str) -> tuple[float, str]:
                above = [centres[other][0] for other in centres if name in imports[other]]
                return (sum(above) / len(above) if above else WIDTH / 2, name)

            gap = (WIDTH - 2 * MARGIN - sum(map(measure_box, row))) / (len(row) + 1)
            # the only module of a row is moved aside, so that it hides no line
            x = MARGIN + gap + (number % 3 - 1) * 60 * (len(row) == 1)
            for name in sorted(row, key=find_sort_key):
                centres[name] = x + measure_box(name) / 2, y + ROW_HEIGHT / 2
                x += measure_box(name) + gap
            y += ROW_HEIGHT
        y += MARGIN
    return centres, edges, y


def measure_box(name: str) -> float:
    """Return the width of a module's box."""
    return 18 + 6.6 * len(name.partition(".")[2])


def draw_import_graph() -> str:
    """Return the picture of the imports in the source as it is now."""
    modules = {
        name: {target for target in targets if "." in target}
        for name, targets in group_by_layer(read_imports()).items()
        if "." in name
    }
    arrows = reduce_transitively(modules)
    centres, edges, height = lay_out(arrows)
    picture = Picture("The modules of the three packages, and their imports")
    ends = [*list(edges.values())[1:], height]
    for (package, y), end in zip(edges.items(), ends, strict=True):
        picture.add_rect(MARGIN / 2, y, WIDTH - MARGIN, end - y - MARGIN / 2, CELL, ' rx="6"')
        picture.add_text(MARGIN + 4, y + 19, HEADINGS[package], 13, COLOURS[package], "start", BOLD)
    for name, targets in sorted(arrows.items()):
        for target in sorted(targets):
            (x, y), (to_x, to_y) = centres[name], centres[target]
            is_inside = get_package(name) == get_package(target)
            picture.add_line(
                x,
                y + BOX_HEIGHT / 2,
                to_x,
                to_y - BOX_HEIGHT / 2,
                MUTED if is_inside else COLOURS[get_package(name)],
                ' stroke-opacity="0.55"',
            )
            picture.add_dot(to_x, to_y - BOX_HEIGHT / 2, 2.4, MUTED)
    for name, (x, y) in centres.items():
        width = measure_box(name)
        frame = f' rx="5" stroke="{COLOURS[get_package(name)]}"'
        picture.add_rect(x - width / 2, y - BOX_HEIGHT / 2, width, BOX_HEIGHT, GRID, frame)
        picture.add_text(x, y + 4, name.partition(".")[2], 12, INK)
    return picture.to_svg(WIDTH, height)
