"""The proof of a sliding board's distances, from each state's neighbours.

Every state except the goal has a neighbour one move nearer and none nearer than that. The index and
the rows are read in chunks; only one byte a state stays in memory.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import Rows
from pipeline.verify.manifest_checks import ListedTable, decode_rows, iter_records
from pipeline.verify.sliding.neighbours import describe_states, find_first_wrong
from pipeline.verify.sliding.references import FARTHEST, find_known_layers
from pipeline.verify.verdicts import Grade, Outcome, Seen
from tablebase.block_space import BlockBreadthFirst
from tablebase.graph import UNREACHED
from tablebase.puzzles.sliding.board import LETTERS, MARKS, SlidingBoard
from tablebase.tables.content_hash import ContentHash

HOW = "every state was compared with its neighbours"
HOW_OF_ROWS = f"{HOW}; every row follows from its number"
COLUMNS = ("state", "goal", "distance", "best_moves", "manhattan")
CHUNK_ORDERS = 1 << 16
"""The number of orders in a chunk, which one thread checks."""


def prove_board(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove the distances to one goal, and the table's rows if it has any."""
    recipe = listed.definition.recipe
    assert isinstance(recipe, BlockBreadthFirst)
    assert isinstance(recipe.space, SlidingBoard)
    (goal,) = recipe.roots
    proof = Distances(listed, recipe.space, goal)
    proof.prove()
    if listed.definition.columns:
        proof.prove_rows()
    listed.note_missing_proofs(COLUMNS, ("distance",))
    return listed.make_outcome(Grade.PROVED, HOW_OF_ROWS if listed.definition.columns else HOW)


class Distances:
    """The distances of a board to a goal, by rank."""

    def __init__(self, listed: ListedTable, board: SlidingBoard, goal: str) -> None:
        self._listed = listed
        self._board = board
        self._goal = goal
        lines = np.arange(board.cells) // board.line - board.place[goal.index("0")] // board.line
        odd = (lines * (board.line - 1) + board.is_odd(goal)) % 2
        self._depth = np.empty(board.size, dtype=np.uint8)
        self._shared = self._depth, odd, board.line, np.array(board.weights)

    def prove(self) -> None:
        """Prove the distance of every state, and compare the counts with published ones."""
        listed, board, depth, goal = self._listed, self._board, self._depth, self._goal
        with listed.begin_claim("there is a record for every state", index=True) as check:
            content, columns = (
                ContentHash(listed.definition.list_fields()),
                listed.definition.columns,
            )
            check.require_equal("records", listed.index.records, len(depth))
            zeros: list[int] = []
            layers = np.zeros(UNREACHED + 1, dtype=np.int64)
            for begin, records in iter_records(listed):
                zeros += (begin + np.flatnonzero(records["distance"] == 0)).tolist()
                depth[begin : begin + len(records)] = records["distance"]
                layers += np.bincount(records["distance"], minlength=len(layers))
                if not columns:
                    distances = pa.array(records["distance"].astype(np.int16))
                    content.update(pa.record_batch({"distance": distances}))
            if not columns:  # the manifest's content hash is that of the records
                check.require_equal("content hash", content.hexdigest(), listed.entry.content)
        with listed.begin_claim(f"the distance is 0 only at {goal}", index=True) as check:
            check.require_equal(f"distance of {goal}:", int(depth[board.rank(goal)]), 0)
            for rank in zeros:
                if rank != board.rank(goal):
                    check.refute("distance 0", "a distance above 0", rank, self._format_state(rank))
        text = "every state except the goal has a neighbour one move nearer, and none still nearer"
        with listed.begin_claim(text, index=True) as check:
            chunks = (
                (*self._shared, first, min(board.orders, first + CHUNK_ORDERS))
                for first in range(0, board.orders, CHUNK_ORDERS)
            )
            for number, (rank, near) in enumerate(run_in_threads(find_first_wrong, chunks)):
                if rank >= 0:
                    nearest = f"its nearest neighbour at {near}"
                    wanted = f"one at {int(depth[rank]) - 1} and none nearer"
                    check.refute(nearest, wanted, rank, self._format_state(rank))
                check.report_progress(min(board.orders, (number + 1) * CHUNK_ORDERS) * board.cells)
        if goal == board.example:
            text = "the farthest states are as far as published (OEIS A151944)"
            with listed.begin_claim(text, index=True) as check:
                check.require_equal("moves", int(depth.max()), FARTHEST[str(board)])
        name, published = find_known_layers(listed.definition.name)
        if published:
            text = f"as many states are at each distance as published (OEIS {name})"
            with listed.begin_claim(text, index=True) as check:
                for distance, count in enumerate(published):
                    check.require_equal(
                        f"states at distance {distance}:", int(layers[distance]), count
                    )

    def _format_state(self, rank: int) -> dict[str, object]:
        state = self._board.unrank(rank, self._goal)
        return {"state": state, "distance": int(self._depth[rank])}

    def prove_rows(self) -> None:
        """Prove that the rows are the states in the order of their ranks, with correct columns."""
        text = "every row is its rank's state, distance, best moves and manhattan"
        with self._listed.begin_claim(text) as check:
            check.require_equal("rows", self._listed.entry.rows, self._board.size)
            for rows, expected in decode_rows(self._listed, self._describe_rows):
                for name, values in expected.items():
                    rows.require_column(check, name, values)
                check.report_progress(rows.begin + len(rows))

    def _describe_rows(self, rows: Rows) -> dict[str, pa.Array]:
        """Return the expected columns of some rows."""
        board, places, count = self._board, range(self._board.cells), len(rows)
        tiles = np.empty((count, board.cells), dtype=np.uint8)
        nearer, manhattan = np.empty(count, np.uint8), np.empty(count, np.int8)
        cells = board.cell_at
        homes = [board.place[self._goal.index(mark)] for mark in MARKS[1 : board.cells]]
        steps = [[board.count_steps(cells[a], cells[b]) for b in places] for a in places]
        describe_states(
            *self._shared, rows.begin, np.array(homes), np.array(steps), tiles, nearer, manhattan
        )
        marks = np.frombuffer(MARKS.encode(), np.uint8)
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
