"""One tour for each pair of squares that a tour can join: a part for each start."""

from __future__ import annotations

import numpy as np

from pipeline.builders.tour_columns import Array, columns
from pipeline.search.path_per_pair import paths_between
from pipeline.tasks import Made, Stretches, Work
from tablebase.errors import SearchError
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight.board import Board
from tablebase.puzzles.knight.definition import TourPerPair
from tablebase.tables.checkpoints import Arrays


def tours_to_each(files: int, ranks: int, start: int) -> Arrays:
    """A start's tours in the order of their ends, a row of squares each."""
    board = Board(files, ranks)
    near = [board.neighbours(square) for square in range(board.squares)]
    most = max(map(len, near))
    filled = np.array([row + [-1] * (most - len(row)) for row in near], dtype=np.int64)
    ends = [end for end in range(board.squares) if start != end and board.can_join(start, end)]
    pairs = np.array([(start, end) for end in ends], dtype=np.int64).reshape(-1, 2)
    tours = paths_between(filled, pairs)
    for end, tour in zip(ends, tours, strict=True):
        if tour[0] != start or tour[-1] != end:
            pair = f"{board.name(start)} to {board.name(end)}"
            raise SearchError(f"No tour of {board} from {pair} was found.")
    return [tours]


def make(recipe: TourPerPair, puzzle: Puzzle, table: Table, work: Work) -> Made:
    """The tours are kept at hand: the index is begun when the rows are ended."""
    board, found = recipe.board, list[Array]()
    pairs = 2 * sum(board.can_join(a, b) for a in range(board.squares) for b in range(a))
    return _rows(board, work, pairs, found), _records(board, found), pairs


def _rows(board: Board, work: Work, pairs: int, found: list[Array]) -> Stretches:
    starts = ((board.files, board.ranks, start) for start in range(board.squares))
    names = np.array([name.encode() for name in board.names()])
    done = 0
    work.told("pairs", 0, pairs)
    for start, (tours,) in enumerate(work.each(tours_to_each, starts)):
        found.append(tours)
        finish = tours[:, -1]
        done += len(tours)
        closed = np.isin(finish, board.neighbours(start))
        yield columns(board, start, 0, finish, closed, names[tours])
        work.told("pairs", done, pairs)


def _records(board: Board, found: list[Array]) -> Stretches:
    for tours in found:
        yield {"squares": tours.view(f"S{board.squares}").ravel()}
