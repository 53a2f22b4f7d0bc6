"""`verify`: what is published passes, and every kind of untruth is named with its row.

Damages that only a proof can find are made in tables that stay valid files: their hashes, and the
manifest and index that vouch for them, are brought along.
"""

import hashlib
import json
import shutil
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pipeline.build import Request, build
from pipeline.errors import TableDamaged, TableError, TableMissing
from pipeline.puzzle import Column, GoalPuzzle, StateSpace, Table
from pipeline.puzzles import MODULES, puzzle
from pipeline.puzzles.eight import PUZZLE as EIGHT
from pipeline.puzzles.knight import PUZZLE as KNIGHT
from pipeline.puzzles.knight import Board, listed_table
from pipeline.puzzles.senet import PUZZLE as SENET
from pipeline.tables.content import ContentHash
from pipeline.tables.index import CRC_AT, HEADER
from pipeline.tables.manifest import read_manifest, write_manifest
from pipeline.tables.parquet import schema
from pipeline.verify import Claim, VerifyFailed, prove, verify
from pipeline.verify.claims import Rows, unheard
from pipeline.verify.goals import GoalTable
from pipeline.verify.published import Published, check_files, published_in
from pipeline.verify.senet import SenetTable
from pipeline.verify.spaces import Plain, Space, space_of
from tests import oracles
from tests.tour_lists import mirrored

TABLES = {table.name: table for asked in (EIGHT, SENET, KNIGHT) for table in asked.tables}


# ---- what is published passes ---------------------------------------------------------------


@pytest.mark.long
def test_what_is_published_is_proved(outputs: Path) -> None:
    told: list[tuple[Claim, int]] = []
    proved = verify(outputs, report=lambda claim, done: told.append((claim, done)))
    assert all(claim.passed for claim in proved)
    assert {claim.table for claim in proved} == {"manifest", *TABLES}
    assert [claim for claim, _ in told if claim.passed] == proved
    begun = [(c.file, c.claim) for c, done in told if c.passed is None and done == 0]
    assert sorted(begun) == sorted((c.file, c.claim) for c in proved)
    assert max(done for claim, done in told if claim.passed is None) == 6_637_920
    said = {claim.claim: claim.rows for claim in proved if claim.table == "eight"}
    text = "every state but the goals has a neighbour one move nearer and none nearer"
    assert said[text] == 362_880
    sources = " ".join(claim.claim for claim in proved if claim.table == "knight_counts")
    for source in ("A165134", "A118067", "A079137", "A083386"):
        assert source in sources
    assert any("A001230" in c.claim for c in proved if c.table == "knight_tours_6x6")


def test_quick_looks_at_every_file(outputs: Path) -> None:
    proved = verify(outputs, quick=True)
    listed = {path.name for path in outputs.glob("*.parquet")}
    assert {claim.file for claim in proved} >= {*listed, "eight.idx", "senet.idx", "manifest.json"}
    assert all(claim.passed for claim in proved)


# ---- copies and damages ---------------------------------------------------------------------


@pytest.fixture
def copy(outputs: Path, tmp_path: Path) -> Path:
    """The published folder again, its tables linked, its manifest its own."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in outputs.iterdir():
        if path.suffix in (".parquet", ".idx"):
            (folder / path.name).symlink_to(path)
    shutil.copy(outputs / "manifest.json", folder)
    return folder


def own(path: Path) -> Path:
    """A file in place of the link to it."""
    source = path.resolve()
    path.unlink()
    shutil.copy(source, path)
    return path


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def vouch(folder: Path, name: str) -> None:
    """Let the manifest and the index's header say what the table now is."""
    entries = read_manifest(folder)
    entry, path = entries[name], folder / f"{name}.parquet"
    content = ContentHash(TABLES[name].columns)
    rows = pq.read_table(path)
    for batch in rows.to_batches():
        content.update(batch)
    entry |= {"rows": rows.num_rows, "bytes": path.stat().st_size, "sha256": sha256(path)}
    entry["content"] = content.hexdigest()
    if entry["index"]:
        index = folder / f"{name}.idx"
        data = bytearray(index.read_bytes())
        fields = list(HEADER.unpack_from(data))
        fields[5] = bytes.fromhex(entry["content"])
        HEADER.pack_into(data, 0, *fields)
        crc = zlib.crc32(data[HEADER.size :], zlib.crc32(data[:CRC_AT]))
        struct.pack_into("<I", data, CRC_AT, crc)
        index.unlink()
        index.write_bytes(data)
        entry["index"] |= {"bytes": len(data), "sha256": sha256(index)}
    write_manifest(folder, entries)


def rewrite(
    folder: Path, name: str, change: Callable[[pa.Table], pa.Table], row_group: int = 1 << 17
) -> None:
    path = folder / f"{name}.parquet"
    rows = change(pq.read_table(path).combine_chunks())
    path.unlink()
    pq.write_table(rows.cast(schema(TABLES[name])), path, row_group_size=row_group)
    vouch(folder, name)


def cell(column: str, row: int, value: object) -> Callable[[pa.Table], pa.Table]:
    """A change of one cell."""

    def change(rows: pa.Table) -> pa.Table:
        at = rows.column_names.index(column)
        old = rows.column(at).combine_chunks()
        plain = old.cast(pa.string()) if pa.types.is_dictionary(old.type) else old
        parts = [plain.slice(0, row), pa.array([value], plain.type), plain.slice(row + 1)]
        return rows.set_column(at, rows.field(at).with_type(plain.type), pa.concat_arrays(parts))

    return change


def cells(*changes: tuple[str, int, object]) -> Callable[[pa.Table], pa.Table]:
    def change(rows: pa.Table) -> pa.Table:
        for one in changes:
            rows = cell(*one)(rows)
        return rows

    return change


def exchanged(row: int, other: int) -> Callable[[pa.Table], pa.Table]:
    """Two rows in each other's place."""

    def change(rows: pa.Table) -> pa.Table:
        order = np.arange(len(rows))
        order[[row, other]] = other, row
        return rows.take(order)

    return change


def without(row: int) -> Callable[[pa.Table], pa.Table]:
    return lambda rows: pa.concat_tables([rows.slice(0, row), rows.slice(row + 1)])


def one(folder: Path, name: str) -> Published:
    return next(table for table in published_in(folder, unheard, []) if table.name == name)


def prove_one(folder: Path, name: str) -> None:
    listed = one(folder, name)
    check_files(listed)
    assert listed.puzzle
    prove(listed.puzzle, [listed])


def refuted(folder: Path, name: str) -> VerifyFailed:
    with pytest.raises(VerifyFailed) as caught:
        prove_one(folder, name)
    failure = caught.value
    assert failure.exit_code == 3
    assert failure.claim.passed is False
    assert failure.claim.table == name
    assert f"--force --outputs {folder}" in failure.command
    return failure


# ---- the 8-puzzle ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sliding() -> Space:
    return space_of(EIGHT)


@pytest.fixture(scope="module")
def edge_rows(outputs: Path) -> pa.Table:
    return pq.read_table(outputs / "eight_edge.parquet").combine_chunks()


def test_the_8_puzzles_quick_moves_are_those_of_its_rules(sliding: Space) -> None:
    plain = Plain(EIGHT)
    assert plain.states.equals(sliding.states)
    moves = []
    for space in (plain, sliding):
        order = np.lexsort((space.letters, space.sources))
        moves.append(np.stack([space.sources, space.letters, space.targets])[:, order])
    assert np.array_equal(moves[0], moves[1])
    some = np.arange(0, EIGHT.size, 97)
    for goal in EIGHT.layouts.values():
        expected = plain.features(some, goal)
        found = sliding.features(some, goal)
        assert expected.keys() == found.keys()
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
    parity = sliding.parity()
    assert parity is not None
    for rank in (0, 1, 12_345, 362_879):
        state = EIGHT.unrank(rank)
        assert (parity[rank] == parity[EIGHT.rank("123456780")]) == (
            EIGHT.layout_of(state) == "corner"
        )


@pytest.mark.parametrize(
    ("change", "row", "claim"),
    [
        (cell("state", 70, "012345678"), 70, "in notation order"),
        (cell("state", 70, "912345678"), 70, "in notation order"),
        (cell("state", 70, "01234567"), 70, "in notation order"),
        (exchanged(70, 71), 71, "in notation order"),
        (cell("distance", 70, 0), 70, "the distance is 0"),
        (cell("distance", 0, 19), 0, "one move nearer"),
        (cell("distance", 0, 23), 0, "one move nearer"),
        (cell("best_moves", 70, "UDLR"), 70, "best_moves"),
        (cell("best_moves", 70, ""), 70, "best_moves"),
        (cell("solutions", 70, 99), 70, "solutions"),
        (cell("blank", 70, 1), 70, "blank, manhattan, misplaced"),
        (cell("manhattan", 181_439, 1), 181_439, "blank, manhattan, misplaced"),
        (cell("misplaced", 70, 1), 70, "blank, manhattan, misplaced"),
    ],
)
def test_a_false_cell_of_the_8_puzzle_is_found(
    outputs: Path,
    edge_rows: pa.Table,
    sliding: Space,
    change: Callable[[pa.Table], pa.Table],
    row: int,
    claim: str,
) -> None:
    rows = change(edge_rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed, match=claim) as caught:
        GoalTable(one(outputs, "eight_edge"), EIGHT, sliding, Rows(rows)).prove()
    assert caught.value.row == row
    assert caught.value.content["state"] == rows.column("state")[row].as_py()


def test_a_missing_state_is_found(outputs: Path, edge_rows: pa.Table, sliding: Space) -> None:
    """By a neighbour of it: all else about the rows that are left is as it was."""
    rows = without(70)(edge_rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed, match="no state is missing") as caught:
        GoalTable(one(outputs, "eight_edge"), EIGHT, sliding, Rows(rows)).prove()
    missing = edge_rows.column("state")[70].as_py()
    assert missing in caught.value.found  # type: ignore[operator]
    assert caught.value.content["state"] in oracles.eight_neighbours(missing).values()


def test_a_missing_class_and_a_false_goal_are_found(outputs: Path, sliding: Space) -> None:
    listed = one(outputs, "eight")
    rows = pq.read_table(outputs / "eight.parquet")
    corner = rows.filter(pc.equal(rows.column("goal").cast(pa.string()), "corner"))
    both = cells(("goal", EIGHT.rank("123804765"), "corner"))(rows)
    with pytest.raises(VerifyFailed, match="expected goal centre"):
        GoalTable(listed, EIGHT, sliding, Rows(both.combine_chunks().to_batches()[0])).prove()
    with pytest.raises(VerifyFailed, match="a row for 123804765") as caught:
        GoalTable(listed, EIGHT, sliding, Rows(corner.combine_chunks().to_batches()[0])).prove()
    assert caught.value.row is None
    false = cell("goal", 70, {"corner": "centre", "centre": "corner"}[str(rows["goal"][70])])
    batch = false(rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed, match="the same goal") as caught:
        GoalTable(listed, EIGHT, sliding, Rows(batch)).prove()
    near = {70, *(EIGHT.rank(state) for _, state in EIGHT.moves(EIGHT.unrank(70)))}
    assert caught.value.row == min(near)


def test_a_false_cell_in_a_file_that_is_vouched_for(copy: Path) -> None:
    rewrite(copy, "eight_edge", cell("distance", 0, 19))
    assert verify(copy, quick=True)
    failure = refuted(copy, "eight_edge")
    assert failure.row == 0
    assert failure.content["state"] == "012345678"
    assert failure.content["distance"] == 19
    assert failure.command.startswith("pipeline precompute eight --force")
    assert failure.file == str(copy / "eight_edge.parquet")
    assert "012345678" in str(failure)


def test_a_false_record_of_the_8_puzzle_is_found(copy: Path) -> None:
    own(copy / "eight_edge.idx")
    data = bytearray((copy / "eight_edge.idx").read_bytes())
    data[HEADER.size + 2 * 100] ^= 1
    (copy / "eight_edge.idx").write_bytes(data)
    vouch(copy, "eight_edge")
    failure = refuted(copy, "eight_edge")
    assert failure.file == str(copy / "eight_edge.idx")
    assert failure.row == 100


# ---- Senet ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def senet_rows(outputs: Path) -> pa.Table:
    return pq.read_table(outputs / "senet.parquet").combine_chunks()


def null_row(rows: pa.Table) -> int:
    return int(np.flatnonzero(rows.column("plies").is_null().to_numpy())[0])


def other_line(row: dict[str, Any]) -> tuple[str, str]:
    """Another shortest line to a position two plies from the opening."""
    for one_throw, one_start, one_goal, _, between in oracles.senet_successors(
        oracles.SENET_OPENING, "A"
    ):
        for throw, start, goal, swap, after in oracles.senet_successors(between, "B"):
            dice = f"{one_throw}{throw}"
            sign = "x" if oracles.SENET_OPENING[one_goal - 1] == "B" else "-"
            moves = f"{one_start}{sign}{one_goal} {start}{'x' if swap else '-'}{goal}"
            if after == row["position"] and (dice, moves) != (row["dice"], row["moves"]):
                return dice, moves
    raise AssertionError("there is only one")


@pytest.mark.parametrize(
    ("column", "value", "claim"),
    [
        ("position", ".....AAAAABBBBB", "arrangements"),
        ("position", "A", "arrangements"),
        ("position", "AAAAAAAAAAAAAAA", "arrangements"),
        ("plies_even", 2, "least of the predecessors"),
        ("plies_odd", None, "least of the predecessors"),
        ("plies", 15, "the smaller of the two"),
        ("lines", 12, "number of shortest lines"),
        ("lines", None, "number of shortest lines"),
    ],
)
def test_a_false_cell_of_senet_is_found(
    outputs: Path, senet_rows: pa.Table, column: str, value: object, claim: str
) -> None:
    row = 500_000
    rows = cell(column, row, value)(senet_rows)
    batch = rows.combine_chunks().to_batches()[0]
    table = SenetTable(one(outputs, "senet"), Rows(batch))
    with pytest.raises(VerifyFailed, match=claim) as caught:
        table.prove()
    assert caught.value.row == row
    assert caught.value.content == rows.slice(row, 1).to_pylist()[0]


def test_a_value_where_no_line_leads_is_found(outputs: Path, senet_rows: pa.Table) -> None:
    row = null_row(senet_rows)
    rows = cells(("plies_even", row, 8), ("plies", row, 8))(senet_rows)
    table = SenetTable(one(outputs, "senet"), Rows(rows.combine_chunks().to_batches()[0]))
    with pytest.raises(VerifyFailed, match="null where none has a value") as caught:
        table.prove()
    assert caught.value.row == row


@pytest.fixture(scope="module")
def proved_plies(outputs: Path, senet_rows: pa.Table) -> tuple[SenetTable, Any]:
    """The table of Senet, proved up to its lines, with the last move of each."""
    table = SenetTable(one(outputs, "senet"), Rows(senet_rows.to_batches()[0]))
    table._arrangements()
    table._fewest_plies()
    return table, table._lines_and_last_moves()


def refuted_line(proved: tuple[SenetTable, Any], rows: pa.Table) -> VerifyFailed:
    table, last = proved
    true = table._rows
    table._rows = Rows(rows.combine_chunks().to_batches()[0])
    try:
        with pytest.raises(VerifyFailed) as caught:
            table._smallest_lines(last)
    finally:
        table._rows = true
    return caught.value


def test_a_line_that_is_not_the_smallest_is_found(
    senet_rows: pa.Table, proved_plies: tuple[SenetTable, Any]
) -> None:
    two = pc.and_(pc.equal(senet_rows["plies"], 2), pc.greater(senet_rows["lines"], 1))
    row = int(np.flatnonzero(two.fill_null(False).to_numpy())[0])
    dice, moves = other_line(senet_rows.slice(row, 1).to_pylist()[0])
    rows = cells(("dice", row, dice), ("moves", row, moves))(senet_rows)
    failure = refuted_line(proved_plies, rows)
    assert "no other shortest line has smaller dice" in str(failure)
    assert failure.row == row


@pytest.mark.parametrize(
    "damage",
    [
        lambda move: move.replace("-", "x") if "-" in move else move.replace("x", "-"),
        lambda move: f"0{move}",
        lambda move: f"{move} ",
        lambda move: f" {move}",
        lambda move: f"{move} 1-2",
        lambda move: move.partition("-")[0],
        lambda move: "15-16",
        lambda move: "9-9",
        lambda move: "é-9",
        lambda move: "99-99",
    ],
)
def test_moves_that_are_none_are_found(
    senet_rows: pa.Table,
    proved_plies: tuple[SenetTable, Any],
    damage: Callable[[str], str],
) -> None:
    """The last move of one line made another; a second false line farther on is not the first."""
    row = 600_000
    changes = []
    for at in (row, row + 5):
        head, _, last = str(senet_rows["moves"][at]).rpartition(" ")
        changes.append(("moves", at, f"{head} {damage(last)}"))
    # an earlier ply of a later row is looked at first, and must not be named first
    changes.append(("moves", row + 9, "15-1"))
    failure = refuted_line(proved_plies, cells(*changes)(senet_rows))
    assert "are legal" in str(failure)
    assert failure.row == row


@pytest.mark.parametrize(
    ("column", "value"),
    [("dice", "11"), ("dice", None), ("moves", "1-2"), ("moves", ""), ("moves", None)],
)
def test_a_false_line_of_senet_is_found(
    senet_rows: pa.Table, proved_plies: tuple[SenetTable, Any], column: str, value: object
) -> None:
    failure = refuted_line(proved_plies, cell(column, 500_000, value)(senet_rows))
    assert "are legal" in str(failure)
    assert failure.row == 500_000


def test_the_openings_line_is_empty(
    senet_rows: pa.Table, proved_plies: tuple[SenetTable, Any]
) -> None:
    opening = SENET.rank(oracles.SENET_OPENING)
    failure = refuted_line(proved_plies, cell("moves", opening, "1-2")(senet_rows))
    assert failure.row == opening


@pytest.mark.parametrize(("byte", "field"), [(0, "plies_even"), (1, "last_even"), (6, "lines")])
def test_a_false_record_of_senet_is_found(
    copy: Path, proved_plies: tuple[SenetTable, Any], byte: int, field: str
) -> None:
    data = bytearray((copy / "senet.idx").read_bytes())
    data[HEADER.size + 8 * 500_000 + byte] ^= 1
    (copy / "senet.idx").unlink()
    (copy / "senet.idx").write_bytes(data)
    table, last = proved_plies
    listed = table._listed
    table._listed = one(copy, "senet")
    try:
        with pytest.raises(VerifyFailed, match="last move") as caught:
            table._index(last)
    finally:
        table._listed = listed
    assert caught.value.row == 500_000
    assert field in caught.value.content


# ---- the knight -----------------------------------------------------------------------------


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
    assert "every path is a tour" in str(failure)
    assert failure.row == 1000
    assert failure.content["number"] == five["number"][1000].as_py()


def test_two_squares_in_each_others_place_are_found(copy: Path, five: pa.Table) -> None:
    path = str(five["path"][7])
    swapped = path[:10] + path[12:14] + path[10:12] + path[14:]
    rewrite(copy, "knight_tours_5x5", cell("path", 7, swapped))
    assert refuted(copy, "knight_tours_5x5").row == 7


def test_a_path_of_another_length_is_found(copy: Path, five: pa.Table) -> None:
    rewrite(copy, "knight_tours_5x5", cell("path", 7, str(five["path"][7])[:-2]))
    failure = refuted(copy, "knight_tours_5x5")
    assert (failure.row, failure.found) == (7, "48 characters")


@pytest.mark.parametrize(
    ("column", "value"), [("start", "c3"), ("end", "c3"), ("closed", True), ("number", 9)]
)
def test_a_false_cell_beside_a_path_is_found(copy: Path, column: str, value: object) -> None:
    rewrite(copy, "knight_tours_5x5", cell(column, 1000, value))
    failure = refuted(copy, "knight_tours_5x5")
    assert "start, end, closed and number are the path's" in str(failure)
    assert failure.row == 1000


def numbered(rows: pa.Table) -> pa.Table:
    """The rows numbered anew within each start."""
    starts = rows["start"].to_pylist()
    numbers: list[int] = []
    last = None
    for start in starts:
        numbers.append(numbers[-1] + 1 if start == last else 0)
        last = start
    at = rows.column_names.index("number")
    return rows.set_column(at, rows.field(at), pa.array(numbers, pa.uint32()))


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
    assert "strictly ascend" in str(failure)
    assert failure.row == row


def test_a_tour_listed_twice_is_found(copy: Path) -> None:
    def twice(rows: pa.Table) -> pa.Table:
        return numbered(rows.take(np.concatenate([np.arange(500), np.arange(499, len(rows))])))

    rewrite(copy, "knight_tours_5x5", twice)
    assert refuted(copy, "knight_tours_5x5").row == 500


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
    assert "as many tours lead from a square to another as back" in str(failure)


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
    assert "A165134" in str(refuted(copy, "knight_tours_5x5"))


def _names(path: str) -> list[str]:
    return [path[at : at + 2] for at in range(0, len(path), 2)]


def test_a_missing_pair_of_the_chessboard_is_found(copy: Path) -> None:
    rewrite(copy, "knight_tours_8x8", lambda rows: numbered(without(40)(rows)))
    failure = refuted(copy, "knight_tours_8x8")
    assert "every ordered pair" in str(failure)


def test_pairs_out_of_order_are_found(copy: Path, outputs: Path) -> None:
    rewrite(copy, "knight_tours_8x8", lambda rows: numbered(exchanged(40, 41)(rows)))
    failure = refuted(copy, "knight_tours_8x8")
    assert failure.row == 40
    assert (
        failure.content["end"]
        == pq.read_table(outputs / "knight_tours_8x8.parquet")["end"][41].as_py()
    )


def test_a_false_record_of_the_chessboard_is_found(copy: Path) -> None:
    index = own(copy / "knight_tours_8x8.idx")
    data = bytearray(index.read_bytes())
    data[HEADER.size + 64 * 2047 + 63] ^= 1
    index.write_bytes(data)
    vouch(copy, "knight_tours_8x8")
    failure = refuted(copy, "knight_tours_8x8")
    assert failure.row == 2047
    assert len(failure.content["squares"]) == 64  # type: ignore[arg-type]


def refuted_counts(copy: Path) -> VerifyFailed:
    tables = [one(copy, name) for name in ("knight_tours_5x5", "knight_counts")]
    with pytest.raises(VerifyFailed) as caught:
        prove(KNIGHT, tables)
    return caught.value


def count_rows(folder: Path, board: str) -> list[int]:
    boards = pq.read_table(folder / "knight_counts.parquet")["board"].to_pylist()
    return [row for row, found in enumerate(boards) if found == board]


def test_false_counts_are_found(copy: Path, outputs: Path) -> None:
    begin = count_rows(copy, "5x5")[0]
    for change, row, claim in (
        (cell("start", begin + 3, "c1"), begin + 3, "a row for every square"),
        (cell("board", begin + 3, "5x6"), begin + 3, "a row for every square"),
        (cell("tours", begin + 4, 305), begin + 4, "mirrored squares"),
        (cell("closed", begin + 7, 2), begin + 7, "mirrored squares"),
        (cells(*(("tours", begin + at, 300) for at in (0, 4, 20, 24))), begin, "own table lists"),
    ):
        rewrite(copy, "knight_counts", change)
        failure = refuted_counts(copy)
        assert claim in str(failure)
        assert failure.row == row
        (copy / "knight_counts.parquet").unlink()
        (copy / "knight_counts.parquet").symlink_to(outputs / "knight_counts.parquet")


@pytest.mark.parametrize(
    ("boards", "claim"),
    [(("5x6", "6x5"), "A083386"), (("4x5", "5x4"), "A079137"), (("2x3", "3x2"), "totals")],
)
def test_false_totals_are_found(copy: Path, boards: tuple[str, str], claim: str) -> None:
    """Doubled all over a board and the same board on its side: as symmetric as before."""
    tours = pq.read_table(copy / "knight_counts.parquet")["tours"].to_pylist()
    rows = [row for board in boards for row in count_rows(copy, board)]
    rewrite(copy, "knight_counts", cells(*(("tours", row, 2 * tours[row] + 1) for row in rows)))
    assert claim in str(refuted_counts(copy))


def test_false_closed_counts_are_found(copy: Path) -> None:
    """One more everywhere on a board and the same board on its side: as symmetric as before."""
    rows = count_rows(copy, "5x6") + count_rows(copy, "6x5")
    rewrite(copy, "knight_counts", cells(*(("closed", row, 17) for row in rows)))
    failure = refuted_counts(copy)
    assert "A175881" in str(failure)
    assert failure.row == min(rows)


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
    assert "counted again" in str(failure)
    assert failure.content["board"] == "3x4"


class Silent:
    """A build's report to nobody."""

    def table(self, table: Table, reason: str) -> None: ...

    def step(self, doing: str, done: int, total: int | None) -> None: ...

    def built(self, table: Table, entry: dict[str, Any], seconds: float) -> None: ...


def test_boards_that_were_asked_for_are_proved_too(copy: Path) -> None:
    boards = [listed_table(Board(3, 4)), listed_table(Board(3, 3)), listed_table(Board(7, 3))]
    build(Request(copy, [(KNIGHT, tuple(boards))]), Silent())
    for name, rows in (("3x4", 16), ("3x3", 0), ("7x3", 104)):
        listed = one(copy, f"knight_tours_{name}")
        check_files(listed)
        prove(KNIGHT, [listed])
        assert any(f"{rows:,} directed tours" in claim.claim for claim in listed.proved)
        command = f"pipeline precompute knight --board {name} --force --outputs {copy}"
        assert listed.claims().command == command


# ---- files and manifest ---------------------------------------------------------------------

FILES = ["eight.parquet", "eight_edge.idx", "senet.parquet", "senet.idx", "knight_counts.parquet"]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", ["flip", "cut", "grow", "empty", "zero"])
def test_quick_finds_damaged_bytes(copy: Path, file: str, damage: str) -> None:
    path = own(copy / file)
    data = bytearray(path.read_bytes())
    at = len(data) // 3
    if damage == "flip":
        data[at] ^= 0x10
    elif damage == "zero":
        data[at : at + 64] = bytes(64)
    else:
        data = {"cut": data[:-1], "grow": data + b"\0", "empty": data[:0]}[damage]
    path.write_bytes(data)
    with pytest.raises(VerifyFailed, match="size and SHA-256") as caught:
        verify(copy, quick=True)
    failure = caught.value
    assert failure.file == str(path)
    assert failure.row is None
    # such a file is seen to be damaged without being told
    assert "--force" not in failure.command


def test_a_missing_file_is_named(copy: Path) -> None:
    (copy / "senet.idx").unlink()
    with pytest.raises(TableMissing, match=r"senet\.idx") as caught:
        verify(copy, quick=True)
    assert caught.value.command == f"pipeline precompute senet --outputs {copy}"


def test_a_folder_in_place_of_a_file_is_named(copy: Path) -> None:
    (copy / "senet.idx").unlink()
    (copy / "senet.idx").mkdir()
    with pytest.raises(TableError, match=r"senet\.idx"):
        verify(copy, quick=True)


def test_a_table_that_is_not_listed_is_missing(copy: Path) -> None:
    entries = read_manifest(copy)
    del entries["knight_counts"]
    write_manifest(copy, entries)
    with pytest.raises(TableMissing, match="knight_counts") as caught:
        verify(copy, quick=True)
    assert caught.value.command.startswith("pipeline precompute knight")


def test_no_manifest_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(TableMissing, match=r"manifest.json.*Run: pipeline precompute"):
        verify(tmp_path)


def test_a_manifest_that_is_none_is_damaged(copy: Path) -> None:
    for text in (b"", b"[]", b"\xff", b'{"format_version": 1}'):
        (copy / "manifest.json").write_bytes(text)
        with pytest.raises(TableDamaged):
            verify(copy, quick=True)


def test_any_byte_of_the_manifest_counts(copy: Path) -> None:
    data = (copy / "manifest.json").read_bytes()
    for at in range(0, len(data), 41):
        flipped = bytearray(data)
        flipped[at] ^= 1
        (copy / "manifest.json").write_bytes(flipped)
        with pytest.raises(TableError):
            verify(copy, quick=True)


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda data: data[:10], "10 bytes"),
        (lambda data: b"X" + data[1:], "magic"),
        (lambda data: data[:4] + b"\2" + data[5:], "version 2"),
        (lambda data: data[:6] + b"\3" + data[7:], "records of 3 bytes"),
        (lambda data: data[:8] + b"\3" + data[9:], "records"),
        (lambda data: data[:12] + b"E" + data[13:], "name"),
        (lambda data: data[:30] + b"\0" + data[31:], "content hash"),
        (lambda data: data[:-1], "bytes"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), "checksum"),
    ],
)
def test_a_false_index_is_found_quickly(
    copy: Path, edit: Callable[[bytes], bytes], found: str
) -> None:
    """Even where the manifest vouches for it."""
    index = own(copy / "eight.idx")
    data = edit(index.read_bytes())
    index.write_bytes(data)
    entries = read_manifest(copy)
    entries["eight"]["index"].update(bytes=len(data), sha256=sha256(index))
    write_manifest(copy, entries)
    with pytest.raises(VerifyFailed, match=found) as caught:
        verify(copy, quick=True)
    assert caught.value.file == str(index)


Edit = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda entry: entry.update(file="senet.parquet"), "senet.parquet"),
        (lambda entry: entry["index"].update(file="senet.idx"), "senet.idx"),
        (lambda entry: entry["index"].update(records="1"), "a number of records"),
        (lambda entry: entry["index"].pop("records"), "a number of records"),
        (lambda entry: entry.update(index=None), "without an index"),
        (lambda entry: entry.update(bytes=7), "bytes"),
        (lambda entry: entry.update(sha256="0" * 64), "SHA-256"),
        (lambda entry: entry.update(content="0" * 64), "content hash"),
        (lambda entry: entry["index"].update(records=7), "records"),
        (lambda entry: entry["index"].update(sha256="0" * 64), "SHA-256"),
        (lambda entry: entry["index"].update(bytes=7), "bytes"),
    ],
)
def test_a_manifest_that_says_something_else_is_found_quickly(
    copy: Path, edit: Edit, found: str
) -> None:
    entries = read_manifest(copy)
    edit(entries["eight"])
    write_manifest(copy, entries)
    with pytest.raises(VerifyFailed, match=found):
        verify(copy, quick=True)


@pytest.mark.parametrize(
    "edit",
    [
        lambda entry: entry.update(rows=1729),
        lambda entry: entry.update(parameters={}),
        lambda entry: entry["parameters"].update(board="5x6"),
        lambda entry: entry.update(description="0"),
        lambda entry: entry.update(content="0" * 64),
    ],
)
def test_a_manifest_that_says_something_else_is_found(copy: Path, edit: Edit) -> None:
    entries = read_manifest(copy)
    edit(entries["knight_tours_5x5"])
    write_manifest(copy, entries)
    assert verify(copy, quick=True)
    with pytest.raises(VerifyFailed):
        prove_one(copy, "knight_tours_5x5")


def test_another_schema_is_found(copy: Path) -> None:
    path = own(copy / "knight_tours_5x5.parquet")
    rows = pq.read_table(path)
    for other in (
        rows.replace_schema_metadata({**rows.schema.metadata, b"meaning": b"nothing"}),
        rows.cast(pa.schema([*list(rows.schema)[:-1], pa.field("path", pa.large_string(), False)])),
        rows.rename_columns(["from", *rows.column_names[1:]]),
        rows.drop_columns("closed"),
    ):
        pq.write_table(other, path)
        entries = read_manifest(copy)
        size = path.stat().st_size
        entries["knight_tours_5x5"].update(bytes=size, sha256=sha256(path))
        write_manifest(copy, entries)
        assert "schema" in str(refuted(copy, "knight_tours_5x5"))


def test_a_file_that_is_no_parquet_is_found(copy: Path) -> None:
    path = own(copy / "knight_tours_5x5.parquet")
    whole = path.read_bytes()
    half = bytearray(whole)
    half[200:400] = bytes(200)
    for data in (b"nothing", bytes(half)):
        path.write_bytes(data)
        entries = read_manifest(copy)
        entries["knight_tours_5x5"].update(bytes=len(data), sha256=sha256(path))
        write_manifest(copy, entries)
        refuted(copy, "knight_tours_5x5")


def test_a_table_that_no_rule_knows_is_checked_as_a_file(copy: Path) -> None:
    entries = read_manifest(copy)
    shutil.copy(copy / "knight_tours_5x5.parquet", copy / "strange.parquet")
    entries["strange"] = {**entries["knight_tours_5x5"], "file": "strange.parquet"}
    entries["knight_tours_9x9"] = {**entries["strange"], "file": "knight_tours_9x9.parquet"}
    shutil.copy(copy / "strange.parquet", copy / "knight_tours_9x9.parquet")
    write_manifest(copy, entries)
    proved = verify(copy, quick=True)
    for name in ("strange", "knight_tours_9x9"):
        (said,) = [claim.claim for claim in proved if claim.table == name]
        assert "its rows are not proved" in said
    (copy / "strange.parquet").write_bytes(b"")
    with pytest.raises(VerifyFailed, match=r"strange\.parquet"):
        verify(copy, quick=True)


@pytest.mark.parametrize("text", ["\x1b[31m\n", "x"])
def test_hostile_text_is_not_printed_raw(copy: Path, text: str) -> None:
    entries = read_manifest(copy)
    entries["eight"]["file"] = text + "x" * 10_000
    write_manifest(copy, entries)
    with pytest.raises(VerifyFailed) as caught:
        verify(copy, quick=True)
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


# ---- a puzzle that has rules and nothing more -----------------------------------------------


class Pancakes(GoalPuzzle):
    """Five pancakes; a letter says how many are turned over from the left."""

    name = "stack"
    title = "Stack"
    size = 120
    example = "12345"
    layouts = {"sorted": "12345"}  # noqa: RUF012
    letters = "2345"

    def __init__(self) -> None:
        meaning = "Every stack, with its fewest turns"
        self.tables = (self.goal_table("stack", meaning, ("sorted",)),)

    def unrank(self, rank: int) -> str:
        left, state = sorted("12345"), ""
        for weight in (24, 6, 2, 1, 1):
            at, rank = divmod(rank, weight)
            state += left.pop(at)
        return state

    def rank(self, state: str) -> int:
        return next(rank for rank in range(self.size) if self.unrank(rank) == state)

    def parse(self, text: str) -> str:
        return text

    def moves(self, state: str) -> Iterator[tuple[str, str]]:
        for letter in self.letters:
            yield letter, state[int(letter) - 1 :: -1] + state[int(letter) :]


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch, copy: Path) -> Path:
    """A folder where a toy puzzle is published too."""
    toy = Pancakes()
    monkeypatch.setitem(MODULES, "stack", "tests.stack")
    monkeypatch.setitem(sys.modules, "tests.stack", SimpleNamespace(PUZZLE=toy))
    monkeypatch.setitem(TABLES, "stack", toy.tables[0])
    build(Request(copy, [(toy, toy.tables)]), Silent())
    return copy


def test_a_new_puzzle_is_proved_by_its_moves_alone(stack: Path) -> None:
    listed = one(stack, "stack")
    check_files(listed)
    prove(puzzle("stack"), [listed])
    said = [claim.claim for claim in listed.proved]
    assert "every state but the goals has a neighbour one move nearer and none nearer" in said
    assert [claim.rows for claim in listed.proved][-1] == 120


@pytest.mark.parametrize(
    ("column", "value"),
    [("distance", 9), ("best_moves", ""), ("solutions", 99), ("state", "12345")],
)
def test_a_false_cell_of_a_new_puzzle_is_found(stack: Path, column: str, value: object) -> None:
    # a farthest state, so that no other row leans on this one
    distances = pq.read_table(stack / "stack.parquet")["distance"].to_pylist()
    row = distances.index(max(distances))
    rewrite(stack, "stack", cell(column, row, value))
    failure = refuted(stack, "stack")
    assert failure.row == row
    assert failure.command.startswith("pipeline precompute stack --force")


def test_moves_that_cannot_be_undone_are_named(
    stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moves(self: Pancakes, state: str) -> Iterator[tuple[str, str]]:
        if state != "54321":
            yield from true(self, state)

    true = Pancakes.moves
    monkeypatch.setattr(Pancakes, "moves", moves)
    failure = refuted(stack, "stack")
    assert failure.expected == "a move that can be undone"


class Topped(Pancakes):
    """The same with two further columns, of which the rules know one, and without an index."""

    def __init__(self) -> None:
        old = self.goal_table("stack", "Every stack, with its fewest turns", ("sorted",))
        self.tables = (Table("stack", old.meaning, old.rank, old.columns, old.recipe),)

    def columns(self, goals: tuple[str, ...]) -> tuple[Column, ...]:
        more = Column("top", "uint8", "the first pancake"), Column("taste", "uint8", "of them")
        return (*super().columns(goals), *more)

    def features(self, state: str, goal: str) -> dict[str, int]:
        return {"top": int(state[0])}


def test_further_columns_are_proved_as_far_as_the_rules_know_them(stack: Path) -> None:
    toy = Topped()
    rows = pq.read_table(stack / "stack.parquet")
    tops = pa.array([int(state[0]) for state in rows["state"].to_pylist()], pa.uint8())
    rows = rows.append_column("top", tops).append_column("taste", tops)
    listed = replace(one(stack, "stack"), puzzle=toy, table=toy.tables[0])
    for column, value in (("top", 9), ("taste", 9)):
        batch = cell(column, 70, value)(rows).combine_chunks().to_batches()[0]
        table = GoalTable(listed, toy, space_of(toy), Rows(batch))
        if column == "top":
            with pytest.raises(VerifyFailed, match="top 9") as caught:
                table.prove()
            assert caught.value.row == 70
        else:
            table.prove()
            assert "taste: not proved" in listed.proved[-1].claim


class Bare(StateSpace):
    """A space of states that no proof knows."""

    name = "bare"
    title = "Bare"
    size = 1
    tables = (Pancakes().tables[0],)


def test_a_puzzle_without_a_proof_says_so(stack: Path) -> None:
    listed = one(stack, "stack")
    prove(Bare(), [listed])
    assert "not proved" in listed.proved[-1].claim


def test_claims_and_failures_can_be_written_as_json(copy: Path) -> None:
    claims = [asdict(claim) for claim in verify(copy, quick=True)]
    assert json.loads(json.dumps(claims))[0]["table"] == "manifest"
    assert set(claims[0]) == {"table", "file", "claim", "rows", "passed"}
    rewrite(copy, "knight_tours_5x5", cell("closed", 7, True))
    said = json.loads(json.dumps(refuted(copy, "knight_tours_5x5").facts()))
    assert said["file"] == "knight_tours_5x5.parquet"
    assert said["row"] == 7
    assert said["content"]["closed"] is True
    assert (said["found"], said["expected"]) == ("closed True", "False")
