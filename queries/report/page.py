"""The page: one HTML file with every picture inside it, no scripts and no network."""

from __future__ import annotations

from html import escape

from queries.drawings import dark_rules
from queries.report.figure import Figure

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
table{border-collapse:collapse;font-size:14px;margin:22px 0 0;min-width:620px}
th,td{text-align:left;padding:5px 24px 5px 0;border-bottom:1px solid var(--line)}
th{font-weight:normal;color:var(--muted)}
td:last-child,th:last-child{padding-right:0}
.n{text-align:right;font-variant-numeric:tabular-nums}
figure{margin:0}
.picture,.scroll{overflow-x:auto}
.picture svg{display:block;max-width:max(100%,620px);height:auto}
.made{font-size:13px;margin:12px 0 0}
details{font-size:13px;margin:2px 0 0}
summary{color:var(--link);cursor:pointer;width:max-content}
pre{background:var(--code);padding:14px 16px;border-radius:6px;overflow-x:auto;margin:8px 0 0;
font:12.5px/1.5 'Liberation Mono',Menlo,Consolas,monospace}
footer{margin-top:72px;padding-top:16px;border-top:1px solid var(--line);font-size:13px;
color:var(--muted)}
@media print{body{max-width:none;padding:0;font-size:12px}section,table{break-inside:avoid}
nav,details{display:none}h2{break-before:page;margin-top:0;border:0}h2,h3{break-after:avoid}
.picture svg{max-width:100%}}
"""

Section = tuple[str, str, list[tuple[Figure, str, str, str]]]
"""A puzzle's name, a sentence, and its figures, each with what is said, drawn and counted."""


def page(tables: list[tuple[str, str, int, int]], sections: list[Section], made_by: str) -> str:
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
<p class="lead">Three classic puzzles, their whole state spaces searched once. Each picture says how
many rows it was made from, and the polars code that made it: copy it and run it beside
<code>outputs</code>.</p>
<nav aria-label="Figures">{toc}</nav>
<div class="scroll"><table>
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
        f'<figure><div class="picture">{svg}</div><figcaption class="made">{escape(made)}'
        "</figcaption></figure><details><summary>The query</summary>"
        f"<pre><code>{escape(figure.code)}</code></pre></details></section>\n"
        for figure, text, svg, made in figures
    )
    return f"<h2>{escape(title)}</h2><p>{escape(said)}</p>\n{drawn}"
