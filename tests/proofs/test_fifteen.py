"""`verify` proves the tables of patterns, and finds every kind of false value in them."""

from pathlib import Path

import pytest

from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.puzzles import fifteen as fifteen_tables
from puzzle_tablebase.puzzles.fifteen import PUZZLE, Partition
from puzzle_tablebase.queries.index_reader import IndexReader
from puzzle_tablebase.stores.folder import Folder
from tests.support import fifteen_oracle as oracle
from tests.support.build_recorder import build_tables

TINY = Partition(3, 3, "1 2 5", "3 6", "4 7 8")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Build a small partition, as the only one there is."""
    monkeypatch.setitem(fifteen_tables.PARTITIONS, "5-5-5", TINY)
    build_tables(tmp_path, PUZZLE, *TINY.make_tables())
    return tmp_path


def test_tables_are_proved(tiny: Path) -> None:
    verified = verify(Folder(tiny))
    assert [verdict.verdict for verdict in verified.verdicts] == ["proved"] * 3
    assert all("second search" in verdict.how for verdict in verified.verdicts)


def test_records_are_the_distances_of_the_placements(tiny: Path) -> None:
    (table, *_) = TINY.make_tables()
    records = IndexReader(Folder(tiny), table).read_records()
    known = oracle.distances(3, 3, [1, 2, 5])
    assert [*records] == [known[each] for each in oracle.list_placements(9, 3)]
