"""Docs that the program writes: `make docs` makes them, a test compares them with what is there.

`docs/tables.md` comes from the same descriptions that go into the files, `docs/cli.md` from the
commands' own help. In the README and the other pages, the output below each `$ pipeline ...` line
of a `console` block is what the command prints.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

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
    ("histogram",),
    ("sample",),
    ("verify",),
    ("report",),
    ("explore",),
)
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
PAGES = ("README.md", "docs/rules.md", "docs/batches.md")


def run_command(command: str) -> str:
    """What a shell command prints on either stream, from the repository's root."""
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
    """A page with every session's output as it is now."""

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
        "Written by `make docs` from the descriptions in the files. Every file is Parquet with",
        "zstd, sorted as described, with a checksum for each page. Its metadata contains",
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
## What is published: manifest.json

`manifest.json` lists the tables of its folder, and is written last: a table that it does not list
does not exist, whatever files there are. It is one JSON object in UTF-8, indented by one space:

- `format_version`: the version of tables, indexes and this file. A reader of another stops here.
- `made_by`: the program that wrote this file, and its version.
- `indexes`: for each index file, the content hash of its table, which the index's header has too.
- `tables`: for each table, by name, an object as below.
- `pages`: for each page made from the tables (`report.html`, `explorer.html`) its `bytes`, its
  `sha256`, and `made_from`: the content hashes of those tables, by name. Left out where there is no
  page.
- `checksum`: in every version the last value: SHA-256 of this file without this line, the comma
  before it and the last line feed.

`.manifest.backup` is a copy, written after it. If the manifest is damaged or lost, `pipeline
precompute` lists every table again whose files hold what they say: those that the copy lists as
they are, and those whose content hash is the one in the Parquet file's metadata or the index's
header. It prints which tables it took back, and why it did not take others; their files stay where
they are. A manifest of a newer version of the program is replaced only with `--force`.

Of each table:

- `files`: the Parquet files of its rows, in order, each an object as below; mostly there is one.
- `rows`: how many rows they have together.
- `content`: the content hash, SHA-256 of the values of all rows in order, whatever wrote them; of
  several files, SHA-256 of their content hashes. The head of `tablebase/tables/content_hash.py`
  says how it is taken.
- `made_by`: the program that made the table, and its version.
- `parameters`: which search made it, and of what.
- `description`: 16 hexadecimal digits that change with the table's columns, their types and their
  meanings. A build makes a table again where they or the parameters are not its own.
- `index`: the `file`, `records`, `bytes` and `sha256` of its index; null where it has none.

Of each file of rows:

- `file`: its name in this folder: `TABLE.parquet`, or of several `TABLE.1.parquet` and so on.
- `rows`: how many rows it has.
- `first`: the number of rows in the files before it, so the row number of its first row.
- `bytes`, `sha256`: its size, and SHA-256 of its bytes in hexadecimal.
- `footer`: the same two of its footer, which are its last bytes: a reader that trusts the footer
  can read single row groups, whose pages have checksums, and need not read the whole file.
- `begins`: of several files with tours, the `start` of its first row, and the `number` that this
  row has among all tours of that start. Left out where there is one file.

The files of a table have the same columns, and their rows follow one another as they would in one
file. Only `number`, in a table of tours, begins anew in each: it counts a start's tours within the
file. Read a table by its list of files: a pattern of names may sort them in another order.

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
This program's own answers, its proof and its report read several files as they would read one.
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
    parts = ["# Commands\n\nWritten by `make docs` from the program's help.\n"]
    for command in COMMANDS:
        words = shlex.join(["pipeline", *command, "--help"])
        parts.append(
            f"\n## {words.removesuffix(' --help')}\n\n```\n{run_command(words).strip()}\n```\n"
        )
    return "".join(parts)


MADE: dict[str, Callable[[], str]] = {
    "docs/tables.md": table_page,
    "docs/cli.md": command_page,
    "docs/import-layers.svg": draw_import_graph,
    "docs/sliding.svg": draw_sliding,
    "docs/counting.svg": draw_counting,
    "docs/jumps.svg": draw_chessboard_jumps,
    **{name: partial(with_output, name) for name in PAGES},
}
"""For every page that is generated, or partly, what makes it as it should be now."""


def pictures() -> dict[str, str]:
    """The README's: the 8-puzzle's distances, and a closed tour."""
    outputs = Folder(ROOT / "outputs")
    return {
        "docs/distances.svg": draw_histogram(count_states("eight", outputs)),
        "docs/tour.svg": open_reader("knight", outputs).probe("b1", {"closed": True}).to_svg(),
    }


if __name__ == "__main__":
    for name, text in ({name: made() for name, made in MADE.items()} | pictures()).items():
        (ROOT / name).write_text(text)
