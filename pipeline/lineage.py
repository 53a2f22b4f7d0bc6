"""The lineage of published files: from each puzzle by its recipes to its tables, indexes and pages.

The registry of puzzles has the tables; the report and the explorer name those that they show.
"""

from __future__ import annotations

from typing import NamedTuple

from puzzle_tablebase.pipeline.terminal import escape_control
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.queries.explorer.writer import EXPLORER_PAGE, list_source_files
from puzzle_tablebase.queries.report import REPORT_PAGE, list_charted_files
from puzzle_tablebase.schema import Table
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.store import Store

SHAPES = {
    "puzzle": '(["{}"])',
    "recipe": '[["{}"]]',
    "table": '[("{}")]',
    "index": '[("{}")]',
    "page": '["{}"]',
}
"""The shape of each kind in Mermaid."""


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
    published = read_manifest(store)
    for puzzle in list_puzzles():
        defaults = {table.name for table in puzzle.tables}
        if tables := puzzle.list_published(defaults | published.keys()):
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
