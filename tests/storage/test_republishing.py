"""Lookups beside rebuilds that change the bytes of a table: each answer is right."""

from __future__ import annotations

import random
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from puzzle_tablebase.errors import TableUnreadable
from puzzle_tablebase.formats import parquet
from puzzle_tablebase.graph import Graph, SearchResult
from puzzle_tablebase.pipeline.proofs import verify
from puzzle_tablebase.pipeline.proofs.claims import Silence
from puzzle_tablebase.puzzles import MODULES
from puzzle_tablebase.queries import open_tables
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores.folder import Folder
from tests.support import pancakes
from tests.support.build_recorder import build_tables

if TYPE_CHECKING:
    from puzzle_tablebase.puzzle import Columns


class Tasty(pancakes.Pancakes):
    """Pancakes with a column that is different in each build, and so are all bytes of the table."""

    taste = 0

    def list_columns(self) -> tuple[Column, ...]:
        return (*super().list_columns(), Column("taste", "int16", "how good it is"))

    def fill_columns(
        self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]
    ) -> Columns:
        result = super().fill_columns(table, graph, walks)
        return {**result, "taste": np.full(len(result["state"]), self.taste)}


@pytest.mark.parametrize(
    ("builds", "lookups"), [(6, 100), pytest.param(60, 1000, marks=pytest.mark.nightly)]
)
def test_lookups_beside_rebuilds(
    builds: int, lookups: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy, versions = Tasty(), set[bytes]()
    monkeypatch.setitem(MODULES, toy.name, "tests.support.pancakes")
    monkeypatch.setattr(pancakes, "PUZZLE", toy)
    build_tables(tmp_path, toy)
    states = [toy.unrank(rank) for rank in range(toy.size)]
    with open_tables(str(tmp_path)) as tables:
        expected = {state: tables.open(toy.name).probe(state).distance for state in states}

    def rebuild() -> None:
        for toy.taste in range(1, builds + 1):
            with patch.object(parquet, "COMPRESSION_LEVEL", 1 + toy.taste % 9):
                build_tables(tmp_path, toy, force=True)
            versions.add((tmp_path / "pancakes.idx").read_bytes())

    def look_up(seed: int) -> int:
        draw, done = random.Random(seed), 0
        while done < lookups // 2 or not rebuilding.done():
            with open_tables(str(tmp_path)) as tables:
                reader = tables.open(toy.name)
                for state in draw.sample(states, 5):
                    assert reader.probe(state).distance == expected[state]
                frame = reader.annotate(pl.DataFrame({"state": states}))
                assert frame["distance"].to_list() == [*expected.values()]
            done += 6
        return done

    with ThreadPoolExecutor(3) as pool:
        rebuilding = pool.submit(rebuild)
        answered = [*pool.map(look_up, range(2))]
        rebuilding.result()
    assert sum(answered) >= lookups
    assert len(versions) == builds


def test_a_table_that_is_built_anew_while_it_is_verified_is_not_refuted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Tasty()
    monkeypatch.setitem(MODULES, toy.name, "tests.support.pancakes")
    monkeypatch.setattr(pancakes, "PUZZLE", toy)
    build_tables(tmp_path, toy)

    class Rebuilding(Silence):
        def on_claim(self, claim: Mapping[str, object]) -> None:
            if not toy.taste:
                toy.taste = 1
                build_tables(tmp_path, toy, force=True)

    verified = verify(Folder(tmp_path), observer=Rebuilding())
    (trouble,) = verified.troubles
    assert isinstance(trouble, TableUnreadable)
    assert trouble.exit_code == 3
    assert verify(Folder(tmp_path)).troubles == []
