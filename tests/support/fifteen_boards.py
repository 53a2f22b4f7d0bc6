"""Partitions of small boards for tests of pattern searches, with a solver and a plain search."""

import functools
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.index import BODY_BYTES
from puzzle_tablebase.pipeline.recipes.patterns import make_moves, search_pattern
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.fifteen import Pattern, list_images, list_neighbours, make_partition
from puzzle_tablebase.queries.fifteen_search import NODES_PER_CALL, Solver

SMALL = {
    "2x3": make_partition(2, 3, "1 2", "3 4 5"),
    "3x3": make_partition(3, 3, "1 2 3 5", "4 6 7 8"),
    "3x3 alone": make_partition(3, 3, "1", "2 3 4 5 6", "7 8"),
    "3x4": make_partition(3, 4, "1 2 3 5 6", "4 7 8", "9 10 11"),
}


def search_depths(pattern: Pattern, threads: int = 1) -> npt.NDArray[np.uint8]:
    """Return a pattern's distances by rank."""
    with ThreadPoolExecutor(threads) as pool:
        depth = search_pattern(make_moves(pattern), Tasks(Workers(pool, threads)))
    return np.ascontiguousarray(depth.T).ravel()


class Records:
    """The records of a pattern, as the solver reads those of an index."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reads = 0
        """The number of times that blocks were read."""

    def read_blocks(self, first: int, count: int) -> bytes:
        self.reads += 1
        return self.data[first * BODY_BYTES :][: count * BODY_BYTES]


@functools.cache
def make_records(name: str) -> tuple[Records, ...]:
    """Return the records of a small board's patterns."""
    return tuple(Records(search_depths(pattern).tobytes()) for pattern in SMALL[name])


def make_solver(name: str, nodes_per_call: int = NODES_PER_CALL) -> Solver:
    """Return a new solver of a small board."""
    indexes: Any = make_records(name)
    solver = Solver(SMALL[name], indexes)
    solver.nodes_per_call = nodes_per_call
    return solver


class PlainSearch:
    """The same search as the program's in plain Python, with each heuristic computed anew.

    After `search`, `limit` is the length of the solution, and `nodes_expanded` nodes were expanded.
    """

    def __init__(self, name: str) -> None:
        self._patterns, self._records = SMALL[name], make_records(name)
        self._height, self._width = map(int, name.split()[0].split("x"))
        self._steps = list_neighbours(self._height, self._width)
        self.limit = self.nodes_expanded = 0

    def compute_heuristics(self, board: list[int]) -> list[int]:
        """Return the sums of the distances on the board and on its mirror image."""
        return [
            sum(
                records.data[pattern.rank(pattern.find_cells(image, board))]
                for pattern, records in zip(self._patterns, self._records, strict=True)
            )
            for image in list_images(self._height, self._width)
        ]

    def search(self, board: list[int]) -> list[int]:
        """Return the cells of the blank on a shortest solution, the first one included."""
        heuristics, path = self.compute_heuristics(board), [board.index(0)]
        self.limit, self.nodes_expanded = max(heuristics), 0
        while heuristics[0]:
            self._seen = dict[int, tuple[list[int], int]]()
            if self._visit(board[:], path):
                break
            self.limit += 2
        return path

    def _visit(self, board: list[int], path: list[int]) -> bool:
        """Return whether a node has a solution within the limit, and append it to `path`."""
        self.nodes_expanded += 1
        blank, room = path[-1], self.limit - len(path)
        children = []
        for at, cell in enumerate(each for each in self._steps[blank] if each not in path[-2:-1]):
            child = board[:]
            child[blank], child[cell] = child[cell], 0
            heuristics = self.compute_heuristics(child)
            if max(heuristics) > room + 2:  # the node itself is farther than its heuristic says
                return False
            if max(heuristics) <= room:
                children.append((sum(heuristics), at, cell, child, heuristics[0]))
        for _, _, cell, child, first in sorted(children):
            if first and self._has_searched(child, room):
                continue
            path.append(cell)
            if first == 0 or self._visit(child, path):
                return True
            path.pop()
        return False

    def _has_searched(self, board: list[int], room: int) -> bool:
        """Return whether a position was searched with as much room for moves, and remember it."""
        key = sum(tile << 4 * cell for cell, tile in enumerate(board[:15]))
        slot = (key ^ key >> 15 ^ key >> 29 ^ key >> 43) % (1 << 14)
        seen, seen_room = self._seen.get(slot, ([], 0))
        if seen == board and seen_room >= room:
            return True
        self._seen[slot] = board, room
        return False


def require_path(board: list[int], width: int, path: list[int]) -> None:
    """Require that a path of the blank solves a board."""
    board = board[:]
    assert board[path[0]] == 0
    for cell, other in itertools.pairwise(path):
        (row, column), (other_row, other_column) = divmod(cell, width), divmod(other, width)
        assert abs(row - other_row) + abs(column - other_column) == 1
        board[cell], board[other] = board[other], 0
    assert board == [*range(1, len(board)), 0]
