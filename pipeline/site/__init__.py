"""The site: published tables with their pages, a folder for any host of files.

The folder appears when it is complete. Files that depend on the version of the formats are in a
folder of that version. `SHA256SUMS` lists every file, to check a copy.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

from puzzle_tablebase import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.errors import (
    BadRequest,
    MachineLimit,
    OutputError,
    TableDamaged,
    TableMissing,
    quote,
)
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
)
from puzzle_tablebase.pipeline.terminal import format_error
from puzzle_tablebase.process import CleanupOnSignal, cleanup_lock
from puzzle_tablebase.queries.explorer import EXPLORER_PAGE, write_explorer
from puzzle_tablebase.queries.report import REPORT_PAGE, write_report
from puzzle_tablebase.stores import MANIFEST, TEMPORARY_SUFFIX, Address, Folder, Store

PACKAGE = Path(__file__).resolve().parents[2] / "queries" / "javascript"
EXAMPLE_URL = "https://example.org"
SUMS = "SHA256SUMS"
OWN_NAMES = {f"v{FORMAT_VERSION}", "index.html", "robots.txt", SUMS}
"""The entries of a site's folder."""
URL = re.compile(r"https?://[\w.~:/?#@!$&*+,;=%\[\]-]+", re.ASCII)


def find_target(folder: str) -> Path:
    """Return the folder to write; raise OutputError if it is not empty."""
    shown = str(Address(folder))  # without a password, even if the address has a typo
    if folder == STANDARD or "://" in folder or shown != folder:
        hint = "Copy the folder to its host, or tables alone by: pipeline copy FROM TO"
        raise BadRequest(f"A site is a folder, not {quote(shown)}", hint)
    with translate_output_errors(folder):
        target = Path(os.path.realpath(os.path.expanduser(folder)))
        if target.exists() and any(target.iterdir()):
            raise OutputError(quote(folder), "it is not empty. Name a new or an empty folder")
    return target


def require_url(url: str) -> None:
    """Raise BadRequest if a text is not the address of a site.

    Pages show the address, so it may have no password and no query.
    """
    address = Address(url)
    if str(address) != url:
        problem = f"The address of a site has no password and no query: {quote(str(address))}"
        raise BadRequest(problem, f"Example: {EXAMPLE_URL}")
    if not URL.fullmatch(url):
        raise BadRequest(
            f"{quote(str(address))} is not the address of a site", f"Example: {EXAMPLE_URL}"
        )


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

    Return the reasons why pages are left out. Equal tables give equal bytes.
    """
    target = find_target(folder)
    new = target.with_name(f".{target.name}{TEMPORARY_SUFFIX}")

    def remove_new() -> None:
        for _ in range(3):  # meanwhile files may still be made
            shutil.rmtree(new, ignore_errors=True)

    with translate_output_errors(folder), _lock_new(new, folder), CleanupOnSignal(remove_new):
        try:
            notes = _fill(store, tables, verdicts, new / f"v{FORMAT_VERSION}", url, date)
            _write_sums(new)
            with cleanup_lock:  # a signal waits until the site has its name
                new.rename(target)
        finally:
            remove_new()
    return notes


@contextlib.contextmanager
def _lock_new(new: Path, folder: str) -> Iterator[None]:
    """Make the folder of an unfinished site, empty, and lock it; remove what a killed run left.

    The system releases the lock however the process ends.
    """
    new.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(new, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(descriptor), new.stat())
        except OSError:
            is_ours = False
        if not is_ours:
            raise OutputError(quote(folder), f"another run writes {new.name}")
        if others := {path.name for path in new.iterdir()} - OWN_NAMES:
            problem = f"{new.name} has {quote(min(others))}, which no run wrote. Remove it"
            raise OutputError(quote(folder), problem)
        for path in new.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        yield
    finally:
        os.close(descriptor)


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
                raise TableDamaged(store, file.file, problem, name)
    versions = {name: [entry] for name, entry in tables.items()}
    (versioned / MANIFEST).write_bytes(format_manifest(versions))
    facts = list_facts(copy, tables, verdicts)
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
            notes.append(f"{page} is left out. {format_error(error)}")
    links |= {
        "README.md": "Data set card: every column, how the tables were made and verified",
        MANIFEST: "Manifest: the list of tables that readers read",
        "javascript/README.md": "JavaScript package",
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
    tables = "".join(_format_card(table, version) for table in facts)
    links = "".join(_format_link(address, text) for address, text in pages.items())
    escaped = {name: escape(part) for name, part in parts.items()}
    return _read_template("start.html").substitute(escaped, tables=tables, pages=links)


def _format_card(table: TableFacts, version: str) -> str:
    """Fill the card of a table on the start page."""
    files = "".join(
        _format_link(f"{version}/{file.file}", file.file, f" {file.bytes:,} bytes, {file.sha256}")
        for file in table.entry.all_files
    )
    facts = {name: getattr(table, name) for name in ("name", "meaning", "amount", "verdict")}
    escaped = {name: escape(fact) for name, fact in facts.items()}
    return _read_template("card.html").substitute(escaped, files=files)


def _format_link(address: str, text: str, more: str = "") -> str:
    return f'<li><a href="{escape(address)}">{escape(text)}</a>{more}</li>\n'


def _read_template(name: str) -> Template:
    return Template((SOURCE / name).read_text("utf-8"))
