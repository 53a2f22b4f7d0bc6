"""Columns and arrays of 8-puzzle states: their ranks, and answers by rank to any goal.

In an array a state is a row of nine numbers, 0 for the blank.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from puzzle_tablebase.errors import BadRequest, NotationError
from puzzle_tablebase.puzzle import View
from puzzle_tablebase.puzzles.eight import (
    ALL_DIGITS,
    EXITS,
    HEAD_LENGTH,
    LETTERS,
    PUZZLE,
    RANK_MASK,
    SET_SHIFT,
    STEP,
    make_rank_part_arrays,
    parse,
    to_number,
)
from puzzle_tablebase.queries.answer_frames import (
    Bytes,
    can_hold_keys,
    join_cells,
    read_key_column,
    view_texts,
)
from puzzle_tablebase.resources import count_cores
from puzzle_tablebase.schema import UNREACHED

CHUNK_ROWS = 1 << 15
"""Rows ranked at a time: few enough to stay in a core's cache."""
NO_RANK = 362_880
"""The rank of texts that are not states: that of a row of nulls after the table's last row."""
STATE_LENGTH = 9

_get_rank_parts = cache(make_rank_part_arrays)
"""The parts of ranks, made once per process: a batch and a lazy frame rank chunk by chunk."""


def rank_states(states: pl.Series) -> pl.Series:
    """Return the rank of each text, as `parse` reads it; `NO_RANK` for a text that is no state."""
    return read_states(states)[1]


def read_states(keys: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return each text in standard notation with its rank; `NO_RANK` for one that is no state."""
    ranks = _rank_texts(keys)
    longer = (keys.str.len_bytes() >= STATE_LENGTH).fill_null(value=False).to_numpy()
    odd = np.flatnonzero((ranks == NO_RANK) & longer)
    if len(odd):
        states = join_cells(keys.gather(odd))
        # a blank that no character stands for is found by the slow parser
        gaps = (states.str.len_bytes() == STATE_LENGTH - 1).arg_true()
        if len(gaps):
            states = states.scatter(gaps, [_parse_or_empty(keys[int(odd[at])]) for at in gaps])
        ranks[odd] = _rank_texts(states)
        keys = keys.clone().scatter(odd, states)
    return keys, pl.Series(ranks)


def _parse_or_empty(text: str) -> str:
    try:
        return parse(text)
    except NotationError:
        return ""


def _rank_texts(states: pl.Series) -> npt.NDArray[np.uint32]:
    """Return the ranks of texts; `NO_RANK` for a text that is not nine digits of a state."""
    texts = view_texts(states)
    ranks = np.empty(len(texts), dtype=np.uint32)
    _get_rank_parts()  # before the threads start: otherwise each would make them

    def rank_block(at: int) -> None:
        view = texts[at : at + CHUNK_ROWS]
        digits = np.array(view[:, 4:13].T, order="C")
        digits -= np.uint8(ord("0"))
        digits[:, view[:, 0] != STATE_LENGTH] = 0
        ranks[at : at + CHUNK_ROWS] = rank_columns(digits)

    with ThreadPoolExecutor(count_cores()) as pool:
        list(pool.map(rank_block, range(0, len(texts), CHUNK_ROWS)))
    return ranks


def rank_columns(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return the ranks of columns of digits; `NO_RANK` for one that is no state."""
    bad = digits.max(axis=0, initial=0) > 8
    if bad.any():
        digits[:, bad] = 0
    code = _encode_digits(digits)
    ranks: npt.NDArray[np.uint32] = np.where(
        code >> SET_SHIFT == ALL_DIGITS, code & RANK_MASK, np.uint32(NO_RANK)
    )
    return ranks


def _encode_digits(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    head, tail = _get_rank_parts()
    codes: npt.NDArray[np.uint32] = head.take(to_number(digits[:HEAD_LENGTH]))
    codes += tail.take(to_number(digits[HEAD_LENGTH:]))
    return codes


SPACE = ord(" ")
SOLVED = 1 << 12
"""States whose solutions are listed together: each may have some 80 solutions of 31 letters."""
MOVE_SETS = [[at for at in range(len(LETTERS) + 1) if bits >> at & 1] for bits in range(17)]
"""The numbers of the letters in each set of moves, by the set's bits.

The last set has only the number after the letters': a solution that has ended has one way on,
without a letter.
"""
SET_SIZES = np.array([len(moves) for moves in MOVE_SETS])
MOVES_IN_SET = np.array([(moves + [0] * 4)[:4] for moves in MOVE_SETS], dtype=np.uint8)
LETTER_OR_ZERO = np.frombuffer(f"{LETTERS}\0".encode(), np.uint8)


@cache
def list_texts() -> Bytes:
    """Return every state as a row of nine characters, and after the last a row of zeros."""
    states = PUZZLE.list_states().view(np.uint8).reshape(-1, 9)
    return np.vstack([states, np.zeros((1, 9), dtype=np.uint8)])


@cache
def list_successors() -> npt.NDArray[np.uint32]:
    """List, for each letter, the rank that each state's move leads to; `NO_RANK` if illegal."""
    boards = list_texts()[:NO_RANK].T - np.uint8(ord("0"))
    blank = np.argmin(boards, axis=0)
    successors = np.full((len(LETTERS), NO_RANK + 1), NO_RANK, dtype=np.uint32)
    for letter, next_ranks in zip(LETTERS, successors, strict=True):
        states = np.flatnonzero(np.array([letter in dict(exits) for exits in EXITS])[blank])
        blanks, columns = blank[states], np.arange(len(states))
        next_boards = boards[:, states]
        next_boards[blanks, columns] = next_boards[blanks + STEP[letter], columns]
        next_boards[blanks + STEP[letter], columns] = 0
        next_ranks[states] = _encode_digits(next_boards) & np.uint32(RANK_MASK)
    return successors


def answer_goal(goal: str, view: View, records: bytearray, reached: pl.Series) -> pl.DataFrame:
    """Return a batch's columns of every state, for one goal; nulls where it is unreachable.

    `reached` is the named goal that each state reaches, `records` the index of the view's table.
    """
    texts = list_texts()[:NO_RANK].copy().view("S9").ravel().astype(str)
    view_ranks = rank_states(pl.Series([view.map_state(state) for state in texts.tolist()]))
    distance, solutions = np.frombuffer(records, np.uint8).reshape(-1, 2)[view_ranks.to_numpy()].T
    view_goal = PUZZLE.find_reachable_goal(PUZZLE.goals[view.table_goal])
    is_reached = (reached.gather(view_ranks) == view_goal).to_numpy() & (distance != UNREACHED)
    # one more row, for `NO_RANK`
    depth = np.append(np.where(is_reached, distance, UNREACHED), UNREACHED).astype(np.int16)
    best = np.zeros(NO_RANK, dtype=f"S{len(LETTERS)}")
    for letter, next_ranks in zip(LETTERS, list_successors(), strict=True):
        is_best = is_reached & (depth[next_ranks[:NO_RANK]] == distance.astype(np.int16) - 1)
        best[is_best] = np.strings.add(best[is_best], letter.encode())
    answers = pl.DataFrame(
        {
            "goal": pl.repeat(goal, NO_RANK, eager=True),
            "distance": distance,
            "best_moves": best.astype(str).tolist(),
            "solutions": solutions,
        },
        schema_overrides={"distance": pl.Int16, "solutions": pl.Int16},
        strict=False,
    )
    return answers.select(pl.when(pl.Series(is_reached)).then(pl.all()))


def find_solutions(rows: pl.DataFrame, ranks: pl.Series) -> pl.DataFrame:
    """Find the first shortest solution of the states with these ranks, and its path.

    `rows` are the answers of all states, by rank.
    """
    first, letters = rows["best_moves"].str.slice(0, 1), np.zeros(len(rows), dtype=np.uint8)
    next_rank = np.arange(len(rows), dtype=np.uint32)
    for letter, successors in zip(LETTERS, list_successors(), strict=True):
        has_letter = (first == letter).fill_null(value=False).to_numpy()
        letters[has_letter], next_rank[has_letter] = ord(letter), successors[has_letter]
    depth = rows["distance"].gather(ranks)
    parts = [
        _find_chunk_paths(
            ranks[at : at + CHUNK_ROWS].to_numpy(),
            letters,
            next_rank,
            depth[at : at + CHUNK_ROWS].max(),
        )
        for at in range(0, max(1, len(ranks)), CHUNK_ROWS)
    ]
    return pl.concat(parts).select(pl.when(depth.is_not_null()).then(pl.all()))


def _find_chunk_paths(
    ranks: npt.NDArray[np.uint32],
    letters: Bytes,
    next_rank: npt.NDArray[np.uint32],
    max_depth: object,
) -> pl.DataFrame:
    """Find solution and path of the states with these ranks.

    `letters` and `next_rank` have, by rank, the letter of a best move (0 at the goal) and the rank
    that it leads to.
    """
    solution, path = [], [list_texts()[ranks]]
    for _ in range(max_depth if isinstance(max_depth, int) else 0):
        letter = letters[ranks][:, None]
        ranks = next_rank[ranks]
        solution.append(letter)
        step = np.hstack([np.full((len(ranks), 1), SPACE, dtype=np.uint8), list_texts()[ranks]])
        path.append(step * (letter > 0))
    return pl.DataFrame(
        {"solution": _join_texts(solution, len(ranks)), "path": _join_texts(path, len(ranks))}
    )


def every_solution(rows: pl.DataFrame, ranks: pl.Series) -> pl.Series | None:
    """List all shortest solutions of the states with these ranks, in letter order, with spaces.

    `rows` are the answers of all states, by rank. None if they contradict each other.
    """
    best = np.zeros(len(rows), dtype=np.uint8)
    for at, letter in enumerate(LETTERS):
        has_letter = rows["best_moves"].str.contains(letter, literal=True).fill_null(value=False)
        best |= has_letter.to_numpy().astype(np.uint8) << np.uint8(at)
    counts = rows["solutions"].fill_null(0).to_numpy()
    depths = rows["distance"].fill_null(-1).to_numpy()
    parts = [
        _list_chunk_solutions(ranks[at : at + SOLVED].to_numpy(), best, counts, depths)
        for at in range(0, max(1, len(ranks)), SOLVED)
    ]
    texts = [part for part in parts if part is not None]
    return pl.concat(texts).alias("all_solutions") if len(texts) == len(parts) else None


def _list_chunk_solutions(
    ranks: npt.NDArray[np.uint32], best: Bytes, counts: npt.NDArray[Any], depths: npt.NDArray[Any]
) -> pl.Series | None:
    """List all shortest solutions of the states with these ranks; None for contradicting rows.

    All solutions grow together, one letter per step. `owners` has the state of each solution, and
    `here` the rank that it has reached.
    """
    expected = counts[ranks]
    has_answer = depths[ranks] >= 0
    owners = np.flatnonzero(has_answer)
    here, states = ranks[has_answer], len(ranks)
    max_depth, total = int(depths[here].max(initial=0)), int(expected.sum())
    solutions = np.zeros((len(here), max_depth + 1), dtype=np.uint8)
    for step in range(max_depth):
        # a solution that has ended continues without a letter
        choices = np.where(depths[here] > 0, best[here], np.uint8(1 << len(LETTERS)))
        sizes = SET_SIZES[choices]
        if sizes.sum() > total:
            return None
        solutions, owners = np.repeat(solutions, sizes, axis=0), np.repeat(owners, sizes)
        choices, previous = np.repeat(choices, sizes), np.repeat(here, sizes)
        place_in_set = np.arange(len(choices)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        letter = MOVES_IN_SET[choices, place_in_set]
        solutions[:, step] = LETTER_OR_ZERO[letter]
        here = np.where(
            letter < len(LETTERS), list_successors()[letter % len(LETTERS), previous], previous
        )
    if (depths[here] > 0).any() or (np.bincount(owners, minlength=states) != expected).any():
        return None
    solutions[:-1, -1] = np.where(owners[1:] == owners[:-1], SPACE, 0)
    lengths = np.bincount(owners, np.count_nonzero(solutions, axis=1), minlength=states)
    nulls = pl.repeat(None, states, eager=True)
    return _split_texts(solutions, lengths).zip_with(pl.Series(has_answer), nulls)


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


NO_MARK = 255
"""The number on every cell of what is no state."""


def rank_any(states: Any) -> npt.NDArray[np.uint32]:
    """Return the rank of each state of an array, a list of lists or a column; `NO_RANK` for others.

    BadRequest for what has no states.
    """
    if isinstance(states, pl.Series):
        if not can_hold_keys(states.dtype, STATE_LENGTH):
            raise BadRequest(f"A column of {states.dtype} has no states", "Give texts or numbers")
        return rank_states(read_key_column(states, STATE_LENGTH)).to_numpy()
    try:
        array = np.asarray(states)
    except ValueError:  # lists of different lengths
        array = np.zeros(1)
    if array.ndim == 1 and array.dtype.kind in "UO" and len(array):
        return rank_any(pl.Series(array.tolist(), strict=False))
    is_board = array.ndim > 1 and array.dtype.kind in "ui" and array[:1].size == STATE_LENGTH
    if array.size and not is_board:
        raise BadRequest("States are an array of whole numbers with nine columns, or a column")
    array = array.reshape(-1, STATE_LENGTH)
    ranks = np.empty(len(array), dtype=np.uint32)
    for at in range(0, len(array), CHUNK_ROWS):
        chunk = array[at : at + CHUNK_ROWS]
        if array.dtype != np.uint8:  # a number that a byte cannot hold must not become a tile
            chunk = np.where((chunk < 0) | (chunk > STATE_LENGTH), NO_MARK, chunk).astype(np.uint8)
        ranks[at : at + CHUNK_ROWS] = rank_columns(np.array(chunk.T, order="C"))
    return ranks


def make_next_boards(ranks: npt.NDArray[np.uint32]) -> Bytes:
    """Return the state after each of the moves U D L R; an illegal one's cells are all 255."""
    boards = list_texts() - np.uint8(ord("0"))
    boards[NO_RANK] = NO_MARK
    moved: Bytes = boards[list_successors()[:, ranks].T]
    return moved
