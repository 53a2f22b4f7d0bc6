"""Generated docs: `make docs` writes them, and a test compares the files with the program.

`docs/cli.md` comes from the commands' help, the list of columns in `docs/tables.md` from the
descriptions that go into the files. In every page, the output below each `$ pipeline ...` line of a
`console` block is what the command prints.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores.folder import Folder
from tools.command_page import format_command_page
from tools.sessions import ROOT, fill_sessions, list_pages_with_sessions

MADE_PART = re.compile("(<!-- made from the program -->\n).*(<!-- end -->)", re.DOTALL)
"""The part of `docs/tables.md` that the program writes."""


def format_tables_page() -> str:
    """Return the page of the tables, with its list of files and columns."""
    page = (ROOT / "docs" / "tables.md").read_text("utf-8")
    return MADE_PART.sub(lambda found: f"{found[1]}\n{format_tables()}\n{found[2]}", page)


def format_tables() -> str:
    """List the default tables, then the columns of each kind of table once."""
    tables = [table for puzzle in list_puzzles() for table in puzzle.tables]
    entries = read_manifest(Folder(ROOT / "outputs"))
    lines = [
        "| file | rows | bytes | index, bytes | what it has |\n| --- | ---: | ---: | ---: | --- |\n"
    ]
    same: dict[str, list[str]] = {}
    for table in tables:
        entry = entries[table.name]
        index = f"{entry.index.bytes:,}" if entry.index else ""
        sizes = f"{entry.rows:,} | {entry.bytes:,} | {index}"
        lines.append(f"| `{table.file}` | {sizes} | {table.meaning}. Order: {table.rank} |\n")
        same.setdefault(format_columns(table), []).append(f"`{table.name}`")
    for columns, names in same.items():
        lines.append(f"\n## Columns of {', '.join(names)}\n\n{columns}")
    return "".join(lines)


def format_columns(table: Table) -> str:
    """List the columns of a table with their types and meanings."""
    rows = [f"| {each.name} | {name_type(each)} | {each.meaning} |\n" for each in table.columns]
    return "".join(["| column | type | meaning |\n| --- | --- | --- |\n", *rows])


def name_type(column: Column) -> str:
    """Name a column's type as polars does."""
    return f"{column.kind.capitalize()}{', null' if column.nullable else ''}"


def draw(puzzle: str, key: str, **options: object) -> str:
    """Draw an answer as a notebook shows it."""
    with open_tables(str(ROOT / "outputs")) as tables:
        picture = tables.answer(puzzle, key, **options)._repr_svg_()
    assert picture is not None
    return picture


PARTS: dict[str, Callable[[], str]] = {
    "docs/tables.md": format_tables_page,
    "docs/cli.md": format_command_page,
    "docs/notebook-solution.svg": partial(draw, "eight", "283104765"),
    "docs/notebook-senet.svg": partial(draw, "senet", "ABAAABBB.B...A."),
    "docs/tour.svg": partial(draw, "knight", "b1", closed=True),
}
"""The functions that write pages, parts of pages and pictures."""


def fill_page(name: str) -> str:
    """Return a page with the current output of every session."""
    make = PARTS.get(name)
    return fill_sessions(make() if make else (ROOT / name).read_text("utf-8"))


MADE: dict[str, Callable[[], str]] = {
    name: partial(fill_page, name) for name in dict.fromkeys([*PARTS, *list_pages_with_sessions()])
}
"""The functions that write these pages, and all others that have sessions."""


if __name__ == "__main__":
    for name, text in {name: made() for name, made in MADE.items()}.items():
        (ROOT / name).write_text(text)
