"""`verify` finds every kind of untruth about how many tours begin where, and names its row."""

from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline.verify import Claim, VerifyFailed, prove
from pipeline.verify.knight.counts import prove_counts
from pipeline.verify.listed import Listed
from tablebase.puzzles.knight import PUZZLE as KNIGHT
from tablebase.puzzles.knight import counts_table
from tablebase.puzzles.knight_board import Board
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests import wide
from tests.support.falsified import (
    cell,
    cells,
    one,
    rewrite,
)
from tests.support.recorder import built


def refuted_counts(copy: Path) -> VerifyFailed:
    tables = [one(copy, name) for name in ("knight_tours_5x5", "knight_counts")]
    with pytest.raises(VerifyFailed) as caught:
        prove(tables)
    return caught.value


def count_rows(folder: Path, board: str) -> list[int]:
    boards = pq.read_table(folder / "knight_counts.parquet")["board"].to_pylist()
    return [row for row, found in enumerate(boards) if found == board]


def test_false_counts_are_found(copy: Path, outputs: Path) -> None:
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
        failure = refuted_counts(copy)
        assert failure.claim.claim.startswith(claim)
        assert failure.row == row
        (copy / "knight_counts.parquet").unlink()
        (copy / "knight_counts.parquet").symlink_to(outputs / "knight_counts.parquet")


@pytest.mark.parametrize(
    ("boards", "claim", "said"),
    [
        (("5x6", "6x5"), "A083386", "tours of 5x6: 75166 | 37568"),
        (("4x5", "5x4"), "A079137", "tours of 4x5: 348 | 164"),
        (("2x3", "3x2"), "totals", "tours of 2x3: 6 | 0"),
    ],
)
def test_false_totals_are_found(copy: Path, boards: tuple[str, str], claim: str, said: str) -> None:
    """Doubled all over a board and the same board on its side: as symmetric as before."""
    tours = pq.read_table(copy / "knight_counts.parquet")["tours"].to_pylist()
    rows = [row for board in boards for row in count_rows(copy, board)]
    rewrite(copy, "knight_counts", cells(*(("tours", row, 2 * tours[row] + 1) for row in rows)))
    failure = refuted_counts(copy)
    assert claim in failure.claim.claim
    assert fnmatchcase(f"{failure.found} | {failure.expected}", said)


def test_false_closed_counts_are_found(copy: Path) -> None:
    """One more everywhere on a board and the same board on its side: as symmetric as before."""
    rows = count_rows(copy, "5x6") + count_rows(copy, "6x5")
    rewrite(copy, "knight_counts", cells(*(("closed", row, 17) for row in rows)))
    failure = refuted_counts(copy)
    assert "A175881" in failure.claim.claim
    assert (failure.row, failure.found, failure.expected) == (min(rows), "closed 17", "16")


def test_counts_at_the_wrong_squares_are_found(copy: Path) -> None:
    """The tours of 3x4 moved from corners to other squares, their total and symmetry kept."""
    changes = []
    for board in ("3x4", "4x3"):
        files = int(board[0])
        rows = count_rows(copy, board)
        tours = pq.read_table(copy / "knight_counts.parquet")["tours"].to_pylist()
        corners = (0, files - 1, 12 - files, 11)
        edges = (files, 2 * files - 1, 2 * files, 3 * files - 1) if files == 3 else (1, 2, 9, 10)
        for corner, edge in zip(corners, edges, strict=True):
            changes += [("tours", rows[corner], tours[rows[edge]])]
            changes += [("tours", rows[edge], tours[rows[corner]])]
    rewrite(copy, "knight_counts", cells(*changes))
    failure = refuted_counts(copy)
    assert failure.claim.claim.startswith("on 30 boards that no table lists")
    assert failure.content["board"] == "3x4"
    assert failure.found == f"tours {failure.content['tours']}"


@wide
def test_counts_of_a_larger_narrow_board_are_swept_again(copy: Path) -> None:
    """Moved from the corners of 10x4 to the squares beside them, total and symmetry kept."""
    board, rows = Board(10, 4), count_rows(copy, "10x4")
    tours = pq.read_table(copy / "knight_counts.parquet")["tours"].to_pylist()
    moved = [(square, more) for first, more in ((0, 8), (1, -8)) for square in board.turned(first)]
    changes = (("tours", rows[square], tours[rows[square]] + more) for square, more in moved)
    rewrite(copy, "knight_counts", cells(*changes))
    failure = refuted_counts(copy)
    assert failure.claim.claim.endswith(
        "the tours and closed tours are as many as in a sweep over the whole board, file after file"
    )
    assert failure.content["board"] == "10x4"


def test_a_null_where_tours_are_counted_is_found(copy: Path) -> None:
    row = count_rows(copy, "5x6")[3]
    rewrite(copy, "knight_counts", cell("tours", row, None))
    failure = refuted_counts(copy)
    assert (failure.row, failure.claim.claim[:36]) == (row, "there is one row for every square of")


def test_closed_tours_are_published_alone_and_proved(tmp_path: Path) -> None:
    table = counts_table(((3, 4), (4, 3)), closed=((6, 7), (7, 6)))
    built(tmp_path, KNIGHT, table)
    rows = pq.read_table(tmp_path / "knight_counts.parquet")
    assert (rows["tours"].null_count, len(rows)) == (84, 84 + 24)
    assert set(rows["closed"].to_pylist()) == {0, 2 * 1067638}
    claims: list[Claim] = []
    store = Folder(tmp_path)
    entry = read_manifest(store)[table.name]
    listed = Listed(
        store, table.name, entry, KNIGHT, table, lambda claim, done: claims.append(claim)
    )
    prove_counts(listed, {})
    assert claims[-1].claim.startswith("on 6x7, 7x6, counted only once")
