"""Measurements of tour lists: the search against plain C, writing, and a second core."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.building import time_reference
from benchmarks.measure import Row, compile_reference, format_table, measure_in_turns, time_call
from pipeline.builders.tour_columns import make_search_board
from pipeline.builders.tour_list import iter_rows_from, list_openings
from pipeline.part_files import PartFileTask
from pipeline.search.hamiltonian_paths import iter_paths
from pipeline.tasks import TaskRunner
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import make_tour_table
from tablebase.tables.store import Folder

Openings = list[tuple[int, ...]]
SIX, SIX_OPENINGS = KnightBoard(6, 6), list_openings(KnightBoard(6, 6), 1)
LISTS: dict[str, tuple[KnightBoard, Openings]] = {
    "6x6, every tour": (SIX, SIX_OPENINGS),
    "7x7, those that begin f2 e4 d6 f7 e5": (KnightBoard(7, 7), [(12, 25, 38, 47, 32)]),
}
FAST_OPTIONS = ("-O3", "-march=native")
ROUNDS = 3


def compare_lists() -> str:
    """Compare the search, with and without Parquet, with C: processor seconds on one core."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compile_reference("tours.c", Path(folder), *FAST_OPTIONS)
        for name, (board, openings) in LISTS.items():
            arguments = [*map(str, openings[0])] if len(openings) == 1 else []
            seconds = measure_in_turns(
                {
                    "c": partial(time_reference, [[program, str(board), *arguments]]),
                    "search": partial(_time_processor, partial(_search, board, openings)),
                    "written": partial(_time_processor, partial(_write, board, openings, 1)),
                },
                ROUNDS,
            )
            search, reference, written = (seconds[key] for key in ("search", "c", "written"))
            rate = f"{reference / search:.2f}"
            parquet = f"{(written - search) / written:.0%}"
            cells = [f"{value:.2f} s" for value in (search, reference, written)]
            rows.append((name, *cells[:2], rate, cells[2], parquet))
    head = ("tours", "search", "plain C", "rate beside C", "search and Parquet", "Parquet's share")
    return format_table(head, rows)


def compare_threads() -> str:
    """Time the tasks of a list, each writing a part file, on one thread and on two."""
    seconds = measure_in_turns(
        {
            "one": partial(time_call, partial(_write, SIX, SIX_OPENINGS, 1)),
            "two": partial(time_call, partial(_write, SIX, SIX_OPENINGS, 2)),
        },
        ROUNDS,
    )
    one, two = seconds["one"], seconds["two"]
    cells = (f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}")
    head = ("tours", "one thread", "two threads", "times the rate")
    return format_table(head, [("6x6, a file for each start", *cells)])


def _search(board: KnightBoard, openings: Openings) -> None:
    """Search the tours and keep only the text of one chunk in memory."""
    names = np.array([list(name.encode()) for name in board.name_squares()], dtype=np.uint8)
    for opening in openings:
        for _ in iter_paths(*make_search_board(board), names, *opening):
            pass


def _write(board: KnightBoard, openings: Openings, threads: int) -> None:
    """Search the tours and write a Parquet file for each opening."""
    sides = board.files, board.ranks
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(threads) as pool:
        task = PartFileTask(Folder(Path(folder)), make_tour_table(board), iter_rows_from)
        items = [(number, *sides, *opening) for number, opening in enumerate(openings)]
        for _ in TaskRunner(pool, threads).run_tasks(task, items):
            pass


def _time_processor(work: Callable[[], None]) -> float:
    """Return the processor seconds that a call takes."""
    started = time.process_time()
    work()
    return time.process_time() - started
