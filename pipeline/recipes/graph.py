"""Recipe of tables whose states are a graph: a breadth-first search from each root.

The puzzle ranks its states and fills the columns. The search finds the depth of every node, the
number of its shortest lines, and the smallest of them.

The smallest shortest line to a node is the one whose edges' high labels come first in dictionary
order; among equals, the one whose low labels do. No lines are compared: nodes are expanded in the
order of their smallest lines, nodes whose lines have equal high labels are consecutive (a *group*),
and each group's edges are ordered by high label first. The first edge to reach a node is then the
last edge of its smallest line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.encoder import Part, Parts, TableData
from puzzle_tablebase.formats.parquet import ROW_GROUP_ROWS
from puzzle_tablebase.graph import Graph, SearchResult
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.schema import UNREACHABLE, Table

TOO_MANY, TOO_DEEP = -1, -2
NO_LABEL = 255
"""Greater than all high labels."""
# indexes are unsigned, so the compiled code does not test whether they are negative
WORD = np.uint64
ZERO, ONE = WORD(0), WORD(1)


def make(table: Table, puzzle: Puzzle, tasks: Tasks) -> TableData:
    """Search the graph of a state space from each root, and let the space fill rows and records."""
    space = puzzle.make_space(table)
    graph, results = space.make_graph(), dict[str, SearchResult]()
    space.check_graph(graph)
    for name, root in table.recipe.parameters["roots"].items():
        on_layer = partial(_report_layer, tasks, name)
        results[name] = search_breadth_first(graph, space.rank(root), on_layer)

    def iter_parts() -> Parts:
        tasks.report("columns", 0)
        columns = space.fill_columns(table, graph, results)
        count = len(columns[table.columns[0].name])
        for first in range(0, count, ROW_GROUP_ROWS):
            tasks.report("rows", first, count)
            span = slice(first, first + ROW_GROUP_ROWS)
            yield Part({name: column[span] for name, column in columns.items()})
        yield Part(records=space.make_records(table, results))

    return TableData(iter_parts(), space.size)


def _report_layer(tasks: Tasks, name: str, depth: int, reached: int) -> None:
    tasks.report(f"{name}: layer {depth}, states", reached)


def search_breadth_first(
    graph: Graph, root: int, layer_done: Callable[[int, int], None]
) -> SearchResult:
    """Search the graph from a root; `layer_done(depth, nodes)` is called after each layer."""
    nodes = len(graph.offsets) - 1
    depth = np.full(nodes, UNREACHABLE, dtype=np.uint8)
    ways = np.zeros(nodes, dtype=np.uint64)
    parent = np.full(nodes, -1, dtype=np.int32)
    label = np.zeros(nodes, dtype=np.uint8)
    order = np.empty(nodes, dtype=np.int32)
    group, next_edge = np.zeros((2, nodes), dtype=np.uint32)
    depth[root], ways[root], order[0] = 0, 1, root
    # half the size of the graph's array, so that the search's data stays in the processor's cache
    offsets = graph.offsets.astype(np.uint32)
    targets = np.ascontiguousarray(graph.targets, dtype=np.int32).view(np.uint32)
    labels = np.ascontiguousarray(graph.labels, dtype=np.uint8)
    begin, end, level = 0, 1, 0
    while begin < end:
        layer_done(level, end - begin)
        reached = _expand(
            offsets, targets, labels, next_edge, level + 1, WORD(begin), WORD(end),
            order.view(np.uint32), group, depth, ways, parent.view(np.uint32), label,
        )  # fmt: skip
        if reached == TOO_MANY:
            raise SearchError("A node has 2^64 or more shortest lines.")
        if reached == TOO_DEEP:
            raise SearchError(f"A node lies {UNREACHABLE} or more edges from the root.")
        begin, end, level = end, int(reached), level + 1
    return SearchResult(depth, ways, parent, label, order[:end].copy())


@compiled
def _expand(
    offsets: Array, targets: Array, labels: Array, next_edge: Array,
    below: int, begin: Any, end: Any, order: Array, group: Array,
    depth: Array, ways: Array, parent: Array, label: Array,
) -> Any:  # fmt: skip
    """Expand the layer order[begin:end] and append the next layer, at depth `below`, to `order`.

    Return the end of the next layer, TOO_MANY or TOO_DEEP. `next_edge[i]` is the next edge of
    `order[i]` to follow, `group[i]` the number of the group of `order[i]` within its layer.
    """
    free = end
    groups = ZERO
    first = begin
    while first < end:
        high = NO_LABEL
        last = first
        while last < end and group[last] == group[first]:
            node = WORD(order[last])
            next_edge[last] = offsets[node]
            if offsets[node] < offsets[node + ONE] and labels[offsets[node]] >> 4 < high:
                high = labels[offsets[node]] >> 4
            last += ONE
        while high < NO_LABEL:
            before, next_high = free, NO_LABEL
            for index in range(first, last):
                node = WORD(order[index])
                edge, edges_end, lines = WORD(next_edge[index]), offsets[node + ONE], ways[node]
                while edge < edges_end and labels[edge] >> 4 == high:
                    target = targets[edge]
                    if depth[target] == UNREACHABLE:
                        if below == UNREACHABLE:
                            return TOO_DEEP
                        depth[target] = below
                        ways[target] = lines
                        parent[target] = node
                        label[target] = labels[edge]
                        order[free] = target
                        group[free] = groups
                        free += ONE
                    elif depth[target] == below:
                        total = ways[target] + lines
                        if total < lines:
                            return TOO_MANY
                        ways[target] = total
                    edge += ONE
                next_edge[index] = edge
                if edge < edges_end and labels[edge] >> 4 < next_high:
                    next_high = labels[edge] >> 4
            if free > before:
                groups += ONE
            high = next_high
        first = last
    return np.int64(free)
