"""The proof of a sliding board's distances, from each state's neighbours.

Every state except the goal has a neighbour one move nearer and none nearer than that. Each state is
unranked, moved and ranked again by itself; nothing is shared with the search's move tables. An
order of the tiles, and the same order with its last two tiles exchanged, have the same number: a
place of the blank allows either the even or the odd one of the two. The index and the rows are read
in chunks; only one byte a state stays in memory.

A table with one bit of each distance is compared with a second search, layer by layer: the bits of
a layer must be bit 1 of its distance. No state's distance is concluded from the table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from puzzle_tablebase.graph import UNREACHED
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.pipeline.tasks import run_in_threads
from puzzle_tablebase.pipeline.verify.board_layers import (
    WORD_STATES,
    Words,
    compare_words,
    iter_layers,
    list_parities,
    split_records,
)
from puzzle_tablebase.pipeline.verify.claims import (
    ClaimCheck,
    Proof,
    PublishedTable,
    Rows,
    Seen,
    Verdict,
)
from puzzle_tablebase.pipeline.verify.files import decode_rows, iter_records, view_field
from puzzle_tablebase.puzzles.sliding import CHARACTERS, LETTERS, BoardDistances, SlidingBoard
from puzzle_tablebase.schema import BITS_INDEX, ROW_BYTES
from puzzle_tablebase.tables.manifest import Depth

NO_NEIGHBOUR = 255


@compiled
def find_first_wrong(
    depth: Array, odd: Array, line: int, weights: Array, first: int, last: int
) -> tuple[int, int]:
    """Return the first state whose nearest neighbour is not exactly one move nearer.

    The orders with numbers from `first` up to `last` are checked. `depth` has the states'
    distances, `odd` says for each place of the blank which orders it allows, `weights` has the
    place values of an order's number, and `line` is the number of places in a line.
    The result is the state's rank and its nearest neighbour's distance; the rank is -1 if no such
    state exists.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for number in range(first, last):
        unrank_tiles(number, weights, order)
        for place in range(len(odd)):
            here = depth[place * orders + number]
            _read_neighbours(depth, order[odd[place]], line, weights, place, number, moved, near)
            nearest = min(near[0], near[1], near[2], near[3])
            if here and nearest != here - 1:
                return place * orders + number, nearest
    return -1, NO_NEIGHBOUR


@compiled
def describe_states(
    depth: Array, odd: Array, line: int, weights: Array, first: int, homes: Array, steps: Array,
    tiles: Array, nearer: Array, manhattan: Array,
) -> None:  # fmt: skip
    """Fill the rows of three arrays with the states from rank `first` on.

    `tiles` gets the tile on each place, 0 for the blank; `nearer` a bit for each of the four
    neighbours that is one move nearer; `manhattan` the sum of the `steps` from each tile's place to
    its place in the goal, which `homes` has by tile.
    """
    orders = len(depth) // len(odd)
    order = np.empty((2, len(odd) - 1), np.int64)
    moved, near = np.empty(len(odd) - 1, np.int64), np.empty(4, np.uint8)
    for row in range(len(tiles)):
        place, number = (first + row) // orders, (first + row) % orders
        unrank_tiles(number, weights, order)
        tile_order = order[odd[place]]
        _read_neighbours(depth, tile_order, line, weights, place, number, moved, near)
        nearer[row] = manhattan[row] = 0
        for way in range(4):
            if near[way] < depth[first + row]:
                nearer[row] |= 1 << way
        for at in range(len(odd)):
            tiles[row, at] = 0
            if at != place:
                tile = tile_order[at - (at > place)]
                tiles[row, at] = tile + 1
                manhattan[row] += steps[at, homes[tile]]


@compiled
def _read_neighbours(
    depth: Array, order: Array, line: int, weights: Array, place: int, number: int,
    moved: Array, near: Array,
) -> None:  # fmt: skip
    """Fill `near` with the distances of the neighbours: a place back or on, a line back or on."""
    places = len(order) + 1
    orders = len(depth) // places
    near[:] = NO_NEIGHBOUR
    if place % line:
        near[0] = depth[(place - 1) * orders + number]
    if (place + 1) % line:
        near[1] = depth[(place + 1) * orders + number]
    if place >= line:
        # the tile a line back moves behind the tiles between
        moved[:] = order
        for at in range(place - line, place - 1):
            moved[at] = order[at + 1]
        moved[place - 1] = order[place - line]
        near[2] = depth[(place - line) * orders + rank_tiles(moved, weights)]
    if place + line < places:
        moved[:] = order
        for at in range(place, place + line - 1):
            moved[at + 1] = order[at]
        moved[place] = order[place + line - 1]
        near[3] = depth[(place + line) * orders + rank_tiles(moved, weights)]


@compiled
def unrank_tiles(number: int, weights: Array, order: Array) -> None:
    """Fill `order` with the two orders of a number: the even one and the odd one."""
    tiles = order.shape[1]
    remaining = 0
    for tile in range(tiles):
        remaining |= tile << (4 * tile)
    odd = 0
    for at in range(tiles - 2):
        chosen = number // weights[at]
        number -= chosen * weights[at]
        odd ^= chosen & 1
        order[0, at] = remaining >> (4 * chosen) & 15
        order[1, at] = order[0, at]
        below = remaining & ((1 << (4 * chosen)) - 1)
        remaining = below | (remaining >> (4 * chosen + 4)) << (4 * chosen)
    low, high = remaining & 15, remaining >> 4 & 15
    order[odd, tiles - 2], order[odd, tiles - 1] = low, high
    order[1 - odd, tiles - 2], order[1 - odd, tiles - 1] = high, low


@compiled
def rank_tiles(order: Array, weights: Array) -> int:
    """Return the number of an order."""
    number = 0
    seen = 0
    for at in range(len(order) - 2):
        tile = order[at]
        before = seen & ((1 << tile) - 1)
        count = 0
        while before:
            before &= before - 1
            count += 1
        number += (tile - count) * weights[at]
        seen |= 1 << tile
    return number


HOW = "every state was compared with its neighbours; every row follows from its number"
HOW_OF_BITS = "every state was searched again from the goal, layer by layer"
COLUMNS = ("state", "goal", "distance", "best_moves", "manhattan")
CHUNK_ORDERS = 1 << 16


def prove_board(published: PublishedTable, earlier: Seen) -> Proof:
    """Prove the distances to one goal, and the rows of a table that has a byte for each state."""
    recipe = published.definition.recipe
    assert isinstance(recipe, BoardDistances)
    assert isinstance(recipe.board, SlidingBoard)
    (goal,) = recipe.roots
    if published.definition.index == BITS_INDEX:
        depths, how = BitDistances(published, recipe.board, goal).prove(), HOW_OF_BITS
    else:
        distances = Distances(published, recipe.board, goal)
        depths, how = distances.prove(), HOW
        distances.prove_rows()
    published.note_missing_proofs(COLUMNS, ("distance", "bits"))
    return published.make_proof(Verdict.PROVED, how, depths=depths)


def list_depths(goal: str, layers: npt.NDArray[np.int64]) -> dict[Depth, int]:
    """Return the number of states at each distance from a goal."""
    return {(goal, at): int(layers[at]) for at in np.flatnonzero(layers).tolist()}


class Distances:
    """The distances of a board to a goal, by rank.

    `chunk_orders`: the number of orders that one thread checks at a time.
    """

    def __init__(
        self,
        published: PublishedTable,
        board: SlidingBoard,
        goal: str,
        chunk_orders: int = CHUNK_ORDERS,
    ) -> None:
        self._published = published
        self._chunk_orders = chunk_orders
        self._board = board
        self._goal = goal
        odd = list_parities(board, goal)
        self._depth = np.empty(board.size, dtype=np.uint8)
        self._shared = self._depth, odd, board.line, np.array(board.weights)

    def prove(self) -> dict[Depth, int]:
        """Prove the distance of every state; return the number of states at each distance."""
        published, board, depth, goal = self._published, self._board, self._depth, self._goal
        with published.begin_claim("there is a record for every state", index=True) as check:
            check.require_equal("records", published.index.records, len(depth))
            zeros: list[int] = []
            layers = np.zeros(UNREACHED + 1, dtype=np.int64)
            for begin, records in iter_records(published, check):
                zeros += (begin + np.flatnonzero(records["distance"] == 0)).tolist()
                depth[begin : begin + len(records)] = records["distance"]
                layers += np.bincount(records["distance"], minlength=len(layers))
        with published.begin_claim(f"the distance is 0 only at {goal}", index=True) as check:
            check.require_equal(f"distance of {goal}:", int(depth[board.rank(goal)]), 0)
            for rank in zeros:
                if rank != board.rank(goal):
                    check.refute("distance 0", "a distance above 0", rank, self._format_state(rank))
        text = "every state except the goal has a neighbour one move nearer, and none still nearer"
        with published.begin_claim(text, index=True) as check:
            chunks = (
                (*self._shared, first, min(board.orders, first + self._chunk_orders))
                for first in range(0, board.orders, self._chunk_orders)
            )
            for number, (rank, near) in enumerate(run_in_threads(find_first_wrong, chunks)):
                if rank >= 0:
                    nearest = f"its nearest neighbour at {near}"
                    wanted = f"one at {int(depth[rank]) - 1} and none nearer"
                    check.refute(nearest, wanted, rank, self._format_state(rank))
                orders = min(board.orders, (number + 1) * self._chunk_orders)
                check.report_progress(orders * board.cells)
        return list_depths(goal, layers)

    def _format_state(self, rank: int) -> dict[str, object]:
        state = self._board.unrank(rank, self._goal)
        return {"state": state, "distance": int(self._depth[rank])}

    def prove_rows(self) -> None:
        """Prove that the rows are the states in the order of their ranks, with correct columns."""
        text = "every row is its rank's state, distance, best moves and manhattan"
        with self._published.begin_claim(text) as check:
            check.require_equal("rows", self._published.entry.rows, self._board.size)
            for rows, expected in decode_rows(self._published, self._describe_rows):
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
            "distance": pa.array(self._depth[rows.begin :][:count].astype(np.int16)),
            "best_moves": pa.array(np.array(sets)[nearer]),
            "manhattan": pa.array(manhattan.astype(np.int16)),
        }


class BitDistances:
    """The distances of a board to a goal, of which the index has one bit each."""

    def __init__(self, published: PublishedTable, board: SlidingBoard, goal: str) -> None:
        self._published, self._board, self._goal = published, board, goal

    def prove(self) -> dict[Depth, int]:
        """Prove every bit by a search of its own; return the number of states at each distance."""
        published, board = self._published, self._board
        bits = self._read_bits()
        counts, states = np.zeros(UNREACHED + 1, dtype=np.int64), 0
        text = "each bit is bit 1 of the state's distance, layer by layer from the goal"
        with published.begin_claim(text, index=True) as check:
            for distance, layers in iter_layers(board, self._goal):
                is_set, parts = bool(distance & 2), layers.list_parts(distance)
                compared = run_in_threads(
                    compare_words,
                    (
                        (layers.words[place, first:end], bits[place, first:end], is_set)
                        for place, first, end in parts
                    ),
                )
                for (place, first, _), (count, wrong) in zip(parts, compared, strict=True):
                    if wrong >= 0:
                        at = place, first + wrong
                        self._refute_word(check, at, layers.words[at], bits[at], distance)
                    counts[distance] += count
                states += int(counts[distance])
                check.report_progress(states // (8 * ROW_BYTES))
            check.require_equal("states that reach the goal", states, board.size)
        return list_depths(self._goal, counts)

    def _read_bits(self) -> Words:
        """Read the index, and check that it is what the manifest lists."""
        published, board = self._published, self._board
        bits = np.empty(board.size // WORD_STATES, dtype=np.uint64)
        words = 8 * ROW_BYTES // WORD_STATES
        text = "there is a record for every 360 states"
        with published.begin_claim(text, index=True) as check:
            check.require_equal("records", published.index.records, len(bits) // words)
            for begin, records in iter_records(published, check):
                part = slice(words * begin, words * (begin + len(records)))
                bits[part] = split_records(view_field(records, "bits"))
        return bits.reshape(board.cells, -1)

    def _refute_word(
        self, check: ClaimCheck, at: tuple[int, int], states: int, bits: int, distance: int
    ) -> None:
        """Report the first state of a word whose bit is wrong."""
        wanted = distance >> 1 & 1
        wrong = int(states) & (int(bits) if not wanted else ~int(bits))
        place, word = at
        rank = place * self._board.orders + word * WORD_STATES + (wrong & -wrong).bit_length() - 1
        state = {"state": self._board.unrank(rank, self._goal), "distance": distance}
        check.refute(f"bit {1 - wanted}", str(wanted), rank, state)
