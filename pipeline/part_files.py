"""Tables in part files: each file is written by the task that finds its rows, and never rewritten.

The result of such a task is not its rows but the facts of their file, so that a table of any size
is published by reading a few bytes for each file.
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
from pipeline.tasks import Chunks, TaskList, TaskRunner, make_checkpoint_name
from tablebase.build_errors import SearchError
from tablebase.schema import Table
from tablebase.tables import MADE_BY
from tablebase.tables.checkpoints import Arrays
from tablebase.tables.content_hash import combine_hashes
from tablebase.tables.manifest import (
    Entry,
    File,
    Footer,
    IndexEntry,
    facts_of_rows,
    find_mismatch,
)
from tablebase.tables.parquet import TableWriter, compute_description
from tablebase.tables.store import Store
from tablebase.tables.store_errors import Unreachable


class PartFileTask:
    """Task function that writes its rows to a part file and returns the facts of the file.

    The facts are two arrays: rows, bytes and footer bytes; content hash, the value in the first
    row of the column that the rows are numbered within (empty without such a column), and the
    SHA-256 of the file and of its footer. A task without rows writes no file.
    """

    def __init__(self, store: Store, table: Table, iter_rows: Callable[..., Chunks]) -> None:
        functools.update_wrapper(self, iter_rows)
        self._store = store
        self._table = table
        self._iter_rows = iter_rows

    def __call__(self, number: int, *arguments: object) -> Arrays:
        chunks, name, begins = self._iter_rows(*arguments), name_part_file(self._table, number), ""
        first = next(chunks, None)
        if first is None:
            return [np.zeros(3, np.int64), np.array(["", "", "", ""])]
        with (
            self._store.write_atomically(name, shared=True) as (file,),
            TableWriter(file, self._table) as writer,
        ):
            writer.write(first)
            for columns in chunks:
                writer.write(columns)
        file_facts, column = facts_of_rows(self._store, name), self._table.number_column
        if column:
            within = next(other for other in self._table.columns if other.name == column.within)
            begins = within.values[first[within.name][0]]
        return [
            np.array([writer.rows, file_facts["bytes"], file_facts["footer"].bytes]),
            np.array([writer.content, begins, file_facts["sha256"], file_facts["footer"].sha256]),
        ]


def _file_facts(sizes: npt.NDArray[Any], texts: npt.NDArray[Any]) -> dict[str, Any]:
    """Return a file's facts for the manifest, from the arrays of a `PartFileTask`."""
    (_, size, footer_size), (_, _, sha256, footer_sha256) = sizes.tolist(), texts.tolist()
    return {"bytes": size, "sha256": sha256, "footer": Footer(footer_size, footer_sha256)}


def name_part_file(table: Table, number: int) -> str:
    """Return the name of a table's part file; numbers begin at 1."""
    return f"{table.name}.{number}.parquet"


def divide_table(store: Store, table: Table) -> TaskList:
    """Return the tasks of a list; each writes a part file if the list is stored in such files."""
    tasks = parts(table)
    if not table.recipe.has_part_files:
        return tasks
    items = [(number, *item) for number, item in enumerate(tasks.items, start=1)]
    return TaskList(
        PartFileTask(store, table, tasks.function), items, lambda arrays: int(arrays[0][0])
    )


def find_finished_tasks(
    store: Store,
    table: Table,
    tasks: TaskList,
    numbers: Iterable[int],
    *,
    forget_missing: bool = False,
) -> Iterator[tuple[int, Arrays]]:
    """Iterate over the finished tasks among `numbers` (from 0), each with its saved result.

    A task that writes a part file is finished if the file exists and has the saved size.
    `forget_missing`: remove the checkpoints of other part files, so that these are made again.
    """
    table_checkpoints, (function, items, _) = checkpoints(store, table), tasks
    for number in numbers:
        name = make_checkpoint_name(function, items[number])
        result = table_checkpoints.load(name)
        if result is None:
            continue
        if not table.recipe.has_part_files or _is_present(store, table, number, result):
            yield number, result
        elif forget_missing:
            table_checkpoints.remove(name)


def _is_present(store: Store, table: Table, number: int, result: Arrays) -> bool:
    rows, size, _ = result[0].tolist()
    try:
        return not rows or store.get_size(name_part_file(table, number + 1)) == size
    except Unreachable:
        raise
    except OSError:
        return False


def build_part_files(store: Store, table: Table, runner: TaskRunner) -> Entry:
    """Build the part files that are missing, and return the manifest's entry for the table."""
    function, items, _ = tasks = divide_table(store, table)
    finished = dict(
        find_finished_tasks(store, table, tasks, range(len(items)), forget_missing=True)
    )
    results = runner.run_tasks(
        function, [item for index, item in enumerate(items) if index not in finished]
    )
    files, contents, rows_by_value, column = (
        list[File](),
        list[str](),
        Counter[str](),
        table.number_column,
    )
    runner.report_progress("files", 0, len(items))
    for number in range(1, len(items) + 1):
        sizes, texts = finished.pop(number - 1, None) or next(results)
        (rows, *_), (content, value, *_) = sizes.tolist(), texts.tolist()
        if rows:
            begins = {column.within: value, column.name: rows_by_value[value]} if column else {}
            first = sum(rows_by_value.values())
            name, file_facts = name_part_file(table, number), _file_facts(sizes, texts)
            files.append(File(file=name, rows=rows, first=first, begins=begins, **file_facts))
            contents.append(content)
            rows_by_value[value] += rows
        runner.report_progress("files", number, len(items))
    return describe(table, files, sum(rows_by_value.values()), combine_hashes(contents))


def is_repairable(table: Table, entry: Entry | None) -> bool:
    """Return whether a table is published in the same part files as a build would write now."""
    return (
        entry is not None
        and table.recipe.has_part_files
        and _is_own_version(table, entry)
        and entry.parameters == table.recipe.list_parameters()
    )


def repair_part_files(store: Store, table: Table, entry: Entry, runner: TaskRunner) -> Entry:
    """Rebuild the part files that are missing or damaged, and return the table's entry."""
    function, items, _ = divide_table(store, table)
    item_of = {name_part_file(table, item[0]): item for item in items}
    bad_files = {file.file: file for file in entry.files if not _is_intact(store, file)}
    for name in bad_files:
        checkpoints(store, table).remove(make_checkpoint_name(function, item_of[name]))
    repaired = dict[str, File]()
    runner.report_progress("files", 0, len(bad_files))
    for file, (sizes, texts) in zip(
        bad_files.values(),
        runner.run_tasks(function, [item_of[name] for name in bad_files]),
        strict=True,
    ):
        rows = int(sizes[0])
        if rows != file.rows:
            raise SearchError(f"{file.file} has {rows:,} rows, expected {file.rows:,}.")
        repaired[file.file] = replace(file, **_file_facts(sizes, texts))
        runner.report_progress("files", len(repaired), len(bad_files))
    return replace(entry, files=[repaired.get(file.file, file) for file in entry.files])


def _is_intact(store: Store, file: File) -> bool:
    try:
        return not find_mismatch(store, file)
    except Unreachable:
        raise
    except OSError:
        return False


def _is_own_version(table: Table, entry: Entry) -> bool:
    """Return whether this version of the program built the published table."""
    return (entry.made_by, entry.description) == (MADE_BY, compute_description(table))


def read_previous_rows(store: Store, table: Table, entry: Entry | None) -> pa.Table | None:
    """Return a table's published rows if this version built them and no file is damaged."""
    if entry is None or not _is_own_version(table, entry):
        return None
    try:
        if not all(_is_intact(store, file) for file in entry.files):
            return None
        files = [pa.BufferReader(store.read(file.file)) for file in entry.files]
    except OSError:
        return None
    return pa.concat_tables(map(pq.read_table, files))


def describe(
    table: Table, files: list[File], rows: int, content: str, index: IndexEntry | None = None
) -> Entry:
    """Return the manifest's entry for a table with these files."""
    return Entry(
        files=files,
        rows=rows,
        content=content,
        made_by=MADE_BY,
        parameters=table.recipe.list_parameters(),
        description=compute_description(table),
        index=index,
    )
