"""`verify` proves the tables of patterns, and finds every kind of false value in them."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pipeline.build import build
from pipeline.plan import Request
from pipeline.verify import verify
from pipeline.verify.fifteen import list_new_orders, list_places
from tablebase.puzzles import fifteen as fifteen_tables
from tablebase.puzzles.fifteen import PUZZLE, Partition
from tablebase.tables.store import Folder
from tests.published.test_sliding import Quiet
from tests.support import fifteen_oracle as oracle
from tests.support.tampered import change_byte, falsify

TINY = Partition(3, 3, "1 2 5", "3 6", "4 7 8")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that builds a small partition, as the only one there is."""
    monkeypatch.setitem(fifteen_tables.PARTITIONS, "5-5-5", TINY)

    def make(*, with_rows: bool) -> Path:
        tables = TINY.make_tables(with_rows=with_rows)
        build(Request(Folder(tmp_path), [(PUZZLE, tables)]), Quiet())
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
    expected = [
        ("".join(map(str, placement)), known[placement])
        for placement in oracle.list_placements(9, 3)
    ]
    assert rows.columns == ["cells", "distance"]
    assert rows.rows() == expected


@pytest.mark.parametrize("change", [1, -1, 2, -2])
@pytest.mark.parametrize("rank", [0, 1, 100, 503])
def test_a_false_distance_is_found(tiny: Callable[..., Path], rank: int, change: int) -> None:
    failure = falsify(tiny(with_rows=False), "fifteen_125", change_byte(rank, change))
    assert failure.row == rank
    assert "fewest moves" in str(failure)


@pytest.mark.parametrize(("height", "width", "tiles"), [(2, 3, 2), (3, 3, 4), (3, 4, 3)])
def test_places_are_the_sets_with_their_regions(height: int, width: int, tiles: int) -> None:
    places, numbers = list_places(height, width, tiles)
    near = oracle.list_near(height, width)
    assert len({*numbers.values()}) == len(places.sets)
    for (mask, cell), number in numbers.items():
        assert not mask >> cell & 1
        for other in near[cell]:
            if not mask >> other & 1:
                assert numbers[mask, other] == number


def test_orders_after_a_shift() -> None:
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    found = list_new_orders(3)
    for number, order in enumerate(orders):
        for taken in range(3):
            for put in range(3):
                rest = [*order]
                tile = rest.pop(taken)
                rest.insert(put, tile)
                assert orders[found[number, taken, put]] == tuple(rest)
