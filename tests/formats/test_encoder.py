"""What makes a table's parts is closed when one of them cannot be written."""

import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from puzzle_tablebase.errors import SearchError
from puzzle_tablebase.formats.encoder import HiddenFile, Part, Parts, TableData, encode_table
from puzzle_tablebase.formats.index_writer import BlockEncoder, WrittenRecords, write_records
from puzzle_tablebase.schema import Recipe, Table
from puzzle_tablebase.stores import Folder

TOYS = Table("toys", "", "", (), Recipe("toys"), (("field", "B"),))
FIELDS = {"field": np.arange(3)}


@contextmanager
def note_end(closed: list[str], what: str) -> Iterator[None]:
    try:
        yield
    finally:
        closed.append(what)


@pytest.mark.parametrize("by_tasks", [False, True])
def test_what_makes_parts_is_closed_before_an_error_leaves_the_encoder(
    by_tasks: bool, tmp_path: Path
) -> None:
    """Let the same records come twice, and then look who was closed."""
    file, closed = io.BytesIO(), list[str]()

    def write_twice(hidden: HiddenFile) -> Generator[WrittenRecords, None, None]:
        with note_end(closed, "tasks"):
            for _ in range(3):
                yield write_records(file, BlockEncoder(TOYS, 3), 0, FIELDS)

    def make_parts() -> Parts:
        with note_end(closed, "parts"):
            for _ in range(3):
                yield Part(write_records=write_twice) if by_tasks else Part(records=FIELDS)

    data = TableData(make_parts(), 3)
    with pytest.raises(SearchError) as caught:
        encode_table(None, file, TOYS, data, "", HiddenFile(Folder(tmp_path), "toys"))
    assert closed == ["tasks", "parts"][1 - by_tasks :]
    assert caught.traceback, "it keeps all that was under way alive"
