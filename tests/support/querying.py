"""Queries of readers with unparsed options, as commands and programs do."""

from pathlib import Path
from typing import Any

import polars as pl

from puzzle_tablebase.queries.prober import (
    BaseProber,
    Prober,
    answer_as_text,
    open_prober,
    parse_query,
)
from puzzle_tablebase.queries.questions import ALL, BATCH, QUERY, Answer
from puzzle_tablebase.queries.readers import Reader
from puzzle_tablebase.stores import Folder

Queryable = Reader[Any] | BaseProber


def find_prober(reader: Queryable) -> BaseProber:
    """Return the prober of a reader."""
    return reader._prober if isinstance(reader, Reader) else reader


def query_one(reader: Queryable, key: str | None = None, **given: Any) -> Any:
    """Answer one key, or an option without one, as `pipeline query` does."""
    chosen, options = parse_query(find_prober(reader), QUERY if key is not None else ALL, given)
    answer: Answer = chosen.answer(key, options)
    return answer


def query_table(name: str, folder: Path, key: str, **given: Any) -> Any:
    """Answer one key of a puzzle from a folder."""
    return query_one(open_prober(name, Folder(folder)), key, **given)


def query_text(name: str, folder: Path, key: str | None, **given: str | bool) -> str:
    """Return the text that `pipeline query` prints for one key."""
    return answer_as_text(name, key, {"outputs": str(folder), **given})


def query_many(reader: Queryable, keys: pl.Series, **given: Any) -> pl.DataFrame:
    """Answer many keys, as a batch does."""
    chosen, options = parse_query(find_prober(reader), BATCH, given)
    return chosen.answer_keys(keys, options)


def query_singly(reader: Queryable, keys: pl.Series, **given: Any) -> pl.DataFrame:
    """Answer many keys one by one."""
    chosen, options = parse_query(find_prober(reader), BATCH, given)
    return Prober.answer_keys(chosen, keys, options)
