"""Listing tours: the search beside plain C, what writing adds, and what a second core brings."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.building import c_seconds
from benchmarks.measure import Row, compile_reference, in_turns, markdown, time_call
from pipeline.builders.tour_columns import make_search_board
from pipeline.builders.tour_list import iter_rows_from, list_openings
from pipeline.part_files import PartFileTask
from pipeline.search.hamiltonian_paths import iter_paths
from pipeline.tasks import TaskRunner
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.definition import make_tour_table
from tablebase.tables.store import Folder

Openings = list[tuple[int, ...]]
SIX, EVERY = KnightBoard(6, 6), list_openings(KnightBoard(6, 6), 1)
LISTS: dict[str, tuple[KnightBoard, Openings]] = {
    "6x6, every tour": (SIX, EVERY),
    "7x7, those that begin f2 e4 d6 f7 e5": (KnightBoard(7, 7), [(12, 25, 38, 47, 32)]),
}
FASTEST = ("-O3", "-march=native")
ROUNDS = 3


def rates() -> str:
    """The search, and the search with Parquet, on one core: processor seconds, in turns with C."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compile_reference("tours.c", Path(folder), *FASTEST)
        for name, (board, beginnings) in LISTS.items():
            own = [*map(str, beginnings[0])] if len(beginnings) == 1 else []
            took = in_turns(
                {
                    "c": partial(c_seconds, [[program, str(board), *own]]),
                    "search": partial(_processor, partial(_search, board, beginnings)),
                    "written": partial(_processor, partial(_write, board, beginnings, 1)),
                },
                ROUNDS,
            )
            seconds = [f"{took[of]:.2f} s" for of in ("search", "c", "written")]
            share = f"{took['c'] / took['search']:.2f}"
            parquet = f"{(took['written'] - took['search']) / took['written']:.0%}"
            rows.append((name, *seconds[:2], share, seconds[2], parquet))
    head = ("tours", "search", "plain C", "rate beside C", "search and Parquet", "Parquet's share")
    return markdown(head, rows)


def cores() -> str:
    """The same parts by one thread and by two, each a file: seconds on the clock, in turns."""
    took = in_turns(
        {
            "one": partial(time_call, partial(_write, SIX, EVERY, 1)),
            "two": partial(time_call, partial(_write, SIX, EVERY, 2)),
        },
        ROUNDS,
    )
    cells = (f"{took['one']:.2f} s", f"{took['two']:.2f} s", f"{took['one'] / took['two']:.2f}")
    head = ("tours", "one thread", "two threads", "times the rate")
    return markdown(head, [("6x6, a file for each start", *cells)])


def _search(board: KnightBoard, beginnings: Openings) -> None:
    """As texts in memory."""
    names = np.array([list(name.encode()) for name in board.name_squares()], dtype=np.uint8)
    for opening in beginnings:
        for _ in iter_paths(*make_search_board(board), names, *opening):
            pass


def _write(board: KnightBoard, beginnings: Openings, threads: int) -> None:
    """As files of Parquet, one for each opening, by so many threads."""
    sides = board.files, board.ranks
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(threads) as pool:
        part = PartFileTask(Folder(Path(folder)), make_tour_table(board), iter_rows_from)
        items = [(number, *sides, *opening) for number, opening in enumerate(beginnings)]
        for _ in TaskRunner(pool, threads).run_tasks(part, items):
            pass


def _processor(work: Callable[[], None]) -> float:
    """Processor seconds that a call takes."""
    begun = time.process_time()
    work()
    return time.process_time() - begun
