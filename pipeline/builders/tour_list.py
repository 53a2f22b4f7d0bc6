"""Every tour of a board: a part for each opening, of one square where few begin with it."""

from __future__ import annotations

from typing import cast

import numpy as np

from pipeline.builders.tour_columns import Array, columns, graph
from pipeline.search.hamiltonian_paths import paths_from
from pipeline.search.path_estimate import sampled
from pipeline.tasks import Made, Parts, Probe, Stretches, Work, in_threads, no_records
from tablebase.puzzle import Puzzle, Table
from tablebase.puzzles.knight.board import Board
from tablebase.puzzles.knight.definition import AllTours
from tablebase.tables.checkpoints import Arrays

RUNS = 16
"""Estimates of one list: how they differ is what the error is told from."""


def tours_from(files: int, ranks: int, start: int) -> Arrays:
    """All tours of a start: their texts, ends, and whether they close, so many at a time."""
    return [
        array for found in paths_from(*_searched(Board(files, ranks)), start) for array in found
    ]


def rows_from(files: int, ranks: int, *opening: int) -> Stretches:
    """All tours with an opening as the columns of a file, in which they are numbered from 0."""
    board, tours = Board(files, ranks), 0
    for text, finish, closed in paths_from(*_searched(board), *opening):
        yield columns(board, opening[0], tours, finish, closed, text)
        tours += len(finish)


def parts(recipe: AllTours) -> Parts:
    """A part for each opening, in the order of the tours."""
    board = recipe.board
    sides = board.files, board.ranks
    if recipe.in_files:
        return Parts(rows_from, [(*sides, *path) for path in openings(board, recipe.opening)])
    starts = [(*sides, start) for start in range(board.squares)]
    return Parts(tours_from, starts, lambda found: sum(map(len, found[1::3])))


def openings(board: Board, length: int) -> list[tuple[int, ...]]:
    """The beginnings of paths, of so many squares, from where a tour can begin; ascending."""
    odd = board.squares % 2
    found: list[tuple[int, ...]] = [
        (at,) for at in range(board.squares) if not (odd and board.light(at))
    ]
    for _ in range(length - 1):
        found = [
            (*path, at) for path in found for at in board.neighbours(path[-1]) if at not in path
        ]
    return found


def probe(table: Table, work: Work, items: list[tuple[int, ...]] | None) -> Probe:
    """What these parts will take, or all."""
    recipe = cast(AllTours, table.recipe)
    if items is None:
        items = parts(recipe).items
    asked = (*graph(recipe.board), [item[2:] for item in items])
    first = sampled(*asked, 0)
    more = range(1, 1 if first.exact else RUNS)
    found = [first, *in_threads(sampled, ((*asked, seed) for seed in more))]
    half = len(items) // 2
    some = (rows for item in (*items[half:], *items[:half]) for rows in rows_from(*item))
    return Probe(len(items), [of.paths for of in found], [of.seconds for of in found], 0, some)


def make(recipe: AllTours, puzzle: Puzzle, table: Table, work: Work) -> Made:
    return _rows(recipe, work), no_records(), 0


def _rows(recipe: AllTours, work: Work) -> Stretches:
    board, (part, starts, _) = recipe.board, parts(recipe)
    tours = 0
    work.told("0 tours found, starts", 0, board.squares)
    for start, found in enumerate(work.each(part, starts)):
        before = tours
        for text, finish, closed in zip(found[::3], found[1::3], found[2::3], strict=True):
            yield columns(board, start, tours - before, finish, closed, text)
            tours += len(finish)
        work.told(f"{tours:,} tours found, starts", start + 1, board.squares)


def _searched(board: Board) -> tuple[Array, Array, Array]:
    """The board as the search takes it, and the squares' names."""
    return *graph(board), np.array([list(name.encode()) for name in board.names()], np.uint8)
