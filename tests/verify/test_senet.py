"""`verify` finds every kind of false value about Senet, and names its row."""

from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pipeline.verify import VerifyFailed
from pipeline.verify.claims import ListedTable, Rows
from pipeline.verify.senet import proof
from pipeline.verify.senet.proof import (
    Positions,
    prove_positions,
    prove_senet,
)
from tablebase.puzzles.senet import PUZZLE as SENET
from tablebase.tables.parquet import make_schema
from tests.support import oracles
from tests.support.tampered import cell, cells, open_one, without

Proof = Callable[[ListedTable, Rows], object]


@pytest.fixture(scope="module")
def listed_table(outputs: Path) -> ListedTable:
    return open_one(outputs, "senet")


def get_failure(proof: Proof, listed: ListedTable, rows: pa.Table) -> VerifyFailed:
    """Return the failure of a part of the proof, whose premises are proved of the true rows."""
    with pytest.raises(VerifyFailed) as caught:
        proof(listed, Rows(rows.combine_chunks().to_batches()[0]))
    return caught.value


# ---- a small board --------------------------------------------------------------------------

SMALL = "ABABAB.."
"""Its opening. The other rules are those of the board of 15 squares."""
EVERY = sorted({"".join(pieces) for pieces in permutations(SMALL)})
FAR = EVERY.index(".ABB.BAA")
"""A row with lines of both parities."""
PREDECESSORS = (
    "the opening has 0; plies_even and plies_odd are one more than the smallest value of a "
    "predecessor, and null where no predecessor has one"
)
SMALLER = "plies is the smaller of the two, or null if both are null"
LINES = (
    "lines is the number of shortest lines, summed over predecessors from the opening on; null "
    "where plies is null"
)
LEGAL = (
    "dice and moves are legal ply by ply and lead to the position in that many plies, and no other "
    "shortest line has smaller dice, or the same dice and smaller squares; null where plies is null"
)
RECORDS = (
    "each record matches its row: plies_even, plies_odd and lines, and the last move of the "
    "smallest line of each parity; 255 and 0 where there is none"
)


Sided = tuple[dict[str, int], dict[str, int]]
"""Values by position, with A to move and with B."""


@pytest.fixture(scope="module")
def small_table() -> tuple[pa.Table, Sided, Sided]:
    """Return the small board's table by the oracle, its plies, and the last moves of its lines."""
    plies: Sided = {}, {}
    last: Sided = {}, {}
    lines: dict[str, oracles.SenetLines] = {}
    for ply, layer in enumerate(oracles.senet_layers(SMALL)):
        plies[ply % 2].update(dict.fromkeys(layer, ply))
        last[ply % 2].update(
            {
                at: int(f"0{line.dice[-1:]}") << 4 | int(f"0{line.starts[-1:]}", 16)
                for at, line in layer.items()
            }
        )
        lines = layer | lines
    columns: dict[str, list[Any]] = {
        "position": EVERY,
        "plies": [
            min(
                (
                    values_by_position[at]
                    for values_by_position in plies
                    if at in values_by_position
                ),
                default=None,
            )
            for at in EVERY
        ],
        "plies_even": [plies[0].get(at) for at in EVERY],
        "plies_odd": [plies[1].get(at) for at in EVERY],
        "dice": [lines[at].dice if at in lines else None for at in EVERY],
        "moves": [lines[at].moves if at in lines else None for at in EVERY],
        "lines": [lines[at].number if at in lines else None for at in EVERY],
    }
    return pa.table(columns, make_schema(SENET.tables[0])), plies, last


def prove_small(listed: ListedTable, rows: Rows) -> None:
    """Run the whole proof on rows whose positions are assumed to be those of the small board."""
    cells = np.frombuffer("".join(EVERY).encode(), np.uint8).reshape(-1, len(SMALL))
    given = {id(listed): rows}
    with pytest.MonkeyPatch.context() as rules:
        rules.setattr(proof, "SQUARES", len(SMALL))
        rules.setattr(proof, "OPENING", SMALL)
        rules.setattr(proof, "read_rows", lambda given_table: given[id(given_table)])
        true = {(id(listed), id(rows)): Positions(cells)}
        rules.setattr(
            proof,
            "prove_positions",
            lambda given_table, given_rows: true[id(given_table), id(given_rows)],
        )
        prove_senet(listed, {})


@pytest.fixture
def checked_records(
    monkeypatch: pytest.MonkeyPatch,
) -> list[tuple[ListedTable, str, dict[str, Any]]]:
    """Return a list that receives the arguments with which records are checked."""
    result: list[tuple[ListedTable, str, dict[str, Any]]] = []
    monkeypatch.setattr(proof, "check_records", lambda *given: result.append(given))
    return result


def test_a_small_board_is_proved(
    outputs: Path,
    small_table: tuple[pa.Table, Sided, Sided],
    checked_records: list[tuple[ListedTable, str, dict[str, Any]]],
) -> None:
    rows, plies, last = small_table
    passed: list[tuple[str, str]] = []
    listed = open_one(
        outputs,
        "senet",
        lambda claim, done: passed.extend([(claim.claim, claim.file)] if claim.passed else []),
    )
    passed.clear()
    prove_small(listed, Rows(rows.to_batches()[0]))
    assert passed == [(text, "senet.parquet") for text in (PREDECESSORS, SMALLER, LINES, LEGAL)]
    ((table, text, fields),) = checked_records
    assert (table, text) == (listed, RECORDS)
    assert {name: values.tolist() for name, values in fields.items()} == {
        "plies_even": [plies[0].get(at, 255) for at in EVERY],
        "last_even": [last[0].get(at, 0) for at in EVERY],
        "plies_odd": [plies[1].get(at, 255) for at in EVERY],
        "last_odd": [last[1].get(at, 0) for at in EVERY],
        "lines": rows["lines"].fill_null(0).to_pylist(),
    }
    # every case occurs: no ply, an even and an odd number, both, and many lines
    assert {(at in plies[0], at in plies[1]) for at in EVERY} == set(
        product((False, True), repeat=2)
    )
    assert max(fields["lines"]) == 64


def find_other_line(row: dict[str, Any]) -> tuple[str, str]:
    """Return another shortest line to a position two plies from the opening."""
    for one_throw, one_start, one_goal, swaps, between in oracles.senet_successors(SMALL, "A"):
        for throw, start, goal, swap, after in oracles.senet_successors(between, "B"):
            dice = f"{one_throw}{throw}"
            moves = f"{one_start}{'-x'[swaps]}{one_goal} {start}{'-x'[swap]}{goal}"
            if after == row["position"] and (dice, moves) != (row["dice"], row["moves"]):
                return dice, moves
    raise AssertionError("there is only one")


FALSE: list[tuple[str, object]] = [
    *(("plies_even", 2), ("plies_odd", None), ("plies", 15), ("lines", 12), ("lines", None)),
    *(("dice", "11"), ("dice", None), ("moves", "1-2"), ("moves", ""), ("moves", None)),
]


@pytest.mark.parametrize(("column", "value"), FALSE)
def test_a_false_cell_of_senet_is_detected(
    listed_table: ListedTable,
    small_table: tuple[pa.Table, Sided, Sided],
    column: str,
    value: object,
) -> None:
    rows, row = small_table[0], FAR
    assert rows[column][row].as_py() not in (None, value)
    failure = get_failure(prove_small, listed_table, cell(column, row, value)(rows))
    assert (failure.row, failure.found) == (row, f"{column} {value}")
    assert failure.expected == str(rows[column][row])
    assert failure.content == cell(column, row, value)(rows).slice(row, 1).to_pylist()[0]


@pytest.mark.parametrize("column", ["plies_even", "plies_odd", "plies", "lines"])
def test_a_value_for_an_unreachable_position_is_detected(
    listed_table: ListedTable, small_table: tuple[pa.Table, Sided, Sided], column: str
) -> None:
    row = small_table[0]["plies"].to_pylist().index(None)
    failure = get_failure(prove_small, listed_table, cell(column, row, 8)(small_table[0]))
    assert (failure.row, failure.found, failure.expected) == (row, f"{column} 8", "None")


def test_a_line_that_is_not_the_smallest_is_detected(
    listed_table: ListedTable, small_table: tuple[pa.Table, Sided, Sided]
) -> None:
    rows = small_table[0]
    two = pc.and_(pc.equal(rows["plies"], 2), pc.greater(rows["lines"], 1))
    row = two.to_pylist().index(True)
    true = rows.slice(row, 1).to_pylist()[0]
    dice, moves = find_other_line(true)
    failure = get_failure(
        prove_small, listed_table, cells(("dice", row, dice), ("moves", row, moves))(rows)
    )
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
def test_invalid_moves_are_detected(
    listed_table: ListedTable,
    small_table: tuple[pa.Table, Sided, Sided],
    damage: Callable[[str], str],
) -> None:
    """Change the last move of two lines; the first row is named."""
    rows, row = small_table[0], FAR
    changes = []
    for at in (row, row + 5):
        head, _, last = str(rows["moves"][at]).rpartition(" ")
        changes.append(("moves", at, f"{head} {damage(last)}"))
    failure = get_failure(prove_small, listed_table, cells(*changes)(rows))
    assert (failure.row, failure.found) == (row, f"moves {changes[0][2]}")
    assert failure.expected == str(rows["moves"][row])


def test_the_openings_line_is_empty(
    listed_table: ListedTable, small_table: tuple[pa.Table, Sided, Sided]
) -> None:
    opening = EVERY.index(SMALL)
    failure = get_failure(prove_small, listed_table, cell("moves", opening, "1-2")(small_table[0]))
    assert (failure.row, failure.found, failure.expected) == (opening, "moves 1-2", "")


# ---- the whole board --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def senet_rows(outputs: Path) -> pa.Table:
    return pq.read_table(outputs / "senet.parquet").combine_chunks()


FIVES = "15 squares: five A, five B and five empty"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (".....AAAAABBBBB", ".....AAAAABBBBB | a position after the one before it"),
        ("A", "length of position 1 | 15"),
        ("AAAAAAAAAAAAAAA", f"AAAAAAAAAAAAAAA | {FIVES}"),
    ],
)
def test_a_false_position_is_detected(
    listed_table: ListedTable, senet_rows: pa.Table, value: str, message: str
) -> None:
    failure = get_failure(
        prove_positions, listed_table, cell("position", 500_000, value)(senet_rows)
    )
    assert (failure.row, f"{failure.found} | {failure.expected}") == (500_000, message)
    text = "the rows are all 756,756 arrangements, each once, in notation order"
    assert failure.claim.claim == text


def test_a_missing_position_is_detected(listed_table: ListedTable, senet_rows: pa.Table) -> None:
    failure = get_failure(prove_positions, listed_table, without(500_000)(senet_rows))
    assert (failure.found, failure.expected) == ("rows 756755", 756_756)
