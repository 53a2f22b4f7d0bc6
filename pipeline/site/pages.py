"""The pages of a site: the start page, and the pages on the formats as HTML."""

from __future__ import annotations

import re
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
FORMAT_PAGES = {
    "puzzles": "Puzzles",
    "tables": "Tables",
    "format/index": "Index files",
    "format/ranks": "Ranks",
    "format/manifest": "Manifest",
    "sliding": "Sliding boards",
    "tours": "Counting tours",
    "trust": "Trust",
    "deploy": "Deploy",
}
"""The names of the pages on rules and formats by their files, in the order of the site."""
JAVASCRIPT_PAGE = "javascript"
"""The page that the JavaScript package brings."""
PAGES = FORMAT_PAGES | {JAVASCRIPT_PAGE: "JavaScript package"}
"""The names of all pages beside the start page by their files."""
EXAMPLE_URL = "https://example.org"
PACKAGE_README = "../queries/javascript/README.md"
"""The package's page, as the pages in Markdown link to it."""
COPIED = (".svg", ".jsonl")
"""The kinds of files that are copied if a page links to them or shows them."""


def make_start_page(facts: Sequence[TableFacts], pages: Mapping[str, str], url: str) -> str:
    """Make the start page; `pages`: the texts of its links by their addresses."""
    version = f"v{FORMAT_VERSION}"
    parts = {
        "title": escape(TITLE),
        "description": escape(DESCRIPTION),
        "version": version,
        "tables": "".join(_format_table(table, version) for table in facts),
        "pages": "".join(
            f'<li><a href="{escape(address)}">{escape(text)}</a></li>\n'
            for address, text in pages.items()
        ),
        "address": escape(f"{(url or EXAMPLE_URL).rstrip('/')}/{version}"),
        "table": escape(next((table.name for table in facts if table.columns), "eight")),
        "made_by": escape(MADE_BY),
    }
    return _read_template("start.html").substitute(parts)


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


def make_format_pages() -> tuple[dict[str, str], set[str]]:
    """Make the pages on the formats by file name; also return the files to copy beside them."""
    pages, copied = {}, set[str]()
    for name in PAGES:
        file = PACKAGE / "README.md" if name == JAVASCRIPT_PAGE else DOCS / f"{name}.md"
        body, title = _render(file.read_text("utf-8"), name, copied)
        up = "../" * name.count("/")
        links = " ".join(
            f'<a href="{up}{other}.html"{" aria-current=page" if other == name else ""}>{text}</a>'
            for other, text in PAGES.items()
        )
        parts = {"title": escape(title), "body": body, "links": links, "up": up}
        pages[f"{name}.html"] = _read_template("page.html").substitute(parts)
    return pages, copied


def _render(text: str, name: str, copied: set[str]) -> tuple[str, str]:
    """Render a page in Markdown and return its title; add the files that it needs to `copied`."""
    markdown = MarkdownIt("commonmark").enable("table")
    tokens = markdown.parse(text)
    title, seen = "", dict[str, int]()
    for token, after in zip(tokens, [*tokens[1:], tokens[-1]], strict=True):
        if token.type == "heading_open":
            title = title or after.content
            token.attrSet("id", _make_anchor(after.content, seen))
        elif token.type in ("table_open", "fence", "code_block"):
            token.attrSet("tabindex", "0")  # it scrolls on a narrow screen
        elif token.type in ("th_open", "td_open"):
            _replace_style(token)
        elif token.children is not None:
            token.children = _place_links(token.children, name, copied)
    return str(markdown.renderer.render(tokens, markdown.options, {})), title


def _make_anchor(heading: str, seen: dict[str, int]) -> str:
    """Make the address of a heading as hosts of code do, by which our pages link to it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
    number = seen.get(anchor, 0)
    seen[anchor] = number + 1
    return f"{anchor}-{number}" if number else anchor


def _replace_style(cell: Token) -> None:
    """Name a cell's alignment by a class: the pages' policy forbids styles in elements."""
    style = cell.attrs.pop("style", "")
    if style:
        cell.attrSet("class", str(style).removeprefix("text-align:"))


def _place_links(tokens: Sequence[Token], page: str, copied: set[str]) -> list[Token]:
    """Let links lead to the site's pages; one to a file that is not there becomes plain text."""
    placed, dropped = [], 0
    for token in tokens:
        if token.type == "link_open":
            address = _find_address(str(token.attrGet("href")), page, copied)
            if address is None:
                dropped += 1
                continue
            token.attrSet("href", address)
        elif token.type == "image":
            _find_address(str(token.attrGet("src")), page, copied)
        elif token.type == "link_close" and dropped:
            dropped -= 1
            continue
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
    if target == PACKAGE_README:
        return f"{'../' * page.count('/')}{JAVASCRIPT_PAGE}.html"
    if target.removesuffix(".md") in FORMAT_PAGES:
        return f"{file.removesuffix('.md')}.html{mark}{anchor}"
    if target.startswith("..") or not target.endswith(COPIED):
        return None
    copied.add(target)
    return href


def _read_template(name: str) -> Template:
    return Template((SOURCE / name).read_text("utf-8"))
