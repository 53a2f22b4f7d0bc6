"""A figure: a question to the tables as a function, and how its answer is drawn.

The function's own source is what a page shows, so that the two can never differ. Its parameters are
named as the tables are, or a figure says which tables they are.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from queries.scans import checked, rows_of
from tablebase.puzzles import puzzles

if TYPE_CHECKING:
    from tablebase.puzzle import Table
    from tablebase.tables.manifest import Entry
    from tablebase.tables.store import Store

Drawn = Any
"""An Altair chart, whose own types say little, or the text of an SVG."""

Query = Callable[..., pl.DataFrame]


@dataclass(frozen=True)
class Figure:
    """`text` says what is to be seen, from the answer itself; `draw` gives a chart or an SVG."""

    name: str
    title: str
    query: Query
    text: Callable[[pl.DataFrame], str]
    draw: Callable[[pl.DataFrame], Drawn]
    reads: tuple[str, ...] = ()

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that the query reads."""
        return self.reads or tuple(inspect.signature(self.query).parameters)

    @property
    def code(self) -> str:
        """The query as polars code to copy; run beside `outputs`, it ends with the answer."""
        named = zip(inspect.signature(self.query).parameters, self.tables, strict=True)
        scans = [f'{name} = pl.scan_parquet("outputs/{table}.parquet")' for name, table in named]
        return "\n".join(["import polars as pl", "", *scans, "", _body(self.query)])


class Section:
    """What a report shows of one puzzle."""

    def __init__(self, title: str, sentence: str, *figures: Figure) -> None:
        self.title = title
        self.sentence = sentence
        self.figures = figures


def _body(query: Query) -> str:
    """A function's statements, its `return` taken off."""
    source = textwrap.dedent(inspect.getsource(query))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    last = statements[-1]
    assert isinstance(last, ast.Return)
    lines = source.splitlines()[statements[0].lineno - 1 :]
    at = last.lineno - statements[0].lineno
    lines[at] = lines[at].replace("return ", "", 1)
    return textwrap.dedent("\n".join(lines))


class Sources:
    """The tables of a folder, each checked once; a query is asked once, however many draw it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stages: dict[str, tuple[str, Table]] = {
            table.name: (asked.name, table) for asked in puzzles() for table in asked.tables
        }
        self._scans: dict[str, pl.LazyFrame] = {}
        self._answers: dict[tuple[Query, tuple[str, ...]], pl.DataFrame] = {}
        self.entries: dict[str, Entry] = {}
        """What the manifest said of every table that was read."""

    def table(self, name: str) -> pl.LazyFrame:
        if name not in self._scans:
            stage, table = self._stages[name]
            self.entries[name] = checked(self._store, stage, table)
            self._scans[name] = rows_of(self._store, table, self.entries[name])
        return self._scans[name]

    def answer(self, figure: Figure) -> pl.DataFrame:
        asked = figure.query, figure.tables
        if asked not in self._answers:
            self._answers[asked] = figure.query(*map(self.table, figure.tables))
        return self._answers[asked]
