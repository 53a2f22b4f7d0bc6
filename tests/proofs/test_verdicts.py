"""Verdicts: each kind of table gets the verdict that docs/trust.md gives it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from puzzle_tablebase.formats.index_writer import make_seed
from puzzle_tablebase.graph import Graph, SearchResult
from puzzle_tablebase.pipeline.proofs import knight_counts
from puzzle_tablebase.pipeline.proofs.claims import VerifyFailed
from puzzle_tablebase.pipeline.proofs.verdicts import TableVerdict
from puzzle_tablebase.pipeline.verify import prove, verify
from puzzle_tablebase.puzzles import Puzzle
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import Knight, make_count_table, make_tour_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.registry import MODULES
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores import Folder
from tests.support import jugs, pancakes
from tests.support.build_recorder import build_tables
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import (
    change_header,
    describe_file,
    edit_manifest,
    open_one,
    prove_one,
    run,
    vouch,
)
from tests.support.trust_page import require_rows

if TYPE_CHECKING:
    from puzzle_tablebase.schema import Columns

Register = Callable[..., None]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Return a function that makes some puzzles the only registered ones."""

    def only(*toys: Puzzle) -> None:
        for name in reversed([*MODULES]):  # so that they are put back in their order
            monkeypatch.delitem(MODULES, name)
        for toy in toys:
            monkeypatch.setitem(MODULES, toy.name, f"tests.only_{toy.name}")
            monkeypatch.setitem(sys.modules, MODULES[toy.name], SimpleNamespace(PUZZLE=toy))

    return only


# ---- other packages' tables -----------------------------------------------------------------


class Tasty(pancakes.Pancakes):
    """Pancakes with a column and a field of the index that the rules do not know."""

    def __init__(self) -> None:
        super().__init__()
        (old,) = self.tables
        index = (*old.index, ("spice", "B"))
        self.tables = (Table(old.name, old.meaning, old.rank, old.columns, old.recipe, index),)

    def list_columns(self) -> tuple[Column, ...]:
        return (*super().list_columns(), Column("taste", "int16", "how good it is"))

    def fill_columns(
        self, table: Table, graph: Graph, walks: Mapping[str, SearchResult]
    ) -> Columns:
        result = super().fill_columns(table, graph, walks)
        return {**result, "taste": np.full(len(result["state"]), 7)}

    def make_records(self, table: Table, walks: Mapping[str, SearchResult]) -> Columns:
        spice = np.full(self.size, 7, np.uint8)
        return {**super().make_records(table, walks), "spice": spice}


# ---- forged entries -------------------------------------------------------------------------


@pytest.fixture
def sliding_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder with the indexes of 2x4 as a large board, which has no rows."""
    treat_as_large(monkeypatch, 8)
    build_tables(tmp_path, SLIDING, *SLIDING.find_tables("sliding_2x4_all"))
    return tmp_path


def test_rows_listed_beside_an_index_alone_are_rejected(
    sliding_index: Path, tmp_path: Path, outputs: Path
) -> None:
    """Refuse rows that no proof reads, which would otherwise count as proved."""
    name = "sliding_2x4_8"
    rows = tmp_path / f"{name}.parquet"
    rows.symlink_to(outputs / "knight_tours_5x5.parquet")
    with edit_manifest(tmp_path) as entries:
        entries[name] |= {"parquet": describe_file(rows), "rows": 1728}
    with pytest.raises(VerifyFailed) as caught:
        verify(Folder(tmp_path))
    assert caught.value.expected == [f"{name}.idx"]


def swap_indexes(folder: Path, one: Table, other: Table, *fields: str) -> None:
    """List the index of each of two tables under the name of the other, and change its header."""
    data = {table: (folder / table.index_file).read_bytes() for table in (one, other)}
    for table, source in ((one, other), (other, one)):
        header = {"name": table.name.encode(), "seed": make_seed(table)}
        changed = {key: value for key, value in header.items() if key in fields}
        (folder / table.index_file).write_bytes(change_header(data[source], **changed))
        vouch(folder, table.name)


@pytest.mark.parametrize(
    ("fields", "claim"),
    [
        ([], "header, checksums"),
        (["name"], "header, checksums"),
        (["name", "seed"], "each bit is bit 1 of"),
    ],
)
def test_a_table_under_the_name_of_another_is_refused(
    sliding_index: Path, fields: list[str], claim: str
) -> None:
    one, other = SLIDING.find_tables("sliding_2x4_all")
    names = [one.name, other.name]
    swap_indexes(sliding_index, one, other, *fields)
    with pytest.raises(VerifyFailed) as caught:
        verify(Folder(sliding_index))
    assert caught.value.claim["table"] in names
    assert caught.value.claim["claim"].startswith(claim)


# ---- docs/trust.md --------------------------------------------------------------------------


def test_the_page_has_the_verdicts_on_optional_tables(
    tmp_path: Path,
    ranked_boards: Path,
    patterns_555: Path,
) -> None:
    verdicts = count_boards(tmp_path / "counts")
    for name in ("knight_closed_ranks_5x6", "knight_ranks_5x4"):
        verdicts += prove_one(ranked_boards, name).verdicts
    folder = tmp_path / "tables"
    build_tables(folder, KNIGHT, make_tour_table(KnightBoard(3, 4)))
    build_tables(folder, SLIDING, *SLIDING.find_tables("sliding_2x3"))
    verdicts += verify(Folder(folder)).verdicts
    with pytest.MonkeyPatch.context() as patch:
        treat_as_large(patch, 8)
        folder = tmp_path / "bits"
        build_tables(folder, SLIDING, *SLIDING.find_tables("sliding_2x4"))
        verdicts += verify(Folder(folder)).verdicts
    verdicts += verify(Folder(patterns_555)).verdicts
    require_rows(verdicts, 13)


def count_boards(folder: Path) -> list[TableVerdict]:
    """Return verdicts on small boards, some of them treated like larger ones."""
    table = make_count_table(((3, 4), (4, 3), (4, 4), (4, 5), (5, 4), (4, 6)), ((5, 6), (10, 3)))
    build_tables(folder, KNIGHT, make_tour_table(KnightBoard(3, 4)), table)
    small = {"WALKED_SQUARES": 16}
    fewer = {"SWEPT_SIDE": 2, "SWEPT_SQUARES": 16, "CLOSED_SQUARES": 16}
    return [
        *verdicts_on_counts(folder, table, **small),
        *verdicts_on_counts(folder, table, **small, **fewer),
    ]


def verdicts_on_counts(folder: Path, table: Table, **limits: int) -> list[TableVerdict]:
    tours = open_one(folder, "knight_tours_3x4")
    listed = replace(open_one(folder, table.name), table=table)
    published = {
        "PUBLISHED_BOARD": "4x5",
        "PUBLISHED_TOURS": 164,
        "PUBLISHED_CLOSED": {(4, 5): 0, (5, 6): 16},
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (published | limits).items():
            patch.setattr(knight_counts, name, value)
        return run(listed, prove(listed, {tours.name: tours})).verdicts


def test_the_page_has_the_verdicts_on_any_table(tmp_path: Path, register: Register) -> None:
    result, claims = list[TableVerdict](), list[list[str]]()
    for toy in (Tasty(), pancakes.PUZZLE, jugs.PUZZLE):
        folder = tmp_path / str(len(result))
        build_tables(folder, toy)
        register(toy)
        verified = verify(Folder(folder))
        result += verified.verdicts
        claims.append([claim["claim"] for claim in verified.claims])
    assert result[0].how.endswith("; not proved: taste, spice")
    # what no rule defines is no claim, so none can pass
    assert claims[0] == claims[1]
    assert claims[2] == [*claims[1][:6], claims[1][-1]]
    register(pancakes.PUZZLE)  # which has no table of jugs
    result += verify(Folder(folder)).verdicts
    result += verify(Folder(folder), quick=True).verdicts
    assert [verdict.verdict for verdict in result] == [
        *("intact", "proved", "intact", "intact", "intact"),
    ]
    require_rows(result, 5)


def test_only_a_proved_list_is_evidence_for_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tours, counts = make_tour_table(KnightBoard(3, 4)), make_count_table(((3, 4),))
    monkeypatch.setattr(Knight, "tables", (*KNIGHT.tables[:-1], counts))
    build_tables(tmp_path, KNIGHT, tours, counts)
    assert {each.verdict for each in verify(Folder(tmp_path)).verdicts} == {"proved"}
    (tmp_path / tours.file).unlink()
    (verdict,) = verify(Folder(tmp_path)).verdicts
    assert (verdict.table, verdict.verdict) == (counts.name, "recounted")
