"""Breadth-first search over numbered nodes: depth, number of shortest lines, the smallest line.

The smallest shortest line to a node is the one whose edges' high labels come first in dictionary
order; among equals, the one whose low labels do. No lines are compared: nodes are expanded in the
order of their smallest lines, nodes whose lines have equal high labels are consecutive (one *run*),
and each run's edges are ordered by high label first. The first edge to reach a node is then the
last edge of its smallest line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tablebase.errors import SearchError
from tablebase.graph import UNREACHED, Graph, SearchResult
from tablebase.jit import compiled

HIGH_LABELS = 16
TOO_MANY, TOO_DEEP = -1, -2
Array = npt.NDArray[Any]


def search_breadth_first(
    graph: Graph, root: int, layer_done: Callable[[int, int], None]
) -> SearchResult:
    """Search the graph from a root; `layer_done(depth, nodes)` is called after each layer."""
    nodes = len(graph.offsets) - 1
    depth = np.full(nodes, UNREACHED, dtype=np.uint8)
    ways = np.zeros(nodes, dtype=np.uint64)
    parent = np.full(nodes, -1, dtype=np.int32)
    label = np.zeros(nodes, dtype=np.uint8)
    order = np.empty(nodes, dtype=np.int32)
    run = np.zeros(nodes, dtype=np.int32)
    depth[root], ways[root], order[0] = 0, 1, root
    # half the size of the graph's array, so that the search's data stays in the processor's cache
    offsets = graph.offsets.astype(np.int32)
    next_edge = offsets[:-1].copy()
    begin, end, level = 0, 1, 0
    while begin < end:
        layer_done(level, end - begin)
        reached = _expand(
            offsets, graph.targets, graph.labels, next_edge,
            level, begin, end, order, run, depth, ways, parent, label,
        )  # fmt: skip
        if reached == TOO_MANY:
            raise SearchError("A node has 2^64 or more shortest lines.")
        if reached == TOO_DEEP:
            raise SearchError(f"A node lies {UNREACHED} or more edges from the root.")
        begin, end, level = end, reached, level + 1
    return SearchResult(depth, ways, parent, label, order[:end].copy())


@compiled
def _expand(
    offsets: Array, targets: Array, labels: Array, next_edge: Array,
    level: int, begin: int, end: int, order: Array, run: Array,
    depth: Array, ways: Array, parent: Array, label: Array,
) -> int:  # fmt: skip
    """Expand the layer order[begin:end] and append the next layer to `order`.

    Returns the end of the next layer, TOO_MANY or TOO_DEEP. `next_edge[v]` is the next of v's edges
    to follow, `run[i]` the number of the run of `order[i]` within its layer.
    """
    free = end
    runs = 0
    first = begin
    while first < end:
        last = first + 1
        while last < end and run[last] == run[first]:
            last += 1
        for high in range(HIGH_LABELS):
            before = free
            for index in range(first, last):
                node = order[index]
                while next_edge[node] < offsets[node + 1] and labels[next_edge[node]] >> 4 == high:
                    edge = next_edge[node]
                    next_edge[node] += 1
                    target = targets[edge]
                    if depth[target] == UNREACHED:
                        if level + 1 == UNREACHED:
                            return TOO_DEEP
                        depth[target] = level + 1
                        ways[target] = ways[node]
                        parent[target] = node
                        label[target] = labels[edge]
                        order[free] = target
                        run[free] = runs
                        free += 1
                    elif depth[target] == level + 1:
                        total = ways[target] + ways[node]
                        if total < ways[node]:
                            return TOO_MANY
                        ways[target] = total
            if free > before:
                runs += 1
        first = last
    return free
