"""Columns of states of a dense board: distances, best moves and solutions, many at a time.

A dense board has a row for each order of its marks in memory. A state is a column of tiles.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.errors import BadRequest
from puzzle_tablebase.notation.sliding import CHARACTERS, LETTERS, MOVE_SETS
from puzzle_tablebase.puzzles.board_arrays import (
    iter_moves,
    list_boards,
    make_numbering,
    write_states,
)
from puzzle_tablebase.puzzles.sliding import SlidingBoard
from puzzle_tablebase.queries.answer_frames import (
    BETWEEN_CELLS,
    Bytes,
    can_hold_keys,
    join_cells,
    list_marks,
    read_key_column,
)
from puzzle_tablebase.resources import count_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from puzzle_tablebase.errors import TableDamaged
    from puzzle_tablebase.puzzles.sliding import SymmetryView

CHUNK_ROWS = 1 << 15
"""Rows that are numbered at a time: few enough to stay in a core's cache."""
MAX_DIGITS = 10
"""Cells of a board whose states can be written as numbers."""
NO_TILE = 31
"""The number of a character that is not a tile."""
TILES = np.full(256, NO_TILE, dtype=np.uint8)
TILES[np.frombuffer(CHARACTERS.encode(), np.uint8)] = np.arange(len(CHARACTERS))

Distances = npt.NDArray[np.signedinteger]
Numbers = npt.NDArray[np.uint32]
Masks = npt.NDArray[np.bool_]


def run_chunks(work: Callable[[int], object], rows: int, size: int) -> list[Any]:
    """Call a function with the first row of each chunk, on all cores; return the results."""
    with ThreadPoolExecutor(count_cores()) as pool:
        return list(pool.map(work, range(0, rows, size)))


def normalize_keys(keys: pl.Series, cells: int) -> pl.Series:
    """Convert keys that are states to standard notation; other keys become arbitrary texts."""
    lower = keys.str.to_lowercase()
    if (keys.str.len_bytes() == cells).all() and not lower.str.contains(r"[^0-9a-z]").any():
        return lower
    bare = lower.str.replace_all(BETWEEN_CELLS, " ")
    words, marks = bare.str.count_matches("[^ ]+"), bare
    for number in range(10, cells):
        marks = marks.str.replace_all(rf"\b{number}\b", CHARACTERS[number])
    return join_cells(bare.zip_with(words != cells, marks))


def read_tiles(states: pl.Series, cells: int) -> tuple[Bytes, Masks]:
    """Return the tiles of texts as columns, and whether each is a state."""
    tiles = TILES[list_marks(states, cells).T]
    return tiles, _have_all_tiles(tiles)


def read_any_tiles(states: Any, cells: int) -> tuple[Bytes, Masks]:
    """Return the tiles of states as columns, and whether each is a state.

    States are a column of texts, a list of them, or an array of whole numbers.
    """
    if not isinstance(states, pl.Series):
        array = np.asarray(states)
        if array.dtype.kind in "ui" and array.ndim > 1 and prod(array.shape[1:]) == cells:
            # a number that a byte cannot hold must not become a tile
            tiles = np.where((array < 0) | (array >= cells), NO_TILE, array).astype(np.uint8)
            tiles = np.ascontiguousarray(tiles.reshape(-1, cells).T)
            return tiles, _have_all_tiles(tiles)
        states = pl.Series(values=array.tolist() if array.ndim == 1 else [[""]], strict=False)
    digits = cells if cells <= MAX_DIGITS else 0
    if not can_hold_keys(states.dtype, digits):
        problem = f"States are texts or an array of whole numbers, {cells} each"
        raise BadRequest(problem, "Give a column or an array of them")
    return read_tiles(normalize_keys(read_key_column(states, digits), cells), cells)


def _have_all_tiles(tiles: Bytes) -> Masks:
    tile_set = np.bitwise_or.reduce(np.int32(1) << tiles.astype(np.int32), axis=0)
    is_state: Masks = tile_set == (1 << len(tiles)) - 1
    return is_state


class DenseRows:
    """The answers of all permutations of a board's marks for a goal, and one for invalid states.

    They are null where the goal is unreachable. `table` has the rows of the table of `view`;
    `goals` the goal's state by its name there, or all goals if each state has its own.
    """

    def __init__(
        self,
        board: SlidingBoard,
        view: SymmetryView,
        table: pl.DataFrame,
        goals: Mapping[str, str],
        make_error: Callable[[str], TableDamaged],
    ) -> None:
        self._goals, self._make_error = goals, make_error
        self.board, self.size = board, factorial(board.cells)
        self.number_tiles = make_numbering(board.cells)
        names = np.argsort(list_names(view)).astype(np.uint8)
        marks, is_state = read_tiles(table["state"], board.cells)
        if not is_state.all():
            raise make_error("its rows are not all of a state")
        tiles = names[marks]
        at = np.full(self.size + 1, len(table), dtype=np.uint32)
        at[self.number_tiles(tiles[np.argsort(view.cells)])] = np.arange(len(table))
        letters = _find_letters(board, view)
        turned = [{letters[letter] for letter in moves} for moves in MOVE_SETS]
        sets = ["".join(filter(each.__contains__, LETTERS)) for each in turned]
        best = table["best_moves"].replace_strict(MOVE_SETS, sets, return_dtype=pl.String)
        rows = table.drop("state").with_columns(best)
        self.rows = pl.concat([rows, rows.clear(1)])[pl.Series(at)]
        self.distances: Distances = self.rows["distance"].fill_null(-1).to_numpy()

    def find_rows(self, keys: pl.Series) -> tuple[pl.Series, Numbers]:
        """Return each key in the notation of states, and its row."""
        numbers = self._number_texts(keys)
        others = pl.Series(np.flatnonzero(numbers == self.size))
        # fewer characters are no state in any spelling
        odd = others.filter(keys.gather(others).str.len_bytes() >= self.board.cells)
        if len(odd):
            states = normalize_keys(keys.gather(odd), self.board.cells)
            numbers[odd.to_numpy()] = self._number_texts(states)
            keys = keys.clone().scatter(odd, states)
        return keys, numbers

    def _number_texts(self, states: pl.Series) -> Numbers:
        marks = list_marks(states, self.board.cells)
        numbers = np.empty(len(marks), dtype=np.uint32)

        def number_chunk(at: int) -> None:
            digits = np.array(marks[at : at + CHUNK_ROWS].T, order="C")
            digits -= np.uint8(ord("0"))
            numbers[at : at + CHUNK_ROWS] = self.number_tiles(digits)

        run_chunks(number_chunk, len(marks), CHUNK_ROWS)
        return numbers

    def measure(self, tiles: Bytes) -> Distances:
        """Return the distance of each column of tiles; -1 where the goal is unreachable."""
        return self.distances[self.number_tiles(np.array(tiles, order="C"))]

    def number_any(self, states: Any) -> Numbers:
        """Return the row of each state of a column, of texts, or of an array of whole numbers."""
        cells = self.board.cells
        if not isinstance(states, pl.Series):
            array = np.asarray(states)
            if array.dtype.kind in "ui" and prod(array.shape[1:]) == cells:
                # a number that a byte cannot hold must not become a tile
                tiles = np.where((array < 0) | (array > cells), NO_TILE, array).astype(np.uint8)
                return self.number_tiles(np.array(tiles.reshape(-1, cells).T, order="C"))
            states = pl.Series(values=array.tolist() if array.ndim == 1 else [[""]], strict=False)
        if not can_hold_keys(states.dtype, cells):
            problem = f"States are texts or an array of whole numbers, {cells} each"
            raise BadRequest(problem, "Give a column or an array of them")
        return self.find_rows(read_key_column(states, cells))[1]

    @cached_property
    def states(self) -> pl.Series:
        """The state of each row."""
        texts = pl.Series("state", write_states(list_boards(self.board.cells)))
        return texts.cast(pl.String).extend_constant(None, 1)

    @cached_property
    def boards(self) -> Bytes:
        """The tiles of each row's state; 255 for invalid states."""
        boards = list_boards(self.board.cells).T
        return np.append(boards, np.full((1, self.board.cells), 255, np.uint8), axis=0)

    @cached_property
    def successors(self) -> Numbers:
        """For each letter, the row that each row's move leads to; `size` if it is illegal."""
        successors = np.full((len(LETTERS), self.size + 1), self.size, dtype=np.uint32)
        for at, sources, targets in iter_moves(self.board, list_boards(self.board.cells)):
            successors[at, sources] = targets
        return successors

    @cached_property
    def _first_steps(self) -> pl.DataFrame:
        """The letter of each row's first best move, and where it leads; null at the goal."""
        letters = self.rows["best_moves"].str.head(1).replace("", None)
        nexts = pl.DataFrame(self.successors.T, LETTERS)
        return nexts.select(
            letter=letters, row=pl.coalesce(pl.when(letters == at).then(at) for at in LETTERS)
        )

    def find_solutions(self, numbers: Numbers) -> pl.DataFrame:
        """Find the first shortest solution of the states with these rows, and its path."""
        chunks = range(0, max(1, len(numbers)), CHUNK_ROWS)
        return pl.concat([self._find_paths(numbers[at : at + CHUNK_ROWS]) for at in chunks])

    def _find_paths(self, numbers: Numbers) -> pl.DataFrame:
        depths, here = self.distances[numbers], pl.Series(numbers)
        letters, states = [pl.repeat("", len(here), eager=True)], [self.states.gather(here)]
        for _ in range(depths.max(initial=0)):
            letter, here = self._first_steps[here]
            letters.append(letter)
            states.append(self.states.gather(here))
        solution = pl.concat_str(letters, ignore_nulls=True).alias("solution")
        path = pl.concat_str(states, separator=" ", ignore_nulls=True).alias("path")
        found = pl.select(pl.when(pl.Series(depths >= 0)).then(each) for each in (solution, path))
        self._require_solved(found["path"], numbers)
        return found

    def _require_solved(self, paths: pl.Series, numbers: Numbers) -> None:
        """Raise the error of `Prober.walk` if a path is not a solution of the row with its number.

        Illegal moves lead to no state, so it is enough that the path leads to the goal.
        """
        cells, rows = self.board.cells, self.rows[pl.Series(numbers)]
        goals = rows["goal"].cast(pl.String)
        ends = goals.replace_strict(self._goals, default=None, return_dtype=pl.String)
        lengths = rows["distance"].cast(pl.Int64) * (cells + 1) + cells
        is_solved = (paths.str.tail(cells) == ends) & (paths.str.len_bytes() == lengths)
        if not (is_solved.fill_null(value=False) | rows["distance"].is_null()).all():
            raise self._make_error("not every solution in its rows leads to the goal")


def list_names(view: SymmetryView) -> Bytes:
    """List each tile's name in a view's table, the blank's first."""
    marks = CHARACTERS[: len(view.cells)]
    names = dict(zip(view.cells, view.map_state(marks), strict=True))
    return np.array([CHARACTERS.index(names[tile]) for tile in range(len(marks))], np.uint8)


def _find_letters(board: SlidingBoard, view: SymmetryView) -> dict[str, str]:
    """Return the letter on the board of each letter of the moves in a view's table."""
    letters = dict[str, str]()
    for cell, own in enumerate(view.cells):
        exits = {to: letter for letter, to in board.list_exits(own)}
        letters |= {letter: exits[view.cells[to]] for letter, to in board.wide.list_exits(cell)}
    return letters
