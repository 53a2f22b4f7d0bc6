"""The report's page: one HTML file with every picture inside it, and no network.

The page needs no script to be read. One, in the page itself, copies the numbers and makes CSV files
of them.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

import polars as pl

from queries.figure import Figure
from queries.report.numbers import format_numbers
from queries.svg import make_dark_rules


class DrawnFigure(NamedTuple):
    """A figure with its answer, its pictures, a sentence about its sources, and its code."""

    figure: Figure
    answer: pl.DataFrame
    pictures: list[str]
    sources: str
    code: str


class Chapter(NamedTuple):
    """A title, a sentence, and the figures."""

    title: str
    sentence: str
    figures: list[DrawnFigure]


def make_page(
    tables: list[tuple[str, str, int, int]], chapters: list[Chapter], made_by: str
) -> str:
    """Return the page as text; `tables` has name, meaning, rows and bytes of each table."""
    toc = ""
    for chapter in chapters:
        toc += f"<ul><li><b>{escape(chapter.title)}</b></li>"
        for figure, *_ in chapter.figures:
            toc += f'<li><a href="#{figure.name}">{escape(figure.title)}</a></li>'
        toc += "</ul>"
    table_rows = "".join(
        f"<tr><td><code>{name}.parquet</code></td><td>{escape(meaning)}</td>"
        f'<td class="n">{rows:,}</td><td class="n">{size:,}</td></tr>'
        for name, meaning, rows, size in tables
    )
    return _read_source("frame.html").format(
        style=_read_source("style.css") + make_dark_rules(".picture "),
        script=_read_source("page.js"),
        toc=toc,
        scrolls=_add_scroll("The tables"),
        listed=table_rows,
        body="".join(map(_format_chapter, chapters)),
        made_by=escape(made_by),
    )


def _read_source(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _format_chapter(chapter: Chapter) -> str:
    body = "".join(map(_format_figure, chapter.figures))
    return f"<h2>{escape(chapter.title)}</h2><p>{escape(chapter.sentence)}</p>\n{body}"


def _format_figure(drawn: DrawnFigure) -> str:
    """Return a figure as a section: the finding, the picture, its numbers and its query."""
    figure, title = drawn.figure, drawn.figure.title
    text = f"{figure.name}-text"
    pictures = "".join(
        picture.replace("<svg ", f'<svg aria-describedby="{text}" ', 1)
        for picture in drawn.pictures
    )
    if len(drawn.pictures) > 1:
        pictures = f'<div class="panels">{pictures}</div>'
    return (
        f'<section id="{figure.name}"><h3>{escape(figure.find(drawn.answer))}</h3>'
        f'<p class="subject">{escape(title)}</p>'
        f'<p id="{text}">{escape(figure.describe(drawn.answer))}</p>'
        f'<figure><div class="picture scroll"{_add_scroll(f"{title}: picture")}>'
        f"{pictures}</div>"
        f'<figcaption class="made">{escape(drawn.sources)}</figcaption></figure>'
        f'<details class="numbers" data-name="{figure.name}"><summary>The numbers</summary>'
        f'<p class="tools"></p><div class="scroll"{_add_scroll(f"{title}: numbers")}>'
        f"{format_numbers(drawn.answer, title)}</div></details>"
        "<details><summary>The query</summary>"
        f'<pre class="scroll"{_add_scroll(f"{title}: query")}>'
        f"<code>{escape(drawn.code)}</code></pre></details></section>\n"
    )


def _add_scroll(label: str) -> str:
    """Return the attributes of a box that may scroll: it can have the focus, and it has a name.

    In the style sheet, such a box extends over the margins beside it. Two gradients in the page's
    colour stick to its edges: they are invisible on the page itself, and fade contents that
    continue beyond the edge.
    """
    return f' tabindex="0" role="region" aria-label="{escape(label)}"'
