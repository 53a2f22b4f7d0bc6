"""Print how a class's solvers do: class_report.py FOLDER, with a CSV of each: state, answer."""

import sys
from pathlib import Path

import polars as pl

import puzzle_tablebase as pt

eight = pt.open_tables().eight
files = sorted(Path(sys.argv[1]).glob("*.csv"))
rows = [
    pl.read_csv(file, infer_schema=False).with_columns(solver=pl.lit(file.stem)) for file in files
]
judged = eight.check_frame(pl.concat(rows))
report = judged.group_by("solver").agg(
    solved=pl.col("excess").count(),
    shortest=(pl.col("result") == "shortest").sum(),
    mean_excess=pl.col("excess").mean().round(2),
    score=pl.col("score").mean().round(3),
    worst=pl.col("problem").drop_nulls().first(),
)
report.sort("score", "solver", descending=[True, False]).write_csv(sys.stdout)
