"""Measurements of the 15-puzzle: builds, searches beside plain C on the same tables, and processes.

`python -m benchmarks.fifteen FOLDER` measures the partitions that are published in a folder.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Row, compile_reference, format_table, time_processes
from puzzle_tablebase.errors import TableMissing
from puzzle_tablebase.notation.sliding import CHARACTERS
from puzzle_tablebase.puzzles.fifteen import BOARD, PARTITIONS, make_tables
from puzzle_tablebase.queries.fifteen import FifteenProber
from puzzle_tablebase.queries.fifteen_search import Solver
from puzzle_tablebase.queries.prober import open_prober
from puzzle_tablebase.stores import Folder

STATES = 1_000
SEED = 15
ROUNDS = 3


class Solved(NamedTuple):
    """The moves, the positions and the processor seconds of each board's search."""

    moves: list[int]
    positions: list[int]
    seconds: list[float]


def draw_boards(count: int = STATES) -> list[list[int]]:
    """Draw boards that reach the goal, each as likely as any other."""
    source = random.Random(SEED)  # a seed, so that every run solves the same boards
    boards = list[list[int]]()
    while len(boards) < count:
        board = source.sample(range(BOARD.cells), BOARD.cells)
        if BOARD.can_reach("".join(CHARACTERS[tile] for tile in board), BOARD.example):
            boards.append(board)
    return boards


def solve(solver: Solver, boards: list[list[int]]) -> Solved:
    """Solve the boards one after the other in this thread."""
    solved = Solved([], [], [])
    for board in boards:
        begin = time.thread_time()
        found = solver.search(board)
        solved.seconds.append(time.thread_time() - begin)
        solved.moves.append(len(found.blanks) - 1)
        solved.positions.append(found.positions)
    return solved


def solve_in_c(program: str, folder: Path, partition: str, boards: list[list[int]]) -> Solved:
    """Solve the boards with the C program, which reads the same tables."""
    marks = [table.name.partition("_")[2] for table in make_tables(partition)]
    text = "".join(f"{' '.join(map(str, board))}\n" for board in boards)
    done = subprocess.run(
        [program, str(folder), *marks], input=text, capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    moves, positions, seconds = zip(*rows, strict=True)
    return Solved([*map(int, moves)], [*map(int, positions)], [*map(float, seconds)])


def compare_searches(folder: Path) -> str:
    """Solve the same boards here and in C, in turns, and compare the processor seconds."""
    boards, rows = draw_boards(), list[Row]()
    reader = open_prober("fifteen", Folder(folder))
    assert isinstance(reader, FifteenProber)
    with tempfile.TemporaryDirectory() as place:
        program = compile_reference("fifteen.c", Path(place), "-O2", "-march=native")
        for partition in PARTITIONS:
            try:
                solver = reader.open_solver(partition)
            except TableMissing:
                continue
            solve(solver, boards[:10])  # compiles the kernel, and reads the tables
            ours, theirs = list[Solved](), list[Solved]()
            for _ in range(ROUNDS):
                theirs.append(solve_in_c(program, folder, partition, boards))
                ours.append(solve(solver, boards))
                assert ours[-1].moves == theirs[-1].moves
                assert ours[-1].positions == theirs[-1].positions
            cells = [
                f"{1000 * value:.2f} ms"
                for runs in (ours, theirs)
                for value in (
                    statistics.median(statistics.mean(run.seconds) for run in runs),
                    statistics.median(statistics.median(run.seconds) for run in runs),
                    statistics.median(max(run.seconds) for run in runs),
                )
            ]
            ratio = statistics.median(
                sum(our.seconds) / sum(their.seconds)
                for our, their in zip(ours, theirs, strict=True)
            )
            positions = f"{statistics.mean(ours[0].positions):,.0f}"
            rows.append((partition, positions, *cells, f"{ratio:.2f}"))
            reader.close()
            reader = open_prober("fifteen", Folder(folder))
            assert isinstance(reader, FifteenProber)
    head = (
        *("partition", "positions", "mean", "median", "worst"),
        *("C mean", "C median", "C worst", "ratio of the means"),
    )
    return format_table(head, rows)


def measure_processes(folder: Path) -> str:
    """Time whole processes that solve a board, for a board of median difficulty."""
    boards, rows = draw_boards(), list[Row]()
    program = str(Path(sys.executable).with_name("pipeline"))
    for partition in PARTITIONS:
        reader = open_prober("fifteen", Folder(folder))
        assert isinstance(reader, FifteenProber)
        try:
            solved = solve(reader.open_solver(partition), boards)
        except TableMissing:
            continue
        order = sorted(range(len(boards)), key=solved.positions.__getitem__)
        board = boards[order[len(order) // 2]]
        state = "".join(CHARACTERS[tile] for tile in board)
        options = ["--patterns", partition, "--outputs", str(folder)]
        seconds = time_processes({"ours": [program, "query", "fifteen", state, *options]}, 5)
        rows.append((partition, f"{sorted(solved.positions)[500]:,}", f"{seconds['ours']:.2f} s"))
    return format_table(("partition", "positions of the median board", "process"), rows)


if __name__ == "__main__":
    print(compare_searches(Path(sys.argv[1])), measure_processes(Path(sys.argv[1])), sep="\n")
