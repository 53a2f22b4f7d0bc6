"""The search of the 15-puzzle, which reads the blocks of the tables that it needs; in threads."""

from __future__ import annotations

import mmap
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import accumulate, permutations, takewhile
from threading import Event, Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.formats.index import BODY_BYTES
from puzzle_tablebase.puzzles.fifteen import Pattern, list_images, list_neighbours, rank_order
from puzzle_tablebase.queries.answer import Answer
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
    SearchTables,
    continue_search,
)
from puzzle_tablebase.queries.reader import ignore_progress
from puzzle_tablebase.resources import allocate_pages, count_cores, get_free_memory

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


def make_tables(patterns: Sequence[Pattern]) -> SearchTables:
    """Make the tables of the search; all distances are yet to be read."""
    height, width = patterns[0].height, patterns[0].width
    cells = height * width
    distances = np.frombuffer(mmap.mmap(-1, sum(each.size for each in patterns)), np.uint8)
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
    steps = np.full((int(CELLS), int(CELLS), 4), NO_CELL, dtype=np.uint8)
    for cell, near in enumerate(list_neighbours(height, width)):
        for previous in range(cells):
            others = [other for other in near if other != previous]
            steps[cell, previous, : len(others)] = others
    entries = np.zeros((2, SLOTS, int(HALF_ORDER_MASK) + 1), dtype=np.uint32)
    offset = 0
    for number, pattern in enumerate(patterns):
        entries[:, number] = _rank_halves(len(pattern.tiles)) * np.uint32(pattern.sets)
        entries[0, number] += offset
        offset += pattern.size
    return SearchTables(
        distances,
        set_entries,
        entries[0].ravel(),
        entries[1].ravel(),
        steps.ravel(),
        cell_images.ravel(),
        slots.ravel(),
    )


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
MAX_SINGLE_BLOCKS = 20_000
"""Blocks that are read one by one; then the rest of the tables is read at once, if it fits."""
MIN_BLOCKS = 1 << 12
"""Blocks that are kept in any case: a step needs eight together, and in each thread."""
MEMORY_SHARE = 2
"""The tables take one part in so many of the free memory at most."""

Words = npt.NDArray[np.uint64]


class Solver:
    """A solver of boards; several threads may use it at once.

    Blocks that were read are kept as long as the tables fit into a share of `memory`, the bytes
    that are free (None: all do); if not, they are forgotten together when the share is full.
    """

    budget = BUDGET
    max_single_blocks = MAX_SINGLE_BLOCKS

    def __init__(
        self,
        patterns: Sequence[Pattern],
        indexes: Sequence[IndexReader],
        memory: int | None = None,
        min_blocks: int = MIN_BLOCKS,
    ) -> None:
        self._patterns, self._indexes = patterns, indexes
        self._offsets = [0, *accumulate(pattern.size for pattern in patterns)]
        self._images = list_images(patterns[0].height, patterns[0].width)
        self._tables = make_tables(patterns)
        size = self._offsets[-1]
        self._fits = memory is None or size <= memory // MEMORY_SHARE
        if not self._fits:  # a block is in two pages of memory
            pages = (memory or 0) // MEMORY_SHARE // mmap.PAGESIZE
            self.max_single_blocks = max(min_blocks, pages // 2)
        self._blocks = 0
        self._lock = Lock()

    def search(self, board: list[int], pause: Callable[[int], object] = ignore_progress) -> Found:
        """Find a shortest solution.

        `pause` gets a number of moves that none is shorter than, now and then, and may raise an
        error, which ends the search.
        """
        search = np.zeros(int(words.SEARCH_WORDS), dtype=np.uint64)
        seen = np.zeros(words.SEEN, dtype=np.uint64)
        bound = self._begin(search, board)
        while search[words.STATUS] != words.SOLVED:
            pause(int(search[words.LIMIT]))
            # a plain tuple: compiled code that is cached would depend on the name of the class
            continue_search(tuple(self._tables), search, seen, self.budget)
            if search[words.STATUS] == words.MISSING:
                limit = int(search[words.LIMIT])
                self._read(int(search[words.WANTED]), partial(pause, limit))
                search[words.STATUS] = words.SEARCHING
        frames = search[words.FRAMES :].reshape(words.MAX_MOVES, -1)
        blanks: list[int] = frames[: int(search[words.DEPTH]) + 1, words.BLANK].tolist()
        return Found(blanks, bound, int(search[words.POSITIONS]))

    def _begin(self, search: Words, board: list[int]) -> int:
        """Write the words of a search that begins, and return its first limit."""
        slots, bounds = [0] * (2 * words.SLOTS), [0, 0]
        for image, to_image in enumerate(self._images):
            for number, pattern in enumerate(self._patterns):
                cells = pattern.find_cells(to_image, board)
                entry = self._offsets[number] + pattern.rank(cells)
                value = self._read(entry, ignore_progress)
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

    def _read(self, entry: int, pause: Callable[[], object]) -> int:
        """Return an entry of the distances, which is read from its index if it is missing."""
        if value := int(self._tables.distances[entry]):
            return value
        if self._blocks >= self.max_single_blocks:
            with self._lock:
                if self._blocks >= self.max_single_blocks:  # no other thread has done it since
                    self._tables = self._tables._replace(distances=self._renew(pause))
            if value := int(self._tables.distances[entry]):
                return value
        self._blocks += 1
        number = bisect_right(self._offsets, entry) - 1
        block = (entry - self._offsets[number]) // BODY_BYTES
        distances, records = self._tables.distances, self._indexes[number].read_block(block)
        self._write(distances, number, block * BODY_BYTES, records)
        return int(distances[entry])

    def _renew(self, pause: Callable[[], object]) -> npt.NDArray[np.uint8]:
        """Return all distances if they fit, else none; `pause` is called after each block."""
        size = self._offsets[-1]
        if not self._fits:
            self._blocks = 0
            return np.frombuffer(mmap.mmap(-1, size), np.uint8)
        # large pages help, because most lookups are far apart
        distances = np.frombuffer(allocate_pages(size), np.uint8)
        for number, index in enumerate(self._indexes):
            first = 0
            for chunk in index.iter_chunks():
                self._write(distances, number, first, chunk)
                first += len(chunk)
                pause()
        return distances

    def _write(
        self, distances: npt.NDArray[np.uint8], number: int, first: int, records: bytes
    ) -> None:
        """Write the records of a pattern to the distances, each with one more."""
        at, end = self._offsets[number] + first, self._offsets[number + 1]
        # a false distance of 255 must not look as if it had not been read
        values = np.minimum(np.frombuffer(records, np.uint8), 254) + 1
        values = values[: end - at]  # without the padding of the last block
        distances[at : at + len(values)] = values


def open_solver(patterns: Sequence[Pattern], indexes: Sequence[IndexReader]) -> Solver:
    """Open a solver whose tables take a share of the memory that is free."""
    return Solver(patterns, indexes, get_free_memory())


PART_SECONDS = 0.5
"""Seconds after which answers are passed on: an interrupt does not lose them."""
WINDOW = 1 << 12
"""Answers that are waited for together."""

GetAnswer = Callable[[], Answer]
"""A function that returns the answer to a key, or raises its error."""


def answer_in_threads(
    keys: Iterable[str], answer: Callable[[str, Callable[[], None]], Answer]
) -> Iterator[list[GetAnswer]]:
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
            futures, first = [pool.submit(answer, key, pause) for key in keys], 0
            while first < len(futures):
                end = time.monotonic() + PART_SECONDS
                window = futures[first : first + WINDOW]
                wait(window[:1])
                wait(window, timeout=end - time.monotonic())
                done = [*takewhile(Future.done, window)]
                yield [each.result for each in done]
                first += len(done)
        finally:
            is_over.set()
            pool.shutdown(wait=False, cancel_futures=True)
