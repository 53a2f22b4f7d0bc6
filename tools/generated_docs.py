"""Generated docs: `make docs` writes them, and a test compares the files with the program.

`docs/tables.md` comes from the same descriptions that go into the files, `docs/cli.md` from the
commands' help, and the module list of `docs/architecture.md` from the modules' docstrings. In the
README and the other pages, the output below each `$ pipeline ...` line of a `console` block is what
the command prints.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pipeline.lineage import format_mermaid, make_lineage
from queries.dispatch import open_reader
from queries.histogram import count_states
from queries.svg import draw_histogram
from tablebase.puzzle import Column, Table
from tablebase.puzzles import MODULES, list_puzzles
from tablebase.tables import FORMAT_VERSION
from tablebase.tables.store import Folder
from tests.support.shell import program
from tools.counting_picture import draw_counting
from tools.import_graph_picture import draw_import_graph
from tools.jumps_picture import draw_chessboard_jumps
from tools.sliding_picture import draw_sliding

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("pipeline")
COMMANDS = (
    (),
    ("precompute",),
    *(("precompute", name) for name in MODULES),
    ("remove",),
    ("query",),
    *(("query", name) for name in MODULES),
    ("status",),
    ("runs",),
    ("histogram",),
    ("sample",),
    ("verify",),
    ("report",),
    ("explore",),
    ("graph",),
    ("diff",),
    ("clean",),
)
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
PAGES = ("README.md", "docs/rules.md", "docs/batches.md")
PACKAGES = ("tablebase", "queries", "pipeline")
MODULES_START, MODULES_END = "<!-- modules -->\n", "<!-- end of modules -->\n"
LINEAGE_START, LINEAGE_END = "<!-- lineage -->\n", "<!-- end of lineage -->\n"


def run_command(command: str) -> str:
    """Run a shell command in the repository's root, and return what it prints on both streams."""
    env = {key: value for key, value in os.environ.items() if key != "PIPELINE_OUTPUTS"}
    env |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    env["PATH"] = os.pathsep.join([*map(os.path.dirname, (program(), str(PROGRAM))), env["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def with_output(name: str) -> str:
    """Return a page with the current output of every session."""

    def session(found: re.Match[str]) -> str:
        commands = [line[2:] for line in found[1].splitlines() if line.startswith("$ ")]
        return "".join(
            [
                "```console\n",
                *(f"$ {command}\n{run_command(command)}" for command in commands),
                "```",
            ]
        )

    return SESSION.sub(session, (ROOT / name).read_text())


def type_of(column: Column) -> str:
    name = {"string": "String", "boolean": "Boolean", "enum": "Enum"}.get(column.kind)
    return f"{name or column.kind.capitalize()}{', null' if column.nullable else ''}"


def table_page() -> str:
    lines = [
        f"# Tables (format version {FORMAT_VERSION})",
        "",
        "`make docs` writes this page from the descriptions in the files. Every file is Parquet",
        "with zstd, sorted as described, with a checksum for each page. Its metadata contains",
        "`format_version`, `table`, `meaning`, `rank`, and `column.NAME` for each column; also",
        "`content`, `parameters` and `made_by`, as `manifest.json` lists them.",
        "[index-format.md](index-format.md) describes the indexes, for readers without a Parquet",
        "library; they have a format version of their own, which is 2.",
    ]
    for asked in list_puzzles():
        for table in asked.tables:
            lines += ["", *table_section(table)]
    return "\n".join(lines) + "\n" + READING + MANIFEST


READING = """
## Reading them

Numbers are signed, so the difference of two columns is correct in polars, pandas, pyarrow and SQL.
`start` and `finish` use one Enum, a1 to z9 by rank, then file, in all tables of tours and counts,
and `goal` uses one Enum in both tables of the 8-puzzle, so you can join and concatenate the tables.
DuckDB reads an Enum as text, pandas as a category. pandas converts integers with nulls (in
`senet.parquet`) to floats; to avoid this, use
`pd.read_parquet(..., dtype_backend="numpy_nullable")`.

**Skipped row groups.** A file has row groups of 65,536 rows, each with the minimum and maximum of
every column. Readers skip the groups that cannot contain the requested rows.

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

The footers of `knight_tours_*` name no sorting columns, because their rows ascend by square numbers
and Parquet's footers compare text, in which a2 comes before b1. The metadata key `rank` states the
order instead.

**Memory** for reading a whole table, in MB, each in its own process (DuckDB: copied into a table in
memory; a query on the 6x6 file itself took 8 MB):

| table | polars | pandas | pyarrow | DuckDB |
| --- | --- | --- | --- | --- |
| eight | 16 | 48 | 43 | 24 |
| eight_edge | 9 | 37 | 33 | 12 |
| senet | 95 | 164 | 140 | 105 |
| knight_tours_6x6 | 776 | 1,061 | 904 | 775 |
| its `start`, `finish`, `number`, `closed` | 72 | 205 | 119 | 169 |
| its `path` | 604 | 773 | 763 | 564 |
| its `board` | 106 | 144 | 79 | 58 |
| the others | 1 | 6 | 4 | 1 |

So read only the columns that you need of the 6x6 board: `pl.read_parquet(file, columns=["start",
"closed"])`, `pd.read_parquet(file, columns=[...])`; `pl.scan_parquet(file)` and DuckDB do this by
themselves.
"""


MANIFEST = """
## The list of published tables: manifest.json

`manifest.json` lists the tables of its folder, and is written last. A table that it does not list
does not exist, even if its files are there. The manifest is one JSON object in UTF-8, indented by
one space:

- `format_version`: the version of tables, indexes and this file. A reader of another version stops
  here.
- `made_by`: the program that wrote this file, and its version.
- `indexes`: for each index file, the content hash of its table. The index's header has it too.
- `tables`: for each table, by name, an object as below.
- `pages`: for each page made from the tables (`report.html`, `explorer.html`), its `bytes`, its
  `sha256`, and `made_from`: the content hashes of those tables, by name. Absent if there is no
  page.
- `checksum`: in every version the last value: SHA-256 of this file without this line, the comma
  before it and the last line feed.

`.manifest.backup` is a copy, written after it. If the manifest is damaged or lost, `pipeline
precompute` restores the entry of every table whose files are intact: those that match the copy,
and those whose content hash matches the Parquet file's metadata or the index's header. It prints
which tables it restored, and why it did not restore others; the files of these stay, and
`.manifest.replaced` keeps the manifest that it replaced. A file that cannot be read, for want of
permission or of a network, ends the repair. It replaces a manifest of a newer version of the
program only with `--force`.

Each table has:

- `files`: the Parquet files of its rows, in order, each an object as below. Most tables have one.
- `rows`: the number of rows of all files.
- `content`: the content hash, SHA-256 of the values of all rows in order; it does not depend on
  the program that wrote them. For several files, it is SHA-256 of their content hashes. The
  docstring of `tablebase/tables/content_hash.py` defines it.
- `made_by`: the program that made the table, and its version.
- `parameters`: the search that made it, and the search's parameters.
- `description`: 16 hexadecimal digits that change with the table's columns, their types and their
  meanings. A table is rebuilt when this digest or its parameters change.
- `index`: the `file`, `records`, `bytes` and `sha256` of its index; null if it has none.

Each file of rows has:

- `file`: its name in this folder: `TABLE.parquet`, or `TABLE.1.parquet` and so on for several
  files.
- `rows`: its number of rows.
- `first`: the number of rows in the files before it, so the row number of its first row.
- `bytes`, `sha256`: its size, and SHA-256 of its bytes in hexadecimal.
- `footer`: the size and SHA-256 of its footer, which is at the end of the file. A reader that
  trusts the footer can read single row groups, whose pages have checksums, and need not read the
  whole file.
- `begins`: if the table has several files of tours, the `start` of the file's first row, and the
  `number` of this row among all tours of that start. Absent if there is one file.

The files of a table have the same columns, and their rows are in the same order as in one file.
Only `number`, in a table of tours, starts from 0 in each file: it counts a start's tours within
the file. Read a table by its list of files: a pattern of names may sort them in another order.

```python
import json
import polars as pl

with open("outputs/manifest.json") as file:
    tables = json.load(file)["tables"]
files = tables["knight_tours_5x5"]["files"]
tours = pl.concat(
    pl.scan_parquet(f"outputs/{file['file']}", row_index_name="row", row_index_offset=file["first"])
    for file in files
)
# a tour's number among all of its start: its row less the first row of that start (or `begins`)
tours = tours.with_columns(number=pl.col("row").cast(pl.Int64) - pl.col("row").min().over("start"))
print(tours.filter(start="a1", number=303).collect())
```

DuckDB takes the same list as `read_parquet([...])`, pyarrow as `pyarrow.dataset.dataset([...])`.
Queries, `verify` and the report of this program read several files like one.
"""


def table_section(table: Table) -> list[str]:
    rows = [f"| {column.name} | {type_of(column)} | {column.meaning} |" for column in table.columns]
    index = [f"Index: `{table.index_file}`.", ""] if table.index else []
    return [
        f"## {table.file}",
        "",
        f"{table.meaning}.",
        "",
        f"Order: {table.rank}.",
        "",
        *index,
        "| column | type | meaning |",
        "| --- | --- | --- |",
        *rows,
    ]


def command_page() -> str:
    parts = ["# Commands\n\n`make docs` writes this page from the program's help.\n"]
    for command in COMMANDS:
        words = shlex.join(["pipeline", *command, "--help"])
        parts.append(
            f"\n## {words.removesuffix(' --help')}\n\n```\n{run_command(words).strip()}\n```\n"
        )
    return "".join(parts)


def list_modules() -> list[tuple[str, str]]:
    """List every package and module: its indented name, and the summary of its docstring."""
    modules = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py"), key=_make_sort_key):
            docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
            path = file.relative_to(ROOT)
            is_package = file.name == "__init__.py"
            depth = len(path.parts) - 1 - is_package
            name = f"{path.parent.name}/" if is_package else path.name
            modules.append((f"{'  ' * depth}{name}", " ".join(docstring.split("\n\n")[0].split())))
    return modules


def _make_sort_key(file: Path) -> tuple[tuple[bool, str], ...]:
    """Make a key that sorts a package before its modules, and its modules before its packages."""
    *folders, name = file.parts
    return *((True, folder) for folder in folders), (False, name)


def insert_lineage(page: str) -> str:
    """Return a page with the current lineage of the default tables between its marks."""
    flowchart = format_mermaid(make_lineage(Folder(ROOT / "docs")))  # no optional table is there
    before, rest = page.split(LINEAGE_START)
    _, after = rest.split(LINEAGE_END)
    return f"{before}{LINEAGE_START}\n```mermaid\n{flowchart}```\n\n{LINEAGE_END}{after}"


def architecture_page() -> str:
    """Return the page on the architecture with the current list of modules, and the lineage."""
    modules = list_modules()
    width = max(len(name) for name, _ in modules) + 2
    lines = "".join(f"{name:<{width}}{summary}\n" for name, summary in modules)
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    before, rest = page.split(MODULES_START)
    _, after = rest.split(MODULES_END)
    return insert_lineage(f"{before}{MODULES_START}\n```\n{lines}```\n\n{MODULES_END}{after}")


MADE: dict[str, Callable[[], str]] = {
    "docs/architecture.md": architecture_page,
    "docs/tables.md": table_page,
    "docs/cli.md": command_page,
    "docs/import-layers.svg": draw_import_graph,
    "docs/sliding.svg": draw_sliding,
    "docs/counting.svg": draw_counting,
    "docs/jumps.svg": draw_chessboard_jumps,
    **{name: partial(with_output, name) for name in PAGES},
}
"""The functions that write the pages that are generated, in whole or in part."""


def pictures() -> dict[str, str]:
    """Draw the README's pictures: the 8-puzzle's distances, and a closed tour."""
    outputs = Folder(ROOT / "outputs")
    return {
        "docs/distances.svg": draw_histogram(count_states("eight", outputs)),
        "docs/tour.svg": open_reader("knight", outputs).probe("b1", {"closed": True}).to_svg(),
    }


if __name__ == "__main__":
    for name, text in ({name: made() for name, made in MADE.items()} | pictures()).items():
        (ROOT / name).write_text(text)
