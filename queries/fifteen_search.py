"""The search of the 15-puzzle, which reads the tables as far as it needs them, and batches."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from itertools import accumulate, permutations
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import TYPE_CHECKING

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
from puzzle_tablebase.resources import allocate_pages, count_cores

if TYPE_CHECKING:
    import polars as pl

    from puzzle_tablebase.queries.answer_frames import Answers
    from puzzle_tablebase.queries.index_reader import IndexReader


class SearchState:
    """The state of a search: no solution is shorter than `limit`; it took so many positions.

    `bound` is the limit that the search began with. `pause` is called now and then, and may raise
    an error, which ends the search.
    """

    __slots__ = ("bound", "limit", "pause", "positions")

    def __init__(self, bound: int, pause: Callable[[], None] = ignore_progress) -> None:
        self.bound = self.limit = bound
        self.pause = pause
        self.positions = 0


def make_tables(patterns: Sequence[Pattern]) -> SearchTables:
    """Make the tables of the search; all distances are yet to be read."""
    height, width = patterns[0].height, patterns[0].width
    cells = height * width
    # large pages help, because most lookups are far apart
    distances = np.frombuffer(allocate_pages(sum(each.size for each in patterns)), np.uint8)
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
"""Blocks that are read one by one; then the rest of the tables is read at once."""

Words = npt.NDArray[np.uint64]


class Solver:
    """A solver of boards; several threads may use it at once."""

    budget = BUDGET
    max_single_blocks = MAX_SINGLE_BLOCKS

    def __init__(self, patterns: Sequence[Pattern], indexes: Sequence[IndexReader]) -> None:
        self._patterns, self._indexes = patterns, indexes
        self._offsets = [0, *accumulate(pattern.size for pattern in patterns)]
        self._images = list_images(patterns[0].height, patterns[0].width)
        self._tables = make_tables(patterns)
        self._blocks = 0
        self._lock = Lock()

    def search(self, board: list[int], state: SearchState) -> list[int]:
        """Return the cells of the blank on a shortest solution, the first one included.

        The search begins with the limit of `state`, and changes it; it pauses now and then.
        """
        search = np.zeros(int(words.SEARCH_WORDS), dtype=np.uint64)
        seen = np.zeros(words.SEEN, dtype=np.uint64)
        self._begin(search, board, state)
        # a plain tuple: compiled code that is cached would depend on the name of the class
        arrays = tuple(self._tables), search, seen
        while search[words.STATUS] != words.SOLVED:
            state.pause()
            continue_search(*arrays, self.budget)
            state.limit = int(search[words.LIMIT])
            state.positions = int(search[words.POSITIONS])
            if search[words.STATUS] == words.MISSING:
                self._read(int(search[words.WANTED]), state.pause)
                search[words.STATUS] = words.SEARCHING
        frames = search[words.FRAMES :].reshape(words.MAX_MOVES, -1)
        blanks: list[int] = frames[: int(search[words.DEPTH]) + 1, words.BLANK].tolist()
        return blanks

    def _begin(self, search: Words, board: list[int], state: SearchState) -> None:
        """Write the words of a search that begins."""
        slots, bounds = [0] * (2 * words.SLOTS), [0, 0]
        for image, to_image in enumerate(self._images):
            for number, pattern in enumerate(self._patterns):
                cells = pattern.find_cells(to_image, board)
                value = self._read(self._offsets[number] + pattern.rank(cells), state.pause)
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
        state.bound = state.limit = max(state.limit, *bounds)
        search[words.LIMIT] = state.limit

    def _read(self, entry: int, pause: Callable[[], None]) -> int:
        """Return an entry of the distances, which is read from its index if it is missing."""
        distances = self._tables.distances
        if not distances[entry]:
            number = bisect_right(self._offsets, entry) - 1
            block = (entry - self._offsets[number]) // BODY_BYTES
            if self._blocks < self.max_single_blocks:
                self._blocks += 1
                self._write(number, block * BODY_BYTES, self._indexes[number].read_block(block))
            else:
                with self._lock:
                    if not distances[entry]:  # no other thread has read all of them since
                        self._read_all(pause)
        return int(distances[entry])

    def _read_all(self, pause: Callable[[], None]) -> None:
        """Read all distances; `pause` is called after each block."""
        for number, index in enumerate(self._indexes):
            first = 0
            for chunk in index.iter_chunks():
                self._write(number, first, chunk)
                first += len(chunk)
                pause()

    def _write(self, number: int, first: int, records: bytes) -> None:
        """Write the records of a pattern to the distances, each with one more."""
        at, end = self._offsets[number] + first, self._offsets[number + 1]
        # a false distance of 255 must not look as if it had not been read
        values = np.minimum(np.frombuffer(records, np.uint8), 254) + 1
        values = values[: end - at]  # without the padding of the last block
        self._tables.distances[at : at + len(values)] = values


REPORT_SECONDS = 0.2
"""Seconds between two reports of progress."""

GetAnswer = Callable[[], Answer]
"""A function that returns the answer for a key, or raises its error."""
Answered = Generator[tuple[str, GetAnswer] | None, None, None]
"""Keys with their answers, as soon as they are there, and None now and then."""


def answer_in_threads(
    keys: Iterable[str], answer: Callable[[str, Callable[[], None]], Answer]
) -> Answered:
    """Yield each key as soon as it is answered, with its answer; None now and then.

    `answer` gets a key and a function to call now and then, which raises CancelledError once nobody
    waits for the answer.
    """
    is_over = Event()
    ended = SimpleQueue[Future[Answer]]()

    def pause() -> None:
        if is_over.is_set():
            raise CancelledError

    with ThreadPoolExecutor(count_cores()) as pool:
        keys_by_future = {pool.submit(answer, key, pause): key for key in keys}
        try:
            for future in keys_by_future:
                future.add_done_callback(ended.put)
            remaining = len(keys_by_future)
            while remaining:
                try:
                    future = ended.get(timeout=REPORT_SECONDS)
                except Empty:
                    yield None
                    continue
                remaining -= 1
                yield keys_by_future[future], future.result
        finally:
            is_over.set()
            pool.shutdown(wait=False, cancel_futures=True)


def iter_in_order(
    keys: pl.Series,
    answered: Answered,
    schema: pl.Schema,
    on_progress: Callable[[int], None],
    seconds: float,
) -> Iterator[Answers]:
    """Yield the rows of keys in order, `seconds` after they are answered.

    `answered`: the keys in any order, and None now and then.
    """
    from puzzle_tablebase.queries.answer_frames import look_up_keys  # a lone search needs no frames

    rows, answers = keys.to_list(), dict[str, GetAnswer]()

    def look_up(rows: pl.Series) -> Answers:
        return look_up_keys(rows, lambda key: answers[key](), schema, ignore_progress)

    first = at = 0
    reported = passed_on = time.monotonic()
    with closing(answered):  # an error ends the searches
        for arrival in answered:
            if arrival is not None:
                answers[arrival[0]] = arrival[1]
            while at < len(rows) and (rows[at] is None or rows[at] in answers):
                at += 1
            now = time.monotonic()
            if now >= reported + REPORT_SECONDS:
                on_progress(len(answers))
                reported = now
            if at > first and now >= passed_on + seconds:
                yield look_up(keys[first:at])
                first, passed_on = at, now
    yield look_up(keys[first:])
