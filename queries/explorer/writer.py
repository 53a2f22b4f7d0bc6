"""The explorer: one page that shows every answer, with what it needs of the tables inside it.

`page/` holds its source, a few small modules of JavaScript, a style sheet and a frame. They are
put together here with no build tool: an import map holds each module as a data URL, each index is
compressed and written as text, and the page's own policy names the hashes of the modules and the
style and forbids the rest.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

from queries.dispatch import reader
from queries.reader import Reader
from tablebase.output import write
from tablebase.puzzles import MODULES
from tablebase.tables.index_format import BLOCK, CHECKSUM, HEADER
from tablebase.tables.manifest import read_manifest, record_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tablebase.puzzle import Table
    from tablebase.tables.store import Store

__all__ = ["made_from", "write_explorer"]

_PAGE = Path(__file__).parent / "page"
_START = "start.js"
"""The script that loads the modules: all the others."""


def made_from(store: Store) -> tuple[str, ...]:
    """The tables that the page answers from."""
    return tuple(table.name for _, table in _carried(store))


def write_explorer(store: Store, target: str) -> None:
    """Write the page that explores the tables in a store, and list it if it is among them.

    The same tables make the same bytes. A TableError if one of the indexes is not to be trusted.
    """
    published = read_manifest(store)  # before they are read: a page may seem old, and never new
    write(target, _page(store).encode())
    known = {name: published[name] for name in made_from(store) if name in published}
    record_page(store, target, known)


def _page(store: Store) -> str:
    style, start = _source("style.css"), _source(_START)
    modules = {
        f"#page/{file.name}": _source(file.name)
        for file in sorted(_PAGE.glob("*.js"))
        if file.name != _START
    }
    addresses = {
        name: f"data:text/javascript;base64,{_base64(text.encode())}"
        for name, text in modules.items()
    }
    # the policy asks for a module's hash, and a browser compares it only where the map names it
    hashes = {addresses[name]: _hash(text) for name, text in modules.items()}
    known = json.dumps({"imports": addresses, "integrity": hashes})
    scripts = " ".join(f"'{one}'" for one in (_hash(known), _hash(start), *hashes.values()))
    parts = {
        "style": style,
        "modules": known,
        "start": start,
        "data": "".join(_block(asks, table) for asks, table in _carried(store)),
        "policy": f"default-src 'none'; script-src {scripts}; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
    }
    for view in ("eight", "sliding"):
        parts[view] = _filled("slide.html", {"view": view})
    return _filled("index.html", parts)


def _carried(store: Store) -> Iterator[tuple[Reader, Table]]:
    """The tables that the page carries, each with what reads it."""
    for name in MODULES:
        for asks in reader(name, store).explorers():
            for table in asks.puzzle.tables:
                if table.name in asks.explored:
                    yield asks, table


def _filled(name: str, parts: Mapping[str, str]) -> str:
    """A frame with its parts."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _source(name))


def _source(name: str) -> str:
    return (_PAGE / name).read_text("utf-8")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _hash(text: str) -> str:
    """What a policy calls a script or style sheet that is allowed."""
    return f"sha256-{_base64(hashlib.sha256(text.encode()).digest())}"


def _block(asks: Reader, table: Table) -> str:
    """What the page carries of a table, compressed and as text."""
    if table.index:
        name, carried = table.index_file, _sorted_index(asks, table)
    else:
        name, carried = table.name, asks.signposts(table)
    text = _base64(gzip.compress(carried, mtime=0))
    return f'<script type="application/gzip" id="{name}">{text}</script>\n'


def _sorted_index(asks: Reader, table: Table) -> bytes:
    """An index: its header, its blocks' checksums, then the first bytes of all its records, then
    the second ...

    Bytes of one kind together compress better than record by record.
    """
    index = asks.index(table.name)
    records = index.records()
    data = asks.store.read(table.index_file)
    checksums = (data[end - CHECKSUM.size : end] for end in range(BLOCK, len(data) + 1, BLOCK))
    kept = index.width - asks.explored[table.name]
    planes = (records[plane :: index.width] for plane in range(kept))
    return b"".join((data[: HEADER.size], *checksums, *planes))
