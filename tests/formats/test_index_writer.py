"""The writer of indexes: the same bytes in whatever order the records come, and its refusals."""

import hashlib
import io
import random
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzle_tablebase.errors import SearchError, TableDamaged
from puzzle_tablebase.formats.index import (
    Header,
)
from puzzle_tablebase.formats.index_writer import (
    BlockEncoder,
    IndexWriter,
    make_seed,
    write_records,
)
from puzzle_tablebase.formats.manifest import Entry, IndexEntry
from puzzle_tablebase.queries.files import IndexReader
from puzzle_tablebase.schema import Recipe, Table
from puzzle_tablebase.stores import Folder
from tests.support import format_page
from tests.support.tampered import sha256, write_manifest


def make_table(width: int) -> Table:
    return Table("toys", "", "", (), Recipe("toys", goal="x"), (("field", f"{width}s"),))


def write(table: Table, count: int, *parts: tuple[int, dict[str, npt.NDArray[Any]]]) -> bytes:
    """Write an index of some parts, each with the rank of its first record.

    Every other part is written as tasks write theirs.
    """
    file = io.BytesIO()
    writer = IndexWriter(file, table, count)
    for number, (first, fields) in enumerate(parts):
        if number % 2:
            writer.add(write_records(file, BlockEncoder(table, count), first, fields))
        else:
            writer.write(first, fields)
    digest = writer.finish()
    assert Header(file.getvalue()).digest.hex() == digest
    return file.getvalue()


@pytest.mark.parametrize("width", [1, 45, 64, 1023, 4092])
def test_records_may_come_in_any_order(width: int) -> None:
    """Compare with bytes made as the page of the format says."""
    table, draw, per_block = make_table(width), random.Random(width), 4092 // width
    for count in (0, 1, per_block - 1, per_block, per_block + 1, 5 * per_block + per_block // 2):
        data = draw.randbytes(count * width).replace(b"\0", b"x")
        records = np.frombuffer(data, f"S{width}")
        whole = write(table, count, (0, {"field": records}))
        assert whole == format_page.make_index(table.name, width, data, make_seed(table))
        for _ in range(10):
            cuts = sorted({0, count, *(draw.randrange(count + 1) for _ in range(8))})
            parts = [(a, {"field": records[a:b]}) for a, b in pairwise(cuts)]
            draw.shuffle(parts)
            assert write(table, count, *parts) == whole


@given(st.data())
def test_records_of_any_width_and_number_are_read_as_they_were_written(data: st.DataObject) -> None:
    """Write them in any parts, at most a few blocks of them."""
    width = data.draw(st.integers(1, 4092), "width")
    count = data.draw(st.integers(0, min(3 * (4092 // width) + 2, 9_000)), "count")
    cuts = data.draw(st.lists(st.integers(0, count), max_size=6), "cuts")
    table = make_table(width)
    # no zero at the end of a record, which numpy would drop
    records = np.frombuffer(
        random.Random(width).randbytes(count * width).replace(b"\0", b"x"), f"S{width}"
    )
    parts = [*pairwise(sorted({0, count, *cuts}))] or [(0, 0)]
    order = data.draw(st.permutations(parts), "order")
    whole = write(table, count, *((a, {"field": records[a:b]}) for a, b in order))
    with TemporaryDirectory() as folder:
        path = Path(folder, table.index_file)
        path.write_bytes(whole)
        digest = Header(whole).digest.hex()
        index = IndexEntry(path.name, count, len(whole), sha256(path), digest)
        entry = Entry(None, count, sha256(path), "a test", "", {}, index)
        write_manifest(Folder(folder), {table.name: entry})
        reader = IndexReader(Folder(folder), table)
        assert (reader.width, reader.count) == (width, count)
        assert bytes(reader.read_records()) == records.tobytes()
        for rank in {0, count // 2, count - 1} & {*range(count)}:
            assert reader.read_record(rank) == (records[rank],)
        with pytest.raises(TableDamaged):
            reader.read_record(count)


@pytest.mark.parametrize(
    ("count", "spans", "problem"),
    [
        (3000, [(0, 2000)], "only 0 of its blocks"),
        (3000, [(0, 2500)], "only 1 of its blocks"),
        (3000, [(0, 3000), (0, 2046)], "some records twice"),
        (3000, [(0, 3001)], "a record 3,000"),
        (0, [(0, 1)], "a record 0"),
    ],
)
def test_other_records_than_those_of_the_count_are_refused(
    count: int, spans: list[tuple[int, int]], problem: str
) -> None:
    parts = [(first, {"field": np.full(end - first, b"xy")}) for first, end in spans]
    with pytest.raises(SearchError, match=f"{problem}; expected: {count:,} records"):
        write(make_table(2), count, *parts)


def test_the_seed_depends_on_the_table_and_its_parameters_alone() -> None:
    def make(name: str, letter: str, meaning: str = "", **parameters: object) -> bytes:
        recipe = Recipe("toys", **parameters)
        return make_seed(Table(name, meaning, "", (), recipe, (("field", letter),), 7))

    text = b'[3,"toys",[["field","B"]],{"a":1,"b":2,"kind":"toys"}]'
    assert make("toys", "B", a=1, b=2) == hashlib.sha256(text).digest()
    assert make("toys", "B", a=1, b=2) == make("toys", "B", "Toys", b=2, a=1)
    seeds = [make("toys", "B"), make("toy", "B"), make("toys", "H")]
    seeds += [make("toys", "B", goal=goal) for goal in "xy"]
    assert len({*seeds}) == len(seeds)
