"""Answers whose moves are made together, on sliding boards, each as one number."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from puzzle_tablebase.puzzles.sliding import CHARACTERS, LETTERS
from puzzle_tablebase.queries.answer import Judgement
from puzzle_tablebase.queries.answer_frames import Bytes
from puzzle_tablebase.queries.judging import (
    SEPARATORS,
    explain_illegal,
    judge_moves,
    list_board_readings,
)
from puzzle_tablebase.queries.kernels.board_walks import make_moves
from puzzle_tablebase.resources import count_cores

Numbers = npt.NDArray[np.int64]
Measure = Callable[[Bytes], npt.NDArray[np.signedinteger]]
"""A function that returns the distances of states, one in each column; -1 if unreachable."""

CHUNK_ROWS = 1 << 14
MAX_MOVES = 999
"""The most moves that array code makes; a few long answers would keep all others waiting."""
SYMBOLS = LETTERS + CHARACTERS
"""The characters of moves: ways of the blank, and tiles."""
WALKS = (MAX_MOVES + 1, MAX_MOVES + 1, MAX_MOVES + 1, 256, 2, 2, len(SYMBOLS))
"""How many there are of what tells walks apart: their lengths, legal moves, first losses and
distances at the start, whether they end at the goal, whether they do with their letters turned
round, and the illegal moves."""
TURNED_HINT = list_board_readings("")[0][1]
NUMBERS = bytes.maketrans(SYMBOLS.encode(), bytes(range(len(SYMBOLS))))


def judge_walk(number: int) -> Judgement:
    """Return the judgement of a walk with this number."""
    *facts, symbol = map(int, np.unravel_index(number, WALKS))
    length, done, loss, start, is_home, is_turned = facts
    step = done + 1 if done < length else 0
    problem = f"move {step}, {explain_illegal(SYMBOLS[symbol])}" if step else ""
    if is_turned:
        problem = "; ".join(filter(None, (problem, TURNED_HINT)))
    shortest = start - 1 if start else None
    return judge_moves(length, shortest, loss or None, step, problem, is_home=bool(is_home))


def group_walks(
    board: Any, tiles: Bytes, is_state: npt.NDArray[np.bool_], answers: pl.Series, measure: Measure
) -> tuple[Numbers, Numbers]:
    """Return the rows whose answers are letters alone, or tiles alone, and their walks' numbers.

    `tiles` has the board of each row in a column; `measure` returns distances.
    """
    cells, answers = len(tiles), answers.fill_null("")
    marks = CHARACTERS[1:cells]
    bare = answers.str.replace_all(f"[{SEPARATORS}]+", "")
    is_tiles = bare.str.contains(f"^[{marks}]+$")
    if cells > 10:  # numbers with separators may be tiles of two digits
        is_tiles &= bare.str.len_bytes() == answers.str.len_bytes()
    is_plain = (bare.str.contains(f"^[{LETTERS}]*$") | is_tiles) & (
        bare.str.len_bytes() <= MAX_MOVES
    )
    rows = np.flatnonzero(is_state & is_plain.to_numpy())
    moves = bare.gather(rows)
    ends = np.cumsum(moves.str.len_bytes().to_numpy(), dtype=np.int64)
    begins = np.append(0, ends)[:-1]
    symbols = np.frombuffer("".join(moves).encode().translate(NUMBERS) + b"\0", np.uint8)
    ways = np.full((cells, len(LETTERS)), -1)
    for cell in range(cells):
        for letter, to in board.list_exits(cell):
            ways[cell, LETTERS.index(letter)] = to
    boards = np.ascontiguousarray(tiles[:, rows].T)
    walks = np.zeros(len(rows), dtype=np.int64)

    def number_chunk(at: int) -> None:
        chunk = slice(at, at + CHUNK_ROWS)
        walk = partial(make_moves, symbols=symbols, ways=ways)
        walks[chunk] = _number_walks(
            boards[chunk], begins[chunk], (ends - begins)[chunk], symbols, walk, measure
        )

    with ThreadPoolExecutor(count_cores()) as pool:
        list(pool.map(number_chunk, range(0, len(rows), CHUNK_ROWS)))
    return rows, walks


def _number_walks(
    boards: Bytes, begins: Numbers, lengths: Numbers, symbols: Bytes, walk: Any, measure: Measure
) -> Numbers:
    """Make the moves of answers to boards, one in each row; return the walks' numbers.

    A move brings the goal nearer by one at most. So an answer has lost ground, after some of its
    moves, where the distance at the start is less than they and the distance then; and it has ever
    after. The first loss is found by halves.
    """

    def go(which: Any, counts: Numbers, flip: int = 0) -> tuple[Numbers, npt.NDArray[Any]]:
        cells, done = boards[which], np.zeros(len(counts), dtype=np.int64)
        walk(cells=cells, begins=begins[which], counts=counts, flip=flip, done=done)
        return done, measure(np.ascontiguousarray(cells.T)).astype(np.int64)

    everyone = np.arange(len(boards))
    start = measure(np.ascontiguousarray(boards.T)).astype(np.int64)
    done, last = go(everyone, lengths)
    is_home = (last == 0) & (done == lengths)
    loss = np.where((start >= 0) & (last != start - done), done, 0)
    kept, open_rows = np.zeros_like(loss), np.flatnonzero(loss > 1)
    while len(open_rows):
        middle = (kept[open_rows] + loss[open_rows]) // 2
        is_lost = go(open_rows, middle)[1] != start[open_rows] - middle
        loss[open_rows[is_lost]], kept[open_rows[~is_lost]] = middle[is_lost], middle[~is_lost]
        open_rows = open_rows[loss[open_rows] - kept[open_rows] > 1]
    bad = np.flatnonzero(~is_home & (symbols[begins] < len(LETTERS)) & (lengths > 0))
    turned, turned_last = go(bad, lengths[bad], flip=1)
    is_turned = np.zeros(len(boards), dtype=np.int64)
    is_turned[bad] = (turned == lengths[bad]) & (turned_last == 0)
    illegal = np.where(done < lengths, symbols[begins + done], 0)
    facts = lengths, done, loss, start + 1, is_home, is_turned, illegal
    numbers: Numbers = np.ravel_multi_index([np.asarray(fact, np.int64) for fact in facts], WALKS)
    return numbers
