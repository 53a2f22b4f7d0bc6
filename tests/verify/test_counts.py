"""`verify` finds every kind of false tour count, and names its row."""

from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.verify import VerifyFailed, prove
from pipeline.verify.claims import Grade, ListedTable, Outcome, Rows, Verdict, ignore_claim
from pipeline.verify.knight import counts, recount_sweep
from pipeline.verify.knight.counts import CountLimits, prove_counts
from pipeline.verify.knight.references import find_known_closed, find_known_total
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.tables import make_count_table
from tablebase.tables.manifest import read_manifest
from tablebase.tables.parquet import make_schema
from tablebase.tables.store import Folder
from tests import wide
from tests.conftest import make_once
from tests.support.build_recorder import build_tables
from tests.support.tampered import (
    Story,
    cell,
    cells,
    open_one,
    rewrite,
)
from tests.support.tour_lists import all_tours

# ---- a small table --------------------------------------------------------------------------

SMALL = (2, 3), (3, 4), (4, 3), (4, 4), (4, 5), (5, 4)
ROWS = {
    f"{files}x{ranks}": sum(c * r for c, r in [*SMALL, (5, 6), (6, 5)][:at])
    for at, (files, ranks) in enumerate([*SMALL, (5, 6), (6, 5)])
}
"""The first row of each board; of the last two only closed tours are counted."""


@pytest.fixture(scope="module")
def small_copy(tmp_path_factory: pytest.TempPathFactory) -> ListedTable:
    table = make_count_table(SMALL, ((5, 6), (6, 5)))
    folder = make_once(tmp_path_factory, "counts", lambda place: build_tables(place, KNIGHT, table))
    store = Folder(folder)
    return ListedTable(
        store, table.name, read_manifest(store)[table.name], KNIGHT, table, ignore_claim
    )


LOW = CountLimits(walked_squares=16, swept_both_ways="5x4")
"""CountLimits by which some of these boards are walked and others swept."""


def list_earlier(*names: str, grade: Grade = Grade.PROVED) -> dict[str, Outcome]:
    """Return outcomes of the listed tours of these boards."""
    result = {}
    for name in names:
        tours, table = all_tours(*map(int, name.split("x"))), f"knight_tours_{name}"
        counts = {"tours": [*map(len, tours)], "closed": [0] * len(tours)}
        result[table] = Outcome((Verdict(table, None, grade, ""),), counts)
    return result


def test_counts_of_every_kind_are_proved(
    small_copy: ListedTable, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    reported, swept = Story(), list[tuple[str, bool]]()

    def sweep(board: KnightBoard, *, by_files: bool) -> dict[str, Any]:
        swept.append((str(board), by_files))
        return recount_sweep.recount_by_sweep(board, by_files=by_files)

    monkeypatch.setattr(counts, "recount_by_sweep", sweep)
    listed = replace(small_copy, listener=reported)
    earlier = list_earlier("3x4", "4x3") | list_earlier("2x2")
    result = prove_counts(listed, earlier, LOW).result
    assert swept == [("4x5", False), ("5x4", False), ("5x4", True)]
    assert [*result] == [*ROWS]
    for name, tours in result.items():
        files, ranks = map(int, name.split("x"))
        assert tours["closed"] == [16 * (name in ("5x6", "6x5"))] * (files * ranks)
        if "tours" in tours:
            assert tours["tours"] == [*map(len, all_tours(files, ranks))]
    assert {name for name, tours in result.items() if "tours" not in tours} == {"5x6", "6x5"}
    golden("claims_knight_counts", "".join(reported))


def change_rows(
    listed: ListedTable, *changes: tuple[str, str, int, int], limits: CountLimits = LOW
) -> VerifyFailed:
    """Return the failure of rows with a column changed at all images of a square.

    A square below 0 stands for the whole board.
    """
    rows = pq.read_table(listed.store.locate("knight_counts.parquet"))
    for column, name, square, difference in changes:
        board = KnightBoard(*map(int, name.split("x")))
        for at in set(board.find_images(square)) if square >= 0 else range(board.squares):
            row = ROWS[name] + at
            rows = cell(column, row, rows[column][row].as_py() + difference)(rows)
    return get_failure(listed, rows, limits)


def get_failure(listed: ListedTable, rows: pa.Table, limits: CountLimits = LOW) -> VerifyFailed:
    batch = rows.cast(make_schema(listed.definition)).combine_chunks().to_batches()[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "read_rows", lambda listed: Rows(batch))
        with pytest.raises(VerifyFailed) as caught:
            prove_counts(listed, list_earlier("3x4"), limits)
    return caught.value


def test_a_missing_count_row_is_detected(small_copy: ListedTable) -> None:
    rows = pq.read_table(small_copy.store.locate("knight_counts.parquet"))
    failure = get_failure(small_copy, rows[:-1])
    assert (failure.found, failure.expected) == (f"rows {len(rows) - 1}", len(rows))


AGAIN = "the tours and closed tours are as many as in"


@pytest.mark.parametrize(
    ("changes", "claim", "row", "found"),
    [
        (
            {("3x4", 0): 1, ("3x4", 1): -1, ("4x3", 0): 1, ("4x3", 4): -1},
            f"on 3x4: {AGAIN} the board's own table",
            "3x4",
            "tours 3",
        ),
        (
            {("4x4", 0): 1, ("4x4", 5): -1},
            "on 2 boards that no table lists: counts match an independent recount, path by path",
            "4x4",
            "tours 1",
        ),
        (
            {("4x5", 0): 1, ("4x5", 1): -1, ("5x4", 0): 1, ("5x4", 5): -1},
            f"on 4x5, 5x4: {AGAIN} a sweep over the whole board, rank after rank",
            "4x5",
            "tours 33",
        ),
    ],
)
def test_counts_at_wrong_squares_are_detected(
    small_copy: ListedTable, changes: dict[tuple[str, int], int], claim: str, row: str, found: str
) -> None:
    """Change counts without changing totals or symmetry."""
    failure = change_rows(
        small_copy, *(("tours", *square, difference) for square, difference in changes.items())
    )
    assert (failure.claim.claim, failure.row) == (claim, ROWS[row])
    assert failure.found == found


def test_squares_are_compared_with_images_on_the_transposed_board(
    small_copy: ListedTable,
) -> None:
    """Change all mirror images alike, none of them on the first file."""
    failure = change_rows(small_copy, ("tours", "4x5", 5, 1))
    assert failure.claim.claim.startswith("mirrored squares have equally many tours, also on the ")
    assert failure.row == ROWS["4x5"] + 5


def test_false_sums_and_closed_counts_are_detected(small_copy: ListedTable) -> None:
    failure = change_rows(small_copy, ("tours", "2x3", -1, 2))
    assert (failure.found, failure.expected, failure.row) == ("tours of 2x3: 12", 0, None)
    failure = change_rows(small_copy, ("closed", "5x6", -1, 1), ("closed", "6x5", -1, 1))
    assert failure.claim.claim.startswith("the closed tours of 8 boards match published totals (")
    assert (failure.found, failure.expected, failure.row) == ("closed 17", "16", ROWS["5x6"])


def test_closed_counts_above_all_counts_are_detected(
    small_copy: ListedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "find_known_total", lambda board: None)
    changes = ("tours", "4x5", -1, -99), ("tours", "5x4", -1, -99)
    limits = CountLimits(walked_squares=16, swept_side=3, swept_both_ways="")
    failure = change_rows(small_copy, *changes, limits=limits)
    claim = "on 4x5, 5x4, 5x6, 6x5, counted only once: no more tours are closed than there are"
    assert (failure.claim.claim, failure.row) == (claim, ROWS["4x5"])
    assert (failure.found, failure.expected) == ("0 closed tours", "at most -67")


def test_some_boards_have_no_published_number() -> None:
    for board in (KnightBoard(6, 7), KnightBoard(3, 13), KnightBoard(9, 9)):
        assert find_known_total(board) is None
    for board in (KnightBoard(7, 8), KnightBoard(14, 3), KnightBoard(10, 10)):
        assert find_known_closed(board) is None


# ---- what is published ----------------------------------------------------------------------


def get_count_failure(copy: Path) -> VerifyFailed:
    tables = [open_one(copy, name) for name in ("knight_tours_5x5", "knight_counts")]
    with pytest.raises(VerifyFailed) as caught:
        prove(tables)
    return caught.value


def count_rows(folder: Path, board: str) -> list[int]:
    boards = pq.read_table(folder / "knight_counts.parquet")["board"].to_pylist()
    return [row for row, result in enumerate(boards) if result == board]


def test_false_counts_are_detected(copy: Path, outputs: Path) -> None:
    begin = count_rows(copy, "5x5")[0]
    for change, row, claim in (
        (cell("start", begin + 3, "c1"), begin + 3, "there is one row for every square"),
        (cell("board", begin + 3, "5x6"), begin + 3, "there is one row for every square"),
        (cell("tours", begin + 4, 305), begin + 4, "mirrored squares"),
        (cell("closed", begin + 7, 2), begin + 7, "mirrored squares"),
        (
            cells(*(("tours", begin + at, 300) for at in (0, 4, 20, 24))),
            begin,
            "on 5x5: the tours and closed tours are as many as in the board's own table",
        ),
    ):
        rewrite(copy, "knight_counts", change)
        failure = get_count_failure(copy)
        assert failure.claim.claim.startswith(claim)
        assert failure.row == row
        (copy / "knight_counts.parquet").unlink()
        (copy / "knight_counts.parquet").symlink_to(outputs / "knight_counts.parquet")


@pytest.mark.parametrize(
    ("boards", "claim", "message"),
    [
        (("5x6", "6x5"), "A083386", "tours of 5x6: 75166 | 37568"),
        (("4x5", "5x4"), "A079137", "tours of 4x5: 348 | 164"),
        (("2x3", "3x2"), "totals", "tours of 2x3: 6 | 0"),
    ],
)
def test_false_totals_are_detected(
    copy: Path, boards: tuple[str, str], claim: str, message: str
) -> None:
    """Double the counts of a board and of the same board on its side: they stay as symmetric."""
    tours = pq.read_table(copy / "knight_counts.parquet")["tours"].to_pylist()
    rows = [row for board in boards for row in count_rows(copy, board)]
    rewrite(copy, "knight_counts", cells(*(("tours", row, 2 * tours[row] + 1) for row in rows)))
    failure = get_count_failure(copy)
    assert claim in failure.claim.claim
    assert fnmatchcase(f"{failure.found} | {failure.expected}", message)


def test_false_closed_counts_are_detected(copy: Path) -> None:
    """Add one everywhere on a board and on the same board on its side: they stay as symmetric."""
    rows = count_rows(copy, "5x6") + count_rows(copy, "6x5")
    rewrite(copy, "knight_counts", cells(*(("closed", row, 17) for row in rows)))
    failure = get_count_failure(copy)
    assert "A175881" in failure.claim.claim
    assert (failure.row, failure.found, failure.expected) == (min(rows), "closed 17", "16")


@wide
def test_counts_of_larger_narrow_boards_are_recounted(copy: Path) -> None:
    """Move tours from the corners of 10x4 to squares beside them, keeping total and symmetry."""
    board, rows = KnightBoard(10, 4), count_rows(copy, "10x4")
    tours = pq.read_table(copy / "knight_counts.parquet")["tours"].to_pylist()
    moved = [
        (square, difference)
        for first, difference in ((0, 8), (1, -8))
        for square in board.find_images(first)
    ]
    changes = (
        ("tours", rows[square], tours[rows[square]] + difference) for square, difference in moved
    )
    rewrite(copy, "knight_counts", cells(*changes))
    failure = get_count_failure(copy)
    assert failure.claim.claim.endswith(
        "the tours and closed tours are as many as in a sweep over the whole board, file after file"
    )
    assert failure.content["board"] == "10x4"


def test_a_null_count_is_detected(copy: Path) -> None:
    row = count_rows(copy, "5x6")[3]
    rewrite(copy, "knight_counts", cell("tours", row, None))
    failure = get_count_failure(copy)
    assert (failure.row, failure.claim.claim[:36]) == (row, "there is one row for every square of")
    assert (failure.found, failure.expected) == ("a null in tours: True", "False")
