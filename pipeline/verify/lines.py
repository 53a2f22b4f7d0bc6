"""All shortest lines from a root, a step at a time: how many there are, and the smallest of them.

Of two lines with as many steps the smaller is the one whose labels' high four bits come first in
dictionary order, or whose low four bits do where the high ones are the same.
"""

from __future__ import annotations

import numpy as np

from pipeline.verify.claims import Array


class Lines:
    """`ways`: how many shortest lines end at a node. Of the smallest: its last node but one and its
    last label.
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
