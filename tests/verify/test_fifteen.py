"""`verify` proves the tables of patterns, and finds every kind of false value in them."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles import fifteen as fifteen_tables
from puzzle_tablebase.puzzles.fifteen import PUZZLE, Partition
from puzzle_tablebase.tables.store import Folder
from tests.support import fifteen_oracle as oracle
from tests.support.build_recorder import build_tables
from tests.support.tampered import change_byte, falsify

TINY = Partition(3, 3, "1 2 5", "3 6", "4 7 8")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that builds a small partition, as the only one there is."""
    monkeypatch.setitem(fifteen_tables.PARTITIONS, "5-5-5", TINY)

    def make(*, with_rows: bool) -> Path:
        build_tables(tmp_path, PUZZLE, *TINY.make_tables(with_rows=with_rows))
        return tmp_path

    return make


@pytest.mark.parametrize("with_rows", [False, True])
def test_tables_are_proved(tiny: Callable[..., Path], with_rows: bool) -> None:
    verified = verify(Folder(tiny(with_rows=with_rows)))
    assert [verdict.verdict for verdict in verified.verdicts] == ["proved"] * 3
    assert all("second search" in verdict.how for verdict in verified.verdicts)


def test_rows_are_the_placements_and_their_distances(tiny: Callable[..., Path]) -> None:
    folder = tiny(with_rows=True)
    rows = pl.read_parquet(folder / "fifteen_125.parquet")
    known = oracle.distances(3, 3, [1, 2, 5])
    assert rows.columns == ["cells", "distance"]
    placements = oracle.list_placements(9, 3)
    assert rows.rows() == [("".join(map(str, each)), known[each]) for each in placements]


@pytest.mark.parametrize(("rank", "change"), [(0, 1), (1, -1), (100, 2), (503, -2)])
def test_a_false_distance_is_found(tiny: Callable[..., Path], rank: int, change: int) -> None:
    failure = falsify(tiny(with_rows=False), "fifteen_125", change_byte(rank, change))
    assert failure.row == rank
    assert "fewest moves" in str(failure)
