"""Builder of tables by breadth-first search from the roots of a recipe.

The puzzle ranks its states and fills the columns.
"""

from __future__ import annotations

from functools import lru_cache

from puzzle_tablebase.formats.parquet import ROW_GROUP_ROWS
from puzzle_tablebase.graph import Graph
from puzzle_tablebase.pipeline.search.breadth_first import search_breadth_first
from puzzle_tablebase.pipeline.tasks import Chunks, TableData, Tasks
from puzzle_tablebase.puzzle import StateSpace
from puzzle_tablebase.schema import BreadthFirst, Table


@lru_cache(maxsize=1)
def _make_graph(puzzle: StateSpace) -> Graph:
    """Make a puzzle's graph, and keep the last: several tables of a puzzle need it."""
    return puzzle.make_graph()


def make(recipe: BreadthFirst, puzzle: StateSpace, table: Table, tasks: Tasks) -> TableData:
    """Search the puzzle's graph from each root; the rows and records are made when consumed."""
    runner, graph = tasks, _make_graph(puzzle)
    results = {}
    for name, root in recipe.roots.items():
        nodes = 0

        def layer_done(depth: int, reached: int, name: str = name) -> None:
            nonlocal nodes
            nodes += reached
            runner.report(f"{name}: layer {depth}, states", nodes)

        results[name] = search_breadth_first(graph, puzzle.find_node(root), layer_done)

    def rows() -> Chunks:
        runner.report("columns", 0)
        columns = puzzle.fill_columns(table, graph, results)
        for first in range(0, len(columns[table.columns[0].name]), ROW_GROUP_ROWS):
            runner.report("columns", first)
            yield {name: column[first : first + ROW_GROUP_ROWS] for name, column in columns.items()}

    def records() -> Chunks:
        yield puzzle.make_records(table, results)

    return TableData(rows(), records(), puzzle.size)
