"""Proves a board's distances: every state but the goal has a neighbour one nearer, none nearer yet.

The index and the rows are read in stretches; a byte a state is all that is held.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.tasks import in_threads
from pipeline.verify.claims import Rows
from pipeline.verify.manifest_checks import Listed, decoded, records
from pipeline.verify.sliding.neighbours import described, first_wrong
from pipeline.verify.sliding.references import FARTHEST, known_layers
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.block_space import InBlocks
from tablebase.graph import UNREACHED
from tablebase.puzzles.sliding.board import CHARACTERS, LETTERS, Board
from tablebase.tables.content_hash import ContentHash

HOW = "every state was compared with its neighbours"
HOW_OF_ROWS = f"{HOW}; every row follows from its number"
COLUMNS = ("state", "goal", "distance", "best_moves", "manhattan")
STRETCH = 1 << 16
"""Orders that a thread looks at before another may."""


def prove_board(listed: Listed, seen: Seen) -> Outcome:
    """Prove the distances to one goal, and the rows beside them, if there are any."""
    recipe = listed.known.recipe
    assert isinstance(recipe, InBlocks)
    assert isinstance(recipe.space, Board)
    (goal,) = recipe.roots
    proof = Distances(listed, recipe.space, goal)
    proof.prove()
    if listed.known.columns:
        proof.prove_rows()
    listed.name_unproved(COLUMNS, ("distance",))
    return listed.outcome(Grade.PROVED, HOW_OF_ROWS if listed.known.columns else HOW)


class Distances:
    """The distances of a board to a goal, by rank."""

    def __init__(self, listed: Listed, board: Board, goal: str) -> None:
        self._listed = listed
        self._board = board
        self._goal = goal
        lines = np.arange(board.cells) // board.line - board.place[goal.index("0")] // board.line
        odd = (lines * (board.line - 1) + board.odd(goal)) % 2
        self._depth = np.empty(board.size, dtype=np.uint8)
        self._shared = self._depth, odd, board.line, np.array(board.weights)

    def prove(self) -> None:
        listed, board, depth, goal = self._listed, self._board, self._depth, self._goal
        with listed.claim("there is a record for every state", index=True) as fact:
            content, columns = ContentHash(listed.known.fields()), listed.known.columns
            fact.same("records", listed.index.records, len(depth))
            zeros: list[int] = []
            layers = np.zeros(UNREACHED + 1, dtype=np.int64)
            for begin, found in records(listed):
                zeros += (begin + np.flatnonzero(found["distance"] == 0)).tolist()
                depth[begin : begin + len(found)] = found["distance"]
                layers += np.bincount(found["distance"], minlength=len(layers))
                if not columns:
                    distances = pa.array(found["distance"].astype(np.int16))
                    content.update(pa.record_batch({"distance": distances}))
            if not columns:  # nothing else has the values that the manifest vouches for
                fact.same("content hash", content.hexdigest(), listed.entry.content)
        with listed.claim(f"the distance is 0 only at {goal}", index=True) as fact:
            fact.same(f"distance of {goal}:", int(depth[board.rank(goal)]), 0)
            for rank in zeros:
                if rank != board.rank(goal):
                    fact.refuted("distance 0", "a distance above 0", rank, self._state(rank))
        text = "every state except the goal has a neighbour one move nearer, and none still nearer"
        with listed.claim(text, index=True) as fact:
            stretches = (
                (*self._shared, first, min(board.orders, first + STRETCH))
                for first in range(0, board.orders, STRETCH)
            )
            for number, (rank, near) in enumerate(in_threads(first_wrong, stretches)):
                if rank >= 0:
                    nearest = f"its nearest neighbour at {near}"
                    wanted = f"one at {int(depth[rank]) - 1} and none nearer"
                    fact.refuted(nearest, wanted, rank, self._state(rank))
                fact.step(min(board.orders, (number + 1) * STRETCH) * board.cells)
        if goal == board.example:
            text = "the farthest states are as far as published (OEIS A151944)"
            with listed.claim(text, index=True) as fact:
                fact.same("moves", int(depth.max()), FARTHEST[str(board)])
        name, published = known_layers(listed.known.name)
        if published:
            text = f"as many states are at each distance as published (OEIS {name})"
            with listed.claim(text, index=True) as fact:
                for distance, count in enumerate(published):
                    fact.same(f"states at distance {distance}:", int(layers[distance]), count)

    def _state(self, rank: int) -> dict[str, object]:
        state = self._board.unrank(rank, self._goal)
        return {"state": state, "distance": int(self._depth[rank])}

    def prove_rows(self) -> None:
        """The rows are the states in the order of their ranks, each as the rules describe it."""
        text = "every row is its rank's state, distance, best moves and manhattan"
        with self._listed.claim(text) as fact:
            fact.same("rows", self._listed.entry.rows, self._board.size)
            for rows, expected in decoded(self._listed, self._described):
                for name, values in expected.items():
                    rows.equal(fact, name, values)
                fact.step(rows.begin + len(rows))

    def _described(self, rows: Rows) -> dict[str, pa.Array]:
        """What the columns of these rows should be."""
        board, places, count = self._board, range(self._board.cells), len(rows)
        tiles = np.empty((count, board.cells), dtype=np.uint8)
        nearer, manhattan = np.empty(count, np.uint8), np.empty(count, np.int8)
        cells = board.cell_at
        homes = [board.place[self._goal.index(mark)] for mark in CHARACTERS[1 : board.cells]]
        steps = [[board.steps(cells[a], cells[b]) for b in places] for a in places]
        described(
            *self._shared, rows.begin, np.array(homes), np.array(steps), tiles, nearer, manhattan
        )
        marks = np.frombuffer(CHARACTERS.encode(), np.uint8)
        text = np.ascontiguousarray(marks[tiles[:, board.place]]).view(f"S{board.cells}")
        # a place back or on is a cell up or down, a line back or on is one left or right
        sets = [
            "".join(letter for at, letter in enumerate(LETTERS) if bits >> at & 1)
            for bits in range(1 << len(LETTERS))
        ]
        return {
            "state": pa.array(text.ravel().astype(str)),
            "goal": pa.array([self._goal] * count),
            "distance": pa.array(self._depth[rows.begin :][:count].astype(np.int8)),
            "best_moves": pa.array(np.array(sets)[nearer]),
            "manhattan": pa.array(manhattan),
        }
