"""The proof's search of a graph, compared with one that compares all lines with each other."""

import numpy as np
from hypothesis import example, given, settings

from pipeline.verify.claims import Array
from pipeline.verify.state_proofs import Edges, search_graph
from tablebase.graph import SearchResult
from tests.search.test_breadth_first import Edge, graphs, obvious


def search(nodes: int, edges: list[Edge], root: int) -> dict[str, list[int]]:
    begins, labels, ends = np.array(edges, dtype=np.int32).reshape(-1, 3).T

    def list_edges(layer: Array) -> Edges:
        at = np.flatnonzero(np.isin(begins, layer))
        return begins[at], ends[at], labels[at].astype(np.uint8)

    walk = search_graph(nodes, root, list_edges)
    return {name: getattr(walk, name).tolist() for name in walk.__slots__}


@given(graphs())
@example((7, [(0, 0x15, 1), (0, 0x11, 2), (1, 0x21, 5), (2, 0x39, 5), (1, 0x40, 6), (2, 0x4F, 6)]))
@example((3, [(0, 0x12, 1), (0, 0x11, 1), (0, 0x21, 1), (1, 0x11, 2)]))
@settings(max_examples=40)
def test_random_graphs_match_the_obvious_search(
    graph: tuple[int, list[Edge]],
) -> None:
    nodes, edges = graph
    for root in range(min(nodes, 4)):
        expected = obvious(nodes, edges, root)
        assert search(nodes, edges, root) == {
            name: expected[name] for name in SearchResult.__slots__
        }
