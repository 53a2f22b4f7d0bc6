"""Chapters of a puzzle with goals, and of the boards that are built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from puzzle_tablebase.puzzle import GoalPuzzle
from puzzle_tablebase.puzzles.sliding import PUZZLE
from puzzle_tablebase.queries.figure import Section, Shown, Source, compute
from puzzle_tablebase.queries.svg import draw_histogram
from puzzle_tablebase.tables import MANIFEST
from puzzle_tablebase.tables.manifest import read_manifest

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
