"""A new kind of table: its recipe and its proof stand here, and a line names them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.formats.encoder import Part, TableData
from puzzle_tablebase.pipeline.costs import make_estimate
from puzzle_tablebase.pipeline.kinds import KINDS, Kind
from puzzle_tablebase.pipeline.proofs.claims import (
    Claim,
    ListedTable,
    Proof,
    Prover,
    compare,
    estimate_joins,
)
from puzzle_tablebase.pipeline.proofs.verdicts import Proved, Verdict
from puzzle_tablebase.pipeline.tasks import Tasks
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.registry import MODULES
from puzzle_tablebase.schema import Column, Recipe, Table
from puzzle_tablebase.stores import Folder
from tests.support.build_recorder import build_tables
from tests.support.tampered import cell, falsify


def make(table: Table, tasks: Tasks) -> TableData:
    numbers = np.arange(table.recipe.parameters["count"])
    return TableData(Part(each) for each in [{"number": numbers, "square": numbers**2}])


def prove_squares(listed: ListedTable) -> Proof:
    row = pl.col("row").cast(pl.Int64)
    different = compare(listed.scan_rows(), number=row, square=row * row)
    yield Claim("the rows are the numbers and their squares", different)
    return Proved(Verdict.PROVED, "every number was squared again", ("number", "square"))


SQUARES = Prover(prove_squares, estimate_joins)
KIND = Kind(f"{__name__}:make", make_estimate(1e-9), f"{__name__}:SQUARES")


class Squares(Puzzle):
    name = title = "squares"
    tables = (
        Table(
            "squares",
            "The squares of some numbers",
            "row number = number",
            tuple(Column(name, "int64", name, distinct=True) for name in ("number", "square")),
            Recipe("squares", count=100),
            rows=100,
        ),
    )


def test_a_new_kind_of_table_is_built_and_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "squares", KIND)
    monkeypatch.setitem(MODULES, "squares", f"{__name__}:PUZZLE")
    assert build_tables(tmp_path, PUZZLE).finished == ["squares"]
    (verdict,) = verify(Folder(tmp_path)).verdicts
    assert (verdict.verdict, verdict.how) == ("proved", "every number was squared again")
    assert falsify(tmp_path, "squares", cell("square", 7, 50)).row == 7


PUZZLE = Squares()
