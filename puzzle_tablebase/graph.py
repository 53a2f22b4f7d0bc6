"""State spaces as numbers, and search results: the types that puzzle rules and searches share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.schema import UNREACHED


class OneWayEdge(NamedTuple):
    """Two nodes, with the number of edges from the one to the other, and of those back."""

    source: int
    target: int
    there: int
    back: int


class Graph(NamedTuple):
    """A state space in the form that a search needs (compressed sparse rows), of any puzzle.

    The edges of node v are `targets[offsets[v]:offsets[v+1]]`, with their labels, sorted by
    label. Two lines of play are compared by the high four bits of all their labels first; if
    those are equal, by the low four bits.
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
        there, back = sources * nodes + self.targets, self.targets * nodes + sources
        for pairs in (there, back):
            pairs.sort()
        # the lowest pair that stands more often in one of the two than in the other
        for at in np.flatnonzero(there != back)[:1]:
            pair = min(there[at], back[at])
            edges = int(np.count_nonzero(there == pair)), int(np.count_nonzero(back == pair))
            one, other = divmod(int(pair), int(nodes))
            source, target = (one, other) if edges[0] > edges[1] else (other, one)
            return OneWayEdge(source, target, max(edges), min(edges))
        return None


class SearchResult(NamedTuple):
    """The result of a breadth-first search, with one value for each node."""

    depth: npt.NDArray[np.uint8]
    """Fewest edges from the root; `UNREACHED` if it is unreachable."""
    ways: npt.NDArray[np.uint64]
    """Number of different shortest lines."""
    parent: npt.NDArray[np.int32]
    """The last node but one of the smallest shortest line, -1 where there is none."""
    label: npt.NDArray[np.uint8]
    """The last label of that line, 0 where there is none."""
    order: npt.NDArray[np.int32]
    """The nodes in the order in which they are reached, each layer sorted by its smallest lines."""


def find_nearest(
    results: Mapping[str, SearchResult],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.uint64]]:
    """Return each state's distance, the search that reached it, and its number of solutions.

    The search is given by its position in `results`; only shortest solutions are counted.
    """
    depths = np.stack([result.depth for result in results.values()])
    if np.any(np.count_nonzero(depths != UNREACHED, axis=0) > 1):
        raise SearchError(f"A state reaches more than one of the goals {', '.join(results)}.")
    goal = np.argmin(depths, axis=0).astype(np.uint8)
    ways = np.stack([result.ways for result in results.values()])
    return depths.min(axis=0), goal, np.take_along_axis(ways, goal[None, :], axis=0)[0]
