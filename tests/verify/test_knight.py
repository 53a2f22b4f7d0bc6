"""`verify` finds every kind of false value about the knight's tours, and names its row."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.build import BuildObserver, build
from pipeline.build_request import Request
from pipeline.verify.knight import tours
from tablebase.puzzles.knight.board import KnightBoard
from tablebase.puzzles.knight.definition import PUZZLE as KNIGHT
from tablebase.puzzles.knight.tables import make_tour_table
from tablebase.tables.store import Folder
from tests.support import oracles
from tests.support.tampered import (
    cell,
    exchange_rows,
    get_refutation,
    open_one,
    place,
    prove_one,
    replace_link,
    reseal,
    rewrite,
    story,
    vouch,
    without,
)
from tests.support.tour_lists import list_mirrors


def false_path(rows: pa.Table, row: int, begin: int, text: str) -> Callable[[pa.Table], pa.Table]:
    path = str(rows["path"][row])
    return cell("path", row, path[:begin] + text + path[begin + len(text) :])


@pytest.fixture(scope="module")
def five(outputs: Path) -> pa.Table:
    return pq.read_table(outputs / "knight_tours_5x5.parquet").combine_chunks()


@pytest.mark.parametrize("name", ["knight_tours_5x5", "knight_tours_8x8"])
def test_claims_about_tours(outputs: Path, golden: Callable[[str, str], None], name: str) -> None:
    golden(f"claims_{name}", story(outputs, name))


@pytest.mark.parametrize(
    ("begin", "text"), [(2, "a1"), (20, "f1"), (20, "a6"), (20, "A1"), (20, "  "), (0, "b1")]
)
def test_invalid_paths_are_detected(copy: Path, five: pa.Table, begin: int, text: str) -> None:
    rewrite(copy, "knight_tours_5x5", false_path(five, 1000, begin, text))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (1000, "a tour")
    assert str(failure.found)[begin : begin + 2] == text
    assert failure.content["number"] == five["number"][1000].as_py()


def test_swapped_squares_are_detected(copy: Path, five: pa.Table) -> None:
    path = str(five["path"][7])
    swapped = path[:10] + path[12:14] + path[10:12] + path[14:]
    rewrite(copy, "knight_tours_5x5", cell("path", 7, swapped))
    assert get_refutation(copy, "knight_tours_5x5").row == 7


def test_a_wrong_path_length_is_detected(copy: Path, five: pa.Table) -> None:
    rewrite(copy, "knight_tours_5x5", cell("path", 7, str(five["path"][7])[:-2]))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert (failure.row, failure.found, failure.expected) == (7, "length of path 48", "50")


@pytest.mark.parametrize(
    ("column", "value"),
    [("board", "5x6"), ("start", "c3"), ("finish", "c3"), ("closed", True), ("number", 9)],
)
def test_a_false_cell_beside_a_path_is_detected(
    copy: Path, five: pa.Table, column: str, value: object
) -> None:
    rewrite(copy, "knight_tours_5x5", cell(column, 1000, value))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert failure.claim.claim == "board, start, finish, closed and number match the path"
    assert (failure.row, failure.found) == (1000, f"{column} {value}")
    assert failure.expected == str(five[column][1000])


def renumber(rows: pa.Table) -> pa.Table:
    """Return the rows numbered again within each start."""
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
def test_tours_out_of_order_are_detected(copy: Path, row: int, row_group: int) -> None:
    """Exchange rows within a row group, and where two row groups meet."""
    rewrite(
        copy,
        "knight_tours_5x5",
        lambda rows: renumber(exchange_rows(row - 1, row)(rows)),
        row_group,
    )
    failure = get_refutation(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (row, "a path after the one before it")


def test_a_duplicate_tour_is_detected(copy: Path) -> None:
    def twice(rows: pa.Table) -> pa.Table:
        return renumber(rows.take(np.concatenate([np.arange(500), np.arange(499, len(rows))])))

    rewrite(copy, "knight_tours_5x5", twice)
    failure = get_refutation(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (500, "a path after the one before it")


def test_numbers_restarting_in_a_row_group_are_detected(copy: Path) -> None:
    def restarted(rows: pa.Table) -> pa.Table:
        return pa.concat_tables([rows.slice(0, 100), renumber(rows.slice(100))])

    rewrite(copy, "knight_tours_5x5", restarted, 100)
    failure = get_refutation(copy, "knight_tours_5x5")
    assert (failure.row, failure.expected) == (100, "100")


def test_row_groups_of_any_size_pass(copy: Path) -> None:
    rewrite(copy, "knight_tours_5x5", lambda rows: rows, 17)
    prove_one(copy, "knight_tours_5x5")


def test_a_missing_tour_is_detected(copy: Path) -> None:
    rewrite(copy, "knight_tours_5x5", lambda rows: renumber(without(700)(rows)))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert fnmatchcase(
        f"{failure.found} | {failure.expected}", "*[0-9] from ?? to ?? | *[0-9], as back"
    )


def test_a_tour_missing_with_its_reverse_is_detected(copy: Path, five: pa.Table) -> None:
    """Remove a tour and its reverse, so that the numbers of tours there and back stay equal."""
    path = str(five["path"][700])
    gone = {path, "".join(reversed(_names(path)))}
    remaining = [at for at, path in enumerate(five["path"].to_pylist()) if path not in gone]
    assert len(remaining) == len(five) - 2
    rewrite(copy, "knight_tours_5x5", lambda rows: renumber(rows.take(remaining)))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert fnmatchcase(str(failure.expected), "*[0-9], as mirrored")


def test_a_tour_missing_with_all_images_is_detected(copy: Path, five: pa.Table) -> None:
    """Remove all images of one tour, so that the rest stays symmetric."""
    tour = [oracles.square_number(5, text) for text in _names(str(five["path"][0]))]
    images = set()
    for way in (tour, tour[::-1]):
        for turned in list_mirrors(5, 5):
            images.add("".join(oracles.square_name(5, turned[square]) for square in way))
    assert len(images) >= 8
    remaining = [at for at, path in enumerate(five["path"].to_pylist()) if path not in images]
    assert len(remaining) == len(five) - len(images)
    rewrite(copy, "knight_tours_5x5", lambda rows: renumber(rows.take(remaining)))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert (failure.found, failure.expected) == ("tours from a1: 302", 304)


def _names(path: str) -> list[str]:
    return [path[at : at + 2] for at in range(0, len(path), 2)]


def test_a_missing_chessboard_pair_is_detected(copy: Path) -> None:
    rewrite(copy, "knight_tours_8x8", lambda rows: renumber(without(40)(rows)))
    failure = get_refutation(copy, "knight_tours_8x8")
    assert (failure.found, failure.expected) == ("rows 2047", 2048)


def test_pairs_out_of_order_are_detected(copy: Path, outputs: Path) -> None:
    rewrite(copy, "knight_tours_8x8", lambda rows: renumber(exchange_rows(40, 41)(rows)))
    failure = get_refutation(copy, "knight_tours_8x8")
    assert failure.row == 40
    first, second = pq.read_table(outputs / "knight_tours_8x8.parquet")["finish"][40:42].to_pylist()
    assert failure.content["finish"] == second
    assert (failure.found, failure.expected) == (f"from b1 to {second}", f"b1 to {first}")


def test_a_total_differing_from_the_published_one_is_detected(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tours, "find_known_total", lambda board: (1730, "a book"))
    failure = get_refutation(copy, "knight_tours_5x5")
    assert failure.claim.claim == "5x5 has 1,730 directed tours (a book)"
    assert (failure.row, failure.found, failure.expected) == (None, "tours 1728", 1730)


def test_a_false_chessboard_record_is_detected(copy: Path) -> None:
    index = replace_link(copy / "knight_tours_8x8.idx")
    data = bytearray(index.read_bytes())
    data[place(data, 2047) + 63] ^= 1
    index.write_bytes(reseal(data))
    vouch(copy, "knight_tours_8x8")
    failure = get_refutation(copy, "knight_tours_8x8")
    assert (failure.row, str(failure.found)[:9]) == (2047, "squares [")
    assert len(failure.content["squares"]) == 64  # type: ignore[arg-type]


def test_requested_boards_are_proved(copy: Path) -> None:
    sides = (3, 4), (3, 3), (7, 3), (5, 6)
    boards = [make_tour_table(KnightBoard(files, ranks)) for files, ranks in sides]
    build(Request(Folder(copy), [(KNIGHT, tuple(boards))]), BuildObserver())
    for name, rows in (("3x4", 16), ("3x3", 0), ("7x3", 104), ("5x6", 37568)):
        proved = prove_one(copy, f"knight_tours_{name}")
        assert any(f"{rows:,} directed tours" in claim.claim for claim in proved)
        command = f"pipeline precompute knight_tours_{name} --force --outputs {copy}"
        assert open_one(copy, f"knight_tours_{name}").begin_claim("").command == command
