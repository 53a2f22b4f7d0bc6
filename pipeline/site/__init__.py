"""The site: published tables with their pages, a folder for any host of files.

It is complete, or not there at all. What depends on the version of the formats is below a folder of
that version. `SHA256SUMS` lists every file, to check a copy.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from string import Template

from markdown_it import MarkdownIt
from markdown_it.token import Token

from puzzle_tablebase.errors import (
    BadRequest,
    MachineLimit,
    OutputError,
    TableDamaged,
    TableMissing,
    quote,
)
from puzzle_tablebase.formats import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.formats.manifest import Entry, find_mismatch, format_manifest, measure_file
from puzzle_tablebase.output import STANDARD, translate_output_errors
from puzzle_tablebase.pipeline.proofs.verdicts import TableVerdict
from puzzle_tablebase.pipeline.site.data_set import (
    DESCRIPTION,
    SOURCE,
    TITLE,
    TableFacts,
    list_facts,
    make_card,
    make_croissant,
)
from puzzle_tablebase.process import CleanupOnSignal, cleanup_lock
from puzzle_tablebase.queries.explorer import EXPLORER_PAGE, write_explorer
from puzzle_tablebase.queries.published import format_repair_command
from puzzle_tablebase.queries.report import REPORT_PAGE, write_report
from puzzle_tablebase.stores import MANIFEST, PART_SUFFIX
from puzzle_tablebase.stores.folder import Folder, Store

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
SUMS = "SHA256SUMS"
URL = re.compile(r"https?://[\w.~:/?#@!$&*+,;=%\[\]-]+", re.ASCII)


def find_target(folder: str) -> Path:
    """Return the folder to write; raise OutputError if it is not empty."""
    if folder == STANDARD or "://" in folder:
        raise BadRequest(f"A site is a folder, not {quote(folder)}", "Copy the folder to its host")
    with translate_output_errors(folder):
        target = Path(os.path.realpath(os.path.expanduser(folder)))
        if target.exists() and any(target.iterdir()):
            raise OutputError(quote(folder), "it is not empty. Name a new or an empty folder")
    return target


def require_url(url: str) -> None:
    """Raise BadRequest if a text is not the address of a site; it stands in pages as it is."""
    if not URL.fullmatch(url):
        raise BadRequest(f"{quote(url)} is not the address of a site", f"Example: {EXAMPLE_URL}")


def write_site(
    store: Store,
    folder: str,
    tables: dict[str, Entry],
    verdicts: Sequence[TableVerdict],
    *,
    url: str = "",
    date: str = "",
) -> list[str]:
    """Write the site of a store's tables, given their entries and the verdicts on them.

    Return why pages are left out. Equal tables make equal bytes.
    """
    target = find_target(folder)
    new = target.with_name(f".{target.name}{PART_SUFFIX}")

    def remove_new() -> None:
        for _ in range(3):  # meanwhile files may still be made
            shutil.rmtree(new, ignore_errors=True)

    with translate_output_errors(folder):
        try:
            new.mkdir(parents=True)
        except FileExistsError:
            problem = f"another run writes {new.name}. If that was killed, remove it"
            raise OutputError(quote(folder), problem) from None
        with CleanupOnSignal(remove_new):
            try:
                notes = _fill(store, tables, verdicts, new / f"v{FORMAT_VERSION}", url, date)
                _write_sums(new)
                with cleanup_lock:  # a signal waits until the site has its name
                    new.rename(target)
            finally:
                remove_new()
    return notes


def _fill(
    store: Store,
    tables: dict[str, Entry],
    verdicts: Sequence[TableVerdict],
    versioned: Path,
    url: str,
    date: str,
) -> list[str]:
    versioned.mkdir()
    copy = Folder(versioned)
    for name, entry in tables.items():
        for file in entry.all_files:
            with store.open(file.file) as source, (versioned / file.file).open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            if problem := find_mismatch(copy, file):
                command = format_repair_command(name, store)
                raise TableDamaged(store.locate(file.file), problem, command)
    versions = {name: [entry] for name, entry in tables.items()}
    (versioned / MANIFEST).write_bytes(format_manifest(versions))
    facts = list_facts(copy, tables, verdicts)
    (versioned / "croissant.json").write_text(make_croissant(facts, url, date), "utf-8")
    (versioned / "README.md").write_text(make_card(facts, url, date), "utf-8")
    for name in ("index.html", "style.css", "try.js"):
        shutil.copyfile(SOURCE / name, versioned / name)
    shutil.copytree(PACKAGE, versioned / "javascript", copy_function=shutil.copyfile)
    notes, links = [], dict[str, str]()
    for page, write, text in (
        (EXPLORER_PAGE, write_explorer, "Explorer: every answer, and the puzzles to play"),
        (REPORT_PAGE, write_report, "Report: charts of the tables"),
    ):
        try:
            write(store, str(versioned / page))
            links[page] = text
        except (BadRequest, MachineLimit, TableMissing) as error:
            notes.append(f"{page} is left out. {error}")
    links |= {
        "README.md": "Data set card: every column, how the tables were made and verified",
        "croissant.json": "The data set for programs, in Croissant 1.1",
        MANIFEST: "Manifest: the list of tables that readers read",
        "javascript/README.md": "JavaScript package",
        **write_docs(versioned / "docs"),
    }
    links = {f"{versioned.name}/{page}": text for page, text in links.items()}
    links[SUMS] = "SHA-256 of every file, as sha256sum -c reads it"
    folder = versioned.parent
    (folder / "index.html").write_text(make_start_page(facts, links, url), "utf-8")
    (folder / "robots.txt").write_text("User-agent: *\nAllow: /\n")
    return notes


def _write_sums(folder: Path) -> None:
    """List every file with its SHA-256, as `sha256sum -c` reads it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in files]
    lines = [f"{measure_file(Folder(folder), name)[1]}  {name}\n" for name in names]
    (folder / SUMS).write_text("".join(lines), "utf-8")


# ---- the pages ----------------------------------------------------------------------------------


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
