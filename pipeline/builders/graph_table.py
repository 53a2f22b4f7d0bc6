"""A state space searched from some roots: the puzzle numbers its states and fills the columns."""

from __future__ import annotations

from pipeline.search.breadth_first import breadth_first
from pipeline.tasks import Made, Stretches, Work
from tablebase.puzzle import BreadthFirst, StateSpace, Table
from tablebase.tables.parquet import ROW_GROUP


def make(recipe: BreadthFirst, puzzle: StateSpace, table: Table, work: Work) -> Made:
    graph = work.once(puzzle.graph)
    walks = {}
    for name, root in recipe.roots.items():
        nodes = 0

        def layer_done(depth: int, reached: int, name: str = name) -> None:
            nonlocal nodes
            nodes += reached
            work.told(f"{name}: layer {depth}, states", nodes)

        walks[name] = breadth_first(graph, puzzle.node(root), layer_done)

    def rows() -> Stretches:
        work.told("columns", 0)
        columns = puzzle.fill(table, graph, walks)
        for first in range(0, len(columns[table.columns[0].name]), ROW_GROUP):
            work.require_going()
            yield {name: column[first : first + ROW_GROUP] for name, column in columns.items()}

    def records() -> Stretches:
        yield puzzle.records(table, walks)

    return rows(), records(), puzzle.size
