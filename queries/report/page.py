"""The page: one HTML file with every picture inside it, no scripts and no network."""

from __future__ import annotations

from html import escape

from queries.drawings import dark_rules
from queries.figure import Figure

STYLE = """
:root{color-scheme:light dark;--ink:#1f2328;--muted:#5c6673;--line:#e3e7ec;--paper:#fdfdfc;
--code:#f4f5f7;--link:#2f6f9f}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8eaed;--muted:#9aa4b2;--line:#2c333d;
--paper:#12161c;--code:#1a2028;--link:#6fb1e0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1000px;padding:40px 24px 80px;background:var(--paper);
color:var(--ink);font:16px/1.55 Arial,'Liberation Sans',Helvetica,sans-serif}
h1{font-size:30px;line-height:1.2;margin:0 0 8px}
h2{font-size:23px;margin:64px 0 4px;padding-top:20px;border-top:1px solid var(--line)}
h3{font-size:17px;margin:40px 0 4px}
p{margin:0 0 14px;max-width:70ch}
a{color:var(--link)}
.lead,.made,nav{color:var(--muted)}
nav ul{list-style:none;margin:0 0 6px;padding:0;display:flex;flex-wrap:wrap;gap:2px 18px}
nav{margin:24px 0 0;font-size:14px}
nav b{color:var(--ink)}
table{border-collapse:collapse;font-size:14px;width:max(100% - 2*var(--edge),620px)}
th,td{text-align:left;padding:5px 24px 5px 0;border-bottom:1px solid var(--line)}
th{font-weight:normal;color:var(--muted)}
td:last-child,th:last-child{padding-right:0}
.n{text-align:right;font-variant-numeric:tabular-nums}
figure{margin:0}
.scroll{--edge:24px;--behind:var(--paper);display:flex;overflow-x:auto;
margin:0 calc(-1*var(--edge))}
.scroll::before,.scroll::after{content:"";flex:none;width:var(--edge);position:sticky;z-index:1;
pointer-events:none}
.scroll::before{left:0;background:linear-gradient(to left,transparent,var(--behind))}
.scroll::after{right:0;background:linear-gradient(to right,transparent,var(--behind))}
.scroll>*{flex:none}
.scroll:focus-visible{outline:2px solid var(--link);outline-offset:-2px}
header .scroll{margin-top:22px}
.picture svg{display:block;max-width:max(100% - 2*var(--edge),620px);height:auto}
.made{font-size:13px;margin:12px 0 0}
details{font-size:13px;margin:2px 0 0}
summary{color:var(--link);cursor:pointer;width:max-content}
pre.scroll{--edge:16px;--behind:var(--code);background:var(--code);border-radius:6px;margin:8px 0 0;
font:12.5px/1.5 'Liberation Mono',Menlo,Consolas,monospace}
pre code{padding:14px 0}
footer{margin-top:72px;padding-top:16px;border-top:1px solid var(--line);font-size:13px;
color:var(--muted)}
@media print{body{max-width:none;padding:0;font-size:12px}section,table{break-inside:avoid}
nav,details{display:none}h2{break-before:page;margin-top:0;border:0}h2,h3{break-after:avoid}
.scroll{display:block;overflow:visible;margin:0}.scroll::before,.scroll::after{content:none}
table{width:100%}.picture svg{max-width:100%}}
"""
# A box that scrolls sideways reaches over the margins beside it. In them stand two fades in the
# paper's colour that stick to its edges: unseen on the paper alone, they lie on what goes on.

Chapter = tuple[str, str, list[tuple[Figure, str, str, str]]]
"""A puzzle's name, a sentence, and its figures, each with what is said, drawn and counted."""


def page(tables: list[tuple[str, str, int, int]], sections: list[Chapter], made_by: str) -> str:
    """The whole file; `tables`: name, meaning, rows and bytes of each."""
    toc = "".join(
        f"<ul><li><b>{escape(title)}</b></li>"
        + "".join(
            f'<li><a href="#{figure.name}">{escape(figure.title)}</a></li>'
            for figure, *_ in figures
        )
        + "</ul>"
        for title, _, figures in sections
    )
    listed = "".join(
        f"<tr><td><code>{name}.parquet</code></td><td>{escape(meaning)}</td>"
        f'<td class="n">{rows:,}</td><td class="n">{size:,}</td></tr>'
        for name, meaning, rows, size in tables
    )
    body = "".join(_section(*section) for section in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What the tables hold</title>
<style>{STYLE}{dark_rules(".picture ")}</style>
</head>
<body>
<header>
<h1>What the tables hold</h1>
<p class="lead">Three classic puzzles, with every state searched once. Each picture shows
how many rows it was made from and its polars query: copy the query and run it in the folder
that contains <code>outputs</code>.</p>
<nav aria-label="Figures">{toc}</nav>
<div class="scroll"{_scrolls("The tables")}><table>
<thead><tr><th>table</th><th>what</th><th class="n">rows</th><th class="n">bytes</th></tr></thead>
<tbody>{listed}</tbody></table></div>
</header>
<main>{body}</main>
<footer>Made by {escape(made_by)} from the published tables.</footer>
</body>
</html>
"""


def _section(title: str, said: str, figures: list[tuple[Figure, str, str, str]]) -> str:
    drawn = "".join(
        f'<section id="{figure.name}"><h3>{escape(figure.title)}</h3><p>{escape(text)}</p>'
        f'<figure><div class="picture scroll"{_scrolls(f"{figure.title}: picture")}>{svg}</div>'
        f'<figcaption class="made">{escape(made)}</figcaption></figure>'
        "<details><summary>The query</summary>"
        f'<pre class="scroll"{_scrolls(f"{figure.title}: query")}>'
        f"<code>{escape(figure.code)}</code></pre></details></section>\n"
        for figure, text, svg, made in figures
    )
    return f"<h2>{escape(title)}</h2><p>{escape(said)}</p>\n{drawn}"


def _scrolls(label: str) -> str:
    """The attributes of a box that may scroll: the keyboard comes to it, and it has a name."""
    return f' tabindex="0" role="region" aria-label="{escape(label)}"'
