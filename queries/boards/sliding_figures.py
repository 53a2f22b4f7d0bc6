"""The report's chapter on sliding boards: the states at each distance of those that are built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from queries.figure import Figure, Section, Source, Told, compute
from queries.svg import draw_histogram
from tablebase.puzzles.sliding import PUZZLE
from tablebase.tables import MANIFEST
from tablebase.tables.manifest import read_manifest

if TYPE_CHECKING:
    from tablebase.tables.manifest import Entry
    from tablebase.tables.store import Store

SENTENCE = (
    "Distances count moves to a goal. The numbers are those of the manifest: a build counts the "
    "states that it writes, and a larger board has no rows to count."
)
ENDING = (
    '["tables"].struct.field("{name}").struct.field("counts").struct.field("goals").explode()'
    ".struct.unnest().lazy()"
)
"""The code that takes the counts of a table from the manifest."""


def load_boards(store: Store) -> tuple[Section, dict[str, Source], dict[str, Entry]] | None:
    """Make the chapter of the boards that are built, or none; with its sources and entries."""
    entries = {
        name: entry
        for name, entry in read_manifest(store).items()
        if PUZZLE.name_board(name) and entry.counts is not None
    }
    if not entries:
        return None
    figures, files = [], {}
    for name, entry in sorted(entries.items()):
        assert entry.counts is not None
        goals = [{"goal": each.goal, "states": each.states} for each in entry.counts.goals]
        rows = pl.LazyFrame(goals, {"goal": pl.String, "states": pl.List(pl.Int64)})
        files[name] = Source(
            f"outputs/{MANIFEST}",
            len(goals),
            rows,
            reader="read_json",
            ending=ENDING.format(name=name),
        )
        figures.append(make_figure(name))
    return Section(PUZZLE.title, SENTENCE, *figures), files, entries


def make_figure(name: str) -> Figure:
    """Make the figure of a table."""
    return Figure(
        name.replace("_", "-"),
        f"States of {PUZZLE.name_board(name)} at each distance: {name}",
        list_states,
        _tell_states,
        lambda frame: draw_histogram(frame, bare=True),
        (name,),
    )


def list_states(counts: pl.LazyFrame) -> pl.DataFrame:
    return (
        counts.select("goal", "states")
        .explode("states")
        .with_columns(pl.int_range(pl.len()).over("goal").alias("distance"))
        .select("goal", "distance", "states")
        .collect()
    )


def _tell_states(frame: pl.DataFrame) -> Told:
    most = compute(frame, pl.col("distance").max())
    last = frame.filter(pl.col("distance") == most)["states"].sum()
    total = frame["states"].sum()
    mean = compute(frame, (pl.col("distance") * pl.col("states")).sum() / pl.col("states").sum())
    return (
        f"No state is farther than {most} moves",
        f"{total:,} states, {last:,} of them {most} moves from the goal; the mean is {mean:.2f}.",
    )
