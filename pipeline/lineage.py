"""The lineage of published files: from each puzzle by its recipes to its tables, indexes and pages.

The registry of puzzles has the tables; the report and the explorer name those that they show.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pipeline.terminal import escape_control
from queries.explorer.writer import EXPLORER_PAGE, list_source_files
from queries.report.writer import REPORT_PAGE, list_charted_files
from queries.svg import AMBER, BLUE, CELL, GREEN, INK, MUTED, Picture
from tablebase.puzzles import list_puzzles
from tablebase.schema import Table
from tablebase.tables.manifest import list_parameters, read_manifest
from tablebase.tables.store import Store

COLUMNS = {"puzzle": 0, "recipe": 1, "table": 2, "index": 2, "page": 3}
"""The kinds of nodes, each with its column in the picture."""
SHAPES = {
    "puzzle": '(["{}"])',
    "recipe": '[["{}"]]',
    "table": '[("{}")]',
    "index": '[("{}")]',
    "page": '["{}"]',
}
"""The shape of each kind in Mermaid."""
COLOURS = {
    "puzzle": MUTED,
    "recipe": AMBER,
    "table": BLUE,
    "index": BLUE,
    "page": GREEN,
}
WIDTHS = (150, 190, 220, 150)
"""The widths of the picture's columns of boxes."""
GAP, MARGIN, ROW_HEIGHT, BOX_HEIGHT = 60, 16, 32, 24
LETTER_WIDTH = 6.6
TITLE = "From the puzzles by their recipes to tables, indexes and pages"


class Node(NamedTuple):
    """A puzzle, a recipe of it, a file or a page; `id` is unique in its lineage."""

    id: str
    kind: str
    label: str


class Lineage(NamedTuple):
    """Nodes, and edges from the id of each source to the id of what is made from it."""

    nodes: list[Node]
    edges: list[tuple[str, str]]

    def to_dict(self) -> dict[str, list[dict[str, str]]]:
        """Return the nodes and the edges for JSON."""
        return {
            "nodes": [node._asdict() for node in self.nodes],
            "edges": [{"from": source, "to": target} for source, target in self.edges],
        }


def make_lineage(store: Store) -> Lineage:
    """Make the lineage of the default tables and of the requested ones that a store publishes."""
    lineage = Lineage([], [])
    published = list_parameters(read_manifest(store))
    for puzzle in list_puzzles():
        defaults = {table.name: dict[str, Any]() for table in puzzle.tables}
        if tables := puzzle.list_published(defaults | published):
            lineage.nodes.append(Node(puzzle.name, "puzzle", puzzle.title))
            for table in tables:
                _add_table(lineage, puzzle.name, table)
    files = {node.id for node in lineage.nodes if node.kind in ("table", "index")}
    pages = {REPORT_PAGE: list_charted_files(), EXPLORER_PAGE: list_source_files(store)}
    for page, sources in pages.items():
        lineage.nodes.append(Node(page, "page", page))
        lineage.edges.extend((file, page) for file in sources if file in files)
    return lineage


def _add_table(lineage: Lineage, puzzle: str, table: Table) -> None:
    """Add the files of a table, and its recipe unless another table of the puzzle has it."""
    recipe = Node(f"{puzzle}: {table.recipe.search}", "recipe", table.recipe.search)
    if recipe not in lineage.nodes:
        lineage.nodes.append(recipe)
        lineage.edges.append((puzzle, recipe.id))
    rows = [Node(table.file, "table", table.file)] if table.columns else []
    index = [Node(table.index_file, "index", table.index_file)] if table.index else []
    for node in [*rows, *index]:
        lineage.nodes.append(node)
        lineage.edges.append((recipe.id, node.id))


def format_mermaid(lineage: Lineage) -> str:
    """Format a lineage as a flowchart of Mermaid."""
    names = {node.id: f"n{number}" for number, node in enumerate(lineage.nodes, start=1)}
    nodes = (
        f"  {names[node.id]}{SHAPES[node.kind].format(_escape(node.label))}\n"
        for node in lineage.nodes
    )
    edges = (f"  {names[source]} --> {names[target]}\n" for source, target in lineage.edges)
    return "".join(["flowchart LR\n", *nodes, *edges])


def _escape(text: str) -> str:
    """Write a text so that Mermaid shows it unchanged between double quotes.

    >>> print(_escape('a "b" <c> #1'))
    a #34;b#34; #60;c#62; #35;1
    """
    return "".join(
        f"#{ord(letter)};" if letter in '"<>#&`' else letter for letter in escape_control(text)
    )


def draw_lineage(lineage: Lineage) -> str:
    """Draw a lineage as SVG: a column for each kind of node, the files below each other."""
    centres, height = _lay_out(lineage)
    kinds = {node.id: node.kind for node in lineage.nodes}
    picture = Picture(TITLE)
    for source, target in lineage.edges:
        (x, y), (to_x, to_y) = centres[source], centres[target]
        x += WIDTHS[COLUMNS[kinds[source]]] / 2
        to_x -= WIDTHS[COLUMNS[kinds[target]]] / 2
        picture.add_line(x, y, to_x, to_y, MUTED, ' stroke-opacity="0.55"')
    for node in lineage.nodes:
        (x, y), width = centres[node.id], WIDTHS[COLUMNS[node.kind]]
        frame = f' rx="5" stroke="{COLOURS[node.kind]}"'
        picture.add_rect(x - width / 2, y - BOX_HEIGHT / 2, width, BOX_HEIGHT, CELL, frame)
        picture.add_text(x, y + 4, _shorten(node.label, width), 12, INK)
    return picture.to_svg(2 * MARGIN + sum(WIDTHS) + GAP * (len(WIDTHS) - 1), height)


def _shorten(label: str, width: float) -> str:
    """Shorten a label that is wider than its box.

    >>> _shorten("eight.parquet", 130), _shorten("a" * 40, 130)
    ('eight.parquet', 'aaaaaaaaaaaaaaa...')
    """
    label, most = escape_control(label), int(width / LETTER_WIDTH) - 1
    return label if len(label) <= most else f"{label[: most - 3]}..."


def _lay_out(lineage: Lineage) -> tuple[dict[str, tuple[float, float]], float]:
    """Return every node's centre, and the picture's height."""
    columns: list[list[Node]] = [[] for _ in WIDTHS]
    for node in lineage.nodes:
        columns[COLUMNS[node.kind]].append(node)
    rows = max(map(len, columns))
    lefts = [MARGIN + sum(WIDTHS[:at]) + GAP * at for at in range(len(WIDTHS))]
    middles = [left + width / 2 for left, width in zip(lefts, WIDTHS, strict=True)]
    heights = {node.id: MARGIN + ROW_HEIGHT * (at + 0.5) for at, node in enumerate(columns[2])}
    for column in (1, 0):  # beside the middle of what is made from it
        for node in columns[column]:
            targets = [heights[target] for source, target in lineage.edges if source == node.id]
            heights[node.id] = (min(targets) + max(targets)) / 2
    pages = len(columns[3])
    for at, node in enumerate(columns[3]):
        heights[node.id] = MARGIN + ROW_HEIGHT * rows * (at + 0.5) / pages
    centres = {
        node.id: (middles[column], heights[node.id])
        for column, nodes in enumerate(columns)
        for node in nodes
    }
    return centres, 2 * MARGIN + ROW_HEIGHT * rows
