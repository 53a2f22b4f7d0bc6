"""A report's section on one run of the program: where the time went."""

from __future__ import annotations

import altair as alt
import polars as pl

from queries.figure import Drawing, Figure, Section, Source
from queries.svg import RAMP
from tablebase.tables.run_records import RUNS, SUFFIX, read_run
from tablebase.tables.store import Store

FIELDS = {
    "table": pl.String,
    "seconds": pl.Float64,
    "processor_seconds": pl.Float64,
    "rows": pl.Int64,
}
"""The fields of a record's tables that are drawn."""
MAX_DRAWN = 100
"""Most tables that are drawn, those that took longest."""
NAMES = alt.Axis(minExtent=140, labelLimit=0)
"""An axis with room for the names of tables in any font, since a viewer may lack the page's."""


def load_run(store: Store, name: str) -> tuple[Section, Source]:
    """Load a run record: return the report's section, and the record as rows."""
    run = read_run(store, name)
    record = run.record
    command = f"pipeline {' '.join(record.command)}"
    sentence = (
        f"{command} began at {record.started} and took {record.seconds:,.1f} s: {run.outcome}."
    )
    file = f"outputs/{RUNS}/{record.name}{SUFFIX}"
    # no more than is drawn: a library that infers a schema may fail on what a file can hold
    tables = [{name: getattr(table, name) for name in FIELDS} for table in record.tables]
    schema = {"tables": pl.List(pl.Struct(FIELDS))}
    rows = pl.LazyFrame({"tables": [tables]}, schema)
    section = Section("A run", sentence, FIGURE)
    return section, Source(file, len(record.tables), rows, reader="read_json", ending=".lazy()")


def list_times(run: pl.LazyFrame) -> pl.DataFrame:
    tables = run.select(pl.col("tables").explode()).unnest("tables")
    return (
        tables.filter(pl.col("seconds").is_not_null())
        .select("table", "seconds", "processor_seconds", "rows")
        .sort("seconds", "table", descending=[True, False])
        .collect()
    )


def _find_times(frame: pl.DataFrame) -> str:
    if frame.is_empty():
        return "No table was finished"
    first, total = frame.row(0, named=True), frame["seconds"].sum()
    share = first["seconds"] / total if total else 0
    return f"{first['table']} took {share:.0%} of the tables' time"


def _describe_times(frame: pl.DataFrame) -> str:
    if frame.is_empty():
        return "No table was finished."
    first = frame.row(0, named=True)
    return (
        f"{frame.height:,} tables took {frame['seconds'].sum():,.1f} s in all, some of them at the "
        f"same time; {first['table']} took longest, {first['seconds']:,.1f} s."
    )


def _draw_times(frame: pl.DataFrame) -> Drawing:
    """Draw two bars for each table: the time on the clock, and the processor time."""
    kinds = {"seconds": "time", "processor_seconds": "processor time"}
    long = frame.head(MAX_DRAWN).unpivot(
        list(kinds), index="table", variable_name="kind", value_name="time"
    )
    long = long.with_columns(pl.col("kind").replace(kinds))
    return (
        alt.Chart(long)
        .mark_bar()
        .encode(
            x=alt.X("time:Q", title="seconds", axis=alt.Axis(tickCount=6)),
            y=alt.Y("table:N", title=None, sort=frame["table"].to_list(), axis=NAMES),
            yOffset=alt.YOffset("kind:N", sort=[*kinds.values()]),
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=[*kinds.values()], range=[RAMP[-2], RAMP[2]]),
            ),
        )
        .properties(width=520, height=alt.Step(12))
    )


FIGURE = Figure(
    "run-times",
    "Where the time went: seconds by table",
    list_times,
    _find_times,
    _describe_times,
    _draw_times,
)
