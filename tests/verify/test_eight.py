"""`verify` finds every kind of false value about the 8-puzzle, and names its row."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from itertools import permutations
from math import factorial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pipeline.verify import VerifyFailed, verify
from pipeline.verify.claims import Rows, find_places
from pipeline.verify.eight.space import make_eight_space
from pipeline.verify.goal_proof import Space, _prove_features, prove_rows
from tablebase.puzzles.eight import PUZZLE as EIGHT
from tablebase.tables.store import Folder
from tests.support import oracles
from tests.support.tampered import (
    cell,
    cells,
    exchange_rows,
    get_refutation,
    open_one,
    place,
    replace_link,
    reseal,
    rewrite,
    vouch,
    without,
)


@pytest.fixture(scope="module")
def sliding_table() -> Space:
    return make_eight_space(EIGHT)


@pytest.fixture(scope="module")
def edge_rows(outputs: Path) -> pa.Table:
    return pq.read_table(outputs / "eight_edge.parquet").combine_chunks()


def test_the_8_puzzles_vectorized_moves_follow_the_rules(sliding_table: Space) -> None:
    """Compare every state, and every move of each, with the written rules."""
    states = sliding_table.states.to_pylist()
    assert states == ["".join(digits) for digits in permutations("012345678")]
    digits = np.frombuffer("".join(states).encode(), np.uint8).reshape(-1, 9)
    steps = [oracles.BLANK_STEPS[letter] for letter in EIGHT.letters]
    rows, blanks = (
        np.arange(len(sliding_table.sources)),
        np.argmin(digits, axis=1)[sliding_table.sources],
    )
    others = blanks + np.array([3 * down + right for down, right in steps])[sliding_table.letters]
    after = digits[sliding_table.sources]
    after[rows, blanks], after[rows, others] = after[rows, others], after[rows, blanks]
    assert np.array_equal(after, digits[sliding_table.targets])
    ways = np.zeros((9, len(steps)), dtype=np.int64)
    np.add.at(ways, (blanks, sliding_table.letters), 1)
    for blank, result in enumerate(ways.tolist()):
        legal = oracles.eight_neighbours("12345678"[:blank] + "0" + "12345678"[blank:])
        assert result == [factorial(8) * (letter in legal) for letter in EIGHT.letters]
    parity = sliding_table.parity
    assert parity is not None
    assert np.array_equal(parity[sliding_table.sources], parity[sliding_table.targets])
    assert parity.sum() * 2 == len(parity) == factorial(9)
    assert parity[EIGHT.rank("123456780")] == 0


@pytest.mark.parametrize("goal", EIGHT.layouts.values())
def test_the_8_puzzles_columns_follow_the_rules(sliding_table: Space, goal: str) -> None:
    ranks = np.arange(0, EIGHT.size, 397)
    result = {name: values.tolist() for name, values in sliding_table.features(ranks, goal).items()}
    states = [EIGHT.unrank(rank) for rank in ranks.tolist()]
    assert result == {
        "blank": [state.index("0") for state in states],
        "manhattan": [oracles.eight_manhattan(state, goal) for state in states],
        "misplaced": [oracles.count_eight_misplaced(state, goal) for state in states],
        "rank": ranks.tolist(),
    }


ORDER = "the rows are different states of the 8-puzzle, in notation order"
NEARER = "each non-goal state's nearest neighbour is exactly one move nearer"
BEST = "best_moves are exactly the moves to those neighbours"
SUM = "solutions is the sum of those neighbours' solutions, and 1 at a goal"
AGAIN = "blank, manhattan, misplaced, rank: equal to the values computed again from state and goal"


@pytest.mark.parametrize(
    ("change", "row", "claim", "message"),
    [
        (cell("state", 70, "012345678"), 70, ORDER, "012345678 | a state after the one before it"),
        (cell("state", 70, "912345678"), 70, ORDER, "912345678 | a state"),
        (cell("state", 70, "01234567"), 70, ORDER, "01234567 | a state"),
        (cell("goal", 70, "corner"), 70, ORDER, "goal corner | goal edge"),
        (exchange_rows(70, 71), 71, ORDER, "0* | a state after the one before it"),
        (
            cell("distance", 70, 0),
            70,
            "the distance is 0 only at edge (123456708)",
            "distance is 0: True | False",
        ),
        (cell("distance", 0, 19), 0, NEARER, "nearest neighbour's distance 20 | 18"),
        (cell("distance", 0, 23), 0, NEARER, "nearest neighbour's distance 20 | 22"),
        (cell("best_moves", 70, "UDLR"), 70, BEST, "best_moves UDLR | [DR]*"),
        (cell("best_moves", 70, ""), 70, BEST, "best_moves  | [DR]*"),
        (cell("solutions", 70, 99), 70, SUM, "solutions 99 | *"),
        (cell("blank", 70, 1), 70, AGAIN, "blank 1 | 0"),
        (cell("manhattan", 181_439, 1), 181_439, AGAIN, "manhattan 1 | *"),
        (cell("rank", 70, 70), 70, AGAIN, "rank 70 | 1[0-9][0-9]"),
        (cell("misplaced", 70, 1), 70, AGAIN, "misplaced 1 | [2-8]"),
    ],
)
def test_a_false_cell_of_the_8_puzzle_is_detected(
    outputs: Path,
    edge_rows: pa.Table,
    sliding_table: Space,
    change: Callable[[pa.Table], pa.Table],
    row: int,
    claim: str,
    message: str,
) -> None:
    rows = change(edge_rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed) as caught:
        prove_rows(open_one(outputs, "eight_edge"), EIGHT, sliding_table, Rows(rows))
    failure = caught.value
    assert (failure.row, failure.claim.claim) == (row, claim)
    assert fnmatchcase(f"{failure.found} | {failure.expected}", message)
    assert failure.content["state"] == rows.column("state")[row].as_py()


def test_negative_distances_are_detected(
    outputs: Path, edge_rows: pa.Table, sliding_table: Space
) -> None:
    """Give only the goal a 0, so that no state is farther than its neighbours."""
    distance = pc.if_else(pc.equal(edge_rows["distance"], 0), 0, -1).cast(pa.int8())
    at = edge_rows.column_names.index("distance")
    rows = edge_rows.set_column(at, edge_rows.field(at), distance)
    with pytest.raises(VerifyFailed) as caught:
        prove_rows(
            open_one(outputs, "eight_edge"),
            EIGHT,
            sliding_table,
            Rows(rows.combine_chunks().to_batches()[0]),
        )
    failure = caught.value
    assert (failure.row, failure.claim.claim) == (0, NEARER)
    assert (failure.found, failure.expected) == ("nearest neighbour's distance -1", "-2")


@pytest.mark.parametrize("row", [0, 70])
def test_a_missing_state_is_detected(
    outputs: Path, edge_rows: pa.Table, sliding_table: Space, row: int
) -> None:
    """Find the missing state through its neighbour; the other rows are unchanged."""
    rows = without(row)(edge_rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed) as caught:
        prove_rows(open_one(outputs, "eight_edge"), EIGHT, sliding_table, Rows(rows))
    missing = edge_rows.column("state")[row].as_py()
    assert caught.value.found in [f"move {letter} to {missing}" for letter in "UDLR"]
    assert caught.value.expected == "a row with the goal edge"
    assert caught.value.content["state"] in oracles.eight_neighbours(missing).values()


def test_a_missing_class_and_a_false_goal_are_detected(outputs: Path, sliding_table: Space) -> None:
    listed = open_one(outputs, "eight")
    rows = pq.read_table(outputs / "eight.parquet")
    corner = rows.filter(pc.equal(rows.column("goal").cast(pa.string()), "corner"))
    two_corners = cells(("goal", EIGHT.rank("123804765"), "corner"))(rows)
    with pytest.raises(VerifyFailed, match="found goal corner, expected centre"):
        prove_rows(listed, EIGHT, sliding_table, Rows(two_corners.combine_chunks().to_batches()[0]))
    with pytest.raises(VerifyFailed, match="found no row, expected a row for 123804765") as caught:
        prove_rows(listed, EIGHT, sliding_table, Rows(corner.combine_chunks().to_batches()[0]))
    assert caught.value.row is None
    text = "the distance is 0 only at corner (123456780), centre (123804765)"
    assert caught.value.claim.claim == text
    third = cell("goal", 70, "edge")(rows).combine_chunks().to_batches()[0]
    with pytest.raises(VerifyFailed, match="found goal edge, expected goal corner or centre"):
        prove_rows(listed, EIGHT, sliding_table, Rows(third))
    false = cell("goal", 70, {"corner": "centre", "centre": "corner"}[str(rows["goal"][70])])
    batch = false(rows).combine_chunks().to_batches()[0]
    with pytest.raises(
        VerifyFailed, match=r"found move [UDLR] to \d{9}, expected a row with"
    ) as caught:
        prove_rows(listed, EIGHT, sliding_table, Rows(batch))
    near = {70, *(EIGHT.rank(state) for _, state in EIGHT.moves(EIGHT.unrank(70)))}
    assert caught.value.row == min(near)


def test_further_columns_are_checked_for_each_rows_goal(
    outputs: Path, sliding_table: Space
) -> None:
    ranks = np.arange(0, EIGHT.size, 397)
    rows = pq.read_table(outputs / "eight.parquet").take(ranks)
    goals = find_places(rows["goal"].combine_chunks(), ("corner", "centre"))
    assert {*goals[:9].tolist()} == {0, 1}
    for row in range(9):
        away = rows["manhattan"][row].as_py()
        for false in (away, away + 1):
            batch = cell("manhattan", row, false)(rows).combine_chunks().to_batches()[0]
            proof = open_one(outputs, "eight"), sliding_table, Rows(batch), ranks, goals
            if false == away:
                _prove_features(*proof, [*EIGHT.layouts.values()][:2])
                continue
            with pytest.raises(VerifyFailed) as caught:
                _prove_features(*proof, [*EIGHT.layouts.values()][:2])
            assert (caught.value.row, caught.value.found) == (row, f"manhattan {false}")


def test_a_false_cell_in_a_listed_file_is_detected(copy: Path) -> None:
    rewrite(copy, "eight_edge", cell("distance", 0, 19))
    assert verify(Folder(copy), quick=True).claims
    failure = get_refutation(copy, "eight_edge")
    assert failure.row == 0
    assert failure.content["state"] == "012345678"
    assert failure.content["distance"] == 19
    assert failure.command.startswith("pipeline precompute eight_edge --force")
    assert failure.file == str(copy / "eight_edge.parquet")
    assert "012345678" in str(failure)


def test_a_false_record_of_the_8_puzzle_is_detected(copy: Path) -> None:
    replace_link(copy / "eight_edge.idx")
    data = bytearray((copy / "eight_edge.idx").read_bytes())
    data[place(data, 100)] ^= 1
    (copy / "eight_edge.idx").write_bytes(reseal(data))
    vouch(copy, "eight_edge")
    failure = get_refutation(copy, "eight_edge")
    true = pq.read_table(copy / "eight_edge.parquet").filter(pc.field("state") == EIGHT.unrank(100))
    distance = true["distance"][0].as_py() if true else 255
    assert (failure.file, failure.row) == (str(copy / "eight_edge.idx"), 100)
    assert (failure.found, failure.expected) == (f"distance {distance ^ 1}", distance)
