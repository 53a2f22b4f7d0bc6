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
from pipeline.verify.lines import Lines
from pipeline.verify.senet.positions import Positions
from pipeline.verify.senet.proof import Arrangements, prove_rows
from tablebase.puzzles.senet import PUZZLE as SENET
from tests.support import oracles
from tests.support.falsified import cell, cells, one, place, sealed


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
        ("plies_even", 2, "the smallest value of a predecessor"),
        ("plies_odd", None, "the smallest value of a predecessor"),
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
    with pytest.raises(VerifyFailed, match=claim) as caught:
        prove_rows(one(outputs, "senet"), Rows(batch))
    assert caught.value.row == row
    assert caught.value.content == rows.slice(row, 1).to_pylist()[0]


def test_a_value_where_no_line_leads_is_found(outputs: Path, senet_rows: pa.Table) -> None:
    row = null_row(senet_rows)
    rows = cells(("plies_even", row, 8), ("plies", row, 8))(senet_rows)
    with pytest.raises(VerifyFailed, match="null where no predecessor has one") as caught:
        prove_rows(one(outputs, "senet"), Rows(rows.combine_chunks().to_batches()[0]))
    assert caught.value.row == row


@pytest.fixture(scope="module")
def proved(outputs: Path, senet_rows: pa.Table) -> tuple[Positions, Lines, Any]:
    """What is proved of the table up to its lines."""
    table = Arrangements(one(outputs, "senet"), Rows(senet_rows.to_batches()[0]))
    positions = table.positions()
    return positions, *table.lines(positions, table.fewest_plies(positions))


@pytest.fixture
def refuted_line(
    outputs: Path, proved: tuple[Positions, Lines, Any]
) -> Callable[[pa.Table], VerifyFailed]:
    def refuted(rows: pa.Table) -> VerifyFailed:
        batch = rows.combine_chunks().to_batches()[0]
        with pytest.raises(VerifyFailed) as caught:
            Arrangements(one(outputs, "senet"), Rows(batch)).smallest_lines(*proved[:2])
        return caught.value

    return refuted


def test_a_line_that_is_not_the_smallest_is_found(
    senet_rows: pa.Table, refuted_line: Callable[[pa.Table], VerifyFailed]
) -> None:
    two = pc.and_(pc.equal(senet_rows["plies"], 2), pc.greater(senet_rows["lines"], 1))
    row = int(np.flatnonzero(two.fill_null(False).to_numpy())[0])
    dice, moves = other_line(senet_rows.slice(row, 1).to_pylist()[0])
    rows = cells(("dice", row, dice), ("moves", row, moves))(senet_rows)
    failure = refuted_line(rows)
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
    refuted_line: Callable[[pa.Table], VerifyFailed],
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
    failure = refuted_line(cells(*changes)(senet_rows))
    assert "are legal" in str(failure)
    assert failure.row == row


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
    assert "are legal" in str(failure)
    assert failure.row == 500_000


def test_the_openings_line_is_empty(
    senet_rows: pa.Table, refuted_line: Callable[[pa.Table], VerifyFailed]
) -> None:
    opening = SENET.rank(oracles.SENET_OPENING)
    failure = refuted_line(cell("moves", opening, "1-2")(senet_rows))
    assert failure.row == opening


@pytest.mark.parametrize(("byte", "field"), [(0, "plies_even"), (1, "last_even"), (6, "lines")])
def test_a_false_record_of_senet_is_found(
    copy: Path, senet_rows: pa.Table, proved: tuple[Positions, Lines, Any], byte: int, field: str
) -> None:
    data = bytearray((copy / "senet.idx").read_bytes())
    data[place(data, 500_000) + byte] ^= 1
    (copy / "senet.idx").unlink()
    (copy / "senet.idx").write_bytes(sealed(data))
    table = Arrangements(one(copy, "senet"), Rows(senet_rows.to_batches()[0]))
    with pytest.raises(VerifyFailed, match="last move") as caught:
        table.index(proved[1].last, proved[2])
    assert caught.value.row == 500_000
    assert field in caught.value.content
