"""Large sliding boards: their search beside a plain C program that unranks, and whole builds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.building import c_seconds
from benchmarks.measure import Row, compile_reference, environment, in_turns, markdown

BOARDS = ("3x4", "2x6")
ROUNDS = 3
SEARCH = """
import resource, sys, time
from pipeline.search.block_bfs import search_blocks
from tablebase.puzzles.sliding.definition import parse_board
def searched(name):
    board = parse_board(name)
    begun = time.perf_counter()
    space = board.blocks(board.example)
    search_blocks(space, int(sys.argv[2]), lambda level, depth: None, lambda: None)
    return time.perf_counter() - begun
searched("2x5")  # compiles
print(searched(sys.argv[1]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def searches() -> str:
    """The search of a board from the last corner, each in a process of its own, in turns.

    Our times include making the moves' tables; kernels are already compiled.
    """
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = compile_reference("sliding.c", Path(folder))
        for board in BOARDS:
            peaks: list[float] = []
            c = [program, *board.split("x")]
            took = in_turns(
                {
                    "two": partial(_search, board, 2, peaks),
                    "one": partial(_search, board, 1, peaks),
                    "c": partial(c_seconds, [c]),
                },
                ROUNDS,
            )
            cells = [f"{took[name]:.1f} s" for name in ("two", "one", "c")]
            ratio = f"{took['two'] / took['c']:.2f}"
            rows.append((board, *cells, ratio, f"{max(peaks):,.0f} MiB"))
    head = ("board", "two threads", "one thread", "plain C, one thread", "ratio", "peak memory")
    return markdown(head, rows)


def builds() -> str:
    """Builds of whole boards as processes of their own, from empty folders."""
    program = str(Path(sys.executable).with_name("pipeline"))
    rows: list[Row] = []
    for words in (
        "--board 3x4",
        "--board 2x6",
        "--board 3x4 --goals all",
        "--board 3x4 --parquet",
    ):
        with tempfile.TemporaryDirectory() as folder:
            command = [program, "precompute", "sliding", *words.split(), "--quiet"]
            begun = time.perf_counter()
            build = subprocess.Popen([*command, "--outputs", folder], env=environment())
            _, build.returncode, used = os.wait4(build.pid, 0)
            assert build.returncode == 0
            seconds = f"{time.perf_counter() - begun:.1f} s"
            rows.append((f"`{words}`", seconds, f"{used.ru_maxrss / 1024:,.0f} MiB"))
    return markdown(("`pipeline precompute sliding`", "whole process", "peak memory"), rows)


def _search(board: str, threads: int, peaks: list[float]) -> float:
    """Seconds of a search; its process's peak memory is noted."""
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, board, str(threads)],
        check=True,
        capture_output=True,
        text=True,
        env=environment(),
    )
    seconds, peak = map(float, done.stdout.split())
    peaks.append(peak)
    return seconds


if __name__ == "__main__":
    print(searches(), builds(), sep="\n")
