"""`verify` finds every kind of false value about Senet, on a board of 8 squares."""

from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from puzzle_tablebase.formats.parquet import make_schema
from puzzle_tablebase.pipeline.proofs import senet
from puzzle_tablebase.pipeline.proofs.claims import ListedTable, TableResult, VerifyFailed
from puzzle_tablebase.pipeline.proofs.senet import prove_senet
from puzzle_tablebase.puzzles.senet import PUZZLE as SENET
from tests.support import oracles
from tests.support.tampered import Change, cell, cells, make_listed, open_one, run, without

SMALL = "ABABAB.."
"""Its opening. The other rules are those of the board of 15 squares."""
EVERY = sorted({"".join(pieces) for pieces in permutations(SMALL)})
FAR = EVERY.index(".ABB.BAA")
"""A row with lines of both parities."""
NOWHERE, TWO_LINES = EVERY.index("AABABB.."), EVERY.index("AAABBB..")
"""Rows of an unreachable position, and of one with several lines of two plies."""
ALL, PREDECESSORS, SMALLER, LINES, LEGAL, RECORDS = CLAIMS = (
    "the rows are all 560 arrangements, each once",
    "the opening has 0; plies_even and plies_odd are one more than",
    "plies is the smaller of the two",
    "lines is the number of shortest lines",
    "dice and moves are legal ply by ply and lead to the position",
    "each record matches its row",
)


class Small(NamedTuple):
    """The small board's table and index by the oracle, and the listed table that they replace."""

    listed: ListedTable
    rows: pa.Table
    fields: dict[str, npt.NDArray[Any]]

    def prove(self, change: Change | None = None, **fields: npt.NDArray[Any]) -> TableResult:
        """Run the whole proof on the rows after a change, and with other fields."""
        with pytest.MonkeyPatch.context() as rules:
            for name, value in (("SQUARES", len(SMALL)), ("OPENING", SMALL), ("PIECES", 3)):
                rules.setattr(senet, name, value)
            rows = change(self.rows) if change else self.rows
            made = make_listed(self.listed, rows, **self.fields | fields)
            return run(made, prove_senet(made))


@pytest.fixture(scope="module")
def small(outputs: Path) -> Small:
    plies, last = [[dict[str, int](), dict[str, int]()] for _ in range(2)]
    rows: dict[str, tuple[Any, ...]] = {at: (at, *[None] * 6) for at in EVERY}
    for ply, layer in [*enumerate(oracles.senet_layers(SMALL))][::-1]:
        for at, line in layer.items():
            plies[ply % 2][at] = ply
            last[ply % 2][at] = int(f"0{line.dice[-1:]}") << 4 | int(f"0{line.starts[-1:]}", 16)
            of_sides = plies[0].get(at), plies[1].get(at)
            rows[at] = (at, ply, *of_sides, line.dice, line.moves, line.number)
    # every case occurs: no ply, an even and an odd number, and both
    assert len({(at in plies[0], at in plies[1]) for at in EVERY}) == 4
    columns = [list(column) for column in zip(*rows.values(), strict=True)]
    table = pa.table(columns, schema=make_schema(SENET.tables[0]))
    fields = {"lines": table["lines"].fill_null(0).to_pylist()}
    for side, name in enumerate(("even", "odd")):
        fields[f"plies_{name}"] = [plies[side].get(at, 255) for at in EVERY]
        fields[f"last_{name}"] = [last[side].get(at, 0) for at in EVERY]
    arrays = {name: np.array(numbers) for name, numbers in fields.items()}
    assert max(arrays["lines"]) == 64
    return Small(open_one(outputs, "senet"), table, arrays)


def test_a_small_board_is_proved(small: Small) -> None:
    passed = [claim["claim"] for claim in small.prove().claims]
    assert all(text.startswith(claim) for text, claim in zip(passed, CLAIMS, strict=True))
    assert {claim for _, _, claim in FALSE} == {*CLAIMS} - {RECORDS}


@pytest.mark.parametrize("name", ["plies_even", "last_even", "plies_odd", "last_odd", "lines"])
def test_a_false_record_is_refuted(small: Small, name: str) -> None:
    false = small.fields[name].copy()
    false[FAR] += 1
    with pytest.raises(VerifyFailed) as caught:
        small.prove(None, **{name: false})
    assert caught.value.claim["claim"].startswith(RECORDS)
    assert (caught.value.row, caught.value.found) == (FAR, f"{name} {false[FAR]}")


def damage_last_move(change: Callable[[str], str], *rows: int) -> Change:
    """Return a change of the last move of some lines."""

    def damage(table: pa.Table) -> pa.Table:
        for row in rows:
            head, _, last = str(table["moves"][row]).rpartition(" ")
            table = cell("moves", row, f"{head} {change(last)}")(table)
        return table

    return damage


def replace_line(table: pa.Table) -> pa.Table:
    """Give a position two plies from the opening another shortest line, not the smallest."""
    row = table.slice(TWO_LINES, 1).to_pylist()[0]
    for one_throw, one_start, one_goal, swaps, between in oracles.senet_successors(SMALL, "A"):
        for throw, start, goal, swap, after in oracles.senet_successors(between, "B"):
            dice = f"{one_throw}{throw}"
            moves = f"{one_start}{'-x'[swaps]}{one_goal} {start}{'-x'[swap]}{goal}"
            if after == row["position"] and (dice, moves) != (row["dice"], row["moves"]):
                return cells(("dice", TWO_LINES, dice), ("moves", TWO_LINES, moves))(table)
    raise AssertionError("there is only one")


FALSE: list[tuple[Change, int | None, str]] = [
    (cell("position", 7, EVERY[6]), 7, ALL),
    (cell("position", 7, "A"), 7, ALL),
    (cell("position", 7, 8 * "A"), 7, ALL),
    (without(7), None, ALL),
    *(
        (cell(column, FAR, value), FAR, claim)
        for column, value, claim in (
            *(("plies_even", 2, PREDECESSORS), ("plies_odd", None, PREDECESSORS)),
            *(("plies", 15, SMALLER), ("lines", 12, LINES), ("lines", None, LINES)),
            *(("dice", "11", LEGAL), ("dice", None, LEGAL)),
            *(("moves", "1-2", LEGAL), ("moves", "", LEGAL), ("moves", None, LEGAL)),
        )
    ),
    *(
        (cell(column, NOWHERE, 8), NOWHERE, claim)
        for column, claim in (("plies_even", PREDECESSORS), ("plies", SMALLER), ("lines", LINES))
    ),
    (cell("moves", EVERY.index(SMALL), "1-2"), EVERY.index(SMALL), LEGAL),
    (replace_line, TWO_LINES, LEGAL),
    # the first of two rows is named
    *(
        (damage_last_move(damage, FAR, FAR + 5), FAR, LEGAL)
        for damage in (
            lambda move: move.translate(str.maketrans("-x", "x-")),
            lambda move: f"0{move}",
            lambda move: f"{move} 1-2",
            lambda move: "15-16",
        )
    ),
]
"""A change, the first false row, and the claim."""


@pytest.mark.parametrize("number", range(len(FALSE)))
def test_a_false_cell_is_refuted(small: Small, number: int) -> None:
    change, row, claim = FALSE[number]
    with pytest.raises(VerifyFailed) as caught:
        small.prove(change)
    assert caught.value.row == row
    assert caught.value.claim["claim"].startswith(claim)
    if row is not None:
        assert caught.value.content == change(small.rows).slice(row, 1).to_pylist()[0]
