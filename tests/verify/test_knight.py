"""`verify` finds every kind of untruth about the knight's tours, and names its row."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.build import Request, build
from pipeline.verify import Claim, VerifyFailed, prove
from pipeline.verify.knight.counts import prove_counts
from pipeline.verify.knight.resweep import sweep
from pipeline.verify.listed import Listed
from tablebase.puzzles.knight import PUZZLE as KNIGHT
from tablebase.puzzles.knight import counts_table, listed_table
from tablebase.puzzles.knight_board import Board
from tablebase.tables.manifest import read_manifest
from tablebase.tables.store import Folder
from tests import wide
from tests.support import oracles
from tests.support.falsified import (
    Silent,
    cell,
    cells,
    exchanged,
    one,
    own,
    place,
    prove_one,
    refuted,
    rewrite,
    sealed,
    vouch,
    without,
)
from tests.support.recorder import built
from tests.support.tour_lists import all_tours, mirrored


def false_path(rows: pa.Table, row: int, begin: int, text: str) -> Callable[[pa.Table], pa.Table]:
    path = str(rows["path"][row])
    return cell("path", row, path[:begin] + text + path[begin + len(text) :])


@pytest.fixture(scope="module")
def five(outputs: Path) -> pa.Table:
    return pq.read_table(outputs / "knight_tours_5x5.parquet").combine_chunks()


@pytest.mark.parametrize(
    ("begin", "text"), [(2, "a1"), (20, "f1"), (20, "a6"), (20, "A1"), (20, "  "), (0, "b1")]
)
def test_a_path_that_is_no_tour_is_found(copy: Path, five: pa.Table, begin: int, text: str) -> None:
    rewrite(copy, "knight_tours_5x5", false_path(five, 1000, begin, text))
    failure = refuted(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (1000, "a tour")
    assert str(failure.found)[begin : begin + 2] == text
    assert failure.content["number"] == five["number"][1000].as_py()


def test_two_squares_in_each_others_place_are_found(copy: Path, five: pa.Table) -> None:
    path = str(five["path"][7])
    swapped = path[:10] + path[12:14] + path[10:12] + path[14:]
    rewrite(copy, "knight_tours_5x5", cell("path", 7, swapped))
    assert refuted(copy, "knight_tours_5x5").row == 7


def test_a_path_of_another_length_is_found(copy: Path, five: pa.Table) -> None:
    rewrite(copy, "knight_tours_5x5", cell("path", 7, str(five["path"][7])[:-2]))
    failure = refuted(copy, "knight_tours_5x5")
    assert (failure.row, failure.found, failure.expected) == (7, "length of path 48", "50")


@pytest.mark.parametrize(
    ("column", "value"),
    [("board", "5x6"), ("start", "c3"), ("finish", "c3"), ("closed", True), ("number", 9)],
)
def test_a_false_cell_beside_a_path_is_found(
    copy: Path, five: pa.Table, column: str, value: object
) -> None:
    rewrite(copy, "knight_tours_5x5", cell(column, 1000, value))
    failure = refuted(copy, "knight_tours_5x5")
    assert failure.claim.claim == "board, start, finish, closed and number match the path"
    assert (failure.row, failure.found) == (1000, f"{column} {value}")
    assert failure.expected == str(five[column][1000])


def numbered(rows: pa.Table) -> pa.Table:
    """The rows numbered anew within each start."""
    starts = rows["start"].to_pylist()
    numbers: list[int] = []
    last = None
    for start in starts:
        numbers.append(numbers[-1] + 1 if start == last else 0)
        last = start
    at = rows.column_names.index("number")
    return rows.set_column(at, rows.field(at), pa.array(numbers, pa.int64()))


@pytest.mark.parametrize("row_group", [1 << 17, 100])
@pytest.mark.parametrize("row", [100, 101, 150])
def test_tours_out_of_order_are_found(copy: Path, row: int, row_group: int) -> None:
    """Within a row group, and where two of them meet."""
    rewrite(
        copy,
        "knight_tours_5x5",
        lambda rows: numbered(exchanged(row - 1, row)(rows)),
        row_group,
    )
    failure = refuted(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (row, "a path after the one before it")


def test_a_tour_listed_twice_is_found(copy: Path) -> None:
    def twice(rows: pa.Table) -> pa.Table:
        return numbered(rows.take(np.concatenate([np.arange(500), np.arange(499, len(rows))])))

    rewrite(copy, "knight_tours_5x5", twice)
    failure = refuted(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (500, "a path after the one before it")


def test_a_number_that_goes_back_between_row_groups_is_found(copy: Path) -> None:
    def restarted(rows: pa.Table) -> pa.Table:
        return pa.concat_tables([rows.slice(0, 100), numbered(rows.slice(100))])

    rewrite(copy, "knight_tours_5x5", restarted, 100)
    failure = refuted(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (100, "100")


def test_row_groups_of_any_size_pass(copy: Path) -> None:
    rewrite(copy, "knight_tours_5x5", lambda rows: rows, 17)
    prove_one(copy, "knight_tours_5x5")


def test_a_missing_tour_is_found(copy: Path) -> None:
    rewrite(copy, "knight_tours_5x5", lambda rows: numbered(without(700)(rows)))
    failure = refuted(copy, "knight_tours_5x5")
    assert fnmatchcase(
        f"{failure.found} | {failure.expected}", "*[0-9] from ?? to ?? | *[0-9], as back"
    )


def test_a_whole_family_of_tours_missing_is_found(copy: Path, five: pa.Table) -> None:
    """All images of one tour, so that what is left is as symmetric as before."""
    tour = [oracles.square_number(5, text) for text in _names(str(five["path"][0]))]
    images = set()
    for way in (tour, tour[::-1]):
        for turned in mirrored(5, 5):
            images.add("".join(oracles.square_name(5, turned[square]) for square in way))
    assert len(images) >= 8
    kept = [at for at, path in enumerate(five["path"].to_pylist()) if path not in images]
    assert len(kept) == len(five) - len(images)
    rewrite(copy, "knight_tours_5x5", lambda rows: numbered(rows.take(kept)))
    failure = refuted(copy, "knight_tours_5x5")
    assert (failure.found, failure.expected) == ("tours from a1: 302", 304)


def _names(path: str) -> list[str]:
    return [path[at : at + 2] for at in range(0, len(path), 2)]


def test_a_missing_pair_of_the_chessboard_is_found(copy: Path) -> None:
    rewrite(copy, "knight_tours_8x8", lambda rows: numbered(without(40)(rows)))
    failure = refuted(copy, "knight_tours_8x8")
    assert (failure.found, failure.expected) == ("rows 2047", 2048)


def test_pairs_out_of_order_are_found(copy: Path, outputs: Path) -> None:
    rewrite(copy, "knight_tours_8x8", lambda rows: numbered(exchanged(40, 41)(rows)))
    failure = refuted(copy, "knight_tours_8x8")
    assert failure.row == 40
    assert (
        failure.content["finish"]
        == pq.read_table(outputs / "knight_tours_8x8.parquet")["finish"][41].as_py()
    )


def test_a_false_record_of_the_chessboard_is_found(copy: Path) -> None:
    index = own(copy / "knight_tours_8x8.idx")
    data = bytearray(index.read_bytes())
    data[place(data, 2047) + 63] ^= 1
    index.write_bytes(sealed(data))
    vouch(copy, "knight_tours_8x8")
    failure = refuted(copy, "knight_tours_8x8")
    assert (failure.row, str(failure.found)[:9]) == (2047, "squares [")
    assert len(failure.content["squares"]) == 64  # type: ignore[arg-type]


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


def test_boards_that_were_asked_for_are_proved_too(copy: Path) -> None:
    boards = [listed_table(Board(3, 4)), listed_table(Board(3, 3)), listed_table(Board(7, 3))]
    build(Request(Folder(copy), [(KNIGHT, tuple(boards))]), Silent())
    for name, rows in (("3x4", 16), ("3x3", 0), ("7x3", 104)):
        proved = prove_one(copy, f"knight_tours_{name}")
        assert any(f"{rows:,} directed tours" in claim.claim for claim in proved)
        command = f"pipeline precompute knight --board {name} --force --outputs {copy}"
        assert one(copy, f"knight_tours_{name}").claim("").command == command


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


@pytest.mark.parametrize("by_files", [False, True])
@pytest.mark.parametrize(
    ("files", "ranks"), [(3, 4), (4, 3), (4, 4), (4, 5), pytest.param(3, 8, marks=wide)]
)
def test_a_sweep_over_a_board_counts_what_the_oracle_lists(
    files: int, ranks: int, by_files: bool
) -> None:
    found = sweep(Board(files, ranks), by_files=by_files)
    listed = all_tours(files, ranks)
    assert found["tours"].tolist() == [len(tours) for tours in listed]
    closed = [sum(oracles.is_closed(files, tour) for tour in tours) for tours in listed]
    assert found["closed"].tolist() == closed


def test_closed_tours_of_a_narrow_board_are_swept() -> None:
    assert set(sweep(Board(10, 3), by_files=True)["closed"].tolist()) == {32}


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
