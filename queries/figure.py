"""Figures of a report: a query of the tables as a function, and the drawing of its answer.

A page shows the source of the function itself, so the two can never differ. The function's
parameters are named as the tables, unless the figure names its tables. A sample file given by the
user has a name too.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import polars as pl

from queries.scans import require_intact, scan_rows
from tablebase.puzzles import find_owner, list_puzzles

if TYPE_CHECKING:
    from tablebase.schema import Table
    from tablebase.tables.manifest import Entry
    from tablebase.tables.store import Store

Drawing = Any
"""An Altair chart, whose own types say little, or the text of an SVG."""

Panels = dict[str, Drawing]
"""Charts of one kind by their names, which a wide page shows side by side."""

Query = Callable[..., pl.DataFrame]


@dataclass(frozen=True)
class Figure:
    """A query with its presentation.

    `title` names the subject. From the answer, `find` makes one sentence with what it shows,
    `describe` a text, and `draw` a chart, an SVG, or several charts as panels.
    """

    name: str
    title: str
    query: Query
    find: Callable[[pl.DataFrame], str]
    describe: Callable[[pl.DataFrame], str]
    draw: Callable[[pl.DataFrame], Drawing | Panels]
    tables: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the tables or files that the query reads."""
        return self.tables or tuple(inspect.signature(self.query).parameters)


def compute(frame: pl.DataFrame, expression: pl.Expr) -> Any:
    """Return the single value of an expression, of its own type."""
    return frame.select(expression).item()


class Section:
    """The part of a report about one puzzle, or about a sample file."""

    def __init__(self, title: str, sentence: str, *figures: Figure) -> None:
        self.title = title
        self.sentence = sentence
        self.figures = figures


def _extract_body(query: Query) -> str:
    """Return the statements of a function's body as text, without the last `return`."""
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


@dataclass(frozen=True)
class Source:
    """Rows to read, the name of their file as the page shows it, and the code that reads it."""

    file: str
    rows: int
    scan: pl.LazyFrame
    reader: str = "scan_parquet"
    ending: str = ""

    def format_scan(self) -> str:
        """Return the code that reads the file lazily."""
        return f"pl.{self.reader}({json.dumps(self.file, ensure_ascii=False)}){self.ending}"


class Sources:
    """The tables of a store, each checked once, and further files by name.

    A query runs once, however many figures draw its answer.
    """

    def __init__(self, store: Store, files: Mapping[str, Source] | None = None) -> None:
        self._store = store
        self._tables: dict[str, Table] = {
            table.name: table for puzzle in list_puzzles() for table in puzzle.tables
        }
        self._sources = dict(files or {})
        self._answers: dict[tuple[Query, tuple[str, ...]], pl.DataFrame] = {}
        self.entries: dict[str, Entry] = {}
        """The manifest's entry of every table that was read."""

    def load(self, name: str) -> Source:
        if name not in self._sources:
            if name not in self._tables:
                owner = find_owner(name)
                found = owner.find_table(name, with_rows=True) if owner else None
                assert found is not None
                self._tables[name] = found
            entry = self.entries[name] = require_intact(self._store, self._tables[name])
            scan = scan_rows(self._store, entry)
            self._sources[name] = Source(f"outputs/{name}.parquet", entry.rows, scan)
        return self._sources[name]

    def list_tables(self) -> list[Table]:
        """List the default tables, and those built on request that were read."""
        return [*self._tables.values()]

    def answer(self, figure: Figure) -> pl.DataFrame:
        key = figure.query, figure.sources
        if key not in self._answers:
            scans = (self.load(name).scan for name in figure.sources)
            self._answers[key] = figure.query(*scans)
        return self._answers[key]

    def format_code(self, figure: Figure) -> str:
        """Format the query as polars code; run beside `outputs`, it ends with the answer."""
        parameters = zip(inspect.signature(figure.query).parameters, figure.sources, strict=True)
        scans = [f"{name} = {self.load(source).format_scan()}" for name, source in parameters]
        return "\n".join(["import polars as pl", "", *scans, "", _extract_body(figure.query)])

    def describe_sources(self, figure: Figure) -> str:
        """Return a sentence with the files that the query reads, their rows, and its own rows."""
        sources = [self.load(name) for name in figure.sources]
        rows = sum(source.rows for source in sources)
        files = " and ".join(PurePath(source.file).name for source in sources)
        returned = self.answer(figure).height
        return f"From {rows:,} rows of {files}; the query returns {returned:,} rows."
