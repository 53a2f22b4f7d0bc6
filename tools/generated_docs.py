"""Generated docs: `make docs` writes them, and a test compares the files with the program.

`docs/tables.md` comes from the same descriptions that go into the files, `docs/cli.md` from the
commands' help. In the README and all other pages, the output below each `$ pipeline ...` line of a
`console` block is what the command prints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from puzzle_tablebase.formats import FORMAT_VERSION
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.puzzles import list_puzzles
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.queries.answer import Answer
from puzzle_tablebase.queries.api import Tables
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores.folder import Folder
from tools.command_page import format_command_page
from tools.recipe_results import format_notebook, format_recipes_page
from tools.sessions import ROOT, fill_sessions, list_pages_with_sessions


def type_of(column: Column) -> str:
    name = {"string": "String", "boolean": "Boolean", "enum": "Enum"}.get(column.kind)
    return f"{name or column.kind.capitalize()}{', null' if column.nullable else ''}"


META = [
    "Every table is a Parquet file, compressed with zstd and sorted as described, with a",
    "checksum for each page. Its metadata has the descriptions below: `table`, `meaning`,",
    "`rank`, and `column.NAME` for each column. It also has `format_version`, `content`,",
    "`parameters` and `made_by`, as [manifest.json](format/manifest.md) has them. In the Arrow",
    "schema each field has its column's meaning as `comment`: `pyarrow.parquet.read_schema`",
    "shows it. A program without a Parquet library can read an [index](format/index.md).",
    "",
    "`make docs` writes this page from the descriptions in the program.",
]
"""What all tables have in common, after the list of files."""


def table_page() -> str:
    lines = [
        f"# Tables (format version {FORMAT_VERSION})",
        "",
        "`pipeline precompute` prints the bytes of a table and its index together.",
        "",
    ]
    tables = [table for puzzle in list_puzzles() for table in puzzle.tables]
    entries = read_manifest(Folder(ROOT / "outputs"))
    lines += ["| file | rows | bytes | index, bytes |", "| --- | ---: | ---: | ---: |"]
    for table in tables:
        entry = entries[table.name]
        index = f"{entry.index.bytes:,}" if entry.index else ""
        link = f"[{table.file}](#{table.name}parquet)"
        lines.append(f"| {link} | {entry.rows:,} | {entry.bytes:,} | {index} |")
    lines += ["", *META]
    files = dict[str, str]()
    for table in tables:
        columns = format_columns(table)
        file = files.setdefault(columns, table.file)
        if file != table.file:  # an earlier table has the same columns
            columns = f"Columns: those of [{file}](#{file.replace('.', '')})."
        lines += ["", *table_section(table, columns)]
    return "\n".join(lines) + "\n" + READING


READING = """
## Read them

Read only the columns that you need. The `path` of `knight_tours_6x6` takes most of its memory:

```python
import polars as pl

pl.read_parquet("outputs/knight_tours_6x6.parquet", columns=["start", "closed"])
```

`pl.scan_parquet` and DuckDB choose the columns by themselves; pandas takes `columns=[...]` too.

- Numbers are signed, so the difference of two columns is correct in every library.
- `start` and `finish` have one Enum in all tables of tours and counts: a1 to z9, by rank, then by
  file. `goal` has one Enum in both tables of the 8-puzzle. So you can join and concatenate tables.
- DuckDB reads an Enum as text, pandas as a category.
- pandas converts integers with nulls (in `senet.parquet`) to floats, unless you use
  `pd.read_parquet(..., dtype_backend="numpy_nullable")`.

## Skipped row groups

A file has row groups of 65,536 rows, each with the minimum and maximum of every column. Readers
skip the groups that cannot contain the requested rows:

| query | row groups read | by |
| --- | --- | --- |
| `eight.parquet`, `where state = ...` | 1 of 6 | polars (`scan_parquet`), pyarrow, DuckDB |
| `eight_edge.parquet`, `where state = ...` | 1 of 3 | the same |
| `senet.parquet`, `where position = ...` | 1 of 12 | the same |
| `knight_tours_6x6.parquet`, `where start = ...` | 6 to 18 of 102 | DuckDB |
| the same, `where path >= 'c3' and path < 'c4'` | 12 of 102 | polars, pyarrow, DuckDB |

polars and pyarrow skip nothing for an Enum. A path starts with the start square, so a range of
paths selects the same tours. The values of other columns are spread over the file, so readers skip
nothing for them.

The footers of `knight_tours_*` name no sorting columns: their rows ascend by square numbers, and
Parquet's footers compare text, in which a2 comes before b1. The metadata has the order as `rank`.
"""


def table_section(table: Table, columns: str) -> list[str]:
    index = [f"Index: `{table.index_file}`.", ""] if table.index else []
    return [
        f"## {table.file}",
        "",
        f"{table.meaning}.",
        "",
        f"Order: {table.rank}.",
        "",
        *index,
        columns,
    ]


def format_columns(table: Table) -> str:
    rows = [f"| {column.name} | {type_of(column)} | {column.meaning} |" for column in table.columns]
    return "\n".join(["| column | type | meaning |", "| --- | --- | --- |", *rows])


def open_own() -> Tables:
    return open_tables(str(ROOT / "outputs"))


def draw_answer(answer: Answer) -> str:
    """Draw what a notebook shows of an answer."""
    picture = answer._repr_svg_()
    assert picture is not None
    return picture


def fill_page(name: str) -> str:
    """Return a page with the current output of every session."""
    make = PARTS.get(name)
    return fill_sessions(make() if make else (ROOT / name).read_text("utf-8"))


PARTS: dict[str, Callable[[], str]] = {
    "docs/tables.md": table_page,
    "docs/cli.md": format_command_page,
    "docs/recipes.md": format_recipes_page,
    "examples/analysis.py": format_notebook,
    "docs/notebook-board.svg": lambda: draw_answer(open_own().eight.probe("378546201")),
    "docs/notebook-solution.svg": lambda: draw_answer(open_own().answer("eight", "283104765")),
    "docs/notebook-senet.svg": lambda: draw_answer(open_own().senet.probe("ABAAABBB.B...A.")),
    "docs/notebook-tour.svg": lambda: draw_answer(
        open_own().knight.probe("a1", closed=True, board="6x6")
    ),
    "docs/tour.svg": lambda: draw_answer(open_own().knight.probe("b1", closed=True)),
}
"""The functions that write the pages that are generated."""
MADE: dict[str, Callable[[], str]] = {
    name: partial(fill_page, name)
    for name in {**PARTS, **dict.fromkeys(list_pages_with_sessions())}
}
"""The functions that write these pages, and all others that have sessions."""


if __name__ == "__main__":
    for name, text in {name: made() for name, made in MADE.items()}.items():
        (ROOT / name).write_text(text)
