"""Columns of states of a sliding board: distances, best moves and errors, many states at a time.

A table has the distance of each state, or one bit of it: then walks to the goal count the moves.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.frontier.word_bfs import iter_word_records, search_words
from puzzle_tablebase.puzzles.sliding import (
    CHARACTERS,
    LETTERS,
    MOVE_SETS,
    BoardGoalView,
    SlidingBoard,
)
from puzzle_tablebase.queries.answer_frames import (
    BETWEEN_CELLS,
    Bytes,
    explain_unreachable_states,
    join_cells,
    view_texts,
)
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.schema import UNREACHED

CHUNK_ROWS = 1 << 14
"""Rows looked up at a time: few enough to stay in a core's cache."""
NO_TILE = 31
"""The number that stands for a character that is not a tile."""
TILES = np.full(256, NO_TILE, dtype=np.uint8)
TILES[np.frombuffer(CHARACTERS.encode(), np.uint8)] = np.arange(len(CHARACTERS))

Distances = npt.NDArray[np.signedinteger]


def answer_keys(
    board: SlidingBoard, goal: str, lookup: GoalLookup, keys: pl.Series
) -> pl.DataFrame | None:
    """Return goal, distance, best moves and error for each key; nulls for keys that are no states.

    None if the table contradicts itself.
    """
    states = normalize_keys(keys, board.cells)
    texts = view_texts(states)
    distance, best = np.zeros(len(texts), dtype=np.int16), np.zeros(len(texts), dtype=np.uint8)
    is_state, is_reached = np.zeros((2, len(texts)), dtype=np.bool_)

    def answer_chunk(at: int) -> bool:
        chunk = slice(at, at + CHUNK_ROWS)
        tiles, has_state = read_texts(texts[chunk], board.cells)
        good = np.flatnonzero(has_state)
        answers = lookup.look_up(tiles[:, good])
        if answers is None:
            return False
        distances, moves = answers
        is_state[at + good], is_reached[at + good] = True, distances >= 0
        distance[at + good], best[at + good] = distances, moves
        return True

    with ThreadPoolExecutor(count_cores()) as pool:
        if not all(pool.map(answer_chunk, range(0, len(texts), CHUNK_ROWS))):
            return None
    if (is_reached & (distance > 0) & (best == 0)).any():
        return None
    answers = pl.DataFrame(
        {
            "goal": pl.repeat(goal, len(texts), eager=True),
            "distance": distance.astype(np.int16),
            "best_moves": pl.Series(MOVE_SETS).gather(best),
        }
    ).select(pl.when(pl.Series(is_reached)).then(pl.all()))
    return answers.with_columns(
        error=explain_unreachable_states(board, goal, states, is_state & ~is_reached)
    )


def read_texts(texts: Bytes, cells: int) -> tuple[Bytes, npt.NDArray[np.bool_]]:
    """Return the tiles of texts as columns, and whether each is a state; see `view_texts`."""
    tiles = TILES[texts[:, 4 : 4 + cells].T]
    tile_set = np.bitwise_or.reduce(np.int32(1) << tiles.astype(np.int32), axis=0)
    return tiles, (texts[:, :4].copy().view("<u4")[:, 0] == cells) & (tile_set == (1 << cells) - 1)


class GoalLookup:
    """A lookup of many states at a time in a table, for a goal that the table has a view of."""

    def __init__(self, board: SlidingBoard, view: BoardGoalView, goal: str, records: Bytes) -> None:
        wide = board.wide
        self._wide, self._records, self._goal = wide, records, wide.rank(view.table_goal)
        self._cells = [view.cells[cell] for cell in wide.cell_at]
        self._names = np.zeros(wide.cells, dtype=np.uint8)
        for cell, mark in zip(view.cells, view.table_goal, strict=True):
            self._names[CHARACTERS.index(goal[cell])] = CHARACTERS.index(mark)
        self._lines, self._steps = np.divmod(np.arange(wide.cells), wide.line)
        self._home = divmod(wide.place[view.table_goal.index("0")], wide.line)
        turns = (self._lines - self._home[0]) * (wide.line - 1)
        self._odd = (turns + wide.is_odd(view.table_goal)) % 2
        self._weights = np.array([*wide.weights, 0, 0][: wide.cells - 1])
        self._ways = np.full((wide.cells, len(LETTERS)), -1)
        for place, cell in enumerate(self._cells):
            for letter, to in board.list_exits(cell):
                self._ways[place, LETTERS.index(letter)] = self._cells.index(to)

    def place_tiles(self, tiles: Bytes) -> Bytes:
        """Return the tiles as the table names them, by place; `tiles` has one state per column."""
        return self._names[tiles[self._cells]]

    def look_up(self, tiles: Bytes) -> tuple[Distances, Bytes] | None:
        """Return the distances of states, -1 if unreachable, and the sets of best moves as bits.

        `tiles` has one state per column. None if the table contradicts itself.
        """
        places = self.place_tiles(tiles)
        distance, best = self._measure(places), np.zeros(tiles.shape[1], dtype=np.uint8)
        blank = np.argmin(places, axis=0)
        for letter, targets in enumerate(self._ways.T):
            movable = np.flatnonzero((targets[blank] >= 0) & (distance > 0))
            blanks, columns = blank[movable], np.arange(len(movable))
            moved = places[:, movable]
            moved[blanks, columns] = moved[targets[blanks], columns]
            moved[targets[blanks], columns] = 0
            is_nearer = self._measure(moved) < distance[movable]
            best[movable] |= is_nearer.astype(np.uint8) << np.uint8(letter)
        return distance, best

    def _measure(self, places: Bytes) -> Distances:
        blank = np.argmin(places, axis=0)
        is_before_blank = np.arange(len(places) - 1)[:, None] < blank
        order = np.where(is_before_blank, places[:-1], places[1:])
        rank = blank.astype(np.int32) * np.int32(self._wide.orders)
        pairs = np.zeros(places.shape[1], dtype=np.uint8)
        for at, weight in enumerate(self._weights.astype(np.int32)):
            smaller = (order[at + 1 :] < order[at]).sum(axis=0, dtype=np.uint8)
            rank += smaller * weight
            pairs += smaller
        is_reached = pairs % 2 == self._odd[blank]
        return np.where(is_reached, self._records[rank].astype(np.int16), np.int16(-1))


def normalize_keys(keys: pl.Series, cells: int) -> pl.Series:
    """Bring keys that are states to the notation that `SlidingBoard.parse` returns.

    Other keys become any text that is not a state, and so do those with an empty field for a blank.
    """
    lower = keys.str.to_lowercase()
    if (keys.str.len_bytes() == cells).all() and not lower.str.contains(r"[^0-9a-z]").any():
        return lower
    bare = lower.str.replace_all(BETWEEN_CELLS, " ")
    words = bare.str.count_matches("[^ ]+")
    marks = bare.str.replace_all(r"\b10\b", "a").str.replace_all(r"\b11\b", "b")
    return join_cells(bare.zip_with(words != cells, marks))


class BitLookup(GoalLookup):
    """A lookup in a table of one bit for each state: walks to the goal count the moves."""

    def __init__(self, board: SlidingBoard, view: BoardGoalView, goal: str, bits: Bytes) -> None:
        super().__init__(board, view, goal, bits)
        sides = (self._lines + self._steps - sum(self._home)) % 2
        self._tables = self._ways, sides, self._odd, self._weights

    def look_up(self, tiles: Bytes) -> tuple[Distances, Bytes] | None:
        from puzzle_tablebase.queries.kernels.bit_walks import walk_states

        cells = np.ascontiguousarray(self.place_tiles(tiles).T)
        distances, nearer = np.empty(len(cells), np.int16), np.empty(len(cells), np.uint8)
        is_whole = walk_states(self._records, cells, *self._tables, self._goal, distances, nearer)
        return (distances, nearer) if is_whole else None


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
