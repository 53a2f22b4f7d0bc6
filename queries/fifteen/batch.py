"""Batches of searches on all cores, answered in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait

import polars as pl

from queries.answer_frames import Answers, look_up_keys
from queries.fifteen.solution_answer import FifteenSolution
from queries.reader import ignore_progress
from tablebase.resources import count_cores

REPORT_SECONDS = 0.1
"""Time between two reports of progress."""
PART_SECONDS = 0.5
"""Time after which the rows that are answered are passed on: an interrupt does not lose them."""


def answer_in_threads(
    keys: pl.Series,
    answer: Callable[[str], FifteenSolution],
    schema: pl.Schema,
    on_progress: Callable[[int], None],
) -> Iterator[Answers]:
    """Answer every key, equal ones once; yield the rows in order, as soon as they are answered.

    `on_progress` gets the number of different keys that are done.
    """
    finished: list[object] = []
    unique = keys.drop_nulls().unique(maintain_order=True)
    with ThreadPoolExecutor(count_cores()) as pool:
        futures: dict[str, Future[FifteenSolution]] = {
            key: pool.submit(answer, key) for key in unique
        }

        def get_answers(rows: pl.Series) -> Answers:
            return look_up_keys(rows, lambda key: futures[key].result(), schema, ignore_progress)

        try:
            for future in futures.values():
                future.add_done_callback(finished.append)
            first, due = 0, time.monotonic() + PART_SECONDS
            for at, key in enumerate(keys):
                is_done = key is None
                while not is_done:
                    is_done = bool(wait([futures[key]], REPORT_SECONDS).done)
                    on_progress(len(finished))
                    if at > first and time.monotonic() > due:
                        yield get_answers(keys[first:at])
                        first, due = at, time.monotonic() + PART_SECONDS
            yield get_answers(keys[first:])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
