"""A state space as numbers alone, and what a search finds in it: what rules and search share."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    import numpy as np
    import numpy.typing as npt

UNREACHED = 255
"""The depth of a node that the search never reached; real depths stay below it."""


class Graph:
    """A state space in the form that a search wants, knowing no puzzle (compressed sparse rows).

    The edges of node v are `targets[offsets[v]:offsets[v+1]]`, with their labels, sorted by
    label. A label's high four bits say what is compared first between two lines of play, its
    low four bits what is compared when those are equal all along.
    """

    __slots__ = ("labels", "offsets", "targets")

    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        targets: npt.NDArray[np.int32],
        labels: npt.NDArray[np.uint8],
    ) -> None:
        self.offsets = offsets
        self.targets = targets
        self.labels = labels

    @classmethod
    def from_moves(
        cls, nodes: int, moves: Sequence[tuple[int, npt.NDArray[Any], npt.NDArray[Any]]]
    ) -> Graph:
        """From one (label, sources, targets) for each kind of move, in ascending label order.

        A kind may lead from a source to several targets.
        """
        import numpy as np

        moves = [part for kind in moves for part in _split_by_source(*kind)]
        degree = np.zeros(nodes, dtype=np.int64)
        for _, sources, _ in moves:
            degree[sources] += 1
        offsets = np.concatenate([[0], np.cumsum(degree)])
        targets = np.empty(offsets[-1], dtype=np.int32)
        labels = np.empty(offsets[-1], dtype=np.uint8)
        free = offsets[:-1].copy()
        for label, sources, reached in moves:
            at = free[sources]
            targets[at] = reached
            labels[at] = label
            free[sources] += 1
        return cls(offsets, targets, labels)


def _split_by_source(
    label: int, sources: npt.NDArray[Any], targets: npt.NDArray[Any]
) -> Iterator[tuple[int, npt.NDArray[Any], npt.NDArray[Any]]]:
    """A kind of move in parts: numpy adds to an element but once where it is named twice."""
    import numpy as np

    while len(sources):
        first = np.zeros(sources.max() + 1, dtype=np.int64)
        at = np.arange(len(sources))
        first[sources[::-1]] = at[::-1]
        is_first = first[sources] == at
        yield label, sources[is_first], targets[is_first]
        sources, targets = sources[~is_first], targets[~is_first]


class SearchResult:
    """What a breadth-first search found, one value a node.

    `depth`: fewest edges from the root, `UNREACHED` if none lead there. `ways`: number of
    different shortest lines. `parent`, `label`: the last node but one, and the last label, of
    the smallest shortest line (-1 and 0 where there is none). `order`: the nodes as reached, each
    layer by its smallest lines.
    """

    __slots__ = ("depth", "label", "order", "parent", "ways")

    def __init__(
        self,
        depth: npt.NDArray[np.uint8],
        ways: npt.NDArray[np.uint64],
        parent: npt.NDArray[np.int32],
        label: npt.NDArray[np.uint8],
        order: npt.NDArray[np.int32],
    ) -> None:
        self.depth = depth
        self.ways = ways
        self.parent = parent
        self.label = label
        self.order = order


class BlockMove:
    """A move from the states of one block to those of another.

    It leads all of a row to the row that `rows` has for it, each state to the place that it had.
    """

    __slots__ = ("rows", "source", "target")

    def __init__(self, source: int, target: int, rows: npt.NDArray[np.uint32]) -> None:
        self.source = source
        self.target = target
        self.rows = rows

    def list_tables(self) -> list[npt.NDArray[Any]]:
        return [self.rows]


class ForkedMove(BlockMove):
    """A move that leads a row's states to several rows.

    A state's place chooses one of its row's forks: `forks[kind, place]`. The fork has the row that
    the state comes to, `rows[row, fork]`, and the way it comes in, `entries[row, fork]`, by which
    `places[kind, entry, place]` is its place there. A row's kind is its own, exclusive-or its
    block's.
    """

    __slots__ = ("entries", "forks", "places")

    def __init__(
        self,
        source: int,
        target: int,
        rows: npt.NDArray[np.uint32],
        forks: npt.NDArray[np.uint8],
        entries: npt.NDArray[np.uint8],
        places: npt.NDArray[np.uint16],
    ) -> None:
        super().__init__(source, target, rows)
        self.forks = forks
        self.entries = entries
        self.places = places

    def list_tables(self) -> list[npt.NDArray[Any]]:
        return [self.rows, self.forks, self.entries, self.places]


class Blocks:
    """A state space as blocks of rows of places: rank = (block * rows + row) * places + place.

    A move and the one that undoes it follow each other in `moves`; every move changes the block's
    `side`, 0 or 1. A forked move stays in a stretch: so many rows on end.
    """

    __slots__ = ("block_kinds", "moves", "places", "root", "row_kinds", "rows_per_prefix", "sides")

    def __init__(
        self,
        root: int,
        places: int,
        rows_per_prefix: int,
        sides: npt.NDArray[np.uint8],
        block_kinds: npt.NDArray[np.uint8],
        row_kinds: npt.NDArray[np.uint8],
        moves: Sequence[tuple[BlockMove, BlockMove]],
    ) -> None:
        self.root = root
        self.places = places
        self.rows_per_prefix = rows_per_prefix
        self.sides = sides
        self.block_kinds = block_kinds
        self.row_kinds = row_kinds
        self.moves = moves


def find_nearest(
    results: Mapping[str, SearchResult],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.uint64]]:
    """For every state its distance, which of the walks reached it, and its shortest solutions."""
    import numpy as np

    from tablebase.errors import SearchError

    depths = np.stack([walk.depth for walk in results.values()])
    if np.any(np.count_nonzero(depths != UNREACHED, axis=0) > 1):
        raise SearchError(f"A state reaches more than one of the layouts {', '.join(results)}.")
    goal = np.argmin(depths, axis=0).astype(np.uint8)
    ways = np.stack([walk.ways for walk in results.values()])
    return depths.min(axis=0), goal, np.take_along_axis(ways, goal[None, :], axis=0)[0]
