"""The proof of tour counts: every way in which a board is counted again, and its limits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.verify import VerifyFailed, knight_counts
from pipeline.verify.knight_counts import (
    CountLimits,
    Counts,
    find_known_closed,
    find_known_total,
    prove_counts,
    recount_by_sweep,
)
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from tests.conftest import make_once
from tests.support.build_recorder import build_tables
from tests.support.count_boards import (
    FIRST_ROWS,
    LIMITS,
    TABLE,
    change_counts,
    list_earlier,
    open_counts,
)
from tests.support.tampered import Story, link_copy, rewrite
from tests.support.tour_lists import all_tours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_once(tmp_path_factory, "counts", lambda place: build_tables(place, KNIGHT, TABLE))


def test_counts_of_every_kind_are_proved(
    folder: Path, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    reported, swept = Story(), list[tuple[str, bool]]()

    def sweep(board: KnightBoard, *, is_open: bool) -> Counts:
        swept.append((str(board), is_open))
        return recount_by_sweep(board, is_open=is_open)

    monkeypatch.setattr(knight_counts, "recount_by_sweep", sweep)
    published = open_counts(folder, reported)
    reported.clear()
    earlier = list_earlier("3x4", "4x3") | list_earlier("2x2")
    result = prove_counts(published, earlier, LIMITS).result
    assert swept == [("4x5", True), ("5x6", False), ("7x3", True)]
    assert [*result] == [*FIRST_ROWS]
    for name, tours in result.items():
        files, ranks = map(int, name.split("x"))
        assert tours["closed"] == [16 * (name in ("5x6", "6x5"))] * (files * ranks)
        if "tours" in tours:
            assert tours["tours"] == [*map(len, all_tours(files, ranks))]
    assert {name for name, tours in result.items() if "tours" not in tours} == {"5x6", "6x5"}
    golden("claims_knight_counts", "".join(reported))


def test_closed_counts_above_all_counts_are_detected(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knight_counts, "find_known_total", lambda board: None)
    changed = link_copy(folder, tmp_path)
    lower = change_counts(("tours", "4x5", -1, -99), ("tours", "5x4", -1, -99))
    rewrite(changed, TABLE.name, lower, table=TABLE)
    limits = CountLimits(walked_squares=16, swept_side=3, swept_squares=16, closed_squares=16)
    with pytest.raises(VerifyFailed) as caught:
        prove_counts(open_counts(changed), list_earlier("3x4"), limits)
    failure = caught.value
    claim = "on 4x5, 5x4, 5x6, 6x5, counted only once: no more tours are closed than there are"
    assert (failure.claim.claim, failure.row) == (claim, FIRST_ROWS["4x5"])
    assert (failure.found, failure.expected) == ("0 closed tours", "at most -67")


def test_some_boards_have_no_published_number() -> None:
    for board in (KnightBoard(6, 7), KnightBoard(3, 13), KnightBoard(9, 9)):
        assert find_known_total(board) is None
    for board in (KnightBoard(7, 8), KnightBoard(14, 3), KnightBoard(10, 10)):
        assert find_known_closed(board) is None
