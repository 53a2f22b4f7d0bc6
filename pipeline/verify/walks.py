"""The tables of any state space that is walked from roots: its graph is searched once more.

What the puzzle says of itself is taken from it: its graph, and how columns and records are made of
what a search finds. That the depths, ways and smallest lines are those of the graph is proved.

Of two lines with as many steps the smaller is the one whose labels' high four bits come first in
dictionary order, or whose low four bits do where the high ones are the same.
"""

from __future__ import annotations

import numpy as np

from pipeline.verify.claims import Array, Seen
from pipeline.verify.listed import Listed, check_records, read_rows
from tablebase.graph import UNREACHED, Graph, Walk
from tablebase.puzzle import BreadthFirst, StateSpace
from tablebase.tables.parquet import to_arrow


class Lines:
    """All shortest lines from a root, a step at a time.

    `ways`: how many end at a node. Of the smallest: its last node but one and its last label.
    """

    def __init__(self, nodes: int, root: int) -> None:
        self.ways = np.zeros(nodes, dtype=np.uint64)
        self.parent = np.full(nodes, -1, dtype=np.int32)
        self.last = np.zeros(nodes, dtype=np.uint8)
        self.ways[root] = 1
        self.layers: list[Array] = [np.array([root])]
        """The nodes that lines of each length end at, those of the smallest lines first."""
        # among the smallest lines of equal length: a node's own place, and that of its high labels
        self._place = np.zeros(nodes, dtype=np.int64)
        self._high = np.zeros(nodes, dtype=np.int64)
        self._least = np.full(nodes, np.iinfo(np.int64).max)

    def extend(self, sources: Array, targets: Array, labels: Array) -> None:
        """Add every edge that ends a shortest line of the next length."""
        np.add.at(self.ways, targets, self.ways[sources])
        high, low = labels.astype(np.int64) >> 4, labels.astype(np.int64) & 15
        # compared in this order: the high labels so far, this one, all labels so far, this low one
        key = (self._high[sources] << 4 | high) << 32 | self._place[sources] << 4 | low
        np.minimum.at(self._least, targets, key)
        smallest = np.flatnonzero(key == self._least[targets])
        smallest = smallest[np.argsort(key[smallest], kind="stable")]
        # of edges that no label tells apart the first one counts
        places = np.arange(len(smallest))
        self._place[targets[smallest[::-1]]] = places[::-1]
        smallest = smallest[self._place[targets[smallest]] == places]
        nodes, key = targets[smallest], key[smallest]
        self.parent[nodes], self.last[nodes] = sources[smallest], labels[smallest]
        self._place[nodes] = np.arange(len(nodes))
        self._high[nodes] = np.cumsum(np.diff(key >> 32, prepend=key[:1] >> 32) > 0)
        self.layers.append(nodes)


def prove_walks(listed: Listed, seen: Seen) -> None:
    """Prove one table by what the same walks from its roots find again."""
    puzzle, table = listed.puzzle, listed.known
    assert isinstance(puzzle, StateSpace)
    assert isinstance(table.recipe, BreadthFirst)
    rows, graph = read_rows(listed), puzzle.graph()
    walks = {name: walked(graph, puzzle.node(state)) for name, state in table.recipe.roots.items()}
    text = f"{puzzle.depth} and all other columns are as a second search of the graph finds them"
    with listed.claim(text) as fact:
        columns = puzzle.fill(table, graph, walks)
        for column in table.columns:
            expected = to_arrow(column, columns[column.name])
            fact.same("rows", len(rows), len(expected))
            rows.equal(fact, column.name, expected)
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
