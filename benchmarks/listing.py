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
from puzzle_tablebase.formats.parquet import TableWriter
from puzzle_tablebase.pipeline.kinds import make
from puzzle_tablebase.pipeline.recipes.tour_lists import (
    iter_paths,
    list_prefixes,
    make_search_board,
)
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.workers import Workers
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE, make_tour_table
from puzzle_tablebase.stores import Folder

SIX = KnightBoard(6, 6)
BOARDS = (KnightBoard(5, 7), SIX)
FAST_OPTIONS = ("-O3", "-march=native")
ROUNDS = 3


def compare_lists() -> str:
    """Compare the search, with and without Parquet, with C: processor seconds on one core."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compile_reference("tours.c", Path(folder), *FAST_OPTIONS)
        for board in BOARDS:
            seconds = measure_in_turns(
                {
                    "c": partial(time_reference, [[program, str(board)]]),
                    "search": partial(_time_processor, partial(_search, board)),
                    "written": partial(_time_processor, partial(_write, board, 1)),
                },
                ROUNDS,
            )
            search, reference, written = (seconds[key] for key in ("search", "c", "written"))
            rate = f"{reference / search:.2f}"
            parquet = f"{(written - search) / written:.0%}"
            cells = [f"{value:.2f} s" for value in (search, reference, written)]
            rows.append((f"{board}, every tour", *cells[:2], rate, cells[2], parquet))
    head = ("tours", "search", "plain C", "rate beside C", "search and Parquet", "Parquet's share")
    return format_table(head, rows)


def compare_threads() -> str:
    """Time a list with its file, its tasks on one thread and on two."""
    seconds = measure_in_turns(
        {
            "one": partial(time_call, partial(_write, SIX, 1)),
            "two": partial(time_call, partial(_write, SIX, 2)),
        },
        ROUNDS,
    )
    one, two = seconds["one"], seconds["two"]
    cells = (f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}")
    head = ("tours", "one thread", "two threads", "times the rate")
    return format_table(head, [("6x6, a task for each start", *cells)])


def _search(board: KnightBoard) -> None:
    """Search the tours and keep only the text of one chunk in memory."""
    names = np.array([list(name.encode()) for name in board.name_squares()], dtype=np.uint8)
    for prefix in list_prefixes(board, 1):
        for _ in iter_paths(*make_search_board(board), names, *prefix):
            pass


def _write(board: KnightBoard, threads: int) -> None:
    """Search the tours and write their Parquet file."""
    table = make_tour_table(board)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(threads) as pool:
        store = Folder(Path(name))
        data = make(table, PUZZLE, Tasks(Workers(pool, threads)))
        with store.write_files(table.file) as files, TableWriter(files[0], table) as writer:
            for part in data.parts:
                writer.write(part.rows or {})


def _time_processor(work: Callable[[], None]) -> float:
    """Return the processor seconds that a call takes."""
    started = time.process_time()
    work()
    return time.process_time() - started
