"""Proves a board's distances: every state but the goal has a neighbour one nearer, none nearer yet.

The index and the rows are read in stretches; a byte a state is all that is held.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.verify.claims import Rows, Said, Seen
from pipeline.verify.listed import Listed, check_content, check_schema, read_group
from pipeline.verify.sliding.neighbours import described, first_wrong
from pipeline.work import in_threads
from tablebase.puzzle import InBlocks
from tablebase.puzzles.sliding_board import CHARACTERS, LETTERS, Board
from tablebase.tables.content import ContentHash
from tablebase.tables.index import BLOCK, BODY

Array = npt.NDArray[Any]
BLOCKS = 1 << 10
"""Blocks of an index that are read at a time."""
STRETCH = 1 << 16
"""Orders that a thread looks at before another may."""
FARTHEST = {"2x2": 6, "2x3": 21, "2x4": 36, "3x3": 31, "2x5": 55, "2x6": 80, "3x4": 53}
"""The distance of the farthest states from the last corner: OEIS A151944."""


def prove_board(listed: Listed, seen: Seen) -> None:
    """Prove the distances to one goal, and the rows beside them, if there are any."""
    recipe = listed.known.recipe
    assert isinstance(recipe, InBlocks)
    assert isinstance(recipe.space, Board)
    (goal,) = recipe.roots
    proof = Distances(listed, recipe.space, goal)
    proof.prove()
    if listed.known.columns:
        proof.prove_rows()


class Distances:
    """The distances of a board to a goal, by rank."""

    def __init__(self, listed: Listed, board: Board, goal: str) -> None:
        self._listed = listed
        self._board = board
        self._goal = goal
        place, line = np.arange(board.cells), board.line
        lines = place // line - board.place[goal.index("0")] // line
        self._odd = (lines * (line - 1) + board.odd(goal)) % 2
        self._weights = np.array(board.weights)
        self._depth = np.empty(board.size, dtype=np.uint8)

    def prove(self) -> None:
        listed, goal = self._listed, self._goal
        index = listed.claims(listed.index_file)
        with index.claim("every record is read, and the content hash matches") as fact:
            fact.same(listed.entry["index"]["records"], len(self._depth), "{:,} records")
            content = ContentHash(listed.known.fields())
            for records in self._records():
                content.update(pa.record_batch({"distance": records.astype(np.int16)}))
            if not listed.known.columns:
                check_content(fact, listed, len(self._depth), content)
        with index.claim(f"the distance is 0 only at {goal}") as fact:
            home = self._board.rank(goal)
            fact.same(int(self._depth[home]), 0, f"distance {{}} of {goal}")
            zeros = np.flatnonzero(self._depth == 0)
            for rank in zeros[zeros != home]:
                fact.refuted("distance 0", "a distance above 0", int(rank), self._state(int(rank)))
        text = "every state except the goal has a neighbour one move nearer, and none still nearer"
        with index.claim(text) as fact:
            shared = self._depth, self._odd, self._board.line, self._weights
            stretches = (
                (*shared, first, min(self._board.orders, first + STRETCH))
                for first in range(0, self._board.orders, STRETCH)
            )
            for number, (rank, near) in enumerate(in_threads(first_wrong, stretches)):
                fact.step(min(self._board.orders, (number + 1) * STRETCH) * self._board.cells)
                if rank >= 0:
                    wanted = f"one at {int(self._depth[rank]) - 1} and none nearer"
                    found = f"its nearest neighbour at {near}"
                    fact.refuted(found, wanted, rank, self._state(rank))
        farthest = FARTHEST.get(str(self._board))
        if farthest and goal == self._board.example:
            with index.claim("the farthest states are as far as published (OEIS A151944)") as fact:
                fact.same(int(self._depth.max()), farthest, "{} moves")

    def _state(self, rank: int) -> dict[str, object]:
        state = self._board.unrank(rank, self._goal)
        return {"state": state, "distance": int(self._depth[rank])}

    def _records(self) -> Any:
        """The index's records, some blocks at a time, put in their place."""
        at = 0
        with self._listed.store.open(self._listed.index_file) as file:
            file.seek(BLOCK)
            while data := file.read(BLOCK * BLOCKS):
                blocks = np.frombuffer(data, np.uint8).reshape(-1, BLOCK)[:, :BODY]
                records = blocks.ravel()[: len(self._depth) - at]
                self._depth[at : at + len(records)] = records
                at += len(records)
                yield records

    def prove_rows(self) -> None:
        """The rows are the states in the order of their ranks, each as the rules describe it."""
        listed, content = self._listed, ContentHash(self._listed.known.columns)
        footers, begin = check_schema(listed), 0
        with listed.claims().claim("there are as many rows as states") as fact:
            fact.same(sum(footer.num_rows for footer in footers), self._board.size, "{:,} rows")
        text = "every row is its rank's state, distance, best moves and manhattan"
        with listed.claims().claim(text) as fact:
            for (file, _), footer in zip(listed.files, footers, strict=True):
                for group in range(footer.num_row_groups):
                    batch = read_group(fact, listed, file, footer, group)
                    content.update(batch)
                    rows = Rows(batch, begin)
                    for name, values in self._described(begin, len(rows)).items():
                        found = rows.column(name).cast(values.type)
                        wrong = pc.not_equal(found, values).to_numpy(zero_copy_only=False)
                        rows.none(fact, wrong, partial(_said, name, found, values))
                    begin += len(rows)
                    fact.step(begin)
            check_content(fact, listed, begin, content)

    def _described(self, first: int, count: int) -> dict[str, pa.Array]:
        """What the columns of so many states from a rank on should be."""
        board, places = self._board, range(self._board.cells)
        tiles = np.empty((count, board.cells), dtype=np.uint8)
        nearer, manhattan = np.empty(count, np.uint8), np.empty(count, np.int8)
        cells = board.cell_at
        homes = [board.place[self._goal.index(mark)] for mark in CHARACTERS[1 : board.cells]]
        steps = [[board.steps(cells[a], cells[b]) for b in places] for a in places]
        described(
            self._depth, self._odd, board.line, self._weights, first, np.array(homes),
            np.array(steps), tiles, nearer, manhattan,
        )  # fmt: skip
        marks = np.frombuffer(CHARACTERS.encode(), np.uint8)
        text = np.ascontiguousarray(marks[tiles[:, board.place]]).view(f"S{board.cells}")
        # a place on is a cell down on a wide board, a line on a column right
        ways = "UDLR" if board.wide is board else "LRUD"
        sets = [
            "".join(letter for letter in LETTERS if bits >> ways.index(letter) & 1)
            for bits in range(16)
        ]
        return {
            "state": pa.array(text.ravel().astype(str)),
            "goal": pa.array([self._goal] * count),
            "distance": pa.array(self._depth[first : first + count].astype(np.int8)),
            "best_moves": pa.array(np.array(sets)[nearer]),
            "manhattan": pa.array(manhattan),
        }


def _said(name: str, found: pa.Array, expected: pa.Array, row: int) -> Said:
    return f"{name} {found[row]}", f"{expected[row]}"
