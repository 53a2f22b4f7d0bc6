"""Batches of searches on all cores, whose answers are passed on in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from queue import Empty, SimpleQueue
from threading import Event

import polars as pl

from queries.answer_frames import Answers, look_up_keys
from queries.fifteen.compiled_search import CompiledSolver
from queries.fifteen.solution import SearchPaused, SearchState
from queries.fifteen.solution_answer import FifteenSolution
from queries.reader import ignore_progress
from tablebase.resources import count_cores

REPORT_SECONDS = 0.2
"""Seconds between two reports of progress."""
PART_SECONDS = 0.5
"""Seconds after which the rows that are answered are passed on: an interrupt does not lose them."""

GetAnswer = Callable[[], FifteenSolution]
"""A function that returns the answer for a key, or raises its error."""
Answered = Generator[tuple[str, GetAnswer] | None, None, None]
"""Keys with their answers, as soon as they are there, and None now and then."""
Searched = tuple[str, SearchState, list[int]]
"""A key, the state of its search, and the blank's cells on a solution."""


def answer_in_threads(keys: Iterable[str], answer: Callable[[str], FifteenSolution]) -> Answered:
    """Yield each key as soon as it is answered, with its answer; None now and then."""
    ended = SimpleQueue[Future[FifteenSolution]]()
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
) -> Iterator[Answers]:
    """Yield the rows of keys in order, soon after they are answered.

    `answered`: the keys in any order, and None now and then.
    """
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
            if at > first and now >= passed_on + PART_SECONDS:
                yield look_up(keys[first:at])
                first, passed_on = at, now
    yield look_up(keys[first:])
