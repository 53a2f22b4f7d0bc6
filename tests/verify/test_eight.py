"""`verify` finds every kind of untruth about the 8-puzzle, and names its row."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pipeline.verify import VerifyFailed, verify
from pipeline.verify.claims import Rows
from pipeline.verify.eight.states import Sliding
from pipeline.verify.goals import Solved
from pipeline.verify.states import Plain, Space
from tablebase.puzzles.eight import PUZZLE as EIGHT
from tablebase.tables.store import Folder
from tests.support import oracles
from tests.support.falsified import (
    cell,
    cells,
    exchanged,
    one,
    own,
    place,
    refuted,
    rewrite,
    sealed,
    vouch,
    without,
)


@pytest.fixture(scope="module")
def sliding() -> Space:
    return Sliding(EIGHT)


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
        Solved(one(outputs, "eight_edge"), EIGHT, sliding, Rows(rows)).prove()
    assert caught.value.row == row
    assert caught.value.content["state"] == rows.column("state")[row].as_py()


def test_a_missing_state_is_found(outputs: Path, edge_rows: pa.Table, sliding: Space) -> None:
    """By a neighbour of it: all else about the rows that are left is as it was."""
    rows = without(70)(edge_rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed, match="no state is missing") as caught:
        Solved(one(outputs, "eight_edge"), EIGHT, sliding, Rows(rows)).prove()
    missing = edge_rows.column("state")[70].as_py()
    assert missing in caught.value.found  # type: ignore[operator]
    assert caught.value.content["state"] in oracles.eight_neighbours(missing).values()


def test_a_missing_class_and_a_false_goal_are_found(outputs: Path, sliding: Space) -> None:
    listed = one(outputs, "eight")
    rows = pq.read_table(outputs / "eight.parquet")
    corner = rows.filter(pc.equal(rows.column("goal").cast(pa.string()), "corner"))
    both = cells(("goal", EIGHT.rank("123804765"), "corner"))(rows)
    with pytest.raises(VerifyFailed, match="expected goal centre"):
        Solved(listed, EIGHT, sliding, Rows(both.combine_chunks().to_batches()[0])).prove()
    with pytest.raises(VerifyFailed, match="a row for 123804765") as caught:
        Solved(listed, EIGHT, sliding, Rows(corner.combine_chunks().to_batches()[0])).prove()
    assert caught.value.row is None
    false = cell("goal", 70, {"corner": "centre", "centre": "corner"}[str(rows["goal"][70])])
    batch = false(rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed, match="the same goal") as caught:
        Solved(listed, EIGHT, sliding, Rows(batch)).prove()
    near = {70, *(EIGHT.rank(state) for _, state in EIGHT.moves(EIGHT.unrank(70)))}
    assert caught.value.row == min(near)


def test_a_false_cell_in_a_file_that_is_vouched_for(copy: Path) -> None:
    rewrite(copy, "eight_edge", cell("distance", 0, 19))
    assert verify(Folder(copy), quick=True)
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
    data[place(data, 100)] ^= 1
    (copy / "eight_edge.idx").write_bytes(sealed(data))
    vouch(copy, "eight_edge")
    failure = refuted(copy, "eight_edge")
    assert failure.file == str(copy / "eight_edge.idx")
    assert failure.row == 100
