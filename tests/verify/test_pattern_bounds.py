"""`verify` proves the tables of bounds, and finds every kind of false value in them."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from pipeline.verify import verify
from pipeline.verify.fifteen.bound_counts import count_layer
from pipeline.verify.fifteen.bounds import HOW, list_parts, search_patterns
from pipeline.verify.sliding.layers import iter_layers
from tablebase.puzzles.fifteen.bounds import PatternBounds, make_bounds_table
from tablebase.tables.store import Folder
from tests.support.tampered import (
    TABLES,
    cell,
    exchange_rows,
    get_refutation,
    prove_one,
    rewrite,
    without,
)

NAME = "pattern_bounds_3x3"
TABLE = make_bounds_table("3x3")


@pytest.fixture
def folder(bounds_3x3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the published table, which may be changed."""
    monkeypatch.setitem(TABLES, NAME, TABLE)
    return Path(shutil.copytree(bounds_3x3, tmp_path / "copy"))


def test_the_table_is_proved(folder: Path) -> None:
    (verdict,) = verify(Folder(folder)).verdicts
    assert (verdict.verdict, verdict.how) == ("proved", HOW)
    claims = [claim.claim for claim in prove_one(folder, NAME)]
    assert claims[-1] == "each number of states is that of a second search"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (cell("states", 7, 1), "states 1"),
        (cell("bound", 470, 3), "bound 3"),
        (cell("distance", 0, 2), "distance 2"),
        (cell("partition", 100, "4-4"), "partition 4-4"),
        (cell("board", 475, "3x4"), "board 3x4"),
        (without(200), "rows 475"),
        (exchange_rows(30, 31), "row 30"),
    ],
)
def test_a_false_value_is_found(
    folder: Path, change: Callable[[pa.Table], pa.Table], message: str
) -> None:
    rewrite(folder, NAME, change)
    failure = get_refutation(folder, NAME)
    assert failure.claim.claim == "each number of states is that of a second search"
    assert message in str(failure)


def count_first_layers() -> str:
    """Count the states within 6 moves of the goal, by partition, distance and bound."""
    recipe = TABLE.recipe
    assert isinstance(recipe, PatternBounds)
    tables, lines = search_patterns(recipe, lambda: None), []
    for distance, layers in iter_layers(recipe.board, recipe.board.example):
        # more than a part, as larger boards have
        parts = list_parts(recipe.board, layers, distance, tables, 1000)
        counts = np.sum([count_layer(*part) for part in parts], axis=0)
        lines += [f"{distance} {at} {counts[tuple(at)]}\n" for at in np.argwhere(counts).tolist()]
        if distance == 6:
            break
    return "".join(lines)


def test_the_counts_are_those_of_the_table(bounds_3x3: Path) -> None:
    text = count_first_layers()
    counted = sorted(tuple(map(int, re.findall(r"\d+", line))) for line in text.splitlines())
    rows = pl.read_parquet(bounds_3x3 / f"{NAME}.parquet").filter(pl.col("distance") <= 6)
    rows = rows.select("distance", pl.col("partition").to_physical(), "bound", "states").sort(
        pl.all()
    )
    assert counted == rows.rows()
