"""`verify` proves sliding boards, and finds every kind of false value about them."""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.build import build
from pipeline.build_request import Request
from pipeline.verify import VerifyFailed, prove
from pipeline.verify.claims import Claim, ClaimCheck, ListedTable, Listener, ignore_claim
from pipeline.verify.index_records import iter_records
from pipeline.verify.manifest_checks import check_files
from pipeline.verify.sliding import proof, references
from tablebase.puzzles import sliding as sliding
from tablebase.puzzles.sliding import PUZZLE
from tablebase.tables.manifest import list_parameters, read_manifest
from tablebase.tables.parquet import ContentHash, TableWriter
from tablebase.tables.store import Folder
from tests.published.test_sliding import Quiet
from tests.support.sliding_tables import make_indexes_alone
from tests.support.tampered import (
    Story,
    change_header,
    describe_file,
    edit_manifest,
    place,
    reseal,
    sha256,
)

NAME = "sliding_2x3_6"


def prove_boards(folder: Path, story: Listener = ignore_claim) -> list[Claim]:
    """Prove all boards that are published."""
    store, claims = Folder(folder), list[Claim]()
    entries = read_manifest(store)

    def on_claim(claim: Claim, done: int) -> None:
        claims.extend([claim] if claim.passed else [])
        story(claim, done)

    listed = [
        ListedTable(store, table.name, entries[table.name], PUZZLE, table, on_claim)
        for table in PUZZLE.list_published(list_parameters(entries))
    ]
    for one in listed:
        check_files(one)
    prove(listed)
    return claims


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    build(
        Request(Folder(tmp_path), [(PUZZLE, PUZZLE.find_tables("sliding_2x3"))]),
        Quiet(),
    )
    return tmp_path


@pytest.fixture
def index_alone(tmp_path: Path) -> Path:
    """Return a folder of boards that have only indexes."""
    build(Request(Folder(tmp_path), [(PUZZLE, tuple(make_indexes_alone("2x3")))]), Quiet())
    return tmp_path


def vouch(folder: Path) -> None:
    """Make the manifest and the index's header agree with the changed files."""
    beside = list_parameters(read_manifest(Folder(folder)))
    (table,) = [table for table in PUZZLE.list_published(beside) if table.name == NAME]
    content = ContentHash(table.columns or table.list_fields())
    index = folder / f"{NAME}.idx"
    with edit_manifest(folder) as entries:
        entry = entries[NAME]
        if table.columns:
            rows = pq.read_table(folder / table.file)
            for batch in rows.to_batches():
                content.update(batch)
            entry["parquet"] = describe_file(folder / table.file)
            entry["rows"] = rows.num_rows
        else:
            data = index.read_bytes()
            records = np.frombuffer(data, np.uint8)[4096 : 4096 + 360].astype(np.int16)
            content.update(pa.record_batch({"distance": records}))
        entry["content"] = content.hexdigest()
        data = change_header(index.read_bytes(), content=bytes.fromhex(entry["content"]))
        index.write_bytes(data)
        entry["index"] |= {"bytes": len(data), "sha256": sha256(index)}


def write_record(folder: Path, rank: int, distance: int) -> None:
    data = bytearray((folder / f"{NAME}.idx").read_bytes())
    data[place(data, rank)] = distance
    (folder / f"{NAME}.idx").write_bytes(reseal(data))
    vouch(folder)


def build_small_board() -> str:
    """Return hashes of a board's files, its proof's claims, and the error of a false record."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        build(
            Request(Folder(folder), [(PUZZLE, PUZZLE.find_tables("sliding_2x3"))]),
            Quiet(),
        )
        hashes = [sha256(file) for file in sorted(folder.glob("sliding*"))]
        claimed = [[claim.table, claim.file, claim.claim] for claim in prove_boards(folder)]
        write_record(folder, 100, 19)
        with pytest.raises(VerifyFailed) as reported:
            prove_boards(folder)
        return json.dumps([hashes, claimed, str(reported.value).replace(place, "")], indent=1)


def test_boards_are_proved(folder: Path, golden: Callable[[str, str], None]) -> None:
    story = Story()
    claims = [claim for claim in prove_boards(folder, story) if claim.table == NAME]
    golden("claims_sliding", "".join(story))
    assert all(claim.passed for claim in claims)
    assert len({(claim.file, claim.claim) for claim in claims}) == len(claims) == 13


@pytest.mark.parametrize("board", ["2x2", "2x4", "3x3"])
def test_boards_of_other_shapes_are_proved(board: str, tmp_path: Path) -> None:
    build(
        Request(Folder(tmp_path), [(PUZZLE, PUZZLE.find_tables(f"sliding_{board}"))]),
        Quiet(),
    )
    assert prove_boards(tmp_path)


def test_an_index_alone_is_proved(index_alone: Path) -> None:
    assert all(claim.file == f"{claim.table}.idx" for claim in prove_boards(index_alone))


def test_every_wrong_record_is_detected(index_alone: Path) -> None:
    right = (index_alone / f"{NAME}.idx").read_bytes()
    manifest = (index_alone / "manifest.json").read_bytes()
    for rank in (0, 100, 359):
        distance = right[place(right, rank)]
        for wrong in (distance + 2, abs(distance - 2), distance + 1, 0, 255):
            if wrong == distance:
                continue
            write_record(index_alone, rank, wrong)
            with pytest.raises(VerifyFailed) as reported:
                prove_boards(index_alone)
            assert reported.value.row is not None or "distance" in str(reported.value)
            (index_alone / f"{NAME}.idx").write_bytes(right)
            (index_alone / "manifest.json").write_bytes(manifest)
    assert prove_boards(index_alone)


def test_a_wrong_record_is_named_with_its_state(index_alone: Path) -> None:
    right = (index_alone / f"{NAME}.idx").read_bytes()
    state, distance = sliding.parse_board("2x3").unrank(0, "123450"), right[place(right, 0)]
    nearest = f"its nearest neighbour at {distance - 1}"
    for wrong, result, expected in (
        (0, "distance 0", "a distance above 0"),
        (distance + 2, nearest, f"one at {distance + 1} and none nearer"),
    ):
        write_record(index_alone, 0, wrong)
        with pytest.raises(VerifyFailed) as reported:
            prove_boards(index_alone)
        assert (reported.value.row, reported.value.found, reported.value.expected) == (
            0,
            result,
            expected,
        )
        assert reported.value.content == {"state": state, "distance": wrong}


def split_records(monkeypatch: pytest.MonkeyPatch, name: str, rank: int | None = None) -> None:
    """Split a table's records into two chunks, optionally with a false 0 in the first."""

    def changed(listed: ListedTable, check: ClaimCheck) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        for begin, given in iter_unchanged(listed, check):
            result, middle = given.copy(), len(given) // 2
            if rank is not None and listed.name == name:
                result["distance"][rank] = 0
            yield begin, result[:middle]
            yield begin + middle, result[middle:]

    iter_unchanged = iter_records
    monkeypatch.setattr(proof, "iter_records", changed)


def test_records_may_come_in_chunks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split_records(monkeypatch, NAME)
    assert prove_boards(folder)


@pytest.mark.parametrize("goal", ["123450", "123405"])
def test_false_records_of_any_goal_and_chunk_are_detected(
    folder: Path, goal: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(
        Request(
            Folder(folder),
            [(PUZZLE, PUZZLE.find_tables("sliding_2x3_all"))],
        ),
        Quiet(),
    )
    split_records(monkeypatch, f"sliding_2x3_{goal.index('0') + 1}", 100)
    with pytest.raises(VerifyFailed) as reported:
        prove_boards(folder)
    state = sliding.parse_board("2x3").unrank(100, goal)
    assert (reported.value.row, reported.value.content) == (100, {"state": state, "distance": 0})


def test_records_of_another_board_are_detected(folder: Path) -> None:
    store, (table, *_) = Folder(folder), PUZZLE.find_tables("sliding_2x3")
    listed = ListedTable(store, NAME, read_manifest(store)[NAME], PUZZLE, table, ignore_claim)
    with pytest.raises(VerifyFailed) as reported:
        proof.Distances(listed, sliding.parse_board("2x4"), "12345670").prove()
    assert (reported.value.found, reported.value.expected) == ("records 360", 20160)


def test_progress_is_reported_by_chunk(index_alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: dict[str, list[int]] = {}

    def on_claim(claim: Claim, done: int) -> None:
        if claim.table == NAME:
            reported.setdefault(claim.claim, []).append(done)

    monkeypatch.setattr(proof, "CHUNK_ORDERS", 25)
    prove_boards(index_alone, on_claim)
    text = "every state except the goal has a neighbour one move nearer, and none still nearer"
    assert reported[text] == [0, 150, 300, 360, 360]


def test_consistent_distances_must_be_zero_at_the_goal(
    index_alone: Path,
) -> None:
    data = bytearray((index_alone / f"{NAME}.idx").read_bytes())
    begin = place(data, 0)
    data[begin : begin + 360] = bytes(value + 2 for value in data[begin : begin + 360])
    (index_alone / f"{NAME}.idx").write_bytes(reseal(data))
    vouch(index_alone)
    with pytest.raises(VerifyFailed, match="the distance is 0 only at 123450") as reported:
        prove_boards(index_alone)
    assert (reported.value.found, reported.value.expected) == ("distance of 123450: 2", 0)


def test_a_layer_size_differing_from_the_published_one_is_detected(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(references.LAYERS, NAME, references.LAYERS[NAME].replace(" 44", " 45"))
    with pytest.raises(VerifyFailed, match="OEIS A090034") as reported:
        prove_boards(folder)
    assert reported.value.found == "states at distance 14: 44"


def test_states_farther_than_published_are_detected(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(references.FARTHEST, "2x3", 20)
    with pytest.raises(VerifyFailed, match="OEIS A151944") as reported:
        prove_boards(folder)
    assert (reported.value.found, reported.value.expected) == ("moves 21", 20)


def test_the_content_hash_is_computed_from_the_records(index_alone: Path) -> None:
    index = index_alone / f"{NAME}.idx"
    index.write_bytes(change_header(index.read_bytes(), content=bytes(32)))
    with edit_manifest(index_alone) as entries:
        entries[NAME]["content"] = "0" * 64
        entries[NAME]["index"]["sha256"] = sha256(index)
    with pytest.raises(VerifyFailed) as reported:
        prove_boards(index_alone)
    assert str(reported.value.found).startswith("content hash ")
    assert reported.value.expected == "0" * 64


def change_column(
    column: str, change: Callable[[list[object]], None]
) -> Callable[[pa.Table], pa.Table]:
    def edit(rows: pa.Table) -> pa.Table:
        values = rows[column].to_pylist()
        change(values)
        at = rows.schema.get_field_index(column)
        array = pa.array(values).cast(rows.schema.field(at).type)
        return rows.set_column(at, rows.schema.field(at), array)

    return edit


def swap(values: list[object]) -> None:
    values[7], values[8] = values[8], values[7]


def set_value(row: int, value: object) -> Callable[[list[object]], None]:
    def change(values: list[object]) -> None:
        assert values[row] != value
        values[row] = value

    return change


@pytest.mark.parametrize(
    ("edit", "column", "row"),
    [
        (change_column("state", swap), "state", 7),
        (change_column("state", set_value(12, "12345")), "state", 12),
        (change_column("distance", set_value(100, 3)), "distance", 100),
        (change_column("best_moves", set_value(11, "UDLR")), "best_moves", 11),
        (change_column("best_moves", set_value(359, "")), "best_moves", 359),
        (change_column("manhattan", set_value(5, 0)), "manhattan", 5),
        (change_column("goal", set_value(9, "123405")), "goal", 9),
    ],
)
def test_a_wrong_row_is_detected(
    folder: Path, edit: Callable[[pa.Table], pa.Table], column: str, row: int
) -> None:
    path = folder / f"{NAME}.parquet"
    rows = edit(pq.read_table(path))
    (table,) = [one for one in PUZZLE.find_tables("sliding_2x3") if one.name == NAME]
    with path.open("wb") as file, TableWriter(file, table) as writer:
        columns = {name: rows[name].to_numpy() for name in rows.column_names if name != "goal"}
        texts = {name: columns[name].astype("S") for name in ("state", "best_moves")}
        goals = [[*table.columns[1].values].index(goal) for goal in rows["goal"].to_pylist()]
        writer.write({**columns, **texts, "goal": np.array(goals)})
    vouch(folder)
    with pytest.raises(VerifyFailed) as reported:
        prove_boards(folder)
    assert reported.value.row == row
    assert str(reported.value.found).startswith(column)
    assert json.dumps(reported.value.to_dict())


def test_a_missing_row_is_detected(folder: Path) -> None:
    path = folder / f"{NAME}.parquet"
    pq.write_table(pq.read_table(path).slice(0, 359), path)
    vouch(folder)
    with pytest.raises(VerifyFailed, match="every row is its rank") as reported:
        prove_boards(folder)
    assert (reported.value.found, reported.value.expected) == ("rows 359", 360)
