"""The registry of readers by puzzle, and the question that a command or a program asks one."""

from __future__ import annotations

from puzzle_tablebase.puzzle import GoalPuzzle
from puzzle_tablebase.puzzles import get_puzzle, import_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

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
