"""All states of the 8-puzzle at once, by rank: their answers to any goal, and their ways there."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from queries.eight.vectorized import CHUNK_ROWS, NO_RANK, rank_digits, rank_states
from tablebase.graph import UNREACHED
from tablebase.puzzle import View
from tablebase.puzzles.eight import EXITS, LETTERS, PUZZLE, STEP

Bytes = npt.NDArray[np.uint8]
SPACE = ord(" ")
SOLVED = 1 << 12
"""States whose every solution is found at a time: some 80 may have 31 letters each."""
SETS = [[at for at in range(len(LETTERS) + 1) if chosen >> at & 1] for chosen in range(17)]
"""The letters of each set of moves, by their numbers; the last has none, but one way on."""
CHOICES = np.array([len(chosen) for chosen in SETS])
CHOSEN = np.array([(chosen + [0] * 4)[:4] for chosen in SETS], dtype=np.uint8)
LETTER_OR_NONE = np.frombuffer(f"{LETTERS}\0".encode(), np.uint8)


@cache
def _list_texts() -> Bytes:
    """Every state as a row of nine characters; after the last a row of none."""
    states = PUZZLE.list_states().view(np.uint8).reshape(-1, 9)
    return np.vstack([states, np.zeros((1, 9), dtype=np.uint8)])


@cache
def _make_successors() -> npt.NDArray[np.uint32]:
    """For each letter the state that each state's move leads to, `NO_RANK` where there is none."""
    boards = _list_texts()[:NO_RANK].T - np.uint8(ord("0"))
    blank = np.argmin(boards, axis=0)
    successors = np.full((len(LETTERS), NO_RANK + 1), NO_RANK, dtype=np.uint32)
    for letter, to in zip(LETTERS, successors, strict=True):
        states = np.flatnonzero(np.array([letter in dict(exits) for exits in EXITS])[blank])
        here, columns = blank[states], np.arange(len(states))
        moved = boards[:, states]
        moved[here, columns] = moved[here + STEP[letter], columns]
        moved[here + STEP[letter], columns] = 0
        to[states] = rank_digits(moved)
    return successors


def answer_goal(goal: str, view: View, records: bytes, layouts: pl.Series) -> pl.DataFrame:
    """What a batch has of every state, for one goal; nulls where it is out of reach.

    `layouts` is the one that each state reaches, `records` the index of the view's layout.
    """
    texts = _list_texts()[:NO_RANK].copy().view("S9").ravel().astype(str)
    seen = rank_states(pl.Series([view.map_state(state) for state in texts.tolist()]))
    distance, solutions = np.frombuffer(records, np.uint8).reshape(-1, 2)[seen.to_numpy()].T
    goal_layout = PUZZLE.find_layout(PUZZLE.layouts[view.layout])
    reached = (layouts.gather(seen) == goal_layout).to_numpy() & (distance != UNREACHED)
    # a row more, for what is no state
    depth = np.append(np.where(reached, distance, UNREACHED), UNREACHED).astype(np.int16)
    best = np.zeros(NO_RANK, dtype=f"S{len(LETTERS)}")
    for letter, after in zip(LETTERS, _make_successors(), strict=True):
        nearer = reached & (depth[after[:NO_RANK]] == distance.astype(np.int16) - 1)
        best[nearer] = np.strings.add(best[nearer], letter.encode())
    answers = pl.DataFrame(
        {
            "goal": pl.repeat(goal, NO_RANK, eager=True),
            "distance": distance,
            "best_moves": best.astype(str).tolist(),
            "solutions": solutions,
        },
        schema_overrides={"distance": pl.Int8, "solutions": pl.Int16},
        strict=False,
    )
    return answers.select(pl.when(pl.Series(reached)).then(pl.all()))


def find_solutions(rows: pl.DataFrame, ranks_asked: pl.Series) -> pl.DataFrame:
    """The first shortest solution of each state asked, and the states on its way.

    `rows` are all states' answers, by rank, and `asked` are ranks.
    """
    first, letter_of = rows["best_moves"].str.slice(0, 1), np.zeros(len(rows), dtype=np.uint8)
    next_rank = np.arange(len(rows), dtype=np.uint32)
    for letter, after in zip(LETTERS, _make_successors(), strict=True):
        takers = (first == letter).fill_null(value=False).to_numpy()
        letter_of[takers], next_rank[takers] = ord(letter), after[takers]
    depth = rows["distance"].gather(ranks_asked)
    parts = [
        _walk_chunk(
            ranks_asked[at : at + CHUNK_ROWS].to_numpy(),
            letter_of,
            next_rank,
            depth[at : at + CHUNK_ROWS].max(),
        )
        for at in range(0, max(1, len(ranks_asked)), CHUNK_ROWS)
    ]
    return pl.concat(parts).select(pl.when(depth.is_not_null()).then(pl.all()))


def _walk_chunk(
    here: npt.NDArray[np.uint32], letter_of: Bytes, onward: npt.NDArray[np.uint32], longest: object
) -> pl.DataFrame:
    solution, path = [], [_list_texts()[here]]
    for _ in range(longest if isinstance(longest, int) else 0):
        letter = letter_of[here][:, None]
        here = onward[here]
        solution.append(letter)
        step = np.hstack([np.full((len(here), 1), SPACE, dtype=np.uint8), _list_texts()[here]])
        path.append(step * (letter > 0))
    return pl.DataFrame(
        {"solution": _join_texts(solution, len(here)), "path": _join_texts(path, len(here))}
    )


def every_solution(rows: pl.DataFrame, options: pl.Series) -> pl.Series | None:
    """All shortest solutions of each state asked, in letter order, with spaces between them.

    `rows` are all states' answers, by rank, and `asked` are ranks. None where the rows contradict
    each other.
    """
    best = np.zeros(len(rows), dtype=np.uint8)
    for at, letter in enumerate(LETTERS):
        takes = rows["best_moves"].str.contains(letter, literal=True).fill_null(value=False)
        best |= takes.to_numpy().astype(np.uint8) << np.uint8(at)
    counts = rows["solutions"].fill_null(0).to_numpy()
    depths = rows["distance"].fill_null(-1).to_numpy()
    parts = [
        _every_solution(options[at : at + SOLVED].to_numpy(), best, counts, depths)
        for at in range(0, max(1, len(options)), SOLVED)
    ]
    found = [part for part in parts if part is not None]
    return pl.concat(found).alias("all_solutions") if len(found) == len(parts) else None


def _every_solution(
    here: npt.NDArray[np.uint32], best: Bytes, counts: npt.NDArray[Any], depths: npt.NDArray[Any]
) -> pl.Series | None:
    expected = counts[here]
    known = depths[here] >= 0
    whose = np.flatnonzero(known)
    here, begun = here[known], len(here)
    longest, most = int(depths[here].max(initial=0)), int(expected.sum())
    ways = np.zeros((len(here), longest + 1), dtype=np.uint8)
    for step in range(longest):
        # a way that has ended goes on by no letter
        choices = np.where(depths[here] > 0, best[here], np.uint8(1 << len(LETTERS)))
        many = CHOICES[choices]
        if many.sum() > most:
            return None
        ways, whose = np.repeat(ways, many, axis=0), np.repeat(whose, many)
        choices, before = np.repeat(choices, many), np.repeat(here, many)
        which = np.arange(len(choices)) - np.repeat(np.cumsum(many) - many, many)
        letter = CHOSEN[choices, which]
        ways[:, step] = LETTER_OR_NONE[letter]
        here = np.where(
            letter < len(LETTERS), _make_successors()[letter % len(LETTERS), before], before
        )
    if (depths[here] > 0).any() or (np.bincount(whose, minlength=begun) != expected).any():
        return None
    ways[:-1, -1] = np.where(whose[1:] == whose[:-1], SPACE, 0)
    letters = np.bincount(whose, np.count_nonzero(ways, axis=1), minlength=begun)
    return _texts_of(ways, letters).zip_with(pl.Series(known), pl.repeat(None, begun, eager=True))


def _join_texts(pieces: list[Bytes], rows: int) -> pl.Series:
    """Rows of characters as texts, without the zeros among them."""
    letters = np.hstack(pieces) if pieces else np.zeros((rows, 0), dtype=np.uint8)
    return _texts_of(letters, np.count_nonzero(letters, axis=1))


def _texts_of(characters: Bytes, lengths: npt.NDArray[Any]) -> pl.Series:
    """Characters without the zeros among them, cut into texts of these lengths."""
    ends = np.append(0, np.cumsum(lengths)).astype(np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(characters[characters > 0])]
    texts = pa.Array.from_buffers(pa.large_string(), len(lengths), buffers)
    return pl.Series(pl.from_arrow(texts))
