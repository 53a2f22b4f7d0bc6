"""`verify` finds every kind of false value about Senet, and names its row."""

from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from puzzle_tablebase.formats.parquet import make_schema
from puzzle_tablebase.pipeline.proofs import TableResult, VerifyFailed, senet
from puzzle_tablebase.pipeline.proofs.claims import ListedTable, Silence, run_claims
from puzzle_tablebase.pipeline.proofs.senet import prove_senet
from puzzle_tablebase.puzzles.senet import PUZZLE as SENET
from tests.support import oracles
from tests.support.tampered import Change, cell, cells, make_listed, open_one, without


@pytest.fixture(scope="module")
def listed_table(outputs: Path) -> ListedTable:
    return open_one(outputs, "senet")


# ---- a small board --------------------------------------------------------------------------

SMALL = "ABABAB.."
"""Its opening. The other rules are those of the board of 15 squares."""
EVERY = sorted({"".join(pieces) for pieces in permutations(SMALL)})
FAR = EVERY.index(".ABB.BAA")
"""A row with lines of both parities."""
ALL = "the rows are all 560 arrangements, each once, in notation order"
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
    rows: dict[str, tuple[Any, ...]] = {at: (at, *[None] * 6) for at in EVERY}
    for ply, layer in [*enumerate(oracles.senet_layers(SMALL))][::-1]:
        for at, line in layer.items():
            plies[ply % 2][at] = ply
            last[ply % 2][at] = int(f"0{line.dice[-1:]}") << 4 | int(f"0{line.starts[-1:]}", 16)
            of_sides = plies[0].get(at), plies[1].get(at)
            rows[at] = (at, ply, *of_sides, line.dice, line.moves, line.number)
    columns = [list(column) for column in zip(*rows.values(), strict=True)]
    return pa.table(columns, schema=make_schema(SENET.tables[0])), plies, last


@pytest.fixture(scope="module")
def fields(small_table: tuple[pa.Table, Sided, Sided]) -> dict[str, npt.NDArray[Any]]:
    """Return the fields of the small board's records, by the oracle."""
    rows, plies, last = small_table
    values = {
        "plies_even": [plies[0].get(at, 255) for at in EVERY],
        "last_even": [last[0].get(at, 0) for at in EVERY],
        "plies_odd": [plies[1].get(at, 255) for at in EVERY],
        "last_odd": [last[1].get(at, 0) for at in EVERY],
        "lines": rows["lines"].fill_null(0).to_pylist(),
    }
    return {name: np.array(numbers) for name, numbers in values.items()}


def prove_small(
    listed: ListedTable, rows: pa.Table, fields: dict[str, npt.NDArray[Any]]
) -> TableResult:
    """Run the whole proof on rows and records of the small board."""
    with pytest.MonkeyPatch.context() as rules:
        rules.setattr(senet, "SQUARES", len(SMALL))
        rules.setattr(senet, "OPENING", SMALL)
        rules.setattr(senet, "PIECES", 3)
        made = make_listed(listed, rows, **fields)
        result = TableResult(made.name)
        run_claims(made, prove_senet(made, {}), result, Silence())
        return result


def test_a_small_board_is_proved(
    listed_table: ListedTable,
    small_table: tuple[pa.Table, Sided, Sided],
    fields: dict[str, npt.NDArray[Any]],
) -> None:
    rows, plies, _ = small_table
    passed = [claim["claim"] for claim in prove_small(listed_table, rows, fields).claims]
    assert passed == [ALL, PREDECESSORS, SMALLER, LINES, LEGAL, RECORDS]
    assert {claim for *_, claim in FALSE} == {*passed} - {ALL, RECORDS}, "they have tests below"
    # every case occurs: no ply, an even and an odd number, both, and many lines
    assert {(at in plies[0], at in plies[1]) for at in EVERY} == set(
        product((False, True), repeat=2)
    )
    assert max(fields["lines"]) == 64


@pytest.mark.parametrize("name", ["plies_even", "last_even", "plies_odd", "last_odd", "lines"])
def test_a_false_record_of_senet_is_detected(
    listed_table: ListedTable,
    small_table: tuple[pa.Table, Sided, Sided],
    fields: dict[str, npt.NDArray[Any]],
    name: str,
) -> None:
    false = fields[name].copy()
    false[FAR] += 1
    with pytest.raises(VerifyFailed) as caught:
        prove_small(listed_table, small_table[0], {**fields, name: false})
    assert (caught.value.claim["claim"], caught.value.row) == (RECORDS, FAR)
    assert caught.value.found == f"{name} {false[FAR]}"


def find_other_line(row: dict[str, Any]) -> tuple[str, str]:
    """Return another shortest line to a position two plies from the opening."""
    for one_throw, one_start, one_goal, swaps, between in oracles.senet_successors(SMALL, "A"):
        for throw, start, goal, swap, after in oracles.senet_successors(between, "B"):
            dice = f"{one_throw}{throw}"
            moves = f"{one_start}{'-x'[swaps]}{one_goal} {start}{'-x'[swap]}{goal}"
            if after == row["position"] and (dice, moves) != (row["dice"], row["moves"]):
                return dice, moves
    raise AssertionError("there is only one")


def damage_last_move(change: Callable[[str], str], *rows: int) -> Change:
    """Return a change of the last move of some lines."""

    def damage(table: pa.Table) -> pa.Table:
        for row in rows:
            head, _, last = str(table["moves"][row]).rpartition(" ")
            table = cell("moves", row, f"{head} {change(last)}")(table)
        return table

    return damage


def replace_line(table: pa.Table) -> pa.Table:
    """Give a position another shortest line, which is not the smallest."""
    row = TWO_LINES
    dice, moves = find_other_line(table.slice(row, 1).to_pylist()[0])
    return cells(("dice", row, dice), ("moves", row, moves))(table)


NOWHERE, TWO_LINES = EVERY.index("AABABB.."), EVERY.index("AAABBB..")
"""Rows of an unreachable position, and of one with several lines of two plies."""
FALSE: list[tuple[Change, int, str, str]] = [
    *(
        (cell(column, FAR, value), FAR, column, claim)
        for column, value, claim in (
            *(("plies_even", 2, PREDECESSORS), ("plies_odd", None, PREDECESSORS)),
            *(("plies", 15, SMALLER), ("lines", 12, LINES), ("lines", None, LINES)),
            *(("dice", text, LEGAL) for text in ("11", None)),
            *(("moves", text, LEGAL) for text in ("1-2", "", None)),
        )
    ),
    *(
        (cell(column, NOWHERE, 8), NOWHERE, column, claim)
        for column, claim in (("plies_even", PREDECESSORS), ("plies", SMALLER), ("lines", LINES))
    ),
    (cell("moves", EVERY.index(SMALL), "1-2"), EVERY.index(SMALL), "moves", LEGAL),
    (replace_line, TWO_LINES, "moves", LEGAL),
    # the first of two rows is named
    *(
        (damage_last_move(damage, FAR, FAR + 5), FAR, "moves", LEGAL)
        for damage in (
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
        )
    ),
]
"""A change, the first false row, its column, and the claim."""


@pytest.mark.parametrize("case", FALSE, ids=range(len(FALSE)))
def test_a_false_cell_of_senet_is_detected(
    listed_table: ListedTable,
    small_table: tuple[pa.Table, Sided, Sided],
    fields: dict[str, npt.NDArray[Any]],
    case: tuple[Change, int, str, str],
) -> None:
    change, row, column, claim = case
    rows = change(small_table[0])
    with pytest.raises(VerifyFailed) as caught:
        prove_small(listed_table, rows, fields)
    failure = caught.value
    assert (failure.row, failure.claim["claim"]) == (row, claim)
    assert str(failure.found) == f"{column} {rows[column][row]}"
    assert failure.expected == str(small_table[0][column][row])
    assert failure.content == rows.slice(row, 1).to_pylist()[0]


FIVES = "8 squares: five A, five B and five empty"
AFTER = "a position after the one before it"


@pytest.mark.parametrize(
    ("change", "row", "message"),
    [
        (cell("position", 7, EVERY[6]), 7, f"{EVERY[6]} | {AFTER}"),
        (cell("position", 7, "A"), 7, "length of position 1 | 8"),
        (cell("position", 7, 8 * "A"), 7, f"AAAAAAAA | {FIVES}"),
        (without(7), None, "rows 559 | 560"),
    ],
)
def test_a_false_position_is_detected(
    listed_table: ListedTable,
    small_table: tuple[pa.Table, Sided, Sided],
    fields: dict[str, npt.NDArray[Any]],
    change: Change,
    row: int | None,
    message: str,
) -> None:
    with pytest.raises(VerifyFailed) as caught:
        prove_small(listed_table, change(small_table[0]), fields)
    failure = caught.value
    assert (failure.row, f"{failure.found} | {failure.expected}") == (row, message)
    assert failure.claim["claim"] == ALL
