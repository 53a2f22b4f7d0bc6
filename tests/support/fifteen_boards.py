"""Partitions of small boards for tests of pattern searches, and solvers made from them."""

import functools
import itertools

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.pipeline.builders.pattern_table import make_moves
from puzzle_tablebase.pipeline.search.pattern_search import search_pattern
from puzzle_tablebase.pipeline.tasks import run_in_threads
from puzzle_tablebase.puzzles.fifteen import Partition, Pattern
from puzzle_tablebase.queries.fifteen_compiled import BUDGET, CompiledSolver, make_tables
from puzzle_tablebase.queries.fifteen_search import PatternReader, PlainSolver, SearchState
from puzzle_tablebase.tables.index_format import BODY_BYTES

SMALL = {
    "2x3": Partition(2, 3, "1 2", "3 4 5"),
    "3x3": Partition(3, 3, "1 2 3 5", "4 6 7 8"),
    "3x3 alone": Partition(3, 3, "1", "2 3 4 5 6", "7 8"),
    "3x4": Partition(3, 4, "1 2 3 5 6", "4 7 8", "9 10 11"),
}


def search_depths(pattern: Pattern, threads: int = 1) -> npt.NDArray[np.uint8]:
    """Return a pattern's distances by rank."""
    moves = make_moves(pattern)
    arrays = moves.moves, moves.sources, moves.maps, moves.order_maps
    depth = search_pattern(
        moves.places, arrays, moves.root, threads, lambda level: None, run_in_threads
    )
    return np.ascontiguousarray(depth.T).ravel()


@functools.cache
def make_solvers(name: str, budget: int = BUDGET) -> tuple[PlainSolver, CompiledSolver]:
    """Return both solvers of a small board."""
    patterns = SMALL[name].patterns
    data = [search_depths(pattern).tobytes() for pattern in patterns]

    def read_block(content: bytes, number: int) -> bytes:
        return content[number * BODY_BYTES : (number + 1) * BODY_BYTES]

    plain = PlainSolver(
        [
            PatternReader(pattern, functools.partial(read_block, content))
            for pattern, content in zip(patterns, data, strict=True)
        ]
    )
    tables = make_tables(patterns, [[content] for content in data])
    compiled = CompiledSolver(patterns, tables)
    compiled.budget = budget
    return plain, compiled


def make_state() -> SearchState:
    """Return the state of a search that begins, and that nothing pauses."""
    return SearchState(0, lambda: None)


def require_path(board: list[int], width: int, path: list[int]) -> None:
    """Require that a path of the blank solves a board."""
    board = board[:]
    assert board[path[0]] == 0
    for cell, other in itertools.pairwise(path):
        (row, column), (other_row, other_column) = divmod(cell, width), divmod(other, width)
        assert abs(row - other_row) + abs(column - other_column) == 1
        board[cell], board[other] = board[other], 0
    assert board == [*range(1, len(board)), 0]
