"""The tables of any state space that is walked from roots: its graph is searched once more.

What the puzzle says of itself is taken from it: its graph, and how columns and records are made of
what a search finds. That the depths, ways and smallest lines are those of the graph is proved.
"""

from __future__ import annotations

import numpy as np

from pipeline.verify.claims import Seen
from pipeline.verify.lines import Lines
from pipeline.verify.listed import Listed, check_records, read_rows
from tablebase.graph import UNREACHED, Graph, Walk
from tablebase.puzzle import BreadthFirst, StateSpace
from tablebase.tables.parquet import to_arrow


def prove_walks(listed: Listed, seen: Seen) -> None:
    """Prove one table by what the same walks from its roots find again."""
    puzzle, table = listed.puzzle, listed.known
    assert isinstance(puzzle, StateSpace)
    assert isinstance(table.recipe, BreadthFirst)
    rows, graph = read_rows(listed), puzzle.graph()
    walks = {name: walked(graph, puzzle.node(state)) for name, state in table.recipe.roots.items()}
    text = f"{puzzle.depth} and all other columns are as a second search of the graph finds them"
    with listed.claims().claim(text) as fact:
        columns = puzzle.fill(table, graph, walks)
        for name, values in ((c.name, to_arrow(c, columns[c.name])) for c in table.columns):
            fact.same(len(rows), len(values), "{:,} rows")
            found, expected = (
                np.array(of.to_pylist(), dtype=object) for of in (rows.column(name), values)
            )
            rows.equal(fact, name, found, expected)
    if table.index:
        text = "each record is as a second search of the graph finds it"
        check_records(listed, text, dict(puzzle.records(table, walks)))


def walked(graph: Graph, root: int) -> Walk:
    """What a breadth-first search of a graph finds, by lines that grow all at once."""
    nodes = len(graph.offsets) - 1
    depth = np.full(nodes, UNREACHED, dtype=np.uint8)
    lines, begin = Lines(nodes, root), np.repeat(np.arange(nodes), np.diff(graph.offsets))
    for length, layer in enumerate(lines.layers):
        depth[layer] = length
        ends = (depth[begin] == length) & (depth[graph.targets] == UNREACHED)
        if ends.any():
            lines.extend(begin[ends], graph.targets[ends], graph.labels[ends])
    order = np.concatenate(lines.layers).astype(np.int32)
    return Walk(depth, lines.ways, lines.parent, lines.last, order)
