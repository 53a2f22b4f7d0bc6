"""Columns of states of a board: their distances, best moves and solutions, many at a time.

A dense board has a row for each state in memory, by its rank in a table. A board in bits has one
bit of each distance, and walks to the goal count the moves. A state is a column of tiles.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.frontier.word_bfs import iter_word_records, search_words
from puzzle_tablebase.puzzle import GoalPuzzle, View
from puzzle_tablebase.puzzles.eight import to_number
from puzzle_tablebase.puzzles.sliding import CHARACTERS, LETTERS, MOVE_SETS, SlidingBoard
from puzzle_tablebase.queries.answer_frames import (
    BETWEEN_CELLS,
    Bytes,
    can_hold_keys,
    join_cells,
    read_key_column,
    view_texts,
)
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.schema import UNREACHED

if TYPE_CHECKING:
    from collections.abc import Callable

    from puzzle_tablebase.puzzles.sliding import BoardGoalView

CHUNK_ROWS = 1 << 15
"""Rows ranked at a time: few enough to stay in a core's cache."""
WALKED_ROWS = 1 << 14
"""Rows of a board in bits looked up at a time."""
NO_TILE = 31
"""The number that stands for a character that is not a tile."""
TILES = np.full(256, NO_TILE, dtype=np.uint8)
TILES[np.frombuffer(CHARACTERS.encode(), np.uint8)] = np.arange(len(CHARACTERS))
NO_MARK = 255
"""The number on every cell of what is no state."""
MARKS = np.frombuffer(CHARACTERS.encode(), np.uint8)

Distances = npt.NDArray[np.signedinteger]
RowNumbers = npt.NDArray[np.uint32]
Masks = npt.NDArray[np.bool_]


def run_chunks(work: Callable[[int], object], rows: int, size: int) -> list[Any]:
    """Call a function with the first row of each chunk, on all cores; return the results."""
    with ThreadPoolExecutor(count_cores()) as pool:
        return list(pool.map(work, range(0, rows, size)))


def normalize_keys(keys: pl.Series, cells: int) -> pl.Series:
    """Bring keys that are states to the notation that a board's `parse` returns.

    Other keys become any text that is not a state, and so do those with an empty field for a blank.
    """
    lower = keys.str.to_lowercase()
    if (keys.str.len_bytes() == cells).all() and not lower.str.contains(r"[^0-9a-z]").any():
        return lower
    bare = lower.str.replace_all(BETWEEN_CELLS, " ")
    words = bare.str.count_matches("[^ ]+")
    marks = bare.str.replace_all(r"\b10\b", "a").str.replace_all(r"\b11\b", "b")
    return join_cells(bare.zip_with(words != cells, marks))


def read_tiles(states: pl.Series, cells: int) -> tuple[Bytes, Masks]:
    """Return the tiles of texts as columns, and whether each is a state."""
    return _read_views(view_texts(states), cells)


def _read_views(texts: Bytes, cells: int) -> tuple[Bytes, Masks]:
    tiles = TILES[texts[:, 4 : 4 + cells].T]
    tile_set = np.bitwise_or.reduce(np.int32(1) << tiles.astype(np.int32), axis=0)
    return tiles, (_get_lengths(texts) == cells) & (tile_set == (1 << cells) - 1)


def _get_lengths(texts: Bytes) -> npt.NDArray[np.uint32]:
    lengths: npt.NDArray[np.uint32] = texts[:, :4].copy().view("<u4")[:, 0]
    return lengths


def find_view_cells(view: View, cells: int) -> list[int]:
    """Return, for each cell of a view's table, the cell of the board whose tile it gets."""
    return list(getattr(view, "cells", range(cells)))


def find_view_names(view: View, cells: int) -> Bytes:
    """Return the name in a view's table of each tile of the board."""
    order, marks = find_view_cells(view, cells), CHARACTERS[:cells]
    mapped = view.map_state(marks)
    names = np.zeros(cells, dtype=np.uint8)
    names[order] = [CHARACTERS.index(mark) for mark in mapped]
    return names


@dataclass(frozen=True)
class Ranks:
    """The ranks of a dense board's states, each the sum of a part of its first marks and its last.

    Marks are taken in the order of `cells`. A part has the rank in its low bits, then the parity of
    the order in two bits, for the sum, and the set of marks: that is full if and only if all marks
    are a state. A state has the row of its rank; `size` is the row of what is no state, and the
    next one that of a state that does not reach the goal of its table.
    """

    size: int
    cells: list[int]
    head: RowNumbers
    tail: RowNumbers
    head_length: int
    rank_bits: int
    set_bits: int
    orders: int = 0
    """The number of orders of the tiles with a rank for each place of the blank; 0: all have."""
    odd: Bytes | None = None
    """The parity of the orders with a rank, by the blank's place."""

    def find_rows(self, tiles: Bytes, names: Bytes | None, cells: list[int]) -> RowNumbers:
        """Return the row of each column of tiles, which are changed where they are no state.

        `names` and `cells` are those of a view.
        """
        bad = tiles.max(axis=0, initial=0) >= len(self.cells)
        if bad.any():
            tiles[:, bad] = 0
        order = [cells[cell] for cell in self.cells]
        marks = tiles if order == list(range(len(order))) else tiles[order]
        if names is not None:
            marks = names[marks]
        length = self.head_length
        code: RowNumbers = self.head.take(to_number(marks[:length]))
        code += self.tail.take(to_number(marks[length:]))
        rows = code & np.uint32((1 << self.rank_bits) - 1)
        if self.odd is not None:
            is_odd = (code >> np.uint32(self.rank_bits)) & np.uint32(1)
            is_reached = self.odd.take(rows // np.uint32(self.orders), mode="clip") == is_odd
            rows = np.where(is_reached, rows, np.uint32(self.size + 1))
        is_state = code >> np.uint32(self.rank_bits + 2) == (1 << self.set_bits) - 1
        found: RowNumbers = np.where(is_state, rows, np.uint32(self.size))
        return found


def make_board_ranks(board: SlidingBoard) -> Ranks:
    """Make the ranks of a small wide board: by the blank's place, then the order of the tiles."""
    head_length = board.cells // 2
    rank_bits, marks = board.size.bit_length(), range(board.cells)
    parts = []
    for first, length in ((0, head_length), (head_length, board.cells - head_length)):
        part = np.zeros(10**length, dtype=np.uint32)
        for run in permutations(marks, length):
            free = [tile for tile in (marks if not first else sorted(run)) if tile]
            tile_at = 0 if not first else first - (0 not in run)
            # the number of tiles before: the blank is among them if it is not in this run
            number, places = _add_places(board, run, first, free, tile_at)
            tile_set = sum(1 << tile >> 1 for tile in run if tile)
            code = number | (places % 2) << rank_bits | tile_set << rank_bits + 2
            part[int("".join(map(str, run)))] = code
        parts.append(part)
    goal = next(iter(board.goals))
    odd = [board.is_odd(board.unrank(place * board.orders, goal)) for place in range(board.cells)]
    return Ranks(
        board.size, board.cell_at, parts[0], parts[1], head_length, rank_bits, board.cells - 1,
        board.orders, np.array(odd, np.uint8),
    )  # fmt: skip


def _add_places(
    board: SlidingBoard, run: tuple[int, ...], first: int, free: list[int], tile_at: int
) -> tuple[int, int]:
    """Return what a run of marks from a place on adds to a rank, and the sum of tiles' places."""
    number = places = 0
    weights = [*board.weights, 0, 0]
    for place, tile in enumerate(run, first):
        if not tile:
            number += place * board.orders
            continue
        at = free.index(tile)
        free.remove(tile)
        number += at * weights[tile_at]
        places += at
        tile_at += 1
    return number, places


class DenseRows:
    """The answers of all states of a dense board for a goal, by row of its table.

    `goal` is None if each state has its own. `states` are those of the table, by rank, `best` and
    `distances` those of its rows, `ranks` how rows are found.
    """

    def __init__(
        self, puzzle: GoalPuzzle, board: Any, view: View, ranks: Ranks, table: pl.DataFrame
    ) -> None:
        self.puzzle, self.ranks, self.size = puzzle, ranks, ranks.size
        self._states, self._board = table["state"], board
        self._cells = find_view_cells(view, len(ranks.cells))
        names = find_view_names(view, len(ranks.cells))
        self._names = None if (names == np.arange(len(names))).all() else names
        self._ways = self._find_ways()
        is_best = [table["best_moves"].str.contains(LETTERS[way]) for way in self._ways]
        best = np.zeros(self.size, dtype=np.uint8)
        for letter, is_letter in enumerate(is_best):
            best |= is_letter.fill_null(value=False).to_numpy().astype(np.uint8) << letter
        is_known = table["distance"].is_not_null()
        rows = table.drop("state").with_columns(best_moves=pl.Series(MOVE_SETS).gather(best))
        rows = rows.select(pl.when(is_known).then(pl.all()))
        self.rows = pl.concat([rows, rows.clear(2)]).rechunk()
        self.distances = self.rows["distance"].fill_null(-1).to_numpy().astype(np.int16)
        self._best = np.append(best, np.zeros(2, np.uint8))

    def _find_ways(self) -> list[int]:
        """Return, for each letter, the number of the letter that it is in the table."""
        cells, ways = self._cells, [0] * len(LETTERS)
        for cell in range(len(cells)):
            for letter, to in self.puzzle.list_exits(cell):  # type: ignore[attr-defined]
                exits = {end: way for way, end in self._board.list_exits(cells.index(cell))}
                ways[LETTERS.index(letter)] = LETTERS.index(exits[cells.index(to)])
        return ways

    def find_rows(self, keys: pl.Series) -> tuple[pl.Series, RowNumbers]:
        """Return each key in the notation of states, and its row."""
        cells = len(self._cells)
        rows = self._rank_texts(keys)
        longer = (keys.str.len_bytes() >= cells).fill_null(value=False).to_numpy()
        odd = np.flatnonzero((rows == self.size) & longer)
        if len(odd):
            states = normalize_keys(keys.gather(odd), cells)
            # a blank that no character stands for is found by the slow parser
            gaps = (states.str.len_bytes() == cells - 1).arg_true()
            if len(gaps):
                parsed = [self._parse_or_empty(keys[int(odd[at])]) for at in gaps]
                states = states.scatter(gaps, parsed)
            rows[odd] = self._rank_texts(states)
            keys = keys.clone().scatter(odd, states)
        return keys, rows

    def _parse_or_empty(self, text: str) -> str:
        try:
            return self.puzzle.parse(text)
        except NotationError:
            return ""

    def _rank_texts(self, states: pl.Series) -> RowNumbers:
        texts, cells = view_texts(states), len(self._cells)
        rows = np.empty(len(texts), dtype=np.uint32)

        def rank_chunk(at: int) -> None:
            view = texts[at : at + CHUNK_ROWS]
            digits = np.array(view[:, 4 : 4 + cells].T, order="C")
            digits -= np.uint8(ord("0"))
            digits[:, _get_lengths(view) != cells] = 0
            rows[at : at + CHUNK_ROWS] = self.rank_tiles(digits)

        run_chunks(rank_chunk, len(texts), CHUNK_ROWS)
        return rows

    def rank_tiles(self, tiles: Bytes) -> RowNumbers:
        """Return the row of each column of tiles; those of columns that are no state change."""
        return self.ranks.find_rows(tiles, self._names, self._cells)

    def rank_any(self, states: Any) -> RowNumbers:
        """Return the row of each state of an array, a list of lists or a column.

        BadRequest for what has no states.
        """
        cells = len(self._cells)
        if isinstance(states, pl.Series):
            if not can_hold_keys(states.dtype, cells):
                problem = f"A column of {states.dtype} has no states"
                raise BadRequest(problem, "Give texts or numbers")
            return self.find_rows(read_key_column(states, cells))[1]
        try:
            array = np.asarray(states)
        except ValueError:  # lists of different lengths
            array = np.zeros(1)
        if array.ndim == 1 and array.dtype.kind in "UO" and len(array):
            return self.rank_any(pl.Series(array.tolist(), strict=False))
        is_board = array.ndim > 1 and array.dtype.kind in "ui" and array[:1].size == cells
        if array.size and not is_board:
            raise BadRequest("States are an array of whole numbers with nine columns, or a column")
        array = array.reshape(-1, cells)
        rows = np.empty(len(array), dtype=np.uint32)
        for at in range(0, len(array), CHUNK_ROWS):
            chunk = array[at : at + CHUNK_ROWS]
            if array.dtype != np.uint8:  # a number that a byte cannot hold must not become a tile
                chunk = np.where((chunk < 0) | (chunk > cells), NO_MARK, chunk).astype(np.uint8)
            rows[at : at + CHUNK_ROWS] = self.rank_tiles(np.array(chunk.T, order="C"))
        return rows

    def list_next_boards(self, rows: RowNumbers) -> Bytes:
        """Return the tiles after each of the moves U D L R; all 255 for an illegal move."""
        boards = self.texts - np.uint8(ord("0"))
        boards[self.size :] = NO_MARK
        moved: Bytes = boards[self.successors[:, rows].T]
        return moved

    @cached_property
    def texts(self) -> Bytes:
        """The characters of each row's state on the board, and two rows of zeros."""
        cells = len(self._cells)
        marks, _ = read_tiles(self._states, cells)
        tiles = marks
        if self._names is not None:
            tiles = np.argsort(self._names).astype(np.uint8)[marks]
        texts = np.zeros((self.size + 2, cells), dtype=np.uint8)
        texts[: self.size, self._cells] = MARKS[tiles].T
        return texts

    @cached_property
    def successors(self) -> RowNumbers:
        """For each letter, the row that each row's move leads to; `size` if it is illegal."""
        cells = len(self._cells)
        boards = TILES[self.texts[: self.size].T]
        blank = np.argmin(boards, axis=0)
        successors = np.full((len(LETTERS), self.size + 2), self.size, dtype=np.uint32)
        targets = np.full((len(LETTERS), cells), -1)
        for cell in range(cells):
            for letter, to in self.puzzle.list_exits(cell):  # type: ignore[attr-defined]
                targets[LETTERS.index(letter), cell] = to
        for target, next_rows in zip(targets, successors, strict=True):
            states = np.flatnonzero(target[blank] >= 0)
            begins, columns = blank[states], np.arange(len(states))
            moved = boards[:, states]
            moved[begins, columns] = moved[target[begins], columns]
            moved[target[begins], columns] = 0
            next_rows[states] = self.rank_tiles(moved)
        return successors

    def find_solutions(self, rows: RowNumbers) -> pl.DataFrame:
        """Find the first shortest solution of the states with these rows, and its path."""
        first = np.full(len(self._best), len(LETTERS), dtype=np.uint8)
        for letter in reversed(range(len(LETTERS))):
            first[self._best >> letter & 1 > 0] = letter
        next_row = np.arange(self.size + 2, dtype=np.uint32)
        for letter, successors in enumerate(self.successors):
            next_row[first == letter] = successors[first == letter]
        letters, depth = LETTER_OR_ZERO[first], self.distances[rows]
        parts = [
            self._find_chunk_paths(
                rows[at : at + CHUNK_ROWS], letters, next_row, depth[at : at + CHUNK_ROWS]
            )
            for at in range(0, max(1, len(rows)), CHUNK_ROWS)
        ]
        return pl.concat(parts).select(pl.when(pl.Series(depth >= 0)).then(pl.all()))

    def _find_chunk_paths(
        self, rows: RowNumbers, letters: Bytes, next_row: RowNumbers, depth: Distances
    ) -> pl.DataFrame:
        """Find solution and path of the states with these rows.

        `letters` and `next_row` have, by row, the letter of a best move (0 at the goal) and the row
        that it leads to.
        """
        solution, path = [], [self.texts[rows]]
        for _ in range(int(depth.max(initial=0))):
            letter = letters[rows][:, None]
            rows = next_row[rows]
            solution.append(letter)
            space = np.full((len(rows), 1), SPACE, dtype=np.uint8)
            path.append(np.hstack([space, self.texts[rows]]) * (letter > 0))
        return pl.DataFrame(
            {"solution": _join_texts(solution, len(rows)), "path": _join_texts(path, len(rows))}
        )

    def list_all_solutions(self, rows: RowNumbers) -> pl.Series | None:
        """List all shortest solutions of the states with these rows, in letter order, with spaces.

        None if the rows contradict each other.
        """
        counts = self.rows["solutions"].fill_null(0).to_numpy()
        parts = [
            self._list_chunk_solutions(rows[at : at + SOLVED], counts)
            for at in range(0, max(1, len(rows)), SOLVED)
        ]
        texts = [part for part in parts if part is not None]
        return pl.concat(texts).alias("all_solutions") if len(texts) == len(parts) else None

    def _list_chunk_solutions(self, rows: RowNumbers, counts: npt.NDArray[Any]) -> pl.Series | None:
        """List all shortest solutions of the states with these rows; None for contradicting rows.

        All solutions grow together, one letter per step. `owners` has the state of each solution,
        and `here` the row that it has reached.
        """
        depths, expected, has_answer = self.distances, counts[rows], self.distances[rows] >= 0
        owners = np.flatnonzero(has_answer)
        here, states = rows[has_answer], len(rows)
        max_depth, total = int(depths[here].max(initial=0)), int(expected.sum())
        solutions = np.zeros((len(here), max_depth + 1), dtype=np.uint8)
        for step in range(max_depth):
            # a solution that has ended continues without a letter
            choices = np.where(depths[here] > 0, self._best[here], np.uint8(1 << len(LETTERS)))
            sizes = SET_SIZES[choices]
            if sizes.sum() > total:
                return None
            solutions, owners = np.repeat(solutions, sizes, axis=0), np.repeat(owners, sizes)
            choices, previous = np.repeat(choices, sizes), np.repeat(here, sizes)
            place_in_set = np.arange(len(choices)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            letter = MOVES_IN_SET[choices, place_in_set]
            solutions[:, step] = LETTER_OR_ZERO[letter]
            moved = self.successors[letter % len(LETTERS), previous]
            here = np.where(letter < len(LETTERS), moved, previous)
        if (depths[here] > 0).any() or (np.bincount(owners, minlength=states) != expected).any():
            return None
        solutions[:-1, -1] = np.where(owners[1:] == owners[:-1], SPACE, 0)
        lengths = np.bincount(owners, np.count_nonzero(solutions, axis=1), minlength=states)
        nulls = pl.repeat(None, states, eager=True)
        return _split_texts(solutions, lengths).zip_with(pl.Series(has_answer), nulls)


SPACE = ord(" ")
SOLVED = 1 << 12
"""States whose solutions are listed together: each may have some 80 solutions of 31 letters."""
MOVE_SETS_AND_END = [[at for at in range(len(LETTERS) + 1) if bits >> at & 1] for bits in range(17)]
"""The numbers of the letters in each set of moves, by the set's bits.

The last set has only the number after the letters': a solution that has ended has one way on,
without a letter.
"""
SET_SIZES = np.array([len(moves) for moves in MOVE_SETS_AND_END])
MOVES_IN_SET = np.array([(moves + [0] * 4)[:4] for moves in MOVE_SETS_AND_END], dtype=np.uint8)
LETTER_OR_ZERO = np.frombuffer(f"{LETTERS}\0".encode(), np.uint8)


def _join_texts(columns: list[Bytes], rows: int) -> pl.Series:
    """Join columns of characters to one text per row, without the zeros among them."""
    letters = np.hstack(columns) if columns else np.zeros((rows, 0), dtype=np.uint8)
    return _split_texts(letters, np.count_nonzero(letters, axis=1))


def _split_texts(characters: Bytes, lengths: npt.NDArray[Any]) -> pl.Series:
    """Split characters, without the zeros among them, into texts of these lengths."""
    ends = np.append(0, np.cumsum(lengths)).astype(np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(characters[characters > 0])]
    texts = pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)
    return pl.Series(pl.from_arrow(texts))


class BitTable:
    """A table with one bit for each state, for a goal that it has a view of."""

    def __init__(self, board: SlidingBoard, view: BoardGoalView, bits: Bytes) -> None:
        wide = board.wide
        self._bits, self._goal = bits, wide.rank(view.table_goal)
        self._cells = [view.cells[cell] for cell in wide.cell_at]
        self._names = find_view_names(view, board.cells)
        lines, steps = np.divmod(np.arange(wide.cells), wide.line)
        home = divmod(wide.place[view.table_goal.index("0")], wide.line)
        turns = (lines - home[0]) * (wide.line - 1)
        weights = np.array([*wide.weights, 0, 0][: wide.cells - 1])
        ways = np.full((wide.cells, len(LETTERS)), -1)
        for place, cell in enumerate(self._cells):
            for letter, to in board.list_exits(cell):
                ways[place, LETTERS.index(letter)] = self._cells.index(to)
        sides = (lines + steps - sum(home)) % 2
        self._tables = ways, sides, (turns + wide.is_odd(view.table_goal)) % 2, weights

    def look_up(self, tiles: Bytes) -> tuple[Distances, Bytes] | None:
        """Return the distances of states, -1 if unreachable, and the sets of best moves as bits.

        `tiles` has one state per column. None if the table contradicts itself.
        """
        from puzzle_tablebase.queries.kernels.bit_walks import walk_states

        places = np.ascontiguousarray(self._names[tiles[self._cells]].T)
        distances, nearer = np.empty(len(places), np.int16), np.empty(len(places), np.uint8)
        is_whole = walk_states(self._bits, places, *self._tables, self._goal, distances, nearer)
        return (distances, nearer) if is_whole else None

    def answer_states(self, states: pl.Series, cells: int) -> tuple[pl.DataFrame, Masks] | None:
        """Return distance and best moves of each text, and whether it is an unreached state.

        None if the table contradicts itself.
        """
        texts = view_texts(states)
        distance, best = np.zeros(len(texts), np.int16), np.zeros(len(texts), np.uint8)
        is_state, is_reached = np.zeros((2, len(texts)), dtype=np.bool_)

        def answer_chunk(at: int) -> bool:
            tiles, has_state = _read_views(texts[at : at + WALKED_ROWS], cells)
            good = np.flatnonzero(has_state)
            found = self.look_up(tiles[:, good])
            if found is None:
                return False
            is_state[at + good], is_reached[at + good] = True, found[0] >= 0
            distance[at + good], best[at + good] = found
            return True

        if not all(run_chunks(answer_chunk, len(texts), WALKED_ROWS)):
            return None
        if (is_reached & (distance > 0) & (best == 0)).any():
            return None
        answers = {"distance": distance, "best_moves": pl.Series(MOVE_SETS).gather(best)}
        rows = pl.DataFrame(answers).select(pl.when(pl.Series(is_reached)).then(pl.all()))
        return rows, is_state & ~is_reached


def measure_distances(board: SlidingBoard, goal: str, bits: Bytes) -> Bytes | None:
    """Return the distances of all states by rank, from a search; None if `bits` has others.

    The goal must be the one of the table, on the table's own board.
    """
    distances = np.full(board.size, UNREACHED, dtype=np.uint8)
    with ThreadPoolExecutor(count_cores()) as pool:
        planes = search_words(
            board.make_words(goal),
            count_cores(),
            lambda *_: None,
            lambda call, tasks: pool.map(lambda task: call(*task), tasks),
            distances,
        )
    at = 0
    for records in iter_word_records(planes):
        if not np.array_equal(records.reshape(-1), bits[at : at + records.size]):
            return None
        at += records.size
    return distances
