"""The writer of the explorer: one page that shows every answer, with the data of its tables inside.

`page/` holds its source: small modules of JavaScript, a style sheet and templates. They are
combined here without a build tool: the modules become one, because a browser takes longer to load a
module than to run it; an import map holds it and the search's worker as data URLs, each index is
compressed and written as text, and the page's content security policy allows the hashes of these
scripts and of the style, and nothing else.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

from puzzle_tablebase.errors import TableMissing
from puzzle_tablebase.formats.index import HEADER
from puzzle_tablebase.output import write_output
from puzzle_tablebase.puzzles import MODULES
from puzzle_tablebase.queries.dispatch import open_reader
from puzzle_tablebase.queries.reader import Reader
from puzzle_tablebase.stores.access import format_rebuild_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from puzzle_tablebase.schema import Table
    from puzzle_tablebase.stores.folder import Store

__all__ = ["EXPLORER_PAGE", "iter_tables", "write_explorer"]

EXPLORER_PAGE = "explorer.html"
"""The name of the page in a store."""

_PAGE = Path(__file__).parent / "page"
_PACKAGE = Path(__file__).parents[1] / "javascript"
"""The package that reads tables beside the page, by names of its own files."""
_RELATIVE = re.compile(r'^((?:import|export) .*from )"\./', re.MULTILINE)
_IMPORT = re.compile(r'^(import|export) \{([^}]*)\} from "([^"]*)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_START_SCRIPT = "start.js"
"""The script that loads the others, and says so if they cannot be loaded."""
_ENTRIES = "#page/app.js", "#tables/pattern_search.js"
"""The modules that are loaded by name: by the start script, and by the page for its worker."""
_USUAL_PARTS = {"title": "", "task": "", "width": "", "below": ""}
"""The parts of a view that its puzzle's file need not have: scripts write some of them."""


def write_explorer(store: Store, target: str) -> None:
    """Write the page that explores a store's tables.

    Equal tables make equal bytes. A TableError if an index is missing or damaged.
    """
    write_output(target, _make_page(store).encode())


def _make_page(store: Store) -> str:
    style, start = read_source("style.css"), read_source(_START_SCRIPT)
    modules = {
        f"#page/{file.name}": read_source(file.name)
        for file in sorted(_PAGE.glob("*.js"))
        if file.name != _START_SCRIPT
    }
    for file in sorted(_PACKAGE.glob("*.js")):
        # the address of a module in the page has no folder
        modules[f"#tables/{file.name}"] = _RELATIVE.sub(r'\1"#tables/', file.read_text("utf-8"))
    scripts = {name: _join_modules(modules, name) for name in _ENTRIES}
    addresses = {
        name: f"data:text/javascript;base64,{_encode_base64(text.encode())}"
        for name, text in scripts.items()
    }
    # the policy requires a module's hash, and a browser checks it only if the map names it
    hashes = {addresses[name]: _hash_source(text) for name, text in scripts.items()}
    import_map = json.dumps({"imports": addresses, "integrity": hashes})
    allowed = " ".join(
        f"'{digest}'"
        for digest in (_hash_source(import_map), _hash_source(start), *hashes.values())
    )
    parts = {
        "style": style,
        "modules": import_map,
        "start": start,
        "data": "".join(_make_data_blocks(store)),
        "policy": f"default-src 'none'; script-src {allowed}; style-src '{_hash_source(style)}'; "
        # tables beside the page
        "connect-src 'self'; "
        # the worker is a module of the import map, whose hash has its source too
        "img-src data:; worker-src data:; base-uri 'none'; form-action 'none'",
    }
    return _fill_template("index.html", parts)


def _join_modules(modules: Mapping[str, str], entry: str) -> str:
    """Return a module and all that it imports as one, which exports them by their names.

    Each becomes a function that is called once, after the functions of the modules that it imports.
    """
    joined = dict[str, str]()

    def join(name: str) -> None:
        if name in joined:
            return
        names = _EXPORT.findall(modules[name])
        for kind, imported, source in _IMPORT.findall(modules[name]):
            join(source)
            if kind == "export":
                passed = (each.strip() for each in imported.split(","))
                names += [f'{each}: modules["{source}"].{each}' for each in passed]
        text = _EXPORT.sub("", _IMPORT.sub(_bind_names, modules[name]))
        returned = ", ".join(names)
        joined[name] = f'modules["{name}"] = (() => {{\n{text}return {{ {returned} }};\n}})();\n'

    join(entry)
    return f"export const modules = {{}};\n{''.join(joined.values())}"


def _bind_names(match: re.Match[str]) -> str:
    """Return the declaration that takes the names of an import from the modules that are there."""
    kind, names, source = match.groups()
    if kind == "export":  # what a module only passes on, it does not name
        return ""
    return f'const {{{names.replace(" as ", ": ")}}} = modules["{source}"];'


def iter_tables(store: Store) -> Iterator[tuple[Reader, Table]]:
    """Yield the tables that the page contains, each with its reader."""
    for name in MODULES:
        for reader in open_reader(name, store).list_explorer_readers():
            for table in reader.list_explored_tables():
                yield reader, table


def _make_data_blocks(store: Store) -> list[str]:
    """Make the blocks of all tables; the command for several that are missing builds all."""
    blocks, missing = list[str](), list[TableMissing]()
    for reader, table in iter_tables(store):
        try:
            blocks.append(_make_data_block(reader, table))
        except TableMissing as error:
            missing.append(error)
    if missing[1:]:
        raise TableMissing(missing[0].file, format_rebuild_command("", store))
    if missing:
        raise missing[0]
    return blocks


def _fill_template(name: str, parts: Mapping[str, str]) -> str:
    """Fill a template with its parts, and with views, each named with its puzzle's file."""

    def fill(match: re.Match[str]) -> str:
        name, puzzle = match.groups()
        return _make_view(name, puzzle) if puzzle else parts[name]

    return re.sub(r"\{\{(\w+)(?: (\w+))?\}\}", fill, read_source(name))


def _make_view(view: str, puzzle: str) -> str:
    """Make the section of a view: what all have in common, with the parts of its puzzle's file."""
    typing = f'autocomplete="off" spellcheck="false" aria-describedby="{view}-problem"'
    described = _fill_template(f"{puzzle}.html", {"view": view, "typing": typing})
    named = re.split(r"^== (\w+)\n", described, flags=re.MULTILINE)[1:]
    parts = dict(zip(named[::2], map(str.strip, named[1::2]), strict=True))
    return _fill_template("view.html", {**_USUAL_PARTS, **parts, "view": view})


def read_source(name: str) -> str:
    """Return the text of one of the page's files."""
    return (_PAGE / name).read_text("utf-8")


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _hash_source(text: str) -> str:
    """Return the hash of a script or style sheet, as a content security policy writes it."""
    return f"sha256-{_encode_base64(hashlib.sha256(text.encode()).digest())}"


def _make_data_block(reader: Reader, table: Table) -> str:
    """Make the page's element with a table's data, compressed and as text."""
    if table.index:
        name, data = table.index_file, _transpose_index(reader, table)
    else:
        name, data = table.name, reader.make_signposts(table)
    text = _encode_base64(gzip.compress(data, mtime=0))
    return f'<script type="application/gzip" id="{name}">{text}</script>\n'


def _transpose_index(reader: Reader, table: Table) -> bytes:
    """Return an index as its header, then the first bytes of all records, then the second bytes,
    and so on.

    Grouped by their place in the record, the bytes compress better.
    """
    index = reader.open_table_index(table)
    records = index.read_records()
    width = index.width - reader.explored.get(table.name, 0)
    header = reader.store.read(table.index_file)[: HEADER.size]
    return b"".join((header, *(records[plane :: index.width] for plane in range(width))))
