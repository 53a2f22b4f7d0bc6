"""The judge of the 8-puzzle: array code tells the walks of many answers apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from queries.boards.eight_columns import CHUNK_ROWS, NO_RANK, list_successors, rank_states
from queries.check.boards import BoardJudge, explain_illegal
from queries.check.judge import SEPARATORS
from queries.judgement import Judgement, judge_moves
from tablebase.puzzles.eight import LETTERS

MAX_MOVES = 999
"""The most moves that array code makes; a few long answers would keep all others waiting."""
WALKS = (MAX_MOVES + 1, MAX_MOVES + 1, MAX_MOVES + 1, 256, 2, len(LETTERS))
"""How many there are of what tells walks apart: their lengths, legal moves, first losses and
distances at the start, whether they end at the goal, and the letters of illegal moves."""
NUMBER_LETTERS = bytes.maketrans(LETTERS.encode(), bytes(range(len(LETTERS))))

Numbers = npt.NDArray[np.int64]


class EightJudge(BoardJudge):
    """A judge of the 8-puzzle: of many answers, array code walks those of letters together."""

    def group(self, keys: pl.Series, answers: pl.Series) -> pl.Series:
        ranks = rank_states(keys).to_numpy()
        letters = answers.fill_null("").str.replace_all(f"[{SEPARATORS}]+", "")
        is_plain = letters.str.contains(f"^[{LETTERS}]*$") & (letters.str.len_bytes() <= MAX_MOVES)
        rows = np.flatnonzero((ranks != NO_RANK) & is_plain.to_numpy())
        distances = self.reader.read_distances(self.lookup.goal)
        groups = super().group(keys, answers)
        return groups.scatter(rows, _walk(ranks[rows], letters.gather(rows), distances))

    def judge_alike(self, group: int) -> Judgement:
        length, done, loss, start, is_home, letter = map(int, np.unravel_index(group, WALKS))
        problem = explain_illegal(LETTERS[letter]) if done < length else ""
        shortest = start - 1 if start else None
        return judge_moves(length, shortest, loss or None, done + 1, problem, is_home=bool(is_home))


def _walk(
    ranks: npt.NDArray[np.uint32], answers: pl.Series, distances: npt.NDArray[np.int16]
) -> Numbers:
    """Make the moves of answers, letters alone, from ranks; return the number of each in `WALKS`.

    Some rows at a time make their first move together, then their second, and so on; they are
    sorted by length, so that those that move on are the first ones.
    """
    texts = answers.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int64)
    letters = np.frombuffer(bytes(data or b"").translate(NUMBER_LETTERS) + b"\0", np.uint8)
    successors, walks = list_successors().ravel(), np.zeros(len(ranks), dtype=np.int64)
    for at in range(0, len(ranks), CHUNK_ROWS):
        order = at + np.argsort(-np.diff(offsets[at : at + CHUNK_ROWS + 1]), kind="stable")
        here, begins, lengths = ranks[order], offsets[order], np.diff(offsets)[order]
        start = distances.take(here)
        done, loss = np.zeros((2, len(order)), dtype=np.int64)
        for step in range(lengths[0]):
            rows = slice(int(np.searchsorted(-lengths, -step)))
            letter = letters[begins[rows] + step].astype(np.uint32)
            here[rows] = successors.take(letter * np.uint32(NO_RANK + 1) + here[rows])
            is_legal = here[rows] != NO_RANK
            is_lost = distances.take(here[rows]) != start[rows] - step - 1
            loss[rows][is_legal & is_lost & (loss[rows] == 0)] = step + 1
            done[rows] += is_legal
        loss[start < 0] = 0
        letter = np.where(done < lengths, letters[begins + done], 0)
        facts = lengths, done, loss, start + 1, distances.take(here) == 0, letter
        walks[order] = np.ravel_multi_index(facts, WALKS)
    return walks
