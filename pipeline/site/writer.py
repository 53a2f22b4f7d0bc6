"""The writer of a site: a folder for any host of files, complete or not there at all.

What depends on the version of the formats is below a folder of that version. `SHA256SUMS` lists
every file: with it a download is checked, and a site is told from a folder of something else.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from puzzle_tablebase.errors import BadRequest, OutputError, TableDamaged, TableMissing, quote
from puzzle_tablebase.output import STANDARD, translate_output_errors
from puzzle_tablebase.pipeline.site.data_set import (
    CARD,
    CROISSANT,
    list_facts,
    make_card,
    make_croissant,
)
from puzzle_tablebase.pipeline.site.pages import (
    DOCS,
    JAVASCRIPT_PAGE,
    PACKAGE,
    PAGES,
    SOURCE,
    make_format_pages,
    make_start_page,
)
from puzzle_tablebase.pipeline.verify.claims import TableVerdict
from puzzle_tablebase.process import CleanupOnSignal, cleanup_lock, expand_path
from puzzle_tablebase.queries.explorer.writer import EXPLORER_PAGE, write_explorer
from puzzle_tablebase.queries.report import REPORT_PAGE, write_report
from puzzle_tablebase.tables import FORMAT_VERSION, MADE_BY, MANIFEST
from puzzle_tablebase.tables.access import format_repair_command, make_open_error
from puzzle_tablebase.tables.manifest import Entry, File, IndexEntry, format_manifest
from puzzle_tablebase.tables.new_files import name_temporary
from puzzle_tablebase.tables.store import Folder, Store

SUMS = "SHA256SUMS"
START_PAGE = "index.html"
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
DOCS_FOLDER = "docs"
ROBOTS = "robots.txt"
VERSIONED_MANIFEST = re.compile(rf"v\d+/{re.escape(MANIFEST)}")


def find_target(folder: str) -> Path:
    """Return the folder to write; raise OutputError if it holds anything but a site."""
    if folder == STANDARD or "://" in folder:
        raise BadRequest(f"A site is a folder, not {quote(folder)}", "Copy the folder to its host")
    with translate_output_errors(folder):
        target = Path(os.path.realpath(expand_path(folder)))
        if not target.exists():
            return target
        if not target.is_dir():
            raise OutputError(quote(folder), "it is a file, and a site is a folder")
        foreign = next(_iter_foreign(target), None)
    if foreign is not None:
        problem = f"it holds {quote(foreign)}, which no site has. Name an empty or a new folder"
        raise OutputError(quote(folder), problem)
    return target


def require_date(date: str) -> None:
    """Raise BadRequest if a text is neither a day nor empty."""
    if date and not DATE.fullmatch(date):
        raise BadRequest(f"{quote(date)} is not a day", "Write it as in 2026-01-31")


def _iter_foreign(folder: Path) -> Iterator[str]:
    """Yield the files of a folder that no list of a site's files names."""
    sums = folder / SUMS
    lines = sums.read_text("utf-8", "replace").splitlines() if sums.is_file() else []
    own = {SUMS, *(line.partition("  ")[2] for line in lines)}
    # other folders have such a list too
    if not {START_PAGE, ROBOTS} <= own or not any(map(VERSIONED_MANIFEST.fullmatch, own)):
        own = set()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name not in own and (path.is_symlink() or not path.is_dir()):
            yield name


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
    temporary, old = (target.with_name(name_temporary()) for _ in range(2))

    def remove() -> None:
        for path in (temporary, old) * 3:  # meanwhile files may still be made
            shutil.rmtree(path, ignore_errors=True)

    with CleanupOnSignal(remove), translate_output_errors(folder):
        try:
            versioned = temporary / f"v{FORMAT_VERSION}"
            versioned.mkdir(parents=True)
            notes = _fill(store, tables, verdicts, versioned, url, date)
            _write_sums(temporary)
            with cleanup_lock:  # a signal waits until there is a site again
                _replace_folder(temporary, target, old)
        finally:
            remove()
    return notes


def _fill(
    store: Store,
    tables: dict[str, Entry],
    verdicts: Sequence[TableVerdict],
    versioned: Path,
    url: str,
    date: str,
) -> list[str]:
    for name, entry in tables.items():
        for file in entry.all_files:
            _copy_file(store, name, file, versioned / file.file)
    copy = Folder(versioned)
    versions = {name: [entry] for name, entry in tables.items()}
    _write(versioned / MANIFEST, format_manifest(versions, MADE_BY))
    facts = list_facts(copy, tables, verdicts)
    _write(versioned / CROISSANT, make_croissant(facts, url, date))
    _write(versioned / CARD, make_card(facts, url, date))
    notes, links = [], dict[str, str]()
    for page, write, text in (
        (EXPLORER_PAGE, write_explorer, "Explorer: every answer, and the puzzles to play"),
        (REPORT_PAGE, write_report, "Report: charts of the tables"),
    ):
        try:
            write(store, str(versioned / page))
            links[page] = text
        except (BadRequest, TableMissing) as error:
            notes.append(f"{page} is left out. {error}")
    links |= {
        CARD: "Data set card: every column, how the tables were made and verified",
        CROISSANT: "The data set for programs, in Croissant 1.1",
        MANIFEST: "Manifest: the list of tables that readers read",
        **{f"{DOCS_FOLDER}/{name}.html": text for name, text in PAGES.items()},
    }
    _copy_sources(versioned)
    pages = {f"{versioned.name}/{page}": text for page, text in links.items()}
    pages[SUMS] = "SHA-256 of every file, as sha256sum -c reads it"
    _write(versioned.parent / START_PAGE, make_start_page(facts, pages, url))
    _write(versioned.parent / ROBOTS, "User-agent: *\nAllow: /\n")
    return notes


def _copy_file(store: Store, table: str, file: File | IndexEntry, target: Path) -> None:
    """Copy a table's file; raise TableDamaged if it is not the one that the manifest lists."""
    digest = hashlib.sha256()
    with target.open("wb") as copy:
        for data in _read_parts(store, file.file):
            digest.update(data)
            copy.write(data)
    if digest.hexdigest() != file.sha256:
        command = format_repair_command(table, store)
        problem = "its SHA-256 differs from the manifest"
        raise TableDamaged(store.locate(file.file), problem, command)


def _read_parts(store: Store, name: str) -> Iterator[bytes]:
    """Read a file in parts; an error is that of the tables, not of the site."""
    try:
        with store.open(name) as file:
            while data := file.read(1 << 20):
                yield data
    except OSError as error:
        raise make_open_error(store.locate(name), error, "") from error


def _copy_sources(versioned: Path) -> None:
    """Write the pages on the formats, the JavaScript package, and what the pages load."""
    docs, package = versioned / DOCS_FOLDER, versioned / JAVASCRIPT_PAGE
    pages, copied = make_format_pages()
    for name, text in pages.items():
        _write(docs / name, text)
    copies = [(DOCS / name, docs / name) for name in copied]
    copies += [(path, package / path.name) for path in PACKAGE.iterdir() if path.is_file()]
    copies += [(SOURCE / name, versioned / name) for name in ("style.css", "try.js")]
    for source, target in copies:
        _write(target, source.read_bytes())


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _write_sums(folder: Path) -> None:
    """List every file with its SHA-256, as `sha256sum -c` reads it."""
    lines = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        lines.append(f"{digest.hexdigest()}  {path.relative_to(folder).as_posix()}\n")
    _write(folder / SUMS, "".join(lines))


def _replace_folder(new: Path, target: Path, old: Path) -> None:
    """Move a new folder into the place of one that is moved away, or back if that fails."""
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
