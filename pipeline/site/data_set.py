"""The tables as a data set: a card in Markdown, as data set hubs read it.

Everything is taken from the manifest, from the tables' own files and declarations, and from the
verdicts of a verification.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import NamedTuple

import pyarrow as pa

from puzzle_tablebase import FORMAT_VERSION, MADE_BY, __version__
from puzzle_tablebase.errors import make_printable
from puzzle_tablebase.formats.manifest import Entry
from puzzle_tablebase.formats.row_groups import open_rows
from puzzle_tablebase.pipeline.proofs.verdicts import TableVerdict, find_weakest, group_boards
from puzzle_tablebase.registry import find_owner
from puzzle_tablebase.stores import Store

TITLE = "Tablebases of the 8-puzzle, Senet and the knight's tour"
DESCRIPTION = (
    "Whole state spaces of three puzzles, each searched once by a program: the distance and the "
    "best moves of every state, lines of play, knight's tours and their counts."
)
AUTHOR = "The puzzle-tablebase project"
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
"""Sizes as hubs tell them apart: up to 3 digits of the number of rows, 4 digits, and so on."""
SOURCE = Path(__file__).parent / "source"
"""The templates and the files that pages load."""


class TableFacts(NamedTuple):
    """Facts of a table, from its files, its entry and its proof."""

    name: str
    entry: Entry
    meaning: str
    meanings: dict[str, str]
    """The meanings of the columns, by the table's definition: no proof reads those of the file."""
    schema: pa.Schema | None
    data_bytes: int
    """Bytes of its rows before compression."""
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
    facts = []
    for name, entry in sorted(tables.items()):
        own = [verdict for verdict in verdicts if verdict.table == name]
        shown = [
            f"{len(boards):,} board{'s' * (len(boards) > 1)} {group}: {how}" if boards else how
            for group, how, boards in group_boards(own)
        ]
        owner = find_owner(name)
        table = owner.find_table(name) if owner else None
        meaning = table.meaning if table else ""
        meanings = {column.name: column.meaning for column in table.columns} if table else {}
        schema, data_bytes = None, 0
        if entry.parquet:
            with store.open(entry.parquet.file) as file:
                rows = open_rows(file)
                schema, groups = rows.schema_arrow, range(rows.num_row_groups)
                data_bytes = sum(rows.metadata.row_group(at).total_byte_size for at in groups)
        verdict = str(find_weakest(own)[name])
        facts.append(TableFacts(name, entry, meaning, meanings, schema, data_bytes, verdict, shown))
    return facts


def _make_citation(url: str, date: str) -> str:
    parts = {"title": f"{{{TITLE}}}", "author": f"{{{AUTHOR}}}", "version": __version__}
    parts |= {"year": date[:4], "url": url}
    lines = (f"  {key} = {{{value}}}" for key, value in parts.items() if value)
    return "@misc{puzzle-tablebase,\n" + ",\n".join(lines) + "\n}"


def make_card(facts: Sequence[TableFacts], url: str = "", date: str = "") -> str:
    """Make the card of the data set: front matter for hubs, which is JSON, then text for people."""
    rows = [table for table in facts if table.schema]
    total = sum(table.entry.rows for table in rows)
    configs: list[dict[str, object]] = [
        {"config_name": table.name, "data_files": f"{table.name}.parquet"} for table in rows
    ]
    if configs:  # what is loaded without a name
        configs[0]["default"] = True
    return Template((SOURCE / "card.md").read_text("utf-8")).substitute(
        quoted_title=json.dumps(TITLE),
        size=(*SIZES, "n>1B")[min(max(len(str(total)) - 3, 0), len(SIZES))],
        configs=json.dumps(configs),
        # escaped, because a page may show the front matter, and a column's name may be a tag
        infos=json.dumps([*map(describe_rows, rows)]).replace("<", "\\u003c"),
        title=TITLE,
        description=DESCRIPTION,
        count=len(facts),
        total=f"{total:,}",
        version=FORMAT_VERSION,
        example=rows[0].name if rows else "NAME",
        tables="\n".join(map(_format_table, facts)),
        verdicts="\n".join(f"- `{t.name}` is {t.verdict}: {'; '.join(t.shown)}." for t in facts),
        made_by=MADE_BY,
        citation=_make_citation(url, date),
    )


def describe_rows(table: TableFacts) -> dict[str, object]:
    """Describe the columns and the only split of a table for hubs, which compare the rows."""
    assert table.entry.parquet
    features = [
        {"name": column.name, "dtype": name_type(column.type)} for column in table.schema or ()
    ]
    split = {"name": "train", "num_bytes": table.data_bytes, "num_examples": table.entry.rows}
    return {
        "config_name": table.name,
        "features": features,
        "splits": [split],
        "download_size": table.entry.parquet.bytes,
        "dataset_size": table.data_bytes,
    }


def name_type(arrow_type: pa.DataType) -> str:
    """Name the type of a column as hubs do, which read an enum as its texts.

    >>> name_type(pa.large_string()), name_type(pa.int16())
    ('string', 'int16')
    """
    return (
        "string" if pa.types.is_dictionary(arrow_type) else str(arrow_type).removeprefix("large_")
    )


def _format_table(table: TableFacts) -> str:
    files = ", ".join(
        f"[{file.file}]({file.file}) ({file.bytes:,} bytes)" for file in table.entry.all_files
    )
    text = f"### {table.name}\n\n{table.meaning}. {table.amount}; {table.verdict}; {files}.\n"
    if table.schema:
        text += "\n| column | type | meaning |\n| --- | --- | --- |\n"
    for column in table.schema or ():
        shown = "enum" if pa.types.is_dictionary(column.type) else str(column.type)
        type_text = f"{shown}, null" if column.nullable else shown
        if pa.types.is_nested(column.type):  # it has names of a file's own
            type_text = escape_markdown(type_text)
        name, meaning = escape_markdown(column.name), table.meanings.get(column.name, "")
        text += f"| {name} | {type_text} | {meaning} |\n"
    return text


def escape_markdown(text: str) -> str:
    """Return a file's words as text that Markdown shows as it is.

    >>> escape_markdown("best_moves"), escape_markdown("[x](y)")
    ('`best_moves`', '\\\\[x\\\\]\\\\(y\\\\)')
    """
    if text.isidentifier() and text.isascii():
        return f"`{text}`"
    return re.sub(r"([^\w\s])", r"\\\1", make_printable(text))
