"""Measurements of large sliding boards: the search against plain C, and whole builds."""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.building import time_reference
from benchmarks.measure import (
    Row,
    compile_reference,
    format_table,
    measure_in_turns,
    measure_process,
)
from puzzle_tablebase.pipeline.parallel import run_in_threads
from puzzle_tablebase.puzzles.sliding import parse_board
from puzzle_tablebase.two_bit_bfs.search import search_words

BOARDS = ("3x4", "2x6")
ROUNDS = 3
SEARCH = "import sys; from benchmarks.sliding import run_search; run_search(*sys.argv[1:])"


def run_search(name: str, threads: str) -> None:
    """Search a board in this process and print the seconds."""
    time_search("2x4", int(threads))  # compiles the kernels
    print(time_search(name, int(threads)))


def time_search(name: str, threads: int) -> float:
    """Search a board from the last corner and return the seconds that it took."""
    board = parse_board(name)
    started = time.perf_counter()
    run = partial(run_in_threads, max_threads=threads)
    search_words(board.make_words(board.example), threads, run)
    return time.perf_counter() - started


def compare_searches() -> str:
    """Time the search of boards from the last corner, each in its own process, in turns.

    Our times include making the move tables; kernels are already compiled.
    """
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compile_reference("sliding_words.c", Path(folder), "-O2", "-pthread")
        for board in BOARDS:
            peaks: list[float] = []
            reference = [program, *board.split("x")]
            seconds = measure_in_turns(
                {
                    "two": partial(_search, board, 2, peaks),
                    "c two": partial(time_reference, [[*reference, "2"]]),
                    "one": partial(_search, board, 1, peaks),
                    "c one": partial(time_reference, [[*reference, "1"]]),
                },
                ROUNDS,
            )
            cells = [f"{seconds[name]:.2f} s" for name in seconds]
            ratio = f"{seconds['two'] / seconds['c two']:.2f}"
            rows.append((board, *cells, ratio, f"{max(peaks):,.0f} MiB"))
    head = (
        *("board", "two threads", "C, two threads", "one thread", "C, one thread", "ratio"),
        "peak memory",
    )
    return format_table(head, rows)


def measure_builds() -> str:
    """Time builds of whole boards, each in its own process and an empty folder."""
    program = str(Path(sys.executable).with_name("pipeline"))
    rows: list[Row] = []
    for name in ("sliding_3x4", "sliding_2x6", "sliding_3x4_all"):
        with tempfile.TemporaryDirectory() as folder:
            command = [program, "precompute", name, "--quiet"]
            done = measure_process([*command, "--outputs", folder])
            rows.append((f"`{name}`", f"{done.seconds:.1f} s", f"{done.peak_mib:,.0f} MiB"))
    return format_table(("`pipeline precompute`", "whole process", "peak memory"), rows)


def _search(board: str, threads: int, peaks: list[float]) -> float:
    """Return the seconds of a search, and append its process's peak memory in MiB to `peaks`."""
    done = measure_process([sys.executable, "-c", SEARCH, board, str(threads)])
    peaks.append(done.peak_mib)
    return float(done.output)


if __name__ == "__main__":
    print(compare_searches(), measure_builds(), sep="\n")
