"""Looking up: whole processes beside what else a person could run, and calls in one process."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from benchmarks.measure import (
    OUTPUTS,
    Row,
    compile_reference,
    environment,
    in_turns,
    markdown,
    time_call,
    time_processes,
)
from queries import open_tables

EIGHT = "378546201"
SENET = "ABAAABBB.B...A."
KNIGHT = "b1"

TYPER = "import typer\napp = typer.Typer()\n@app.command()\ndef f() -> None: ...\napp()\n"
POLARS = f"""import polars as pl
frame = pl.scan_parquet({str(OUTPUTS / "eight.parquet")!r})
print(frame.filter(pl.col("state") == "{EIGHT}").collect())
"""
PYARROW = f"""import pyarrow.parquet as pq
group = pq.ParquetFile({str(OUTPUTS / "eight.parquet")!r}).read_row_group(1)
print(group.filter(pq.filters_to_expression([("state", "==", "{EIGHT}")])).to_pylist())
"""


def processes() -> str:
    """Whole processes, as ratios to a Python that does nothing."""
    python = sys.executable
    program = str(Path(python).with_name("pipeline"))
    with tempfile.TemporaryDirectory() as folder:
        asks = {
            name: [compile_reference(f"ask_{name}.cpp", Path(folder)), key]
            for name, key in (("eight", EIGHT), ("senet", SENET), ("knight", KNIGHT))
        }
        deepest = ".....BBBBBAAAAA"
        commands = {
            "`python -c pass`": [python, "-c", "pass"],
            "`pipeline query eight`": [program, "query", "eight", EIGHT],
            "`pipeline query eight --path`": [program, "query", "eight", EIGHT, "--path"],
            "`pipeline query eight --json`": [program, "query", "eight", EIGHT, "--json"],
            "`pipeline query eight --goal 087654321`": [
                *(program, "query", "eight", EIGHT, "--goal", "087654321")
            ],
            "`pipeline query senet`": [program, "query", "senet", SENET],
            "`pipeline query senet`, 15 plies": [program, "query", "senet", deepest],
            "`pipeline query knight`": [program, "query", "knight", KNIGHT],
            "a Typer application that does nothing": [python, "-c", TYPER],
            "a polars scan of eight.parquet": [python, "-c", POLARS],
            "a pyarrow row-group read of eight.parquet": [python, "-c", PYARROW],
            "C++ breadth-first search, 8-puzzle": asks["eight"],
            "C++ breadth-first search, Senet, 2 plies": asks["senet"],
            "C++ backtracking, knight": asks["knight"],
        }
        took = time_processes(commands)
        took |= time_processes(
            {"C++ breadth-first search, Senet, 15 plies": [asks["senet"][0], deepest]}, rounds=3
        )
    bare = took["`python -c pass`"]
    rows: list[Row] = [(name, f"{s * 1000:.1f} ms", f"{s / bare:.2f}") for name, s in took.items()]
    return markdown(("process", "median", "ratio"), rows)


def calls() -> str:
    """Calls in one process: one thread but for whole columns."""
    opening = (
        "import time; import queries.api; t = time.perf_counter(); "
        "tables = queries.api.Tables(); tables.eight, tables.senet, tables.knight; "
    )
    first = (
        f"tables.eight.probe('{EIGHT}'); tables.senet.probe('{SENET}'); tables.knight.probe('b1'); "
    )
    said = "print(time.perf_counter() - t)"
    eight = open_tables(str(OUTPUTS)).eight
    table = pl.read_parquet(OUTPUTS / "eight.parquet")
    asked = table.select("state", "goal", "distance", "best_moves", "solutions")
    few = table["state"].sample(200_000, with_replacement=True, seed=1).to_list()
    many = table["state"].sample(5_000_000, with_replacement=True, seed=2).to_frame()
    distance, probe = eight.distance, eight.probe
    distance(few[0])
    took = in_turns(
        {
            "open": lambda: float(output(opening + said)),
            "open and ask": lambda: float(output(opening + first + said)),
            "distance": lambda: time_call(lambda: [eight.distance(state) for state in few]),
            "probe": lambda: time_call(lambda: [probe(state) for state in few]),
            "annotate": lambda: time_call(lambda: eight.annotate(many)),
            "join": lambda: time_call(lambda: many.join(asked, on="state", how="left")),
        },
        rounds=9,
    )
    rows: list[Row] = [
        ("`open_tables` and its three puzzles", f"{took['open'] * 1000:.1f} ms"),
        ("the same, with the first answer of each", f"{took['open and ask'] * 1000:.1f} ms"),
        ("`tables.eight.distance`", f"{len(few) / took['distance'] / 1e6:.1f} million per second"),
        ("`tables.eight.probe`", f"{len(few) / took['probe'] / 1e3:,.0f} thousand per second"),
        (
            "`tables.eight.annotate`, 5 million rows",
            f"{len(many) / took['annotate'] / 1e6:.1f} million rows per second",
        ),
        (
            "a polars join with eight.parquet, the same rows",
            f"{len(many) / took['join'] / 1e6:.1f} million rows per second",
        ),
    ]
    return markdown(("call", "figure"), rows)


def output(code: str) -> str:
    """What a fresh Python prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
    return done.stdout


def batches(states: int = 10_000_000) -> str:
    """A batch of states through the shell."""
    program = str(Path(sys.executable).with_name("pipeline"))
    table = pl.read_parquet(OUTPUTS / "eight.parquet", columns=["state"])
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "states.txt"
        picked = table["state"].sample(states, with_replacement=True, seed=3)
        source.write_text("\n".join(picked) + "\n")
        for kind in ("csv", "jsonl", "parquet"):
            script = (
                "import resource, subprocess, sys, time; t = time.perf_counter(); "
                "subprocess.run(sys.argv[1:], check=True); print(time.perf_counter() - t, "
                "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
            )
            command = [program, "query", "eight", "--input", str(source)]
            command += ["--output", f"{folder}/answers.{kind}"]
            done = subprocess.run(
                [sys.executable, "-c", script, *command],
                check=True,
                capture_output=True,
                text=True,
                env=environment(),
            )
            seconds, peak = map(float, done.stdout.split())
            rate = f"{states / seconds / 1e6:.1f} million states per second"
            rows.append((f"text to {kind}", rate, f"{peak:,.0f} MiB"))
    head = (
        f"`pipeline query eight --input`, {states / 1e6:.0f} million states",
        "rate",
        "peak memory",
    )
    return markdown(head, rows)
