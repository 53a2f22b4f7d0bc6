"""Chapters of a puzzle with goals, of the boards that are built, and of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from puzzle_tablebase.puzzle import GoalPuzzle
from puzzle_tablebase.puzzles.sliding import PUZZLE
from puzzle_tablebase.queries.figure import Section, Shown, Source, compute
from puzzle_tablebase.queries.svg import RAMP, draw_histogram
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.manifest import read_manifest
from puzzle_tablebase.tables.run_records import RUNS, SUFFIX, read_run

if TYPE_CHECKING:
    from puzzle_tablebase.tables.manifest import Entry
    from puzzle_tablebase.tables.store import Store


# ---- states at each distance ---------------------------------------------------------------------


def count_by_distance(table: pl.LazyFrame) -> pl.DataFrame:
    return table.group_by("goal", "distance").len("states").sort("goal", "distance").collect()


def unfold_counts(counts: pl.LazyFrame) -> pl.DataFrame:
    return (
        counts.select("goal", "states")
        .explode("states")
        .with_columns(pl.int_range(pl.len()).over("goal").alias("distance"))
        .select("goal", "distance", "states")
        .collect()
    )


def _show_distances(frame: pl.DataFrame) -> Shown:
    most = compute(frame, pl.col("distance").max())
    mean = compute(frame, (pl.col("distance") * pl.col("states")).sum() / pl.col("states").sum())
    last = frame.filter(pl.col("distance") == pl.col("distance").max().over("goal"))
    parts = (
        f"{row['states']:,} of them {row['distance']} moves from {row['goal']}"
        for row in last.to_dicts()
    )
    text = f"{frame['states'].sum():,} states, {', '.join(parts)}; the mean is {mean:.2f}."
    return f"No state is farther than {most} moves", text, draw_histogram(frame, bare=True)


def make_section(puzzle: GoalPuzzle) -> Section:
    """Make a section with a histogram of each table."""
    sentence = (
        f"The states are numbered in the order of their notation, for example {puzzle.example}."
    )
    section = Section(puzzle.title, sentence)
    for table in puzzle.tables:
        title = f"States by distance: {table.name}"
        name = f"{puzzle.name}-{table.name}"
        section.add(name, title, count_by_distance, table.name)(_show_distances)
    return section


BOARDS_SENTENCE = (
    "Distances count moves to a goal. The numbers are those of the manifest: a build counts the "
    "states that it writes, and a larger board has no rows to count."
)
ENDING = (
    '["tables"].struct.field("{name}").struct.field("counts").struct.field("goals").explode()'
    ".struct.unnest().lazy()"
)
"""The code that takes the counts of a table from the manifest."""


def load_boards(store: Store) -> tuple[Section, dict[str, Source], dict[str, Entry]]:
    """Make the chapter of the boards that are built, with its sources and entries."""
    section = Section(PUZZLE.title, BOARDS_SENTENCE)
    files: dict[str, Source] = {}
    entries: dict[str, Entry] = {}
    for name, entry in sorted(read_manifest(store).items()):
        board = PUZZLE.name_board(name)
        if not board or entry.counts is None:
            continue
        goals = [{"goal": each.goal, "states": each.states} for each in entry.counts.goals]
        rows = pl.LazyFrame(goals, {"goal": pl.String, "states": pl.List(pl.Int64)})
        file, ending = f"outputs/{MANIFEST}", ENDING.format(name=name)
        files[name] = Source(file, len(goals), rows, reader="read_json", ending=ending)
        title = f"States of {board} at each distance: {name}"
        section.add(name.replace("_", "-"), title, unfold_counts, name)(_show_distances)
        entries[name] = entry
    return section, files, entries


# ---- a run ---------------------------------------------------------------------------------------

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
    command = f"pipeline {' '.join(run.command)}"
    sentence = f"{command} began at {run.started} and took {run.seconds:,.1f} s: {run.outcome}."
    file = f"outputs/{RUNS}/{run.name}{SUFFIX}"
    # no more than is drawn: a library that infers a schema may fail on what a file can hold
    tables = [{name: getattr(table, name) for name in FIELDS} for table in run.tables]
    schema = {"tables": pl.List(pl.Struct(FIELDS))}
    rows = pl.LazyFrame({"tables": [tables]}, schema)
    section = Section("A run", sentence)
    section.add("run-times", "Where the time went: seconds by table", list_times)(_show_times)
    return section, Source(file, len(run.tables), rows, reader="read_json", ending=".lazy()")


def list_times(run: pl.LazyFrame) -> pl.DataFrame:
    tables = run.select(pl.col("tables").explode()).unnest("tables")
    return (
        tables.filter(pl.col("seconds").is_not_null())
        .select("table", "seconds", "processor_seconds", "rows")
        .sort("seconds", "table", descending=[True, False])
        .collect()
    )


def _show_times(frame: pl.DataFrame) -> Shown:
    """Draw two bars for each table: the time on the clock, and the processor time."""
    finding = text = "No table was finished"
    if len(frame):
        first, total = frame.row(0, named=True), frame["seconds"].sum()
        share = first["seconds"] / total if total else 0
        finding = f"{first['table']} took {share:.0%} of the tables' time"
        text = (
            f"{frame.height:,} tables took {total:,.1f} s in all, some of them at the same time; "
            f"{first['table']} took longest, {first['seconds']:,.1f} s"
        )
    kinds = {"seconds": "time", "processor_seconds": "processor time"}
    long = frame.head(MAX_DRAWN).unpivot(
        list(kinds), index="table", variable_name="kind", value_name="time"
    )
    long = long.with_columns(pl.col("kind").replace(kinds))
    colours = alt.Scale(domain=[*kinds.values()], range=[RAMP[-2], RAMP[2]])
    bars = (
        alt.Chart(long)
        .mark_bar()
        .encode(
            x=alt.X("time:Q", title="seconds", axis=alt.Axis(tickCount=6)),
            y=alt.Y("table:N", title=None, sort=frame["table"].to_list(), axis=NAMES),
            yOffset=alt.YOffset("kind:N", sort=[*kinds.values()]),
            color=alt.Color("kind:N", title=None, scale=colours),
        )
        .properties(width=520, height=alt.Step(12))
    )
    return finding, f"{text}.", bars
