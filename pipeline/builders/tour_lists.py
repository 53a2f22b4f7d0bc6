"""Builders of lists of tours: all tours of a board, or one for each pair of squares.

Of all tours, there is one task for each prefix: the first squares of a tour, a single square on
boards with few tours. Of tours by their two ends, there is one task for each start.
"""

from __future__ import annotations

import numpy as np

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.jit import Array
from puzzle_tablebase.pipeline.search.tour_listing import (
    find_paths,
    iter_paths,
    make_neighbour_sets,
)
from puzzle_tablebase.pipeline.tasks import (
    Chunks,
    TableData,
    Tasks,
    make_no_records,
)
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import AllTours, TourPerPair
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.checkpoints import Arrays

MAX_UNDIVIDED_SQUARES = 36
"""Squares of the largest boards with one task for each start."""
PREFIX_SQUARES = 3
"""Squares of a prefix on larger boards: the tours of a task then take less than 50 MB."""


def make_search_board(board: KnightBoard) -> tuple[Array, Array]:
    """Return for each square the set of squares a jump away, as 64 bits, and the colour."""
    sets = make_neighbour_sets([board.list_neighbours(square) for square in range(board.squares)])
    return sets, np.array(
        [board.is_light(square) for square in range(board.squares)], dtype=np.uint8
    )


def make_tour_columns(
    board: KnightBoard, start: int, first: int, finish: Array, closed: Array, paths: Array
) -> dict[str, Array]:
    """Return the columns of tours from one start, numbered from `first`.

    `paths` has one row of letters for each tour.
    """
    enum_places = np.array(board.find_enum_places(), dtype=np.uint8)
    return {
        "board": np.full(len(finish), str(board).encode()),
        "start": np.full(len(finish), enum_places[start]),
        "finish": enum_places[finish],
        "number": np.arange(first, first + len(finish)),
        "closed": closed,
        "path": paths.view(f"S{2 * board.squares}").ravel(),
    }


def make_every_tour(recipe: AllTours, puzzle: Puzzle, table: Table, tasks: Tasks) -> TableData:
    """Return the rows of a board's tours, in ascending order; there is no index."""
    return TableData(_iter_every_tour(recipe.board, tasks), make_no_records(), 0)


def _iter_every_tour(board: KnightBoard, runner: Tasks) -> Chunks:
    prefixes = list_prefixes(board, 1 if board.squares <= MAX_UNDIVIDED_SQUARES else PREFIX_SQUARES)
    tours, first, start = 0, 0, -1
    runner.report("0 tours found, prefixes", 0, len(prefixes))
    results = runner.run(
        list_tours_from, ((board.files, board.ranks, *prefix) for prefix in prefixes)
    )
    for done, (prefix, arrays) in enumerate(zip(prefixes, results, strict=True), 1):
        if prefix[0] != start:
            start, first = prefix[0], tours
        for text, finish, closed in zip(arrays[::3], arrays[1::3], arrays[2::3], strict=True):
            yield make_tour_columns(board, start, tours - first, finish, closed, text)
            tours += len(finish)
        runner.report(f"{tours:,} tours found, prefixes", done, len(prefixes))


def list_tours_from(files: int, ranks: int, *prefix: int) -> Arrays:
    """Find all tours with a prefix: for each chunk the texts, the ends, and whether they close."""
    board = KnightBoard(files, ranks)
    chunks = iter_paths(*make_search_board(board), _list_names(board), *prefix)
    return [array for chunk in chunks for array in chunk]


def list_prefixes(board: KnightBoard, length: int) -> list[tuple[int, ...]]:
    """Return all paths of `length` squares that begin where a tour can begin, ascending."""
    odd = board.squares % 2
    paths: list[tuple[int, ...]] = [
        (square,) for square in range(board.squares) if not (odd and board.is_light(square))
    ]
    for _ in range(length - 1):
        paths = [
            (*path, square)
            for path in paths
            for square in board.list_neighbours(path[-1])
            if square not in path
        ]
    return paths


def _list_names(board: KnightBoard) -> Array:
    """Return the names of a board's squares as bytes, a row each."""
    return np.array([list(name.encode()) for name in board.name_squares()], np.uint8)


def find_tours_to_each(files: int, ranks: int, start: int) -> Arrays:
    """Find a tour from a start to each possible end, in the order of the ends.

    A tour is a row of squares.
    """
    board = KnightBoard(files, ranks)
    neighbours = [board.list_neighbours(square) for square in range(board.squares)]
    width = max(map(len, neighbours))
    padded = np.array([row + [-1] * (width - len(row)) for row in neighbours], dtype=np.int64)
    ends = [end for end in range(board.squares) if start != end and board.can_join(start, end)]
    pairs = np.array([(start, end) for end in ends], dtype=np.int64).reshape(-1, 2)
    tours = find_paths(padded, pairs)
    for end, tour in zip(ends, tours, strict=True):
        if tour[0] != start or tour[-1] != end:
            pair = f"{board.name_square(start)} to {board.name_square(end)}"
            raise SearchError(f"No tour of {board} from {pair} was found.")
    return [tours]


def make_tour_per_pair(
    recipe: TourPerPair, puzzle: Puzzle, table: Table, tasks: Tasks
) -> TableData:
    """Return the rows and the records of a board's tours, one for each pair.

    The tours stay in memory, because the records are written after all rows.
    """
    board, tours_by_start = recipe.board, list[Array]()
    pairs = 2 * sum(board.can_join(a, b) for a in range(board.squares) for b in range(a))
    rows = _iter_pairs(board, tasks, pairs, tours_by_start)
    return TableData(rows, _iter_records(board, tours_by_start), pairs)


def _iter_pairs(
    board: KnightBoard, runner: Tasks, pairs: int, tours_by_start: list[Array]
) -> Chunks:
    starts = ((board.files, board.ranks, start) for start in range(board.squares))
    names = np.array([name.encode() for name in board.name_squares()])
    done = 0
    runner.report("pairs", 0, pairs)
    for start, (tours,) in enumerate(runner.run(find_tours_to_each, starts)):
        tours_by_start.append(tours)
        finish = tours[:, -1]
        done += len(tours)
        closed = np.isin(finish, board.list_neighbours(start))
        yield make_tour_columns(board, start, 0, finish, closed, names[tours])
        runner.report("pairs", done, pairs)


def _iter_records(board: KnightBoard, tours_by_start: list[Array]) -> Chunks:
    for tours in tours_by_start:
        yield {"squares": tours.view(f"S{board.squares}").ravel()}
