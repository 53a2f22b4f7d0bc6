"""Measurements of building: the compiled searches against plain C, and `pipeline precompute`."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import (
    Row,
    compile_reference,
    format_table,
    measure_in_turns,
    measure_process,
    time_call,
)
from puzzle_tablebase.notation.senet import OPENING
from puzzle_tablebase.notation.sliding import GOALS
from puzzle_tablebase.pipeline.recipes.graph import search_breadth_first
from puzzle_tablebase.pipeline.recipes.tour_pairs import find_paths
from puzzle_tablebase.puzzles import StateSpace
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.registry import get_puzzle


def search_space(name: str, *roots: str) -> None:
    """Make a state space's graph and search it from each root."""
    space = get_puzzle(name)
    assert isinstance(space, StateSpace)
    graph = space.make_graph()
    for root in roots:
        search_breadth_first(graph, space.rank(root), lambda depth, nodes: None)


def find_all_pairs(board: KnightBoard) -> None:
    """Find one tour for each ordered pair of squares that a tour can join."""
    squares = range(board.squares)
    neighbours = np.full((board.squares, 8), -1, dtype=np.int64)
    for square in squares:
        near = board.list_neighbours(square)
        neighbours[square, : len(near)] = near
    ends = [(start, end) for start in squares for end in squares if board.can_join(start, end)]
    find_paths(neighbours, np.array(ends))


def compare_kernels() -> str:
    """Compare each search with its C program on one core, in turns."""
    goals = list(GOALS.values())
    work: dict[str, tuple[Callable[[], None], str, list[list[str]]]] = {
        "8-puzzle, its three goals": (
            partial(search_space, "eight", *goals),
            "eight.c",
            [[goal] for goal in goals],
        ),
        "Senet, whole space": (partial(search_space, "senet", OPENING), "senet.c", [[]]),
        "one 8x8 tour per pair": (partial(find_all_pairs, KnightBoard(8, 8)), "pairs.c", [[]]),
    }
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (ours, source, arguments) in work.items():
            program = compile_reference(source, Path(folder))
            reference = partial(time_reference, [[program, *argument] for argument in arguments])
            seconds = measure_in_turns({"ours": partial(time_call, ours), "c": reference})
            ms = [f"{value * 1000:,.0f} ms" for value in seconds.values()]
            rows.append((name, *ms, f"{seconds['ours'] / seconds['c']:.1f}"))
    return format_table(("search", "here", "plain C", "ratio"), rows)


def time_reference(commands: list[list[str]]) -> float:
    """Run reference programs and return the sum of the seconds that they report."""
    total = 0.0
    for command in commands:
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        match = re.search(r"([\d.]+) ms", output)
        assert match is not None, output
        total += float(match.group(1)) / 1000
    return total


def measure_stages() -> str:
    """Time `pipeline precompute` in an empty folder, without and with cached kernels."""
    program = str(Path(sys.executable).with_name("pipeline"))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        everything: list[str] = []
        for name, stage in (
            ("everything, first compilation included", everything),
            ("everything", everything),
            ("eight", ["eight"]),
            ("senet", ["senet"]),
            ("knight", ["knight"]),
        ):
            command = [
                program,
                "precompute",
                *stage,
                "--force",
                "--quiet",
                "--outputs",
                f"{folder}/o",
            ]
            done = measure_process(command, NUMBA_CACHE_DIR=f"{folder}/cache")
            rows.append((name, f"{done.seconds:.1f} s", f"{done.peak_mib:,.0f} MiB"))
    return format_table(("`pipeline precompute --force`", "whole process", "peak memory"), rows)
