"""The package that opens published tables and answers queries from them; the registry of readers.

>>> from puzzle_tablebase.queries import open_tables
>>> tables = open_tables("outputs")
>>> tables.eight.probe("378546201").distance
27
>>> tables.senet.probe("ABAAABBB.B...A.").dice
'53'
>>> tables.knight.probe("b1", to="a3").closed
True

`probe` raises a TablebaseError where it has no answer; `get` returns a default instead. A single
lookup imports only the standard library.
"""

from __future__ import annotations

from puzzle_tablebase.puzzle import GoalPuzzle
from puzzle_tablebase.puzzles import get_puzzle, import_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from puzzle_tablebase.queries.api import Tables
    from puzzle_tablebase.queries.batch_input import BatchQuery
    from puzzle_tablebase.queries.options import Options
    from puzzle_tablebase.queries.reader import Reader
    from puzzle_tablebase.stores.folder import Store

READERS = {
    "eight": "puzzle_tablebase.queries.boards:EightReader",
    "sliding": "puzzle_tablebase.queries.sliding:SlidingReader",
    "fifteen": "puzzle_tablebase.queries.fifteen:FifteenReader",
    "senet": "puzzle_tablebase.queries.senet:SenetReader",
    "knight": "puzzle_tablebase.queries.knight.reader:KnightReader",
}
"""The readers of the built-in puzzles."""


def get_reader_class(name: str) -> type[Reader]:
    """Return the reader class of a puzzle."""
    default = (
        "puzzle_tablebase.queries.goals:GoalReader"
        if isinstance(get_puzzle(name), GoalPuzzle)
        else "puzzle_tablebase.queries.reader:RecordReader"
    )
    reader_class: type[Reader] = import_object(READERS.get(name, default))
    return reader_class


def open_reader(name: str, store: Store) -> Reader:
    """Return a reader of a puzzle's tables in a store."""
    return get_reader_class(name)(get_puzzle(name), store)


def make_batch_query(reader: Reader, options: Options) -> BatchQuery:
    """Make what a batch asks of its rows."""
    from functools import partial

    from puzzle_tablebase.queries.batch_input import BatchQuery

    return BatchQuery(
        partial(reader.answer_keys, options=options),
        reader.columns[:1],
        reader.make_schema(options),
        partial(reader.has_key, options=options),
        reader.key_cells,
        reader.key_digits,
        partial(reader.iter_answers, options=options) if reader.iter_answers else None,
    )


def pose(reader: Reader, verb: str, given: Mapping[str, Any]) -> tuple[Reader, Options]:
    """Parse the options of a question; return the reader that answers it, of one board maybe."""
    options = reader.parse(verb, given)
    return reader.select(options), options


def open_tables(location: str | Store | None = None) -> Tables:
    """Open the tables in a folder or store.

    The default location is that of `PIPELINE_OUTPUTS`, else `outputs`. Raises TableMissing if
    nothing is published there. Files are opened when they are first needed.
    """
    from puzzle_tablebase.queries.api import Tables
    from puzzle_tablebase.stores import MANIFEST
    from puzzle_tablebase.stores.access import format_rebuild_command, make_open_error, open_store

    store = open_store(location)
    try:
        store.get_size(MANIFEST)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        command = format_rebuild_command("", store) if is_missing else ""
        raise make_open_error(store.locate(MANIFEST), error, command) from error
    return Tables(store)
