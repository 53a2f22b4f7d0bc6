"""The tables as a data set: `croissant.json`, and a card in Markdown as data set hubs read it.

Everything is taken from the manifest, from the metadata of the tables' own files and from the
verdicts of a verification.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from puzzle_tablebase import __version__
from puzzle_tablebase.formats import FORMAT_VERSION, MADE_BY
from puzzle_tablebase.formats.manifest import Entry, File, IndexEntry
from puzzle_tablebase.formats.parquet import COMMENT
from puzzle_tablebase.pipeline.proofs.verdicts import TableVerdict, find_weakest, group_boards
from puzzle_tablebase.puzzles import find_owner
from puzzle_tablebase.stores.folder import Store

CARD = "README.md"
CROISSANT = "croissant.json"
TITLE = "Tablebases of the 8-puzzle, Senet and the knight's tour"
DESCRIPTION = (
    "Whole state spaces of three puzzles, each searched once by a program: the distance and the "
    "best moves of every state, lines of play, knight's tours and their counts."
)
AUTHOR = "The puzzle-tablebase project"
KEYWORDS = ("tablebase", "8-puzzle", "sliding puzzle", "senet", "knight's tour", "heuristic search")
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
"""Sizes as hubs tell them apart: up to 3 digits of the number of rows, 4 digits, and so on."""
LOADING = """\
In the folder of these files, with `pip install datasets` or `pip install polars`:

```python
from datasets import load_dataset

rows = load_dataset("parquet", data_files="{name}.parquet", split="train")
```

```python
import polars as pl

rows = pl.read_parquet("{name}.parquet")
```
"""
SOURCE = Path(__file__).parent / "source"
"""The templates and the files that pages load."""


class ColumnFacts(NamedTuple):
    name: str
    type: str
    meaning: str
    data_type: str
    """The type in the words of Croissant."""


class TableFacts(NamedTuple):
    """Facts of a table, from its files, its entry and its proof."""

    name: str
    entry: Entry
    meaning: str
    rank: str
    columns: list[ColumnFacts]
    verdict: str
    shown: list[str]
    """How the verdict was reached, a sentence for each group of boards."""

    @property
    def amount(self) -> str:
        return ", ".join(f"{n:,} {what}" for what, n in self.entry.list_amounts().items())


def list_facts(
    store: Store, tables: dict[str, Entry], verdicts: Sequence[TableVerdict]
) -> list[TableFacts]:
    """List the facts of published tables, in the order of their names."""
    return [
        _read_facts(store, name, entry, [each for each in verdicts if each.table == name])
        for name, entry in sorted(tables.items())
    ]


def _read_facts(
    store: Store, name: str, entry: Entry, verdicts: Sequence[TableVerdict]
) -> TableFacts:
    verdict = str(find_weakest(verdicts)[name])
    shown = [
        f"{len(boards):,} board{'s' * (len(boards) > 1)} {kind}: {how}" if boards else how
        for kind, how, boards in group_boards(verdicts)
    ]
    if entry.parquet is None:
        owner = find_owner(name)
        table = owner.find_table(name) if owner else None
        meaning, rank = (table.meaning, table.rank) if table else ("", "")
        return TableFacts(name, entry, meaning, rank, [], verdict, shown)
    schema = pq.read_schema(store.get_source(entry.parquet.file))
    about = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    meaning, rank = about.get("meaning", ""), about.get("rank", "")
    columns = [_read_column(field) for field in schema]
    return TableFacts(name, entry, meaning, rank, columns, verdict, shown)


def _read_column(field: pa.Field) -> ColumnFacts:
    meaning = (field.metadata or {}).get(COMMENT.encode(), b"").decode()
    if pa.types.is_integer(field.type):
        # readers give a null among whole numbers as a number that is none
        kind = f"cr:{str(field.type).capitalize()}"
    else:
        kind = "sc:Boolean" if pa.types.is_boolean(field.type) else "sc:Text"
    shown = "enum" if pa.types.is_dictionary(field.type) else str(field.type)
    return ColumnFacts(field.name, f"{shown}, null" if field.nullable else shown, meaning, kind)


def make_croissant(facts: Sequence[TableFacts], url: str = "", date: str = "") -> str:
    """Make the description of the data set for programs, in Croissant 1.1.

    `url`: the address of the site; `date`: the day of publication. Croissant asks for both.
    """
    described: dict[str, object] = {
        **json.loads((SOURCE / CROISSANT).read_text("utf-8")),
        "name": "puzzle-tablebase",
        "description": DESCRIPTION,
        "citeAs": _make_citation(url, date),
        "creator": {"@type": "sc:Organization", "name": AUTHOR},
        "url": url or "./",
        "version": f"{FORMAT_VERSION}.0.0",
        **({"datePublished": date} if date else {}),
        "keywords": list(KEYWORDS),
        "prov:wasAttributedTo": {"@type": "prov:SoftwareAgent", "prov:label": MADE_BY},
        "distribution": [
            _describe_file(table, file) for table in facts for file in table.entry.all_files
        ],
        "recordSet": [_describe_rows(table) for table in facts if table.entry.parquet],
    }
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _describe_file(table: TableFacts, file: File | IndexEntry) -> dict[str, object]:
    parameters = json.dumps(table.entry.parameters, ensure_ascii=False)
    is_rows = isinstance(file, File)
    return {
        "@type": "cr:FileObject",
        "@id": file.file,
        "name": file.file,
        "description": table.meaning if is_rows else f"Index of {table.name}: {table.meaning}",
        "contentUrl": file.file,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": "application/x-parquet" if is_rows else "application/octet-stream",
        "sha256": file.sha256,
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "prov:label": f"Computed from the rules: {parameters}",
            "prov:wasAssociatedWith": {
                "@type": "prov:SoftwareAgent",
                "prov:label": table.entry.made_by,
            },
        },
    }


def _describe_rows(table: TableFacts) -> dict[str, object]:
    assert table.entry.parquet
    file = table.entry.parquet.file
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"{table.meaning}. {table.rank}. {table.amount}; {table.verdict}.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table.name}/{column.name}",
                "name": column.name,
                "description": column.meaning,
                "dataType": column.data_type,
                "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
            }
            for column in table.columns
        ],
    }


def _make_citation(url: str, date: str) -> str:
    parts = {
        "title": f"{{{TITLE}}}",
        "author": f"{{{AUTHOR}}}",
        "version": __version__,
        **({"year": date[:4]} if date else {}),
        **({"url": url} if url else {}),
    }
    lines = (f"  {key} = {{{value}}}" for key, value in parts.items())
    return "@misc{puzzle-tablebase,\n" + ",\n".join(lines) + "\n}"


def make_card(facts: Sequence[TableFacts], url: str = "", date: str = "") -> str:
    """Make the card of the data set: front matter for hubs, which is JSON, then text for people."""
    rows = [table for table in facts if table.entry.parquet]
    total = sum(table.entry.rows for table in rows)
    configs = [{"config_name": t.name, "data_files": f"{t.name}.parquet"} for t in rows]
    return Template((SOURCE / "card.md").read_text("utf-8")).substitute(
        quoted_title=json.dumps(TITLE),
        size=(*SIZES, "n>1B")[min(max(len(str(total)) - 3, 0), len(SIZES))],
        keywords=json.dumps(KEYWORDS),
        configs=json.dumps(configs),
        title=TITLE,
        description=DESCRIPTION,
        count=len(facts),
        total=f"{total:,}",
        version=FORMAT_VERSION,
        loading=LOADING.format(name=rows[0].name) if rows else "No table has rows.\n",
        tables="\n".join(map(_format_table, facts)),
        verdicts="\n".join(f"- `{t.name}` is {t.verdict}: {'; '.join(t.shown)}." for t in facts),
        made_by=MADE_BY,
        citation=_make_citation(url, date),
    )


def _format_table(table: TableFacts) -> str:
    files = ", ".join(
        f"[{file.file}]({file.file}) ({file.bytes:,} bytes)" for file in table.entry.all_files
    )
    text = f"### {table.name}\n\n{table.meaning}. {table.amount}; {table.verdict}; {files}.\n"
    if table.columns:
        text += "\n| column | type | meaning |\n| --- | --- | --- |\n"
        text += "".join(f"| `{c.name}` | {c.type} | {c.meaning} |\n" for c in table.columns)
    return text
