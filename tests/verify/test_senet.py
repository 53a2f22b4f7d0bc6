"""`verify` finds every kind of untruth about Senet, and names its row."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pipeline.verify import VerifyFailed
from pipeline.verify.claims import Rows
from pipeline.verify.listed import Listed
from pipeline.verify.senet.proof import (
    Positions,
    prove_index,
    prove_lines,
    prove_plies,
    prove_positions,
)
from tablebase.graph import Walk
from tablebase.puzzles.senet import PUZZLE as SENET
from tests import first
from tests.support import oracles
from tests.support.falsified import cell, cells, one, place, sealed, without


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


Proof = Callable[[Listed, Rows], object]


@pytest.fixture(scope="module")
def listed(outputs: Path) -> Listed:
    return one(outputs, "senet")


@pytest.fixture(scope="module")
def positions(listed: Listed, senet_rows: pa.Table) -> Positions:
    return prove_positions(listed, Rows(senet_rows.to_batches()[0]))


@pytest.fixture(scope="module")
def walk(listed: Listed, senet_rows: pa.Table, positions: Positions) -> Walk:
    return prove_plies(listed, Rows(senet_rows.to_batches()[0]), positions)


def failed(proof: Proof, listed: Listed, rows: pa.Table) -> VerifyFailed:
    """How a part of the proof fails; what it stands on is proved of the true rows."""
    with pytest.raises(VerifyFailed) as caught:
        proof(listed, Rows(rows.combine_chunks().to_batches()[0]))
    return caught.value


FIVES = "15 squares: five A, five B and five empty"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (".....AAAAABBBBB", ".....AAAAABBBBB | a position after the one before it"),
        ("A", "length of position 1 | 15"),
        ("AAAAAAAAAAAAAAA", f"AAAAAAAAAAAAAAA | {FIVES}"),
    ],
)
def test_a_false_position_is_found(
    listed: Listed, senet_rows: pa.Table, value: str, said: str
) -> None:
    failure = failed(prove_positions, listed, cell("position", 500_000, value)(senet_rows))
    assert (failure.row, f"{failure.found} | {failure.expected}") == (500_000, said)


def test_a_missing_position_is_found(listed: Listed, senet_rows: pa.Table) -> None:
    failure = failed(prove_positions, listed, without(500_000)(senet_rows))
    assert (failure.found, failure.expected) == ("rows 756755", 756_756)


@pytest.mark.parametrize(
    ("column", "value"), first(1, [("plies_even", 2), ("plies_odd", None), ("plies", 15)])
)
def test_false_plies_are_found(
    listed: Listed, senet_rows: pa.Table, positions: Positions, column: str, value: object
) -> None:
    row = 500_000
    rows = cell(column, row, value)(senet_rows)

    def proof(listed: Listed, rows: Rows) -> None:
        prove_plies(listed, rows, positions)

    failure = failed(proof, listed, rows)
    assert (failure.row, failure.found) == (row, f"{column} {value}")
    assert failure.expected == str(senet_rows[column][row])
    assert failure.content == rows.slice(row, 1).to_pylist()[0]


def test_a_value_where_no_line_leads_is_found(
    listed: Listed, senet_rows: pa.Table, positions: Positions
) -> None:
    row = null_row(senet_rows)
    rows = cells(("plies_even", row, 8), ("plies", row, 8))(senet_rows)

    def proof(listed: Listed, rows: Rows) -> None:
        prove_plies(listed, rows, positions)

    failure = failed(proof, listed, rows)
    assert (failure.row, failure.found, failure.expected) == (row, "plies_even 8", "None")


@pytest.mark.parametrize("value", [12, None])
def test_a_false_number_of_lines_is_found(
    listed: Listed, senet_rows: pa.Table, positions: Positions, walk: Walk, value: object
) -> None:
    def proof(listed: Listed, rows: Rows) -> None:
        prove_lines(listed, rows, positions, walk)

    failure = failed(proof, listed, cell("lines", 500_000, value)(senet_rows))
    assert (failure.row, failure.found) == (500_000, f"lines {value}")
    assert failure.expected == str(senet_rows["lines"][500_000])


@pytest.fixture
def refuted_line(
    listed: Listed, positions: Positions, walk: Walk
) -> Callable[[pa.Table], VerifyFailed]:
    def proof(listed: Listed, rows: Rows) -> None:
        prove_lines(listed, rows, positions, walk)

    return lambda rows: failed(proof, listed, rows)


def test_a_line_that_is_not_the_smallest_is_found(
    senet_rows: pa.Table, refuted_line: Callable[[pa.Table], VerifyFailed]
) -> None:
    two = pc.and_(pc.equal(senet_rows["plies"], 2), pc.greater(senet_rows["lines"], 1))
    row = int(np.flatnonzero(two.fill_null(False).to_numpy())[0])
    dice, moves = other_line(senet_rows.slice(row, 1).to_pylist()[0])
    rows = cells(("dice", row, dice), ("moves", row, moves))(senet_rows)
    failure = refuted_line(rows)
    true = senet_rows.slice(row, 1).to_pylist()[0]
    column, value = ("dice", dice) if dice != true["dice"] else ("moves", moves)
    assert (failure.row, failure.found) == (row, f"{column} {value}")
    assert failure.expected == true[column]


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
    refuted_line: Callable[[pa.Table], VerifyFailed],
    damage: Callable[[str], str],
) -> None:
    """The last move of one line made another; of several false lines the first row is named."""
    row = 600_000
    changes = []
    for at in (row, row + 5):
        head, _, last = str(senet_rows["moves"][at]).rpartition(" ")
        changes.append(("moves", at, f"{head} {damage(last)}"))
    failure = refuted_line(cells(*changes)(senet_rows))
    assert (failure.row, failure.found) == (row, f"moves {changes[0][2]}")
    assert failure.expected == str(senet_rows["moves"][row])


@pytest.mark.parametrize(
    ("column", "value"),
    [("dice", "11"), ("dice", None), ("moves", "1-2"), ("moves", ""), ("moves", None)],
)
def test_a_false_line_of_senet_is_found(
    senet_rows: pa.Table,
    refuted_line: Callable[[pa.Table], VerifyFailed],
    column: str,
    value: object,
) -> None:
    failure = refuted_line(cell(column, 500_000, value)(senet_rows))
    assert (failure.row, failure.found) == (500_000, f"{column} {value}")
    assert failure.expected == str(senet_rows[column][500_000])


def test_the_openings_line_is_empty(
    senet_rows: pa.Table, refuted_line: Callable[[pa.Table], VerifyFailed]
) -> None:
    opening = SENET.rank(oracles.SENET_OPENING)
    failure = refuted_line(cell("moves", opening, "1-2")(senet_rows))
    assert (failure.row, failure.found, failure.expected) == (opening, "moves 1-2", "")


@pytest.mark.parametrize(("byte", "field"), [(0, "plies_even"), (1, "last_even"), (6, "lines")])
def test_a_false_record_of_senet_is_found(
    copy: Path, senet_rows: pa.Table, walk: Walk, byte: int, field: str
) -> None:
    data = bytearray((copy / "senet.idx").read_bytes())
    data[place(data, 500_000) + byte] ^= 1
    (copy / "senet.idx").unlink()
    (copy / "senet.idx").write_bytes(sealed(data))

    def proof(listed: Listed, rows: Rows) -> None:
        prove_index(listed, walk)

    failure = failed(proof, one(copy, "senet"), senet_rows)
    assert failure.row == 500_000
    assert failure.found == f"{field} {failure.content[field]}"
    changed = int(str(failure.content[field])) ^ int(str(failure.expected))
    assert changed.bit_count() == 1
