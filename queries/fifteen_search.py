"""The search of the 15-puzzle, which reads the blocks of the tables that it needs; in threads."""

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
from puzzle_tablebase.puzzles.fifteen import Pattern, list_images, list_neighbours, rank_order
from puzzle_tablebase.queries.kernels import pattern_search as words
from puzzle_tablebase.queries.kernels.pattern_search import (
    CELLS,
    HALF_ORDER_MASK,
    KEY_MASK,
    NO_CELL,
    PLACE_BITS,
    PLACES,
    SLOTS,
    TILE_BITS,
    continue_search,
)
from puzzle_tablebase.resources import allocate_pages, count_cores

if TYPE_CHECKING:
    from puzzle_tablebase.queries.index_reader import IndexReader


class Found(NamedTuple):
    """A shortest solution: the cells of the blank, the first one included.

    No solution was known to be shorter than `bound` moves when the search began, and it took so
    many `positions`.
    """

    blanks: list[int]
    bound: int
    positions: int


def make_tables(patterns: Sequence[Pattern]) -> tuple[npt.NDArray[Any], ...]:
    """Make the tables of a search beside the distances, and of the board's geometry.

    The entry of a placement in the distances, which stand pattern after pattern, is the sum of
    three numbers: for its cells, for the first places of its order, and for the others. Then come
    each cell's neighbours, filled up to four with `NO_CELL`; what a cell of the board becomes on
    each image, which are the board and its mirror image; and the slot of each tile there, one for
    each pattern. A board that is not square is its own mirror image.
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


def join_places(order: Sequence[int]) -> int:
    """Return a number with the tile on each place of an order, the first one in the lowest bits.

    >>> join_places([1, 0, 2])
    129
    """
    return sum(tile << int(PLACE_BITS) * place for place, tile in enumerate(order))


def _rank_halves(tiles: int) -> npt.NDArray[np.uint16]:
    """Return what the first places of an order, and what the others, add to its rank."""
    first = min(tiles, PLACES)
    ranks = np.zeros((2, int(HALF_ORDER_MASK) + 1), dtype=np.uint16)
    for order in permutations(range(tiles), first):
        others = sorted({*range(tiles)}.difference(order))
        ranks[0, join_places(order)] = rank_order([*order, *others])
    for order in permutations(range(tiles), tiles - first):
        ranks[1, join_places(order)] = rank_order(order)
    return ranks


BUDGET = 200_000
"""Positions between two calls of `pause`: some hundredths of a second."""
RUN_BLOCKS = 8
"""Blocks of an index that are read together."""
RUN_BYTES = RUN_BLOCKS * BODY_BYTES
MIN_RUNS = 1 << 12
"""Runs that are kept in any case: a step needs eight together, and in each thread."""
MEMORY_SHARE = 2
"""The tables take one part in so many of the free memory at most."""

Words = npt.NDArray[np.uint64]


class Solver:
    """A solver of boards; several threads may use it at once.

    What was read is kept as long as the tables fit into a share of `memory`, the bytes that are
    free (None: all do); if not, it is forgotten together when the share is full.
    """

    budget = BUDGET

    def __init__(
        self,
        patterns: Sequence[Pattern],
        indexes: Sequence[IndexReader],
        memory: int | None = None,
        min_runs: int = MIN_RUNS,
    ) -> None:
        self._patterns, self._indexes = patterns, indexes
        self._offsets = [0, *accumulate(pattern.size for pattern in patterns)]
        self._images = list_images(patterns[0].height, patterns[0].width)
        share = self._offsets[-1] if memory is None else memory // MEMORY_SHARE
        self._fits = self._offsets[-1] <= share
        self._max_runs = max(min_runs, share // (RUN_BYTES + mmap.PAGESIZE))
        self._tables, self._distances = make_tables(patterns), self._make_distances()
        self._runs = 0
        self._lock = Lock()

    def search(self, board: list[int], pause: Callable[[int], object] = lambda _: None) -> Found:
        """Find a shortest solution.

        `pause` gets a number of moves that none is shorter than, now and then, and may raise an
        error, which ends the search.
        """
        search = np.zeros(int(words.SEARCH_WORDS), dtype=np.uint64)
        seen = np.zeros(words.SEEN, dtype=np.uint64)
        bound = self._begin(search, board)
        while search[words.STATUS] != words.SOLVED:
            pause(int(search[words.LIMIT]))
            continue_search((self._distances, *self._tables), search, seen, self.budget)
            if search[words.STATUS] == words.MISSING:
                self._read(int(search[words.WANTED]))
                search[words.STATUS] = words.SEARCHING
        frames = search[words.FRAMES :].reshape(words.MAX_MOVES, -1)
        blanks: list[int] = frames[: int(search[words.DEPTH]) + 1, words.BLANK].tolist()
        return Found(blanks, bound, int(search[words.POSITIONS]))

    def compute_bound(self, board: list[int]) -> int:
        """Return a number of moves that no solution is shorter than; it reads a few blocks."""
        return self._begin(np.zeros(int(words.SEARCH_WORDS), dtype=np.uint64), board)

    def _begin(self, search: Words, board: list[int]) -> int:
        """Write the words of a search that begins, and return its first limit."""
        slots, bounds = [0] * (2 * words.SLOTS), [0, 0]
        for image, to_image in enumerate(self._images):
            for number, pattern in enumerate(self._patterns):
                cells = pattern.find_cells(to_image, board)
                entry = self._offsets[number] + pattern.rank(cells)
                value = self._read(entry)
                mask = sum(1 << cell for cell in cells)
                order = join_places(sorted(range(len(cells)), key=cells.__getitem__))
                slot = image * words.SLOTS + number
                slots[slot] = mask | order << int(words.ORDER) | value << int(words.VALUE)
                bounds[image] += value - 1
        search[words.BOARD : words.BOARD + words.CELLS][: len(board)] = board
        search[words.SLOT : words.FRAMES] = slots
        frame = search[words.FRAMES :]
        frame[words.BLANK] = board.index(0)
        # the tile on each cell, the first one in the lowest bits
        key = sum(tile << int(TILE_BITS) * cell for cell, tile in enumerate(board))
        frame[words.KEY] = key & int(KEY_MASK)
        frame[words.BOUND : words.OLD] = bounds
        search[words.STATUS] = words.SEARCHING if bounds[0] else words.SOLVED
        search[words.LIMIT] = max(bounds)
        return max(bounds)

    def _read(self, entry: int) -> int:
        """Return an entry of the distances, which is read from its index if it is missing."""
        if value := int(self._distances[entry]):
            return value
        with self._lock:
            if self._runs >= self._max_runs and not self._fits:
                self._runs, self._distances = 0, self._make_distances()
            self._runs += 1
            distances = self._distances
        number = bisect_right(self._offsets, entry) - 1
        run = (entry - self._offsets[number]) // RUN_BYTES
        first = self._offsets[number] + run * RUN_BYTES
        records = self._indexes[number].read_blocks(run * RUN_BLOCKS, RUN_BLOCKS)
        # a false distance of 255 must not look as if it had not been read
        values = np.minimum(np.frombuffer(records, np.uint8), 254) + 1
        distances[first : first + len(values)] = values
        return int(distances[entry])

    def _make_distances(self) -> npt.NDArray[np.uint8]:
        """Return all distances, each with one more, or 0 as long as it has not been read."""
        size = self._offsets[-1]
        # large pages help, because most lookups are far apart
        return np.frombuffer(allocate_pages(size) if self._fits else mmap.mmap(-1, size), np.uint8)


Result = TypeVar("Result")


def answer_in_threads(
    keys: Iterable[str], answer: Callable[[str, Callable[[], None]], Result]
) -> Iterator[list[Future[Result]]]:
    """Answer each key in a thread; yield what is answered in order, some of it at a time.

    `answer` gets a key and a function to call now and then, which raises CancelledError once nobody
    waits for the answer.
    """
    is_over = Event()

    def pause() -> None:
        if is_over.is_set():
            raise CancelledError

    with ThreadPoolExecutor(count_cores()) as pool:
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
