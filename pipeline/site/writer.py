"""The writer of a site: a folder for any host of files, complete or not there at all.

What depends on the version of the formats is below a folder of that version. `SHA256SUMS` lists
every file: with it a download is checked, and a site is told from a folder of something else.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from puzzle_tablebase.errors import (
    BadRequest,
    MachineLimit,
    OutputError,
    TableDamaged,
    TableMissing,
    quote,
)
from puzzle_tablebase.formats import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.formats.manifest import Entry, File, IndexEntry, format_manifest
from puzzle_tablebase.output import STANDARD, translate_output_errors
from puzzle_tablebase.pipeline.proofs.verdicts import TableVerdict
from puzzle_tablebase.pipeline.site.data_set import (
    CARD,
    CROISSANT,
    SOURCE,
    list_facts,
    make_card,
    make_croissant,
)
from puzzle_tablebase.pipeline.site.pages import (
    DOCS,
    EXAMPLE_URL,
    JAVASCRIPT_PAGE,
    PACKAGE,
    PAGES,
    make_format_pages,
    make_start_page,
)
from puzzle_tablebase.process import CleanupOnSignal, cleanup_lock, expand_path
from puzzle_tablebase.queries.explorer.writer import EXPLORER_PAGE, write_explorer
from puzzle_tablebase.queries.report import REPORT_PAGE, write_report
from puzzle_tablebase.queries.status import format_repair_command
from puzzle_tablebase.stores import MANIFEST, PART_SUFFIX
from puzzle_tablebase.stores.access import make_open_error
from puzzle_tablebase.stores.folder import Folder, Store
from puzzle_tablebase.stores.new_files import name_temporary

SUMS = "SHA256SUMS"
START_PAGE = "index.html"
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
URL = re.compile(r"https?://[\w.~:/?#@!$&*+,;=%\[\]-]+", re.ASCII)
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


def require_url(url: str) -> None:
    """Raise BadRequest if a text is not the address of a site; it stands in pages as it is."""
    if not URL.fullmatch(url):
        raise BadRequest(f"{quote(url)} is not the address of a site", f"Example: {EXAMPLE_URL}")


def require_date(date: str) -> None:
    """Raise BadRequest if a text is not a day."""
    if not DATE.fullmatch(date):
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
    new = target.with_name(f".{target.name}{name_temporary()}")

    def remove_new() -> None:
        for _ in range(3):  # meanwhile files may still be made
            shutil.rmtree(new, ignore_errors=True)

    with CleanupOnSignal(remove_new), translate_output_errors(folder):
        _empty_abandoned(target)
        descriptor = _make_locked(new)
        try:
            versioned = new / f"v{FORMAT_VERSION}"
            versioned.mkdir()
            notes = _fill(store, tables, verdicts, versioned, url, date)
            _write_sums(new)
            with cleanup_lock:  # a signal waits until the site has its name
                _swap(new, target)
        finally:
            os.close(descriptor)
            remove_new()
    return notes


def _make_locked(folder: Path) -> int:
    """Make a folder, and lock it until the descriptor is closed: then its writer is gone."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
        # another run may have removed it before it was locked
        _lock(descriptor, wait=True)
        if folder.exists():
            return descriptor
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open folder; return whether the lock was obtained."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def _empty_abandoned(target: Path) -> None:
    """Remove the folders of killed runs; a whole one becomes the site if there is none."""
    for path in [*target.parent.iterdir()] if target.parent.is_dir() else ():
        is_own = path.name.startswith(f".{target.name}.")
        if is_own and path.name.endswith(PART_SUFFIX) and path.is_dir() and not path.is_symlink():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                if _lock(descriptor):
                    if (path / SUMS).is_file() and not target.exists():
                        path.rename(target)
                    shutil.rmtree(path, ignore_errors=True)
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
        except (BadRequest, MachineLimit, TableMissing) as error:
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
    copies += [(SOURCE / name, versioned / name) for name in ("index.html", "style.css", "try.js")]
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


def _swap(new: Path, target: Path) -> None:
    """Give a new folder the name of a site, and the site's old version that of the new folder.

    Linux exchanges both names in one step, so that a killed process leaves a site under its name.
    Elsewhere the old version has another name for a moment, and the next run would restore it.
    """
    if not target.exists():
        new.rename(target)
    elif not _exchange_names(new, target):
        old = target.with_name(f".{target.name}{name_temporary()}")
        target.rename(old)
        new.rename(target)
        old.rename(new)


def _exchange_names(one: Path, other: Path) -> bool:
    """Exchange the names of two folders in one step; return whether the system can do that."""
    if sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "renameat2"):
        return False
    rename = ctypes.CDLL(None).renameat2
    here, exchange = -100, 2  # AT_FDCWD and RENAME_EXCHANGE, which Python does not name
    return int(rename(here, os.fsencode(one), here, os.fsencode(other), exchange)) == 0
