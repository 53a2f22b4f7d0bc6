"""Breadth-first search: hand-made graphs, random graphs, and the compiler off."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.graph import Graph
from puzzle_tablebase.pipeline.recipes.graph import search_breadth_first
from puzzle_tablebase.schema import UNREACHABLE

Edge = tuple[int, int, int]
"""An edge as source, label and target."""
Line = tuple[tuple[int, ...], tuple[int, ...]]
"""The high and the low labels of a line, in the order in which lines are compared."""


def graph_of(nodes: int, edges: list[Edge]) -> Graph:
    edges = sorted(edges)
    offsets = [sum(source < node for source, _, _ in edges) for node in range(nodes + 1)]
    return Graph(
        np.array(offsets, dtype=np.int64),
        np.array([target for _, _, target in edges], dtype=np.int32),
        np.array([label for _, label, _ in edges], dtype=np.uint8),
    )


def test_a_kind_of_move_may_lead_from_a_node_to_several() -> None:
    sources, targets = np.array([2, 0, 0, 1, 0]), np.array([0, 1, 2, 3, 3])
    later = np.array([0, 0]), np.array([3, 1])
    graph = Graph.from_moves(4, [(16, sources, targets), (33, *later)])
    assert graph.offsets.tolist() == [0, 5, 6, 7, 7]
    assert graph.targets.tolist() == [1, 2, 3, 3, 1, 3, 0]
    assert graph.labels.tolist() == [16, 16, 16, 33, 33, 16, 16]
    assert search(graph, 0)["ways"] == [1, 2, 1, 2]


def search(graph: Graph, root: int) -> dict[str, list[int]]:
    """Return the search result as lists, with the number of nodes of each reported layer."""
    layers: list[tuple[int, int]] = []
    walk = search_breadth_first(graph, root, lambda depth, nodes: layers.append((depth, nodes)))
    assert [depth for depth, _ in layers] == list(range(len(layers)))
    result = {name: getattr(walk, name).tolist() for name in walk._fields}
    return {**result, "layers": [nodes for _, nodes in layers]}


def obvious(nodes: int, edges: list[Edge], root: int) -> dict[str, list[int]]:
    """Return what `search` does by comparing all shortest lines with each other, layer by layer."""
    lines: dict[int, list[tuple[Line, int]]] = {root: [(((), ()), -1)]}
    depth = {root: 0}
    layers = [[root]]
    while layers[-1]:
        after: dict[int, list[tuple[Line, int]]] = {}
        for source, label, target in edges:
            if source in layers[-1] and target not in depth:
                for (high, low), _ in lines[source]:
                    line = ((*high, label >> 4), (*low, label & 15))
                    after.setdefault(target, []).append((line, source))
        depth.update(dict.fromkeys(after, len(layers)))
        lines.update(after)
        layers.append(list(after))
    smallest = {node: min(result) for node, result in lines.items()}
    everyone = range(nodes)
    return {
        "depth": [depth.get(node, UNREACHABLE) for node in everyone],
        "ways": [len(lines.get(node, [])) for node in everyone],
        "parent": [smallest[node][1] if node in smallest else -1 for node in everyone],
        "label": [
            smallest[node][0][0][-1] << 4 | smallest[node][0][1][-1]
            if node in smallest and node != root
            else 0
            for node in everyone
        ],
        "order": sorted(smallest, key=lambda node: (depth[node], smallest[node][0])),
        "layers": [len(layer) for layer in layers[:-1]],
    }


# to 5: by 1 the labels 0x15 0x21, by 2 the labels 0x11 0x39. Highs 12 before 13: it comes by 1.
# to 6: by 1 the labels 0x15 0x40, by 2 the labels 0x11 0x4f. Highs equal: lows 10 < 5: by 2.
TWO_LINES = [(0, 0x15, 1), (0, 0x11, 2), (1, 0x21, 5), (2, 0x39, 5), (1, 0x40, 6), (2, 0x4F, 6)]


@pytest.mark.parametrize(
    ("labels", "length", "array", "last"),
    [
        ([0x10, 0x20], 63, "ways", 2**63),
        ([0x10, 0x20, 0x30], 40, "ways", 3**40),  # of which thrice as many do not wrap to 0
        ([0x10], 254, "depth", 254),
    ],
)
def test_lines_and_depths_have_a_limit(
    labels: list[int], length: int, array: str, last: int
) -> None:
    edges = [(node, label, node + 1) for node in range(length + 1) for label in labels]
    assert search(graph_of(length + 1, edges[: -len(labels)]), 0)[array][-1] == last
    with pytest.raises(SearchError):
        search(graph_of(length + 2, edges), 0)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    """Draw a small graph; no node has two edges of one label, so a line determines its nodes."""
    nodes = draw(st.integers(1, 9))
    node = st.integers(0, nodes - 1)
    labels = st.sampled_from([0x00, 0x01, 0x0F, 0x10, 0x11, 0x12, 0x21, 0x2F, 0xF0, 0xFF])
    edges = draw(st.dictionaries(st.tuples(node, labels), node, max_size=4 * nodes))
    return nodes, [(source, label, target) for (source, label), target in edges.items()]


@given(graphs())
@example((7, TWO_LINES))
def test_random_graphs_match_the_obvious_search(graph: tuple[int, list[Edge]]) -> None:
    nodes, edges = graph
    for root in range(nodes):
        assert search(graph_of(nodes, edges), root) == obvious(nodes, edges, root)


def run_small_searches() -> str:
    """Return the search results of two graphs as text."""
    labels = (0x10, 0x13, 0x21, 0x30)
    edges = [(node, each, node * each % 97) for node in range(1, 97) for each in labels]
    return json.dumps([search(graph_of(97, edges), 1), search(graph_of(7, TWO_LINES), 0)])
