"""Tables whose parts are files: each is written by whoever makes the part, and is then left alone.

What such a part finds is not its rows but what is to be said of their file, so that a table of any
size is published by reading a few bytes a file.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace

from pipeline.builders.registry import checkpoints, parts
from pipeline.tasks import Parts, Stretches, Work, named
from tablebase.errors import SearchError
from tablebase.puzzle import Table
from tablebase.tables import MADE_BY
from tablebase.tables.checkpoints import Arrays
from tablebase.tables.content_hash import together
from tablebase.tables.manifest import (
    Entry,
    File,
    Footer,
    Index,
    facts_of_rows,
    unlike,
)
from tablebase.tables.parquet import TableWriter, description
from tablebase.tables.store import Store


class RowsInFile:
    """A part that writes its rows to a file; it finds what is to be said of that, as arrays."""

    def __init__(self, store: Store, table: Table, rows: Callable[..., Stretches]) -> None:
        functools.update_wrapper(self, rows)
        self._store = store
        self._table = table
        self._rows = rows

    def __call__(self, number: int, *arguments: object) -> Arrays:
        stretches, name, begins = self._rows(*arguments), file_of(self._table, number), ""
        first = next(stretches, None)
        if first is None:
            return [np.zeros(3, np.int64), np.array(["", "", "", ""])]
        with (
            self._store.appearing(name, shared=True) as (file,),
            TableWriter(file, self._table) as writer,
        ):
            writer.write(first)
            for columns in stretches:
                writer.write(columns)
        file_facts, column = facts_of_rows(self._store, name), self._table.numbered
        if column:
            within = next(of for of in self._table.columns if of.name == column.within)
            begins = within.values[first[within.name][0]]
        return [
            np.array([writer.rows, file_facts["bytes"], file_facts["footer"].bytes]),
            np.array([writer.content, begins, file_facts["sha256"], file_facts["footer"].sha256]),
        ]


def _file_facts(sizes: npt.NDArray[Any], words: npt.NDArray[Any]) -> dict[str, Any]:
    """Read back what such a part says of its file."""
    (_, size, footer_size), (_, _, sha256, footer_sha256) = sizes.tolist(), words.tolist()
    return {"bytes": size, "sha256": sha256, "footer": Footer(footer_size, footer_sha256)}


def file_of(table: Table, number: int) -> str:
    """The file of a table's part of that number, from 1."""
    return f"{table.name}.{number}.parquet"


def division(store: Store, table: Table) -> Parts:
    """A list's parts, such as leave files where it is of many."""
    divided = parts(table)
    if not table.recipe.in_files:
        return divided
    items = [(number, *item) for number, item in enumerate(divided.items, start=1)]
    return Parts(RowsInFile(store, table, divided.part), items, lambda found: int(found[0][0]))


def present(
    store: Store, table: Table, divided: Parts, numbers: Iterable[int], *, anew: bool = False
) -> Iterator[tuple[int, Arrays]]:
    """What is kept of those of a list's parts, from 0, whose files are what is said of them.

    `anew`: what is said of other files is forgotten, so that they are made again.
    """
    kept, (part, items, _) = checkpoints(store, table), divided
    for number in numbers:
        name = named(part, items[number])
        found = kept.load(name)
        if found is None:
            continue
        if not table.recipe.in_files or _is_there(store, table, number, found):
            yield number, found
        elif anew:
            kept.forget(name)


def _is_there(store: Store, table: Table, number: int, found: Arrays) -> bool:
    rows, size, _ = found[0].tolist()
    try:
        return not rows or store.size(file_of(table, number + 1)) == size
    except OSError:
        return False


def entry_of(store: Store, table: Table, work: Work) -> Entry:
    """Have all files made that are not there; returns what the manifest says of them."""
    part, items, _ = divided = division(store, table)
    there = dict(present(store, table, divided, range(len(items)), anew=True))
    made = work.each(part, [item for at, item in enumerate(items) if at not in there])
    files, contents, before, column = list[File](), list[str](), Counter[str](), table.numbered
    work.told("files", 0, len(items))
    for number in range(1, len(items) + 1):
        sizes, words = there.pop(number - 1, None) or next(made)
        (rows, *_), (content, begins, *_) = sizes.tolist(), words.tolist()
        if rows:
            at = {column.within: begins, column.name: before[begins]} if column else {}
            first = sum(before.values())
            name, measured = file_of(table, number), _file_facts(sizes, words)
            files.append(File(file=name, rows=rows, first=first, begins=at, **measured))
            contents.append(content)
            before[begins] += rows
        work.told("files", number, len(items))
    return describe(table, files, sum(before.values()), together(contents))


def mendable(table: Table, entry: Entry | None) -> bool:
    """Whether what is published of a table is, file by file, what would be made now."""
    return (
        entry is not None
        and table.recipe.in_files
        and _own(table, entry)
        and entry.parameters == table.recipe.parameters()
    )


def mended(store: Store, table: Table, entry: Entry, work: Work) -> Entry:
    """What is published of a table; files that are missing or damaged are made again."""
    part, items, _ = division(store, table)
    item_of = {file_of(table, item[0]): item for item in items}
    wrong = {file.file: file for file in entry.files if not _is_whole(store, file)}
    for name in wrong:
        checkpoints(store, table).forget(named(part, item_of[name]))
    again = dict[str, File]()
    work.told("files", 0, len(wrong))
    for file, (sizes, words) in zip(
        wrong.values(), work.each(part, [item_of[name] for name in wrong]), strict=True
    ):
        rows = int(sizes[0])
        if rows != file.rows:
            raise SearchError(f"{file.file} has {rows:,} rows, expected {file.rows:,}.")
        again[file.file] = replace(file, **_file_facts(sizes, words))
        work.told("files", len(again), len(wrong))
    return replace(entry, files=[again.get(file.file, file) for file in entry.files])


def _is_whole(store: Store, file: File) -> bool:
    try:
        return not unlike(store, file)
    except OSError:
        return False


def _own(table: Table, entry: Entry) -> bool:
    """Whether this version of the program made what is published."""
    return (entry.made_by, entry.description) == (MADE_BY, description(table))


def rows_before(store: Store, table: Table, entry: Entry | None) -> pa.Table | None:
    """The rows of a table as it is published, if this version made them and they are whole."""
    if entry is None or not _own(table, entry):
        return None
    try:
        if not all(_is_whole(store, file) for file in entry.files):
            return None
        files = [pa.BufferReader(store.read(file.file)) for file in entry.files]
    except OSError:
        return None
    return pa.concat_tables(map(pq.read_table, files))


def describe(
    table: Table, files: list[File], rows: int, content: str, index: Index | None = None
) -> Entry:
    """Describe a table with these files as the manifest lists it."""
    return Entry(
        files=files,
        rows=rows,
        content=content,
        made_by=MADE_BY,
        parameters=table.recipe.parameters(),
        description=description(table),
        index=index,
    )
