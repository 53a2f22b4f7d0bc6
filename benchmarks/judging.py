"""Measurements of judging: columns of answers compared with ten lines, and single answers."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from benchmarks.measure import (
    OUTPUTS,
    Row,
    format_table,
    make_environment,
    measure_in_turns,
    measure_process,
    time_processor,
)
from puzzle_tablebase.queries.tables import open_tables

STEPS = {"U": "up", "D": "down", "L": "left", "R": "right"}
BACK = {"U": "D", "D": "U", "L": "R", "R": "L"}
SIZES = {"eight": 100_000, "3x4": 20_000}
REPEATED = 10
"""How often a process is run for one figure."""


def judge_plainly(reader: Any, width: int, keys: pl.Series, answers: pl.Series) -> list[float]:
    """Judge letters in ten lines: look up all distances at once, then replay each row."""
    found, scores = reader.annotate(keys), list[float]()
    goals, cells = found["goal"].cast(pl.String).replace(reader.puzzle.goals), len(keys[0])
    step_of = {"U": -width, "D": width, "L": -1, "R": 1}
    for state, goal, distance, answer in zip(
        keys.to_list(), goals.to_list(), found["distance"].to_list(), answers.to_list(), strict=True
    ):
        tiles, blank, is_legal = [*state], state.index("0"), True
        for letter in answer:
            step = step_of.get(letter, cells)
            to = blank + step
            if not 0 <= to < cells or (abs(step) == 1 and to // width != blank // width):
                is_legal = False
                break
            tiles[blank], tiles[to], blank = tiles[to], "0", to
        is_solved = is_legal and "".join(tiles) == goal
        scores.append(distance / len(answer) if is_solved and answer else float(is_solved))
    return scores


def go_astray(state: str, width: int, moves: int, random: Random) -> str:
    """Return legal moves that lead away and back."""
    blank, rows, letters = state.index("0"), len(state) // width, ""
    for _ in range(moves // 2):
        row, column = divmod(blank, width)
        legal = "U" * (row > 0) + "D" * (row < rows - 1)
        legal += "L" * (column > 0) + "R" * (column < width - 1)
        letters += random.choice(legal)
        blank += {"U": -width, "D": width, "L": -1, "R": 1}[letters[-1]]
    return letters + "".join(BACK[letter] for letter in reversed(letters))


def spoil(answer: str, random: Random) -> str:
    """Spoil an answer: it stops early, has a wrong letter, is in words, or leaves the board."""
    words = ", ".join(STEPS[letter] for letter in answer)
    return random.choice([answer[:-1], f"{answer[:3]}X{answer[3:]}", words, f"{answer[:2]}UUUU"])


def compare_judges() -> str:
    """Compare judging columns of answers with a judge of ten lines."""
    rows = _compare_reader("eight", open_tables(str(OUTPUTS)).eight)
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(sys.executable).with_name("pipeline"))
        measure_process([program, "precompute", "sliding_3x4", "--outputs", folder])
        rows += _compare_reader("3x4", open_tables(folder).sliding("3x4"))
        single = _compare_single_judgements(folder)
    columns = ("answers", "verdicts a second", "ten lines of polars and Python", "ratio")
    return format_table(columns, rows) + "\n" + single


def _compare_reader(name: str, reader: Any) -> list[Row]:
    """Return a row for each type of answers."""
    random, width, size = Random(1), reader.puzzle.width, SIZES[name]
    keys = reader.sample(size, seed=1)["state"]
    if name == "eight":
        solutions = reader.annotate(keys, path=True)["solution"].to_list()
    else:
        solutions = [reader.solution(key) for key in keys]
    cases = {
        "shortest": solutions,
        "20 moves too many": [
            go_astray(key, width, 20, random) + solution
            for key, solution in zip(keys, solutions, strict=True)
        ],
        "a quarter malformed": [
            solution if at % 4 else spoil(solution, random) for at, solution in enumerate(solutions)
        ],
    }
    rows = list[Row]()
    for case, answers in cases.items():
        column = pl.Series("answer", answers)
        frame = pl.DataFrame([keys, column])
        judge = partial(reader.check_frame, frame)
        judge_in_ten_lines = partial(judge_plainly, reader, width, keys, column)
        assert judge()["score"].to_list() == judge_in_ten_lines()
        seconds = measure_in_turns(
            {
                "ours": partial(time_processor, judge),
                "plain": partial(time_processor, judge_in_ten_lines),
            }
        )
        ours, plain = seconds["ours"], seconds["plain"]
        rates = (f"{size / ours:,.0f}", f"{size / plain:,.0f}", f"{plain / ours:.2f}")
        rows.append((f"{name}, {case}", *rates))
    return rows


def _compare_single_judgements(folder: str) -> str:
    """Compare processes that judge one answer with a Python that does nothing.

    `folder` has the table of 3x4.
    """
    program = str(Path(sys.executable).with_name("pipeline"))
    answers = {
        "eight": ["378546201", "UULDDRURULLDDRRULDLURULDDRR"],
        "senet": ["ABAAABBB.B...A.", "9-14 4x7"],
        "knight": ["b1", "a3c2"],
        "sliding": ["123456709ab8", "D", "--board", "3x4", "--outputs", folder],
    }
    commands = {f"`pipeline check {name}`": [program, "check", name, *words]
                for name, words in answers.items()}  # fmt: skip
    commands = {"`python -c pass`": [sys.executable, "-c", "pass"], **commands}
    run = partial(subprocess.run, check=True, env=make_environment(), stdout=subprocess.DEVNULL)
    seconds = measure_in_turns(
        {
            name: partial(time_processor, partial(_repeat, run, each))
            for name, each in commands.items()
        }
    )
    bare = seconds["`python -c pass`"]
    rows: list[Row] = [
        (name, f"{value / REPEATED * 1000:.1f} ms", f"{value / bare:.2f}")
        for name, value in seconds.items()
    ]
    return format_table(("process", "processor time", "ratio"), rows)


def _repeat(run: Callable[[list[str]], object], command: list[str]) -> None:
    """Run a command several times, because a single run is close to the clock's resolution."""
    for _ in range(REPEATED):
        run(command)
