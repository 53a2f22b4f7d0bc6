"""State spaces as numbers, and search results: the types that puzzle rules and searches share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.schema import UNREACHABLE


class OneWayEdge(NamedTuple):
    """Two nodes with more edges in one direction than in the other, and both numbers."""

    source: int
    target: int
    forward: int
    backward: int


class Graph(NamedTuple):
    """The graph of any state space, as a search needs it: compressed sparse rows (CSR).

    The edges of node v are `targets[offsets[v]:offsets[v+1]]`, with their labels, sorted by
    label. Paths are compared by the sequence of their labels' high four bits, then by that of the
    low four bits.
    """

    offsets: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int32]
    labels: npt.NDArray[np.uint8]

    @classmethod
    def from_moves(
        cls, nodes: int, moves: Sequence[tuple[int, npt.NDArray[Any], npt.NDArray[Any]]]
    ) -> Graph:
        """Make a graph from (label, sources, targets) for each label, in ascending order.

        Moves of one label may lead from a source to several targets.
        """
        sources = np.concatenate([sources for _, sources, _ in moves])
        order = np.argsort(sources, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=nodes))])
        targets = np.concatenate([targets for _, _, targets in moves])[order].astype(np.int32)
        counts = [len(sources) for _, sources, _ in moves]
        labels = np.repeat([label for label, _, _ in moves], counts)[order].astype(np.uint8)
        return cls(offsets, targets, labels)

    def find_one_way_edge(self) -> OneWayEdge | None:
        """Find two nodes with more edges in one direction than in the other."""
        nodes = np.int64(len(self.offsets) - 1)
        sources = np.repeat(np.arange(nodes), np.diff(self.offsets))
        forward, backward = sources * nodes + self.targets, self.targets * nodes + sources
        for pairs in (forward, backward):
            pairs.sort()
        # the lowest pair that is more frequent in one of the two
        for at in np.flatnonzero(forward != backward)[:1]:
            pair = min(forward[at], backward[at])
            edges = (
                int(np.count_nonzero(forward == pair)),
                int(np.count_nonzero(backward == pair)),
            )
            one, other = divmod(int(pair), int(nodes))
            source, target = (one, other) if edges[0] > edges[1] else (other, one)
            return OneWayEdge(source, target, max(edges), min(edges))
        return None


class SearchResult(NamedTuple):
    """The result of a breadth-first search, with one value for each node."""

    depth: npt.NDArray[np.uint8]
    """Fewest edges from the root; `UNREACHABLE` if it is unreachable."""
    ways: npt.NDArray[np.uint64]
    """Number of shortest paths from the root."""
    parent: npt.NDArray[np.int32]
    """The node before it on the smallest shortest path, -1 for the root and unreachable nodes."""
    label: npt.NDArray[np.uint8]
    """The label of the edge from `parent`, 0 where there is none."""
    order: npt.NDArray[np.int32]
    """The reachable nodes in the order of the search: layer by layer, each sorted by its smallest
    shortest paths."""


def find_nearest(
    results: Mapping[str, SearchResult],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.uint64]]:
    """Return each state's distance, the search that reached it, and its number of solutions.

    The search is given by its position in `results`; only shortest solutions are counted.
    """
    depths = np.stack([result.depth for result in results.values()])
    if np.any(np.count_nonzero(depths != UNREACHABLE, axis=0) > 1):
        raise SearchError(f"A state reaches more than one of the goals {', '.join(results)}.")
    goal = np.argmin(depths, axis=0).astype(np.uint8)
    ways = np.stack([result.ways for result in results.values()])
    return depths.min(axis=0), goal, np.take_along_axis(ways, goal[None, :], axis=0)[0]
