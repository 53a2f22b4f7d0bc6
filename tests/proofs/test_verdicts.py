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
from msgspec.structs import replace as replace_entry

from puzzle_tablebase.graph import Graph, SearchResult
from puzzle_tablebase.pipeline.proofs import (
    TableResult,
    TableVerdict,
    Verdict,
    VerifyFailed,
    knight_counts,
    limit,
    prove,
    verify,
)
from puzzle_tablebase.pipeline.proofs.claims import Silence, run_claims
from puzzle_tablebase.pipeline.proofs.files import check_counts
from puzzle_tablebase.pipeline.proofs.knight_counts import CountLimits
from puzzle_tablebase.pipeline.proofs.verdicts import Proved
from puzzle_tablebase.puzzle import Puzzle
from puzzle_tablebase.puzzles import MODULES
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_count_table, make_tour_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.schema import Column, Table
from puzzle_tablebase.stores.folder import Folder
from tests.support import jugs, pancakes
from tests.support.build_recorder import build_tables
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import (
    change_header,
    describe_file,
    edit_manifest,
    open_one,
    prove_one,
)
from tests.support.trust_page import require_rows

if TYPE_CHECKING:
    from puzzle_tablebase.puzzle import Columns

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


@pytest.mark.parametrize("table", ["senet", "knight_counts", "sliding_2x3_6", "knight_tours_5x5"])
def test_columns_and_fields_without_a_rule_are_named(
    table: str, outputs: Path, tmp_path: Path
) -> None:
    if table.startswith("sliding"):
        build_tables(tmp_path, SLIDING, *SLIDING.find_tables("sliding_2x3"))
    listed = open_one(tmp_path if table.startswith("sliding") else outputs, table)
    old = listed.definition
    columns = (*old.columns, Column("taste", "int16", "how good it is"))
    spice = (("spice", "B"),) if old.index else ()
    extended = Table(table, old.meaning, old.rank, columns, old.recipe, (*old.index, *spice))
    known = [column.name for column in old.columns]
    proved = Proved(Verdict.PROVED, "", known, [name for name, _ in old.index])
    entry = replace_entry(listed.entry, counts=None)
    claims = check_counts(replace(listed, table=extended, entry=entry), proved)
    result, names = TableResult(table), ["taste", *(name for name, _ in spice)]
    assert run_claims(listed, claims, result, Silence()) == names
    assert [claim["claim"] for claim in result.claims] == [
        f"{name}: not proved, because no rule defines it" for name in names
    ]


def test_no_verdict_is_above_intact_with_a_gap() -> None:
    for verdict in Verdict:
        assert limit(verdict, "so", []) == (verdict, "so")
        how = "so" if verdict is Verdict.INTACT else "so; not proved: taste"
        assert limit(verdict, "so", ["taste"]) == (Verdict.INTACT, how)


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
    with pytest.raises(VerifyFailed, match=rf"rows of {name}: True, expected False"):
        verify(Folder(tmp_path))


@pytest.mark.parametrize("word", ["parameters", "rows"])
def test_the_entry_of_an_index_alone_is_checked(sliding_index: Path, word: str) -> None:
    with edit_manifest(sliding_index) as entries:
        text = entries["sliding_2x4_8"]
        false = {
            "parameters": {**text["parameters"], "more": 1},
            "rows": 20_160,
        }
        text[word] = false[word]
    found = "records" if word == "rows" else word
    with pytest.raises(VerifyFailed, match=rf"parameters and .*found {found}"):
        verify(Folder(sliding_index))


def exchange_indexes(folder: Path, one: str, other: str, **header: object) -> None:
    """List the index of each of two tables under the name of the other, and change its header."""
    data = {name: (folder / f"{name}.idx").read_bytes() for name in (one, other)}
    with edit_manifest(folder) as entries:
        contents = {name: entries[name]["content"] for name in data}
        for name, source in ((one, other), (other, one)):
            named = {key: name.encode() for key in header}
            path = folder / f"{name}.idx"
            path.write_bytes(change_header(data[source], **named))
            entries[name] |= {"content": contents[source]}
            entries[name]["index"]["sha256"] = describe_file(path)["sha256"]


@pytest.mark.parametrize(
    ("header", "claim"), [({}, "header, checksums"), ({"name": 1}, "each bit is bit 1 of")]
)
def test_a_table_under_the_name_of_another_is_refused(
    sliding_index: Path, header: dict[str, object], claim: str
) -> None:
    names = [table.name for table in SLIDING.find_tables("sliding_2x4_all")]
    exchange_indexes(sliding_index, names[0], names[1], **header)
    with pytest.raises(VerifyFailed) as caught:
        verify(Folder(sliding_index))
    assert caught.value.claim["table"] in names
    assert caught.value.claim["claim"].startswith(claim)


# ---- docs/trust.md --------------------------------------------------------------------------


def test_the_page_has_the_verdicts_on_optional_tables(
    tmp_path: Path,
    numbered_boards: list[TableVerdict],
    counted_boards: list[TableVerdict],
    patterns_555: Path,
) -> None:
    verdicts = [*numbered_boards, *counted_boards]
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
    require_rows(verdicts, 12)


@pytest.fixture(scope="module")
def numbered_boards(ranked_boards: Path) -> list[TableVerdict]:
    """Return verdicts on ranking tables."""
    names = ("knight_closed_ranks_5x6", "knight_ranks_5x4")
    return [each for name in names for each in prove_one(ranked_boards, name).verdicts]


def test_ranking_tables_are_proved(numbered_boards: list[TableVerdict]) -> None:
    assert [verdict.verdict for verdict in numbered_boards] == ["proved"] * 2


@pytest.fixture
def counted_boards(tmp_path: Path) -> list[TableVerdict]:
    """Return verdicts on small boards, some of them treated like larger ones."""
    table = make_count_table(((3, 4), (4, 3), (4, 4), (4, 5), (5, 4), (4, 6)), ((5, 6), (10, 3)))
    folder = tmp_path / "counts"
    build_tables(folder, KNIGHT, make_tour_table(KnightBoard(3, 4)), table)
    few = CountLimits(16, swept_side=2, swept_squares=16, closed_squares=16)
    all_swept = CountLimits(walked_squares=16)
    return [*verdicts_on_counts(folder, table, all_swept), *verdicts_on_counts(folder, table, few)]


def verdicts_on_counts(folder: Path, table: Table, limits: CountLimits) -> list[TableVerdict]:
    tours = open_one(folder, "knight_tours_3x4")
    listed = replace(open_one(folder, table.name), table=table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knight_counts, "PUBLISHED_BOARD", "4x5")
        patch.setattr(knight_counts, "PUBLISHED_TOURS", 164)
        patch.setattr(knight_counts, "PUBLISHED_CLOSED", 0)
        claims = knight_counts.prove_counts(listed, {tours.name: tours}, limits)
        boards = run_claims(listed, claims, TableResult(table.name), Silence()).boards
    return [TableVerdict(table.name, name, *verdict) for name, verdict in boards.items()]


def test_the_page_has_the_verdicts_on_any_table(tmp_path: Path, register: Register) -> None:
    result = list[TableVerdict]()
    for toy in (Tasty(), pancakes.PUZZLE, jugs.PUZZLE):
        folder = tmp_path / str(len(result))
        build_tables(folder, toy)
        register(toy)
        result += verify(Folder(folder)).verdicts
    assert result[0].how.endswith("; not proved: taste, spice")
    register(pancakes.PUZZLE)  # which has no table of jugs
    result += verify(Folder(folder)).verdicts
    result += verify(Folder(folder), quick=True).verdicts
    assert [verdict.verdict for verdict in result] == [
        *("intact", "proved", "recounted", "intact", "intact"),
    ]
    require_rows(result, 5)


def test_boards_get_the_strongest_verdict_that_holds(counted_boards: list[TableVerdict]) -> None:
    result = [(verdict.board, verdict.verdict.value) for verdict in counted_boards]
    half = len(result) // 2
    assert dict(result[:half]) == {
        "3x4": "proved",
        "4x3": "recounted",
        "4x4": "recounted",
        "4x5": "recounted",
        "5x4": "recounted",
        "4x6": "recounted",
        "5x6": "recounted",
        "10x3": "recounted",
    }
    assert dict(result[half:]) == {
        **dict(result[:half]),
        "4x5": "published",
        "5x4": "intact",
        "4x6": "intact",
        "5x6": "intact",
        "10x3": "intact",
    }


@pytest.mark.parametrize(
    ("proved", "verdict", "how"),
    [
        (["knight_tours_3x4"], "proved", "compared with knight_tours_3x4, which is proved"),
        ([], "recounted", "counted again, path by path"),
    ],
)
def test_only_a_proved_list_is_evidence_for_counts(
    tmp_path: Path, proved: list[str], verdict: str, how: str
) -> None:
    table = make_count_table(((3, 4),))
    build_tables(tmp_path, KNIGHT, make_tour_table(KnightBoard(3, 4)), table)
    tours = open_one(tmp_path, "knight_tours_3x4")
    listed = replace(open_one(tmp_path, table.name), table=table)
    claims = prove(listed, dict.fromkeys(proved, tours))
    (result,) = run_claims(listed, claims, TableResult(table.name), Silence())
    assert (result.verdict, result.how) == (verdict, f"every square was {how}")
