"""The writer of the explorer: one page with the data of its tables inside.

`page/` holds its source: small modules of JavaScript, a style sheet and a page. They are
combined here without a build tool: an import map holds the modules as data URLs, each index is
compressed and written as text, and the page's content security policy allows the hashes of these
scripts and of the style, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from puzzle_tablebase.errors import TableMissing
from puzzle_tablebase.output import write_output
from puzzle_tablebase.queries.prober import Prober, open_prober
from puzzle_tablebase.registry import MODULES
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores import Store

EXPLORER_PAGE = "explorer.html"
"""The name of the page in a store."""

_PAGE = Path(__file__).parent / "page"
_PACKAGE = Path(__file__).parents[1] / "javascript"
"""The package that reads tables beside the page, by names of its own files."""
_RELATIVE = re.compile(r'^((?:import|export|\}) .*from )"\./', re.MULTILINE)


def write_explorer(store: Store, target: str) -> None:
    """Write the explorer of a store's tables; equal tables give equal bytes."""
    try:
        page = _make_page(store)
    except TableMissing as error:  # usually it is not the only one
        error.table = ""
        raise
    write_output(target, page.encode())


def _make_page(store: Store) -> str:
    style, start = read_source("style.css"), read_source("start.js")
    addresses, hashes = dict[str, str](), dict[str, str]()
    for part, folder in (("page", _PAGE), ("tables", _PACKAGE)):
        for file in sorted(folder.glob("*.js")):
            # the address of a module in the page has no folder
            text = _RELATIVE.sub(rf'\1"#{part}/', file.read_text("utf-8"))
            address = f"data:text/javascript;base64,{_encode_base64(text.encode())}"
            addresses[f"#{part}/{file.name}"] = address
            hashes[address] = _hash_source(text)
    # the policy requires a module's hash, and a browser checks it only if the map names it
    import_map = json.dumps({"imports": addresses, "integrity": hashes})
    scripts = (_hash_source(import_map), _hash_source(start), *hashes.values())
    allowed = " ".join(f"'{digest}'" for digest in scripts)
    data = "".join(_make_data_block(*table) for table in iter_tables(store))
    parts = {
        "style": style,
        "scripts": f'{data}<script type="importmap">{import_map}</script>\n'
        f'<script type="module">{start}</script>',
        "policy": f"default-src 'none'; script-src {allowed}; style-src '{_hash_source(style)}'; "
        # tables beside the page
        "connect-src 'self'; "
        # the worker is a module of the import map, whose hash has its source too
        "img-src data:; worker-src data:; base-uri 'none'; form-action 'none'",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda part: parts[part[1]], read_source("index.html"))


def iter_tables(store: Store) -> Iterator[tuple[Prober, Table]]:
    """Yield the tables that the page contains, each with its prober."""
    for name in MODULES:
        yield from open_prober(name, store).iter_explored()


def read_source(name: str) -> str:
    """Return the text of one of the page's files."""
    return (_PAGE / name).read_text("utf-8")


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _hash_source(text: str) -> str:
    """Return the hash of a script or style sheet, as a content security policy writes it."""
    return f"sha256-{_encode_base64(hashlib.sha256(text.encode()).digest())}"


def _make_data_block(prober: Prober, table: Table) -> str:
    """Make the page's element with a table's data, compressed and as text.

    It is the header of its index, then the first bytes of all records, then the second bytes, and
    so on: grouped by their offset in the record, the bytes compress better.
    """
    index, name = prober.files.open_index(table), table.index_file
    header, records = index.read_build()
    width = index.width - prober.explored.get(table.name, 0)
    planes = (records[plane :: index.width] for plane in range(width))
    data = b"".join((header, *planes))
    text = _encode_base64(gzip.compress(data, compresslevel=8, mtime=0))
    return f'<script type="application/gzip" id="{name}">{text}</script>\n'
