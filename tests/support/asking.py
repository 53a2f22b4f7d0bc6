"""Questions to readers by options as they are given, as commands and programs ask them."""

from typing import Any

import polars as pl

from puzzle_tablebase.queries import pose
from puzzle_tablebase.queries.answer import Answer
from puzzle_tablebase.queries.options import ALL, BATCH, QUERY
from puzzle_tablebase.queries.reader import Reader


def ask_one(reader: Reader, key: str | None = None, **given: Any) -> Any:
    """Answer one key, or an option without one, as `pipeline query` does."""
    chosen, options = pose(reader, QUERY if key is not None else ALL, given)
    answer: Answer = chosen.answer(key, options)
    return answer


def ask_many(reader: Reader, keys: pl.Series, **given: Any) -> pl.DataFrame:
    """Answer many keys, as a batch does."""
    chosen, options = pose(reader, BATCH, given)
    return chosen.answer_keys(keys, options)


def ask_singly(reader: Reader, keys: pl.Series, **given: Any) -> pl.DataFrame:
    """Answer many keys one by one."""
    chosen, options = pose(reader, BATCH, given)
    return Reader.answer_keys(chosen, keys, options)
