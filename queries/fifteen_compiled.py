"""The compiled search of the 15-puzzle with the tables in memory, and batches on all cores."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import permutations
from queue import Empty, SimpleQueue
from threading import Event

import numpy as np
import numpy.typing as npt

from puzzle_tablebase.puzzles.fifteen import Pattern, list_neighbours, mirror_cell, rank_order
from puzzle_tablebase.queries.answer import Answer
from puzzle_tablebase.queries.fifteen_search import SearchPaused, SearchState
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
    continue_searches,
    find_entry,
)
from puzzle_tablebase.queries.reader import ignore_progress
from puzzle_tablebase.resources import allocate_pages, count_cores

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from puzzle_tablebase.queries.answer_frames import Answers


def make_tables(
    patterns: Sequence[Pattern],
    chunks: Iterable[Iterable[bytes]],
    pause: Callable[[], None] = ignore_progress,
) -> SearchTables:
    """Make the tables of the search; `chunks` has the distances of each pattern, in chunks.

    `pause` is called after each chunk, and may raise SearchPaused.
    """
    height, width = patterns[0].height, patterns[0].width
    cells = height * width
    # large pages help, because most lookups are far apart
    distances = np.frombuffer(allocate_pages(sum(each.size for each in patterns)), np.uint8)
    at = 0
    for chunk in (chunk for of_pattern in chunks for chunk in of_pattern):
        distances[at : at + len(chunk)] = np.frombuffer(chunk, np.uint8)
        at += len(chunk)
        pause()
    masks = np.arange(1 << cells)
    counts = np.bitwise_count(masks)
    set_entries = np.empty(len(masks), dtype=np.uint16)
    for count in range(cells + 1):
        of_count = counts == count
        set_entries[of_count] = np.arange(of_count.sum())
    # a board that is not square is its own mirror image
    mirrored = [mirror_cell(cell, width) if height == width else cell for cell in range(cells)]
    cell_images = np.zeros((2, int(CELLS)), dtype=np.uint8)
    slots = np.zeros((2, int(CELLS)), dtype=np.uint8)
    for image, image_cells in enumerate((range(cells), mirrored)):
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
BOARDS_AT_ONCE = 4
"""Boards that are searched in turns: with more, the search waits no less for memory."""

Words = npt.NDArray[np.uint64]
Question = tuple[list[int], SearchState]
"""A board, and the state of its search."""


class CompiledSolver:
    """A solver with the tables in memory; several threads may use it at once."""

    budget = BUDGET

    def __init__(self, patterns: Sequence[Pattern], tables: SearchTables) -> None:
        self._patterns = patterns
        self._tables = tables

    def search(self, board: list[int], state: SearchState) -> list[int]:
        """Return the cells of the blank on a shortest solution, the first one included.

        The search continues from the limit of `state`, and changes it; it pauses now and then.
        """
        ((_, path),) = self.search_each([(board, state)], 1)
        return path

    def search_each(
        self, questions: Iterable[Question], boards_at_once: int = BOARDS_AT_ONCE
    ) -> Iterator[tuple[SearchState, list[int]]]:
        """Yield the state and the path of each question as soon as its search ends.

        Several boards are searched in turns, which takes less time than one after the other.
        """
        waiting = iter(questions)
        searches = np.zeros((boards_at_once, int(words.SEARCH_WORDS)), dtype=np.uint64)
        seen = np.zeros((boards_at_once, words.SEEN), dtype=np.uint64)
        # a plain tuple: compiled code that is cached would depend on the name of the class
        arrays = tuple(self._tables), searches.ravel(), seen.ravel()
        states = dict[int, tuple[SearchState, int]]()
        while True:
            for number in {*range(boards_at_once)}.difference(states):
                for board, state in waiting:
                    seen[number] = 0
                    self._begin(searches[number], board, state)
                    states[number] = state, state.positions
                    break
            if not states:
                return
            continue_searches(*arrays, self.budget // boards_at_once)
            for number, (state, earlier) in [*states.items()]:
                search = searches[number]
                state.limit = int(search[words.LIMIT])
                state.positions = earlier + int(search[words.POSITIONS])
                if search[words.STATUS] == words.SOLVED:
                    search[words.STATUS] = words.IDLE
                    del states[number]
                    yield state, _list_blanks(search)
                else:
                    state.pause()

    def _begin(self, search: Words, board: list[int], state: SearchState) -> None:
        """Write the words of a search that begins."""
        tables = tuple(self._tables)
        slots, bounds = [0] * (2 * words.SLOTS), [0, 0]
        for image in range(2):
            to_image = self._tables.cells[image * int(words.CELLS) :].tolist()
            for number, pattern in enumerate(self._patterns):
                # mirroring twice changes nothing, so it also leads back to the board's tiles
                cells = [to_image[board.index(to_image[t - 1] + 1)] for t in pattern.tiles]
                slot = image * words.SLOTS + number
                mask = sum(1 << cell for cell in cells)
                order = join_places(sorted(range(len(cells)), key=cells.__getitem__))
                entry = find_entry(tables, np.uint64(number), np.uint64(mask), np.uint64(order))
                value = int(self._tables.distances[entry])
                slots[slot] = mask | order << int(words.ORDER) | value << int(words.VALUE)
                bounds[image] += value
        search[words.BOARD : words.BOARD + words.CELLS][: len(board)] = board
        search[words.SLOT : words.FRAMES] = slots
        frame = search[words.FRAMES :]
        frame[words.BLANK] = board.index(0)
        # the tile on each cell, the first one in the lowest bits
        key = sum(tile << int(TILE_BITS) * cell for cell, tile in enumerate(board))
        frame[words.KEY] = key & int(KEY_MASK)
        frame[words.BOUND : words.OLD] = bounds
        frame[words.CHILDREN] = 0
        search[words.STATUS] = words.SEARCHING if bounds[0] else words.SOLVED
        state.raise_bound(max(bounds))
        search[words.LIMIT] = state.limit
        search[words.DEPTH] = search[words.POSITIONS] = 0


def _list_blanks(search: Words) -> list[int]:
    """Return the cells of the blank on the solution that a search ended with."""
    frames = search[words.FRAMES :].reshape(words.MAX_MOVES, -1)
    blanks: list[int] = frames[: int(search[words.DEPTH]) + 1, words.BLANK].tolist()
    return blanks


REPORT_SECONDS = 0.2
"""Seconds between two reports of progress."""

GetAnswer = Callable[[], Answer]
"""A function that returns the answer for a key, or raises its error."""
Answered = Generator[tuple[str, GetAnswer] | None, None, None]
"""Keys with their answers, as soon as they are there, and None now and then."""
Searched = tuple[str, SearchState, list[int]]
"""A key, the state of its search, and the blank's cells on a solution."""


def answer_in_threads(keys: Iterable[str], answer: Callable[[str], Answer]) -> Answered:
    """Yield each key as soon as it is answered, with its answer; None now and then."""
    ended = SimpleQueue[Future[Answer]]()
    with ThreadPoolExecutor(count_cores()) as pool:
        keys_by_future = {pool.submit(answer, key): key for key in keys}
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
            pool.shutdown(wait=False, cancel_futures=True)


def search_in_threads(
    solver: CompiledSolver, boards: Mapping[str, list[int]]
) -> Generator[Searched | None, None, None]:
    """Search several boards in turns on each core; yield each when it is solved; None at times."""
    is_over = Event()
    ended = SimpleQueue[Searched | Future[None]]()

    def pause() -> None:
        if is_over.is_set():
            raise SearchPaused

    keys_by_state = {SearchState(0, pause): key for key in boards}
    # all threads take from it
    waiting = iter([*zip(boards.values(), keys_by_state, strict=True)])

    def solve_boards() -> None:
        for state, path in solver.search_each(waiting):
            ended.put((keys_by_state[state], state, path))

    with ThreadPoolExecutor(count_cores()) as pool:
        try:
            remaining = count_cores()
            for _ in range(remaining):
                pool.submit(solve_boards).add_done_callback(ended.put)
            while remaining:
                try:
                    result = ended.get(timeout=REPORT_SECONDS)
                except Empty:
                    yield None
                    continue
                if isinstance(result, Future):
                    result.result()
                    remaining -= 1
                else:
                    yield result
        finally:
            is_over.set()


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
