"""The pages of a site: the start page, and the docs as HTML."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from string import Template

from markdown_it import MarkdownIt
from markdown_it.token import Token

from puzzle_tablebase.formats import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.pipeline.site.data_set import DESCRIPTION, SOURCE, TITLE, TableFacts

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
PACKAGE = _ROOT / "queries" / "javascript"
DOCS = _HERE / "docs" if (_HERE / "docs").is_dir() else _ROOT / "docs"
"""The pages in Markdown: an installed program has its own copy of them."""
DOC_PAGES = (
    *("puzzles", "tables", "format/index", "format/ranks", "format/manifest"),
    *("sliding", "tours", "trust", "deploy"),
)
"""The pages on rules and formats, in the order of the site."""
EXAMPLE_URL = "https://example.org"
COPIED = (".svg", ".jsonl")
"""The kinds of files that are copied if a page links to them or shows them."""


def make_start_page(facts: Sequence[TableFacts], pages: Mapping[str, str], url: str) -> str:
    """Make the start page; `pages`: the texts of its links by their addresses."""
    version = f"v{FORMAT_VERSION}"
    parts = {
        "title": TITLE,
        "description": DESCRIPTION,
        "version": version,
        "address": f"{(url or EXAMPLE_URL).rstrip('/')}/{version}",
        "table": next((table.name for table in facts if table.schema), "eight"),
        "made_by": MADE_BY,
    }
    tables = "".join(_format_table(table, version) for table in facts)
    links = "".join(
        f'<li><a href="{escape(address)}">{escape(text)}</a></li>\n'
        for address, text in pages.items()
    )
    escaped = {name: escape(part) for name, part in parts.items()}
    return _read_template("start.html").substitute(escaped, tables=tables, pages=links)


def _format_table(table: TableFacts, version: str) -> str:
    files = "".join(
        f'<li><a href="{version}/{file.file}" download>{file.file}</a> {file.bytes:,} bytes, '
        f"SHA-256 <code>{file.sha256}</code></li>\n"
        for file in table.entry.all_files
    )
    return (
        f'<section class="table"><h3 id="{table.name}">{table.name}</h3>\n'
        f"<p>{escape(table.meaning)}. {escape(table.amount)}; <b>{table.verdict}</b>.</p>\n"
        f"<ul>{files}</ul></section>\n"
    )


def write_docs(folder: Path) -> dict[str, str]:
    """Write the docs as HTML, with the files that they show; return the title of each page."""
    bodies, titles, copied = dict[str, str](), dict[str, str](), set[str]()
    for name in DOC_PAGES:
        text = (DOCS / f"{name}.md").read_text("utf-8")
        bodies[f"{name}.html"], titles[f"{name}.html"] = _render(text, name, copied)
    for name, body in bodies.items():
        up = "../" * name.count("/")
        links = " ".join(
            f'<a href="{up}{other}"{" aria-current=page" if other == name else ""}>{title}</a>'
            for other, title in titles.items()
        )
        parts = {"title": titles[name], "body": body, "links": links, "up": up}
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(_read_template("page.html").substitute(parts), "utf-8")
    for name in copied:
        shutil.copyfile(DOCS / name, folder / name)
    return {f"{folder.name}/{name}": title for name, title in titles.items()}


def _render(text: str, name: str, copied: set[str]) -> tuple[str, str]:
    """Render a page in Markdown and return its title; add the files that it needs to `copied`."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    for token, after in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        if token.type == "heading_open":
            token.attrSet("id", _make_anchor(after.content))
        elif token.type in ("table_open", "fence", "code_block"):
            token.attrSet("tabindex", "0")  # it scrolls on a narrow screen
        elif token.type in ("th_open", "td_open") and "style" in token.attrs:
            # the pages' policy forbids styles in elements
            token.attrSet("class", str(token.attrs.pop("style")).removeprefix("text-align:"))
        elif token.children is not None:
            token.children = _place_links(token.children, name, copied)
    return str(markdown.renderer.render(tokens, markdown.options, {})), tokens[1].content


def _make_anchor(heading: str) -> str:
    """Make the address of a heading as hosts of code do, by which our pages link to it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def _place_links(tokens: Sequence[Token], page: str, copied: set[str]) -> list[Token]:
    """Let links lead to the site's pages; one to a file that is not there becomes plain text."""
    placed, is_dropped = [], False
    for token in tokens:
        if token.type == "link_open":
            address = _find_address(str(token.attrGet("href")), page, copied)
            is_dropped = address is None
            token.attrSet("href", address or "")
        elif token.type == "image":
            _find_address(str(token.attrGet("src")), page, copied)
        if not (is_dropped and token.type in ("link_open", "link_close")):
            placed.append(token)
    return placed


def _find_address(href: str, page: str, copied: set[str]) -> str | None:
    """Return where a link of a page in Markdown leads to on the site; None if nowhere.

    >>> [_find_address(href, "format/index", set()) for href in ("#a", "../puzzles.md#b", "x.c")]
    ['#a', '../puzzles.html#b', None]
    """
    file, mark, anchor = href.partition("#")
    if "://" in href or not file:
        return href
    target = normpath(join(dirname(page), file))
    if target.removesuffix(".md") in DOC_PAGES:
        return f"{file.removesuffix('.md')}.html{mark}{anchor}"
    if target.startswith("..") or not target.endswith(COPIED):
        return None
    copied.add(target)
    return href


def _read_template(name: str) -> Template:
    return Template((SOURCE / name).read_text("utf-8"))
