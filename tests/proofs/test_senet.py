"""`verify` finds every kind of false value about Senet, and names its row."""

from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from puzzle_tablebase.pipeline.proofs import VerifyFailed, senet
from puzzle_tablebase.pipeline.proofs.claims import PublishedTable, Rows
from puzzle_tablebase.pipeline.proofs.senet import Positions, prove_positions, prove_senet
from puzzle_tablebase.puzzles.senet import PUZZLE as SENET
from puzzle_tablebase.tables.parquet import make_schema
from tests.support import oracles
from tests.support.tampered import Change, Story, cell, cells, open_one, without

Proof = Callable[[PublishedTable, Rows], object]


@pytest.fixture(scope="module")
def listed_table(outputs: Path) -> PublishedTable:
    return open_one(outputs, "senet")


def get_failure(senet: Proof, published: PublishedTable, rows: pa.Table) -> VerifyFailed:
    """Return the failure of a part of the proof, whose premises are proved of the true rows."""
    with pytest.raises(VerifyFailed) as caught:
        senet(published, Rows(rows.combine_chunks().to_batches()[0]))
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
    rows: dict[str, tuple[Any, ...]] = {at: (at, *[None] * 6) for at in EVERY}
    for ply, layer in [*enumerate(oracles.senet_layers(SMALL))][::-1]:
        for at, line in layer.items():
            plies[ply % 2][at] = ply
            last[ply % 2][at] = int(f"0{line.dice[-1:]}") << 4 | int(f"0{line.starts[-1:]}", 16)
            of_sides = plies[0].get(at), plies[1].get(at)
            rows[at] = (at, ply, *of_sides, line.dice, line.moves, line.number)
    columns = [list(column) for column in zip(*rows.values(), strict=True)]
    return pa.table(columns, schema=make_schema(SENET.tables[0])), plies, last


def prove_small(published: PublishedTable, rows: Rows) -> None:
    """Run the whole proof on rows whose positions are assumed to be those of the small board."""
    cells = np.frombuffer("".join(EVERY).encode(), np.uint8).reshape(-1, len(SMALL))
    with pytest.MonkeyPatch.context() as rules:
        rules.setattr(senet, "SQUARES", len(SMALL))
        rules.setattr(senet, "OPENING", SMALL)
        rules.setattr(senet, "read_rows", lambda published: rows)
        rules.setattr(senet, "prove_positions", lambda published, rows: Positions(cells))
        prove_senet(published, {})


def test_a_small_board_is_proved(
    outputs: Path,
    small_table: tuple[pa.Table, Sided, Sided],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, plies, last = small_table
    checked_records: list[tuple[PublishedTable, str, dict[str, Any]]] = []
    monkeypatch.setattr(senet, "check_records", lambda *given: checked_records.append(given))
    passed = Story()
    published = open_one(outputs, "senet", passed)
    passed.clear()
    prove_small(published, Rows(rows.to_batches()[0]))
    claims = PREDECESSORS, SMALLER, LINES, LEGAL
    assert passed == [f"senet.parquet: {published.entry.rows}: {text}\n" for text in claims]
    ((table, text, fields),) = checked_records
    assert (table, text) == (published, RECORDS)
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
    listed_table: PublishedTable,
    small_table: tuple[pa.Table, Sided, Sided],
    case: tuple[Change, int, str, str],
) -> None:
    change, row, column, claim = case
    rows = change(small_table[0])
    failure = get_failure(prove_small, listed_table, rows)
    assert (failure.row, failure.claim.claim) == (row, claim)
    assert str(failure.found) == f"{column} {rows[column][row]}"
    assert failure.expected == str(small_table[0][column][row])
    assert failure.content == rows.slice(row, 1).to_pylist()[0]


# ---- the whole board --------------------------------------------------------------------------

FIVES = "15 squares: five A, five B and five empty"
AFTER = "a position after the one before it"


@pytest.mark.parametrize(
    ("change", "row", "message"),
    [
        (cell("position", 7, ".....AAAAABBBBB"), 7, f".....AAAAABBBBB | {AFTER}"),
        (cell("position", 7, "A"), 7, "length of position 1 | 15"),
        (cell("position", 7, 15 * "A"), 7, f"AAAAAAAAAAAAAAA | {FIVES}"),
        (without(7), None, "rows 756755 | 756756"),
    ],
)
def test_a_false_position_is_detected(
    outputs: Path, listed_table: PublishedTable, change: Change, row: int | None, message: str
) -> None:
    rows = change(pq.read_table(outputs / "senet.parquet").combine_chunks())
    failure = get_failure(prove_positions, listed_table, rows)
    assert (failure.row, f"{failure.found} | {failure.expected}") == (row, message)
    text = "the rows are all 756,756 arrangements, each once, in notation order"
    assert failure.claim.claim == text
