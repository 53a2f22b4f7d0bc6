"""The proof of a sliding board's distances, from each state's neighbours.

Every state except the goal has a neighbour one move nearer and none nearer than that. The index and
the rows are read in chunks; only one byte a state stays in memory.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pipeline.tasks import run_in_threads
from pipeline.verify.claims import ClaimCheck, Grade, ListedTable, Outcome, Rows, Seen
from pipeline.verify.index_records import iter_records, view_field
from pipeline.verify.sliding.layers import compare_bits, iter_layers
from pipeline.verify.sliding.neighbours import describe_states, find_first_wrong, list_parities
from pipeline.verify.sliding.references import FARTHEST, find_known_layers
from pipeline.verify.table_rows import decode_rows
from tablebase.graph import UNREACHED
from tablebase.puzzles.sliding import CHARACTERS, LETTERS, BoardDistances, SlidingBoard
from tablebase.schema import BITS_INDEX, ROW_BYTES
from tablebase.tables.manifest import Depth

HOW = "every state was compared with its neighbours"
HOW_OF_BITS = "every state was searched again from the goal, layer by layer"
ROWS_TOO = "; every row follows from its number"
COLUMNS = ("state", "goal", "distance", "best_moves", "manhattan")
CHUNK_ORDERS = 1 << 16
"""The number of orders in a chunk, which one thread checks."""


def prove_board(listed: ListedTable, earlier: Seen) -> Outcome:
    """Prove the distances to one goal, and the table's rows if it has any."""
    recipe = listed.definition.recipe
    assert isinstance(recipe, BoardDistances)
    assert isinstance(recipe.board, SlidingBoard)
    (goal,) = recipe.roots
    has_bits = listed.definition.index == BITS_INDEX
    proof = (BitDistances if has_bits else Distances)(listed, recipe.board, goal)
    depths = proof.prove()
    how = HOW_OF_BITS if has_bits else HOW
    if listed.definition.columns:
        proof.prove_rows()
        how += ROWS_TOO
    listed.note_missing_proofs(COLUMNS, ("distance", "bits"))
    return listed.make_outcome(Grade.PROVED, how, depths=depths)


class Distances:
    """The distances of a board to a goal, by rank."""

    def __init__(self, listed: ListedTable, board: SlidingBoard, goal: str) -> None:
        self._listed = listed
        self._board = board
        self._goal = goal
        odd = list_parities(board, goal)
        has_depths = listed.definition.index != BITS_INDEX or bool(listed.definition.columns)
        self._depth = np.empty(board.size if has_depths else 0, dtype=np.uint8)
        self._shared = self._depth, odd, board.line, np.array(board.weights)

    def prove(self) -> dict[Depth, int]:
        """Prove the distance of every state, and compare the counts with published ones.

        Return the number of states at each distance.
        """
        listed, board, depth, goal = self._listed, self._board, self._depth, self._goal
        with listed.begin_claim("there is a record for every state", index=True) as check:
            check.require_equal("records", listed.index.records, len(depth))
            zeros: list[int] = []
            layers = np.zeros(UNREACHED + 1, dtype=np.int64)
            for begin, records in iter_records(listed, check):
                zeros += (begin + np.flatnonzero(records["distance"] == 0)).tolist()
                depth[begin : begin + len(records)] = records["distance"]
                layers += np.bincount(records["distance"], minlength=len(layers))
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
        return self._prove_counts(layers, int(depth.max()))

    def _prove_counts(self, layers: npt.NDArray[np.int64], farthest: int) -> dict[Depth, int]:
        """Compare the number of states at each distance with published ones, and return it."""
        listed, board = self._listed, self._board
        if self._goal == board.example:
            text = "the farthest states are as far as published (OEIS A151944)"
            with listed.begin_claim(text, index=True) as check:
                check.require_equal("moves", farthest, FARTHEST[str(board)])
        name, published = find_known_layers(listed.definition.name)
        if published:
            text = f"as many states are at each distance as published (OEIS {name})"
            with listed.begin_claim(text, index=True) as check:
                for distance, count in enumerate(published):
                    check.require_equal(
                        f"states at distance {distance}:", int(layers[distance]), count
                    )
        return {(self._goal, at): int(layers[at]) for at in np.flatnonzero(layers).tolist()}

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
        homes = [board.place[self._goal.index(mark)] for mark in CHARACTERS[1 : board.cells]]
        steps = [[board.count_steps(cells[a], cells[b]) for b in places] for a in places]
        describe_states(
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


class BitDistances(Distances):
    """The distances of a board to a goal, of which the index has one bit each."""

    def prove(self) -> dict[Depth, int]:
        """Prove every bit by a search of its own, and compare the counts with published ones."""
        listed, board = self._listed, self._board
        bits = self._read_bits()
        counts, states = np.zeros(UNREACHED + 1, dtype=np.int64), 0
        text = "each bit is bit 1 of the state's distance, layer by layer from the goal"
        with listed.begin_claim(text, index=True) as check:
            for distance, layers in iter_layers(board, self._goal):
                places, wanted = layers.list_places(distance), distance >> 1 & 1
                compared = run_in_threads(
                    compare_bits, ((layers.bits[place], bits[place], wanted) for place in places)
                )
                for place, (count, wrong) in zip(places, compared, strict=True):
                    if wrong >= 0:
                        self._refute_bit(check, place * board.orders + wrong, distance)
                    counts[distance] += count
                    if len(self._depth):
                        depths = self._depth[place * board.orders :][: board.orders]
                        is_reached = np.unpackbits(layers.bits[place], bitorder="little")
                        depths[is_reached.view(bool)] = distance
                states += int(counts[distance])
                check.report_progress(states // (8 * ROW_BYTES))
            check.require_equal("states that reach the goal", states, board.size)
        return self._prove_counts(counts, int(np.flatnonzero(counts).max()))

    def _read_bits(self) -> npt.NDArray[np.uint8]:
        """Read the index, and check that it is what the manifest lists."""
        listed, board = self._listed, self._board
        bits = np.empty((board.size // (8 * ROW_BYTES), ROW_BYTES), dtype=np.uint8)
        text = "there is a record for every 360 states"
        with listed.begin_claim(text, index=True) as check:
            check.require_equal("records", listed.index.records, len(bits))
            for begin, records in iter_records(listed, check):
                bits[begin : begin + len(records)] = view_field(records, "bits")
        return bits.reshape(board.cells, -1)

    def _refute_bit(self, check: ClaimCheck, rank: int, distance: int) -> None:
        """Report a state whose bit is wrong."""
        bit = distance >> 1 & 1
        state = {"state": self._board.unrank(rank, self._goal), "distance": distance}
        check.refute(f"bit {1 - bit}", str(bit), rank, state)
