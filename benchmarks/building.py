"""Building: the compiled searches beside plain C, and `pipeline precompute` whole."""

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
    child_peak,
    compile_reference,
    environment,
    in_turns,
    markdown,
    time_call,
)
from pipeline.search.breadth_first import search_breadth_first
from pipeline.search.path_per_pair import find_paths
from tablebase.puzzle import StateSpace
from tablebase.puzzles import get_puzzle
from tablebase.puzzles.eight import LAYOUTS
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.senet import OPENING


def prepare_search(name: str, *roots: str) -> None:
    """A state space's graph, and a search of it from each root."""
    space = get_puzzle(name)
    assert isinstance(space, StateSpace)
    graph = space.make_graph()
    for root in roots:
        search_breadth_first(graph, space.find_node(root), lambda depth, nodes: None)


def all_pairs(board: KnightBoard) -> None:
    """One tour for each ordered pair of squares that a tour can join."""
    squares = range(board.squares)
    neighbours = np.full((board.squares, 8), -1, dtype=np.int64)
    for square in squares:
        near = board.list_neighbours(square)
        neighbours[square, : len(near)] = near
    ends = [(start, end) for start in squares for end in squares if board.can_join(start, end)]
    find_paths(neighbours, np.array(ends))


def kernels() -> str:
    """Each search beside its C program, one core, in turns."""
    goals = list(LAYOUTS.values())
    work: dict[str, tuple[Callable[[], None], str, list[list[str]]]] = {
        "8-puzzle, its three layouts": (
            partial(prepare_search, "eight", *goals),
            "eight.c",
            [[goal] for goal in goals],
        ),
        "Senet, whole space": (partial(prepare_search, "senet", OPENING), "senet.c", [[]]),
        "one 8x8 tour per pair": (partial(all_pairs, KnightBoard(8, 8)), "pairs.c", [[]]),
    }
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (ours, source, arguments) in work.items():
            program = compile_reference(source, Path(folder))
            c = partial(c_seconds, [[program, *argument] for argument in arguments])
            took = in_turns({"ours": partial(time_call, ours), "c": c})
            ms = [f"{seconds * 1000:,.0f} ms" for seconds in took.values()]
            rows.append((name, *ms, f"{took['ours'] / took['c']:.1f}"))
    return markdown(("search", "here", "plain C", "ratio"), rows)


def c_seconds(programs: list[list[str]]) -> float:
    """What reference programs say their searches took, all together."""
    total = 0.0
    for program in programs:
        said = subprocess.run(program, check=True, capture_output=True, text=True).stdout
        found = re.search(r"([\d.]+) ms", said)
        assert found is not None, said
        total += float(found.group(1)) / 1000
    return total


def stages() -> str:
    """`pipeline precompute` in an empty folder, without and with compiled kernels kept."""
    program = str(Path(sys.executable).with_name("pipeline"))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        env = environment(NUMBA_CACHE_DIR=f"{folder}/cache")
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
            seconds = time_call(partial(subprocess.run, command, check=True, env=env))
            rows.append((name, f"{seconds:.1f} s"))
        rows.append(("peak memory of the largest", f"{child_peak():,.0f} MiB"))
    return markdown(("`pipeline precompute --force`", "whole process"), rows)
