"""The report's page: one HTML file with every picture inside it, no scripts and no network."""

from __future__ import annotations

from html import escape
from pathlib import Path

from queries.figure import Figure
from queries.svg import make_dark_rules

RenderedFigure = tuple[Figure, str, str, str, str]
"""A figure, its description, its picture, a sentence about its sources, and its code."""
Chapter = tuple[str, str, list[RenderedFigure]]
"""A title, a sentence, and the figures."""


def make_page(
    tables: list[tuple[str, str, int, int]], sections: list[Chapter], made_by: str
) -> str:
    """Return the page as text; `tables` has name, meaning, rows and bytes of each table."""
    toc = ""
    for title, _, figures in sections:
        toc += f"<ul><li><b>{escape(title)}</b></li>"
        for figure, *_ in figures:
            toc += f'<li><a href="#{figure.name}">{escape(figure.title)}</a></li>'
        toc += "</ul>"
    table_rows = "".join(
        f"<tr><td><code>{name}.parquet</code></td><td>{escape(meaning)}</td>"
        f'<td class="n">{rows:,}</td><td class="n">{size:,}</td></tr>'
        for name, meaning, rows, size in tables
    )
    return _read_source("frame.html").format(
        style=_read_source("style.css") + make_dark_rules(".picture "),
        toc=toc,
        scrolls=_add_scroll("The tables"),
        listed=table_rows,
        body="".join(_format_section(*section) for section in sections),
        made_by=escape(made_by),
    )


def _read_source(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _format_section(title: str, sentence: str, figures: list[RenderedFigure]) -> str:
    body = "".join(
        f'<section id="{figure.name}"><h3>{escape(figure.title)}</h3><p>{escape(text)}</p>'
        f'<figure><div class="picture scroll"{_add_scroll(f"{figure.title}: picture")}>{svg}</div>'
        f'<figcaption class="made">{escape(sources)}</figcaption></figure>'
        "<details><summary>The query</summary>"
        f'<pre class="scroll"{_add_scroll(f"{figure.title}: query")}>'
        f"<code>{escape(code)}</code></pre></details></section>\n"
        for figure, text, svg, sources, code in figures
    )
    return f"<h2>{escape(title)}</h2><p>{escape(sentence)}</p>\n{body}"


def _add_scroll(label: str) -> str:
    """Return the attributes of a box that may scroll: it can have the focus, and it has a name.

    In the style sheet, such a box extends over the margins beside it. Two gradients in the page's
    colour stick to its edges: they are invisible on the page itself, and fade contents that
    continue beyond the edge.
    """
    return f' tabindex="0" role="region" aria-label="{escape(label)}"'
