"""The report's page: one HTML file with every picture inside it, and no network.

The page needs no script to be read. One, in the page itself, copies the numbers and makes CSV files
of them. Also two of its chapters: the default one of a puzzle with goals, and that of a run.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import altair as alt
import polars as pl

from queries.figure import (
    Drawing,
    Figure,
    Section,
    Source,
    Sources,
    Told,
    compute,
    list_panels,
    render_svg,
)
from queries.svg import RAMP, draw_histogram, make_dark_rules
from tablebase.puzzle import GoalPuzzle
from tablebase.tables.run_records import RUNS, SUFFIX, read_run
from tablebase.tables.store import Store


def make_page(sources: Sources, sections: list[Section], made_by: str) -> str:
    """Return the page as text."""
    toc = ""
    for section in sections:
        toc += f"<ul><li><b>{escape(section.title)}</b></li>"
        for figure in section.figures:
            toc += f'<li><a href="#{figure.name}">{escape(figure.title)}</a></li>'
        toc += "</ul>"
    # first: the figures read the tables that are listed
    body = "".join(_format_section(sources, section) for section in sections)
    table_rows = "".join(
        f"<tr><td><code>{table.name}.parquet</code></td><td>{escape(table.meaning)}</td>"
        f'<td class="n">{entry.rows:,}</td><td class="n">{entry.bytes:,}</td></tr>'
        for table in sources.list_tables()
        if (entry := sources.entries.get(table.name))
    )
    return _read_source("frame.html").format(
        style=_read_source("style.css") + make_dark_rules(".picture "),
        script=_read_source("page.js"),
        toc=toc,
        scrolls=_add_scroll("The tables"),
        listed=table_rows,
        body=body,
        made_by=escape(made_by),
    )


def _read_source(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _format_section(sources: Sources, section: Section) -> str:
    body = "".join(_format_figure(sources, figure) for figure in section.figures)
    return f"<h2>{escape(section.title)}</h2><p>{escape(section.sentence)}</p>\n{body}"


def _format_figure(sources: Sources, figure: Figure) -> str:
    """Return a figure as a section: the finding, the picture, its numbers and its query."""
    title, answer = figure.title, sources.answer(figure)
    finding, told = figure.tell(answer)
    text, pictures = f"{figure.name}-text", ""
    panels = list_panels(figure.draw(answer))
    for name, drawing in panels.items():
        picture = render_svg(drawing, f"{title}: {name}" if len(panels) > 1 else title)
        pictures += picture.replace("<svg ", f'<svg aria-describedby="{text}" ', 1)
    if len(panels) > 1:
        pictures = f'<div class="panels">{pictures}</div>'
    return (
        f'<section id="{figure.name}"><h3>{escape(finding)}</h3>'
        f'<p class="subject">{escape(title)}</p>'
        f'<p id="{text}">{escape(told)}</p>'
        f'<figure><div class="picture scroll"{_add_scroll(f"{title}: picture")}>'
        f"{pictures}</div>"
        f'<figcaption class="made">{escape(sources.describe_sources(figure))}</figcaption></figure>'
        f'<details class="numbers" data-name="{figure.name}"><summary>The numbers</summary>'
        f'<p class="tools"></p><div class="scroll"{_add_scroll(f"{title}: numbers")}>'
        f"{format_numbers(answer, title)}</div></details>"
        "<details><summary>The query</summary>"
        f'<pre class="scroll"{_add_scroll(f"{title}: query")}>'
        f"<code>{escape(sources.format_code(figure))}</code></pre></details></section>\n"
    )


def _add_scroll(label: str) -> str:
    """Return the attributes of a box that may scroll: it can have the focus, and it has a name.

    In the style sheet, such a box extends over the margins beside it. Two gradients in the page's
    colour stick to its edges: they are invisible on the page itself, and fade contents that
    continue beyond the edge.
    """
    return f' tabindex="0" role="region" aria-label="{escape(label)}"'


DIGITS = 4
"""The digits of a fraction that the table shows; its cell also has the exact value."""


def format_numbers(frame: pl.DataFrame, label: str) -> str:
    """Return a frame as a table: numbers with separators, fractions with few digits."""
    heads = "".join(
        f'<th scope="col"{_align(kind)}>{escape(name)}</th>' for name, kind in frame.schema.items()
    )
    aligned = [*map(_align, frame.dtypes)]
    rows = "".join(
        "<tr>"
        + "".join(_format_cell(cell, align) for cell, align in zip(row, aligned, strict=True))
        + "</tr>\n"
        for row in frame.iter_rows()
    )
    return (
        f'<table aria-label="{escape(label)}"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table>"
    )


def _align(kind: pl.DataType) -> str:
    return ' class="n"' if kind.is_numeric() else ""


def _format_cell(cell: object, align: str) -> str:
    """Return a cell; `data-value` has its value where the text is another."""
    if cell is None:
        return f"<td{align}></td>"
    exact = ("false", "true")[cell] if isinstance(cell, bool) else str(cell)
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        shown = exact
    else:
        shown = f"{cell:,}" if isinstance(cell, int) else f"{cell:,.{DIGITS}g}"
    value = f' data-value="{exact}"' if shown != exact else ""
    return f"<td{align}{value}>{escape(shown)}</td>"


def count_by_distance(table: pl.LazyFrame) -> pl.DataFrame:
    return table.group_by("goal", "distance").len("states").sort("goal", "distance").collect()


def _tell_distances(frame: pl.DataFrame) -> Told:
    finding = f"No state is farther than {compute(frame, pl.col('distance').max())} moves"
    furthest = frame.filter(pl.col("distance") == pl.col("distance").max().over("goal"))
    parts = (
        f"{row['states']:,} at distance {row['distance']} from {row['goal']}"
        for row in furthest.to_dicts()
    )
    return finding, f"{frame['states'].sum():,} states; the furthest: {', '.join(parts)}."


def make_section(puzzle: GoalPuzzle) -> Section:
    """Make a section with a histogram of each table."""
    return Section(
        puzzle.title,
        f"The states are numbered in the order of their notation, for example {puzzle.example}.",
        *(
            Figure(
                f"{puzzle.name}-{table.name}",
                f"States by distance: {table.name}",
                count_by_distance,
                _tell_distances,
                lambda frame: draw_histogram(frame, bare=True),
                (table.name,),
            )
            for table in puzzle.tables
        ),
    )


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


def _tell_times(frame: pl.DataFrame) -> Told:
    if frame.is_empty():
        return "No table was finished", "No table was finished."
    first, total = frame.row(0, named=True), frame["seconds"].sum()
    share = first["seconds"] / total if total else 0
    finding = f"{first['table']} took {share:.0%} of the tables' time"
    return finding, (
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
    _tell_times,
    _draw_times,
)
