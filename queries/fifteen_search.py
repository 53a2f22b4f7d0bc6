"""The search for shortest solutions: IDA* with additive pattern databases.

The heuristic is the larger of two: the sum of the patterns' distances on the board, and the same on
its mirror image. Both are kept for each node and changed by one lookup a move. A node that is in
the transposition table, met before with at least as many moves left, is skipped. A search reads the
blocks of the tables that it needs; boards are searched in threads.

Most of the time goes into waiting for memory. So the entries that the moves from a node need are
prefetched before any is used. The arrays have one dimension and unsigned indexes, so the compiled
code need not check for negative ones.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from itertools import accumulate, permutations, takewhile
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.index import BODY_BYTES
from puzzle_tablebase.intrinsics import count_ones, prefetch
from puzzle_tablebase.jit import Array, compiled
from puzzle_tablebase.puzzles.fifteen import Pattern, list_images, list_neighbours
from puzzle_tablebase.puzzles.sliding import rank_permutation
from puzzle_tablebase.resources import allocate_pages, count_cores

if TYPE_CHECKING:
    from puzzle_tablebase.queries.files import IndexReader

MAX_MOVES = 256
"""The most frames of a search: more than the moves that any board of 16 cells needs."""
NO_CELL = 255
CELLS = np.uint64(16)
"""Cells of an image, and tiles with the blank."""
SLOTS = 8
"""Slots of an image: one for each pattern."""
SLOT_MASK = np.uint64(SLOTS - 1)
POSITIONS = 4
"""Positions of an order whose part of the rank is one lookup."""

MOST = np.uint64(MAX_MOVES - 1)
"""The largest limit: only false distances lead there."""
# numbers without a sign: with others, the compiler would make signed or broken ones
ZERO, ONE, TWO, THREE, FOUR, EIGHT = (np.uint64(number) for number in (0, 1, 2, 3, 4, 8))
MASK_BITS, ORDER_BITS, POSITION_BITS = np.uint64(16), np.uint64(24), np.uint64(3)
ORDER, VALUE = MASK_BITS, MASK_BITS + ORDER_BITS
"""The first bits of the order and of the distance in a slot's word."""
CELLS_MASK, ORDER_MASK, POSITION_MASK = (
    (ONE << bits) - ONE for bits in (MASK_BITS, ORDER_BITS, POSITION_BITS)
)
HALF_ORDER = np.uint64(POSITIONS) * POSITION_BITS
HALF_ORDER_MASK = (ONE << HALF_ORDER) - ONE

SEEN_BITS, TILE_BITS, LIMIT_BITS, ROOM_BITS = np.uint64(14), FOUR, EIGHT, EIGHT
SEEN = 1 << int(SEEN_BITS)
"""Entries of the transposition table."""
SHIFTS = np.uint64(15), np.uint64(29), np.uint64(43)
"""Distances over which the bits of a key are mixed, all larger than `SEEN_BITS`."""
KEY_MASK = (ONE << np.uint64(60)) - ONE
"""The bits of a key: the tile on each cell but the last of 16, which the others determine."""
SEEN_MASK, ROOM_MASK = np.uint64(SEEN - 1), (ONE << ROOM_BITS) - ONE

SEARCHING, SOLVED, MISSING = 0, 1, 2

# the words of a search: its state, the tile on each cell, the word of each slot, and its frames
STATUS, DEPTH, LIMIT, NODES, WANTED = (np.uint64(number) for number in range(5))
BOARD = np.uint64(5)
SLOT = BOARD + CELLS
FRAMES = SLOT + np.uint64(2 * SLOTS)
# the words of a frame
BLANK, KEY, HEURISTIC, OLD, NEXT, END, CHILDREN, VISITS, CHILD = (
    np.uint64(number) for number in (0, 1, 2, 4, 6, 7, 8, 9, 13)
)
# the words of a child
CELL, CHILD_KEY, ENTRY, CHILD_SLOT, CHILD_HEURISTIC = (
    np.uint64(number) for number in (0, 1, 2, 4, 6)
)
CHILD_WORDS = np.uint64(8)
FRAME_WORDS = CHILD + FOUR * CHILD_WORDS
SEARCH_WORDS = FRAMES + np.uint64(MAX_MOVES) * FRAME_WORDS


@compiled
def find_position(key: np.uint64) -> Any:
    """Return the position of a node in the transposition table.

    The position and the key's bits from `SEEN_BITS` on determine the key.
    """
    return (key ^ key >> SHIFTS[0] ^ key >> SHIFTS[1] ^ key >> SHIFTS[2]) & SEEN_MASK


@compiled
def continue_search(tables: tuple[Any, ...], search: Array, seen: Array, rounds: int) -> None:  # noqa: PLR0915  # a kernel, compiled whole
    """Search for some rounds of one step each, until the board is solved or an entry is missing.

    The number of an entry of `distances` that has not been read is then in `WANTED`.

    For `tables` see `make_tables`; `search` and `seen`, the transposition table, have SEARCH_WORDS
    and SEEN words.
    At a solution the depth is its length, and the frames have the blank's cell after each move.

    A slot has the cells of its tiles, the tile on each position (three bits each), and its entry of
    `distances`. A frame has the blank's cell, the node's key, the heuristics of both images, the
    words of the slots before the move from it, and up to four children. `VISITS` has the children
    to visit in order: from `NEXT` to before `END`.
    """
    distances, set_entries, first_entries, last_entries, steps, cells, slots = tables
    for _ in range(rounds):
        depth, limit = search[DEPTH], search[LIMIT]
        frame = FRAMES + depth * FRAME_WORDS
        # the children of the node, which the step before asked for, by their heuristics
        first = frame + VISITS
        end = first
        for at in range(search[frame + CHILDREN]):
            child = frame + CHILD + at * CHILD_WORDS
            tile = search[BOARD + search[child + CELL]]
            heuristic, total = ZERO, ZERO
            for image in range(TWO):
                slot = SLOT + slots[image * CELLS + tile]
                new = np.uint64(distances[search[child + ENTRY + image]])
                if new == ZERO:
                    search[STATUS], search[WANTED] = MISSING, search[child + ENTRY + image]
                    return
                image_heuristic = search[frame + HEURISTIC + image] + new - (search[slot] >> VALUE)
                search[child + CHILD_SLOT + image] |= new << VALUE
                search[child + CHILD_HEURISTIC + image] = image_heuristic
                heuristic, total = max(heuristic, image_heuristic), total + image_heuristic
            # a move changes the true distance by one: if a child's heuristic is larger by more,
            # the heuristic of the node was too small, and it may be beyond the limit itself
            if depth + heuristic > limit + ONE:
                end = first
                break
            if depth + heuristic + ONE > limit:
                continue
            visit, position = total << TWO | at, end
            while position > first and search[position - ONE] > visit:
                search[position] = search[position - ONE]
                position -= ONE
            search[position] = visit
            end += ONE
        search[frame + NEXT], search[frame + END] = first, end
        # the next node: a child, one of an earlier node, or the first one again
        while True:
            if search[frame + NEXT] < search[frame + END]:
                at = search[search[frame + NEXT]] & THREE
                search[frame + NEXT] += ONE
                child = frame + CHILD + at * CHILD_WORDS
                if search[child + CHILD_HEURISTIC] != ZERO:
                    child_key, room = search[child + CHILD_KEY], limit - depth
                    position = find_position(child_key)
                    name = (child_key >> SEEN_BITS << LIMIT_BITS | limit) << ROOM_BITS
                    if name | room <= seen[position] <= name | ROOM_MASK:
                        continue
                    seen[position] = name | room
                cell, previous = search[child + CELL], search[frame + BLANK]
                tile = search[BOARD + cell]
                search[BOARD + previous], search[BOARD + cell] = tile, 0
                below = frame + FRAME_WORDS
                for image in range(TWO):
                    slot = SLOT + slots[image * CELLS + tile]
                    search[frame + OLD + image] = search[slot]
                    search[slot] = search[child + CHILD_SLOT + image]
                    search[below + HEURISTIC + image] = search[child + CHILD_HEURISTIC + image]
                search[below + BLANK] = cell
                search[below + KEY] = search[child + CHILD_KEY]
                depth, frame = depth + ONE, below
                break
            if depth == ZERO:
                previous = search[frame + BLANK]
                if search[NODES] != ZERO:
                    limit = min(limit + TWO, MOST)
                break
            depth, frame = depth - ONE, frame - FRAME_WORDS
            blank, cell = search[frame + BLANK], search[frame + FRAME_WORDS + BLANK]
            tile = search[BOARD + blank]
            search[BOARD + blank], search[BOARD + cell] = 0, tile
            for image in range(TWO):
                slot = SLOT + slots[image * CELLS + tile]
                search[slot] = search[frame + OLD + image]
        search[DEPTH], search[LIMIT] = depth, limit
        if search[frame + HEURISTIC] == ZERO:
            search[STATUS] = SOLVED
            return
        # prefetch what the moves from it need
        search[NODES] += ONE
        blank, key = search[frame + BLANK], search[frame + KEY]
        child = frame + CHILD
        for step in range(blank * FOUR, blank * FOUR + FOUR):
            cell = np.uint64(steps[step])
            if cell == NO_CELL:
                break
            if cell == previous:
                continue
            tile = search[BOARD + cell]
            for image in range(TWO):
                slot = np.uint64(slots[image * CELLS + tile])
                begin = np.uint64(cells[image * CELLS + cell])
                target = np.uint64(cells[image * CELLS + blank])
                word = search[SLOT + slot]
                mask, order = word & CELLS_MASK, word >> ORDER & ORDER_MASK
                # the tile leaves a position of the order, and enters one
                mask ^= ONE << begin
                position = POSITION_BITS * count_ones(mask & (ONE << begin) - ONE)
                moved = order >> position & POSITION_MASK
                low = (ONE << position) - ONE
                order = order & low | order >> POSITION_BITS & ~low
                position = POSITION_BITS * count_ones(mask & (ONE << target) - ONE)
                low = (ONE << position) - ONE
                order = order & low | moved << position | (order & ~low) << POSITION_BITS
                mask ^= ONE << target
                half = (slot & SLOT_MASK) << HALF_ORDER
                entry = np.uint64(first_entries[half | order & HALF_ORDER_MASK])
                entry += last_entries[half | order >> HALF_ORDER] + set_entries[mask]
                prefetch(distances, entry)
                search[child + ENTRY + image] = entry
                search[child + CHILD_SLOT + image] = mask | order << ORDER
            child_key = key ^ tile << TILE_BITS * cell ^ tile << TILE_BITS * blank
            child_key &= KEY_MASK
            prefetch(seen, find_position(child_key))
            search[child + CHILD_KEY], search[child + CELL] = child_key, cell
            child += CHILD_WORDS
        search[frame + CHILDREN] = (child - frame - CHILD) // CHILD_WORDS


class Solution(NamedTuple):
    """A shortest solution: the cells of the blank, the first one included.

    `heuristic` is the lower bound when the search began, `nodes_expanded` the number of nodes that
    it expanded.
    """

    blanks: list[int]
    heuristic: int
    nodes_expanded: int


def make_tables(patterns: Sequence[Pattern]) -> tuple[npt.NDArray[Any], ...]:
    """Make the tables of a search other than the distances.

    The entry of a placement in the distances, which stand pattern after pattern, is the sum of
    three numbers: for its cells, for the first positions of its order, and for the others. Then
    come each cell's neighbours, filled up to four with `NO_CELL`; what a cell of the board becomes
    on each image, which are the board and its mirror image; and the slot of each tile there, one
    for each pattern. A board that is not square is its own mirror image.
    """
    height, width = patterns[0].height, patterns[0].width
    cells = height * width
    masks = np.arange(1 << cells)
    counts = np.bitwise_count(masks)
    set_entries = np.empty(len(masks), dtype=np.uint16)
    for count in range(cells + 1):
        of_count = counts == count
        set_entries[of_count] = np.arange(of_count.sum())
    cell_images = np.zeros((2, int(CELLS)), dtype=np.uint8)
    slots = np.zeros((2, int(CELLS)), dtype=np.uint8)
    for image, image_cells in enumerate(list_images(height, width)):
        cell_images[image, :cells] = image_cells
        for number, pattern in enumerate(patterns):
            tiles = [image_cells[tile - 1] + 1 for tile in pattern.tiles]
            slots[image, tiles] = image * SLOTS + number
    steps = np.full((int(CELLS), 4), NO_CELL, dtype=np.uint8)
    for cell, near in enumerate(list_neighbours(height, width)):
        steps[cell, : len(near)] = near
    entries = np.zeros((2, SLOTS, int(HALF_ORDER_MASK) + 1), dtype=np.uint32)
    offset = 0
    for number, pattern in enumerate(patterns):
        entries[:, number] = _rank_halves(len(pattern.tiles)) * np.uint32(pattern.sets)
        entries[0, number] += offset
        offset += pattern.size
    tables = set_entries, entries[0], entries[1], steps, cell_images, slots
    return tuple(table.ravel() for table in tables)


def join_positions(order: Sequence[int]) -> int:
    """Return a number with the tile at each position of an order, the first in the lowest bits.

    >>> join_positions([1, 0, 2])
    129
    """
    return sum(tile << int(POSITION_BITS) * position for position, tile in enumerate(order))


def _rank_halves(tiles: int) -> npt.NDArray[np.uint16]:
    """Return what the first positions of an order, and what the others, add to its rank."""
    first = min(tiles, POSITIONS)
    ranks = np.zeros((2, int(HALF_ORDER_MASK) + 1), dtype=np.uint16)
    for order in permutations(range(tiles), first):
        others = sorted({*range(tiles)}.difference(order))
        ranks[0, join_positions(order)] = rank_permutation([*order, *others])
    for order in permutations(range(tiles), tiles - first):
        ranks[1, join_positions(order)] = rank_permutation(order)
    return ranks


NODES_PER_CALL = 200_000
"""Nodes that are expanded between two calls of `pause`, in some hundredths of a second."""
SPAN_BLOCKS = 8
"""Blocks of an index that are read together."""
SPAN_BYTES = SPAN_BLOCKS * BODY_BYTES
MIN_SPANS = 1 << 12
"""Spans that are kept in any case: a step needs eight together, and in each thread."""
MEMORY_DIVISOR = 2
"""The tables take at most this part of the free memory: one half."""

Words = npt.NDArray[np.uint64]


class Solver:
    """A solver of boards; several threads may use it at once.

    Entries that were read are kept, up to a share of `memory`, the free bytes (None: no limit). If
    the tables do not fit, all entries are dropped when the share is full.
    """

    nodes_per_call = NODES_PER_CALL

    def __init__(
        self,
        patterns: Sequence[Pattern],
        indexes: Sequence[IndexReader],
        memory: int | None = None,
        min_spans: int = MIN_SPANS,
    ) -> None:
        self._patterns, self._indexes = patterns, indexes
        self._offsets = [0, *accumulate(pattern.size for pattern in patterns)]
        self._images = list_images(patterns[0].height, patterns[0].width)
        share = self._offsets[-1] if memory is None else memory // MEMORY_DIVISOR
        self._fits = self._offsets[-1] <= share
        self._max_spans = max(min_spans, share // (SPAN_BYTES + mmap.PAGESIZE))
        self._tables, self._distances = make_tables(patterns), self._make_distances()
        self._spans = 0
        self._lock = Lock()

    def search(self, board: list[int], pause: Callable[[int], object] = lambda _: None) -> Solution:
        """Find a shortest solution.

        From time to time, `pause` gets a lower bound of the number of moves. It ends the search by
        raising an error.
        """
        search = np.zeros(int(SEARCH_WORDS), dtype=np.uint64)
        seen = np.zeros(SEEN, dtype=np.uint64)
        heuristic = self._begin(search, board)
        while search[STATUS] != SOLVED:
            if search[LIMIT] >= MOST:  # the frames have no room for more
                raise self._indexes[0].make_error("its distances lead to no solution")
            pause(int(search[LIMIT]))
            continue_search((self._distances, *self._tables), search, seen, self.nodes_per_call)
            if search[STATUS] == MISSING:
                self._read(int(search[WANTED]))
                search[STATUS] = SEARCHING
        frames = search[FRAMES:].reshape(MAX_MOVES, -1)
        blanks: list[int] = frames[: int(search[DEPTH]) + 1, BLANK].tolist()
        return Solution(blanks, heuristic, int(search[NODES]))

    def compute_heuristic(self, board: list[int]) -> int:
        """Return a lower bound of the number of moves, from a few blocks."""
        return self._begin(np.zeros(int(SEARCH_WORDS), dtype=np.uint64), board)

    def _begin(self, search: Words, board: list[int]) -> int:
        """Initialize the words of a search, and return its first limit."""
        slots, heuristics = [0] * (2 * SLOTS), [0, 0]
        for image, to_image in enumerate(self._images):
            for number, pattern in enumerate(self._patterns):
                cells = pattern.find_cells(to_image, board)
                entry = self._offsets[number] + pattern.rank(cells)
                value = self._read(entry)
                mask = sum(1 << cell for cell in cells)
                order = join_positions(sorted(range(len(cells)), key=cells.__getitem__))
                slot = image * SLOTS + number
                slots[slot] = mask | order << int(ORDER) | value << int(VALUE)
                heuristics[image] += value - 1
        search[BOARD : BOARD + CELLS][: len(board)] = board
        search[SLOT:FRAMES] = slots
        frame = search[FRAMES:]
        frame[BLANK] = board.index(0)
        # the tile on each cell, the first one in the lowest bits
        key = sum(tile << int(TILE_BITS) * cell for cell, tile in enumerate(board))
        frame[KEY] = key & int(KEY_MASK)
        frame[HEURISTIC:OLD] = heuristics
        search[STATUS] = SEARCHING if heuristics[0] else SOLVED
        search[LIMIT] = max(heuristics)
        return max(heuristics)

    def _read(self, entry: int) -> int:
        """Return an entry of the distances; read it from its index if it is missing."""
        if value := int(self._distances[entry]):
            return value
        with self._lock:
            if self._spans >= self._max_spans and not self._fits:
                self._spans, self._distances = 0, self._make_distances()
            self._spans += 1
            distances = self._distances
        number = bisect_right(self._offsets, entry) - 1
        span = (entry - self._offsets[number]) // SPAN_BYTES
        first = self._offsets[number] + span * SPAN_BYTES
        records = self._indexes[number].read_blocks(span * SPAN_BLOCKS, SPAN_BLOCKS)
        # a false distance of 255 must not look as if it had not been read
        values = np.minimum(np.frombuffer(records, np.uint8), 254) + 1
        distances[first : first + len(values)] = values
        return int(distances[entry])

    def _make_distances(self) -> npt.NDArray[np.uint8]:
        """Return an array of all distances plus 1; 0 marks one that is not read yet."""
        size = self._offsets[-1]
        # large pages help, because most lookups are far apart
        return np.frombuffer(allocate_pages(size) if self._fits else mmap.mmap(-1, size), np.uint8)


Result = TypeVar("Result")


def answer_in_threads(
    keys: Iterable[str], answer: Callable[[str, Callable[[], None]], Result]
) -> Iterator[list[Future[Result]]]:
    """Answer each key in a thread; yield the answers in order, in parts.

    `answer` gets a key and a function to call from time to time, which raises CancelledError if
    nobody waits for the answer any more.
    """
    is_over = Event()

    def pause() -> None:
        if is_over.is_set():
            raise CancelledError

    pool = ThreadPoolExecutor(count_cores())
    try:
        waiting = deque(pool.submit(answer, key, pause) for key in keys)
        while waiting:
            wait([waiting[0]])
            part = [*takewhile(Future.done, waiting)]
            yield part
            for _ in part:
                waiting.popleft()
    finally:
        is_over.set()
        pool.shutdown(wait=False, cancel_futures=True)
