"""Whole columns of a board's states at once: distances, best moves, and what is said of others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.state_columns import WHITE_SPACE, explain_unreachable_states, view_texts
from tablebase.puzzles.sliding.board import CHARACTERS, LETTERS, BoardGoalView, SlidingBoard
from tablebase.puzzles.sliding.move_tables import MOVE_SETS
from tablebase.resources import count_cores

CHUNK_ROWS = 1 << 14
"""Rows at a time: few enough to stay in a core's cache."""
NO_TILE = 31
"""What stands for characters that are no tile."""

Bytes = npt.NDArray[np.uint8]
Records = npt.NDArray[np.uint8]


def answer_keys(
    board: SlidingBoard, goal: str, view: BoardGoalView, records: Records, keys: pl.Series
) -> pl.DataFrame | None:
    """Goal, distance, best moves and error for each key; nulls where a key is no state.

    Nothing where the records contradict each other.
    """
    states = normalize_keys(keys, board.cells)
    texts = view_texts(states)
    lengths = texts.view("<u4")[:, 0]
    values = np.full(256, NO_TILE, dtype=np.uint8)
    values[np.frombuffer(CHARACTERS.encode(), np.uint8)] = np.arange(len(CHARACTERS))
    distance, best = np.zeros(len(texts), dtype=np.int8), np.zeros(len(texts), dtype=np.uint8)
    known, reached = np.zeros(len(texts), dtype=np.bool_), np.zeros(len(texts), dtype=np.bool_)
    lookup = GoalLookup(board, view, goal, records)

    def answer_chunk(at: int) -> None:
        chunk = slice(at, at + CHUNK_ROWS)
        text = texts[chunk]
        tiles = values[text[:, 4 : 4 + board.cells].T]
        tile_set = np.bitwise_or.reduce(np.int32(1) << tiles.astype(np.int32), axis=0)
        good = np.flatnonzero(
            (lengths[chunk] == board.cells) & (tile_set == (1 << board.cells) - 1)
        )
        near, moves = lookup.look_up(tiles[:, good])
        known[at + good], reached[at + good] = True, near >= 0
        distance[at + good], best[at + good] = near, moves

    with ThreadPoolExecutor(count_cores()) as pool:
        list(pool.map(answer_chunk, range(0, len(texts), CHUNK_ROWS)))
    if (reached & (distance > 0) & (best == 0)).any():
        return None
    answers = pl.DataFrame(
        {
            "goal": pl.repeat(goal, len(texts), eager=True),
            "distance": distance,
            "best_moves": pl.Series(MOVE_SETS.astype(str)).gather(best),
        }
    ).select(pl.when(pl.Series(reached)).then(pl.all()))
    return answers.with_columns(
        error=explain_unreachable_states(board, goal, states, known & ~reached)
    )


class GoalLookup:
    """A board's states as the table of a goal sees them: looked up many at a time."""

    def __init__(
        self, board: SlidingBoard, view: BoardGoalView, goal: str, records: Records
    ) -> None:
        self._wide, self._records = board.wide, records
        at = self._wide.cell_at
        self._cells = [view.cells[cell] for cell in at]
        self._names = np.zeros(board.cells, dtype=np.uint8)
        for cell, mark in zip(view.cells, view.layout, strict=True):
            self._names[CHARACTERS.index(goal[cell])] = CHARACTERS.index(mark)
        self._odd = (np.arange(board.cells) // board.line * (board.line - 1) % 2).astype(np.bool_)
        home = self._wide.place[view.layout.index("0")]
        self._odd ^= self._odd[home] ^ self._wide.is_odd(view.layout)
        self._weights = np.array([*self._wide.weights, 0, 0][: board.cells - 1], dtype=np.int32)
        self._exits = np.full((len(LETTERS), board.cells), -1)
        for cell in range(board.cells):
            for letter, to in board.list_exits(cell):
                self._exits[LETTERS.index(letter), cell] = to

    def look_up(self, tiles: Bytes) -> tuple[npt.NDArray[np.int8], Bytes]:
        """The distances of states, one a column, -1: out of reach; and letters of best moves."""
        distance, best = self._look_up_distances(tiles), np.zeros(tiles.shape[1], dtype=np.uint8)
        blank = np.argmin(tiles, axis=0)
        for letter, exits in enumerate(self._exits):
            takers = np.flatnonzero((exits[blank] >= 0) & (distance > 0))
            here, columns = blank[takers], np.arange(len(takers))
            moved = tiles[:, takers]
            moved[here, columns] = moved[exits[here], columns]
            moved[exits[here], columns] = 0
            nearer = self._look_up_distances(moved) < distance[takers]
            best[takers] |= nearer.astype(np.uint8) << np.uint8(letter)
        return distance, best

    def _look_up_distances(self, tiles: Bytes) -> npt.NDArray[np.int8]:
        places = self._names[tiles[self._cells]]
        blank = np.argmin(places, axis=0)
        before = np.arange(len(places) - 1)[:, None] < blank
        order = np.where(before, places[:-1], places[1:])
        rank = blank.astype(np.int32) * np.int32(self._wide.orders)
        pairs = np.zeros(tiles.shape[1], dtype=np.uint8)
        for at, weight in enumerate(self._weights):
            smaller = (order[at + 1 :] < order[at]).sum(axis=0, dtype=np.uint8)
            rank += smaller * weight
            pairs += smaller
        reached = (pairs % 2).astype(np.bool_) == self._odd[blank]
        return np.where(reached, self._records[rank].astype(np.int8), np.int8(-1))


def normalize_keys(keys: pl.Series, cells: int) -> pl.Series:
    """Keys as `SlidingBoard.parse` reads them, those that are states; others are whatever they
    are."""
    if (keys.str.len_bytes() == cells).all():
        return keys.str.to_lowercase()
    bare = keys.str.to_lowercase().str.replace_all(",", " ")
    words = bare.str.count_matches(r"[^\s\x1c-\x1f]+")
    marks = bare.str.replace_all(r"\b10\b", "a").str.replace_all(r"\b11\b", "b")
    return bare.zip_with(words != cells, marks).str.replace_all(WHITE_SPACE, "")
