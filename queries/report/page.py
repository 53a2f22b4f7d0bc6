"""The report's page: one HTML file with every picture inside it, and no network.

The page needs no script to be read. One, in the page itself, copies the numbers and makes CSV files
of them.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

import polars as pl

from puzzle_tablebase.queries.figure import Figure, Section, Sources, list_panels, render_svg
from puzzle_tablebase.queries.svg import make_dark_rules


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
    finding, told, drawing = figure.show(answer)
    text, pictures = f"{figure.name}-text", ""
    panels = list_panels(drawing)
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
