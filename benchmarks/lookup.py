"""Measurements of lookups: whole processes against alternatives, and calls in one process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.measure import (
    OUTPUTS,
    Row,
    format_table,
    make_environment,
    measure_in_turns,
    measure_process,
    time_call,
    time_processes,
)
from puzzle_tablebase.queries.tables import open_tables

EIGHT = "378546201"
SENET = "ABAAABBB.B...A."

TYPER = "import typer\napp = typer.Typer()\n@app.command()\ndef f() -> None: ...\napp()\n"
POLARS = f"""import polars as pl
frame = pl.scan_parquet({str(OUTPUTS / "eight.parquet")!r})
print(frame.filter(pl.col("state") == "{EIGHT}").collect())
"""
PYARROW = f"""import pyarrow.parquet as pq
group = pq.ParquetFile({str(OUTPUTS / "eight.parquet")!r}).read_row_group(1)
print(group.filter(pq.filters_to_expression([("state", "==", "{EIGHT}")])).to_pylist())
"""


def compare_processes() -> str:
    """Time whole processes, and compare them with a Python that does nothing."""
    python = sys.executable
    program = str(Path(python).with_name("pipeline"))
    commands = {
        "`python -c pass`": [python, "-c", "pass"],
        "`pipeline query eight`": [program, "query", "eight", EIGHT],
        "`pipeline query eight --path`": [program, "query", "eight", EIGHT, "--path"],
        "`pipeline query eight --json`": [program, "query", "eight", EIGHT, "--json"],
        "`pipeline query eight --goal 087654321`": [
            *(program, "query", "eight", EIGHT, "--goal", "087654321")
        ],
        "`pipeline query senet`": [program, "query", "senet", SENET],
        "`pipeline query senet`, 15 plies": [program, "query", "senet", ".....BBBBBAAAAA"],
        "`pipeline query knight`": [program, "query", "knight", "b1"],
        "a Typer application that does nothing": [python, "-c", TYPER],
        "a polars scan of eight.parquet": [python, "-c", POLARS],
        "a pyarrow row-group read of eight.parquet": [python, "-c", PYARROW],
    }
    seconds = time_processes(commands)
    bare = seconds["`python -c pass`"]
    rows: list[Row] = [
        (name, f"{value * 1000:.1f} ms", f"{value / bare:.2f}") for name, value in seconds.items()
    ]
    return format_table(("process", "median", "ratio"), rows)


def measure_calls() -> str:
    """Time calls in one process, on one thread except for whole columns."""
    opening = (
        "import time; import puzzle_tablebase as pt; t = time.perf_counter(); "
        "tables = pt.open_tables(); tables.eight, tables.senet, tables.knight; "
    )
    first = (
        f"tables.eight.probe('{EIGHT}'); tables.senet.probe('{SENET}'); tables.knight.probe('b1'); "
    )
    report = "print(time.perf_counter() - t)"
    eight = open_tables(str(OUTPUTS)).eight
    table = pl.read_parquet(OUTPUTS / "eight.parquet")
    answers = table.select("state", "goal", "distance", "best_moves", "solutions")
    few = table["state"].sample(200_000, with_replacement=True, seed=1).to_list()
    many = table["state"].sample(5_000_000, with_replacement=True, seed=2).to_frame()
    distance, probe = eight.distance, eight.probe
    distance(few[0])
    seconds = measure_in_turns(
        {
            "open": lambda: float(run_code(opening + report)),
            "open and ask": lambda: float(run_code(opening + first + report)),
            "distance": lambda: time_call(lambda: [eight.distance(state) for state in few]),
            "probe": lambda: time_call(lambda: [probe(state) for state in few]),
            "annotate": lambda: time_call(lambda: eight.annotate(many)),
            "join": lambda: time_call(lambda: many.join(answers, on="state", how="left")),
        },
        rounds=9,
    )
    rows: list[Row] = [
        ("`open_tables` and its three puzzles", f"{seconds['open'] * 1000:.1f} ms"),
        ("the same, with the first answer of each", f"{seconds['open and ask'] * 1000:.1f} ms"),
        (
            "`tables.eight.distance`",
            f"{len(few) / seconds['distance'] / 1e6:.1f} million per second",
        ),
        ("`tables.eight.probe`", f"{len(few) / seconds['probe'] / 1e3:,.0f} thousand per second"),
        (
            "`tables.eight.annotate`, 5 million rows",
            f"{len(many) / seconds['annotate'] / 1e6:.1f} million rows per second",
        ),
        (
            "a polars join with eight.parquet, the same rows",
            f"{len(many) / seconds['join'] / 1e6:.1f} million rows per second",
        ),
    ]
    return format_table(("call", "figure"), rows)


def run_code(code: str) -> str:
    """Return the output of a new Python process."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=make_environment()
    )
    return done.stdout


def measure_batches(states: int = 10_000_000) -> str:
    """Time a batch query of many states at the shell."""
    program = str(Path(sys.executable).with_name("pipeline"))
    table = pl.read_parquet(OUTPUTS / "eight.parquet", columns=["state"])
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "states.txt"
        sample = table["state"].sample(states, with_replacement=True, seed=3)
        source.write_text("\n".join(sample) + "\n")
        for suffix in ("csv", "jsonl", "parquet"):
            command = [program, "query", "eight", "--input", str(source)]
            command += ["--output", f"{folder}/answers.{suffix}"]
            done = measure_process(command)
            rate = f"{states / done.seconds / 1e6:.1f} million states per second"
            rows.append((f"text to {suffix}", rate, f"{done.peak_mib:,.0f} MiB"))
    head = (
        f"`pipeline query eight --input`, {states / 1e6:.0f} million states",
        "rate",
        "peak memory",
    )
    return format_table(head, rows)
