"""Batches of searches on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from threading import Event
from typing import Any

from queries.fifteen.compiled_search import CompiledSolver
from queries.fifteen.solution import SearchPaused, SearchState
from queries.fifteen.solution_answer import FifteenSolution
from tablebase.resources import count_cores

REPORTED = 16
"""Keys between two reports of progress."""
REPORT_SECONDS = 0.2
"""Seconds between two reports of progress."""


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


def search_in_threads(
    solver: CompiledSolver, boards: Sequence[list[int]], on_progress: Callable[[int], None]
) -> list[tuple[SearchState, list[int]]]:
    """Return for each board the state of its search, and the blank's cells on a solution."""
    is_over = Event()

    def pause() -> None:
        if is_over.is_set():
            raise SearchPaused

    states = [SearchState(0, pause) for _ in boards]
    waiting = iter([*zip(boards, states, strict=True)])  # all threads take from it
    paths = dict[SearchState, list[int]]()

    def solve_boards() -> None:
        paths.update(solver.search_each(waiting))

    with ThreadPoolExecutor(count_cores()) as pool:
        searching = {pool.submit(solve_boards) for _ in range(count_cores())}
        try:
            while searching:
                ended, searching = wait(searching, REPORT_SECONDS)
                for future in ended:
                    future.result()
                on_progress(len(paths))
        finally:
            is_over.set()
    return [(state, paths[state]) for state in states]
