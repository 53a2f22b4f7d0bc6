"""Batches of searches on all cores."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

from queries.fifteen.solution_answer import FifteenSolution
from tablebase.resources import count_cores

REPORTED = 16
"""Keys between two reports of progress."""


def answer_in_threads(
    keys: list[str],
    answer: Callable[[str], FifteenSolution],
    on_progress: Callable[[int], None],
) -> dict[str, Callable[[], FifteenSolution]]:
    """Answer every key; return for each a function that returns its answer, or raises its error."""
    with ThreadPoolExecutor(count_cores()) as pool:
        futures: dict[str, Future[Any]] = {key: pool.submit(answer, key) for key in keys}
        try:
            for done, _ in enumerate(as_completed(futures.values()), 1):
                if done % REPORTED == 0:
                    on_progress(done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return {key: future.result for key, future in futures.items()}
