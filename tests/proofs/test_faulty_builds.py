"""No proof passes a table that a faulty function built, though the proof runs the same function.

Build and proof run in this process, each with the fault; what both call is found here.
"""

import pkgutil
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from msgspec import json

from puzzle_tablebase import puzzles, tour_frontier, two_bit_bfs
from puzzle_tablebase.formats.manifest import read_manifest
from puzzle_tablebase.pipeline import recipes
from puzzle_tablebase.pipeline.proofs.claims import VerifyFailed
from puzzle_tablebase.pipeline.recipes import board_shards
from puzzle_tablebase.pipeline.verify import verify
from puzzle_tablebase.registry import find_owner
from puzzle_tablebase.stores import Folder
from tests.support import document_reader, oracles
from tests.support.build_recorder import build_all
from tests.support.faulty_builds import (
    BITS,
    FAULTS,
    LIST,
    OPEN,
    PACKAGE,
    PATTERN,
    Fault,
    change_code,
    plant,
)
from tests.support.made_once import make_once
from tests.support.small_tables import build_small_tables, use_small_tables

LARGE = "eight", "eight_edge", "senet"
FAULTLESS = {
    "tour_frontier.layers": "for lookups",
    "tour_frontier.states": "for lookups: builds have its constants alone, which the format states",
    "puzzles.knight.tables": "definitions of tables",
}
"""Modules of rules and kernels in which no fault of a function can change a build's bytes."""


@pytest.fixture(autouse=True)
def _small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    use_small_tables(monkeypatch)


@pytest.fixture
def true_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_once(tmp_path_factory, "small_tables", build_small_tables)


def build_one(folder: Path, name: str, *, in_shards: bool = False) -> None:
    """Build a table, in this process or by the tasks of a cluster."""
    owner = find_owner(name)
    table = owner and owner.find_table(name)
    assert owner
    assert table
    with (
        ThreadPoolExecutor(2) if in_shards else nullcontext() as executor,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(board_shards, "KEPT_BYTES_PER_STATE", 0)  # bits are collected
        build_all(Folder(folder), [(owner, [table])], executor=executor, jobs=2)


def read_made(folder: Path, name: str) -> dict[str, bytes]:
    """Return the bytes of a table's files, and its entry in the manifest."""
    entry = read_manifest(Folder(folder))[name]
    files = {each.file: (folder / each.file).read_bytes() for each in entry.all_files}
    return files | {"entry": json.encode(entry)}


def name_fault(fault: Fault) -> str:
    changed = re.sub(r"\W+", "_", fault.old).strip("_")
    return f"{fault.function.rpartition('.')[2]}-{fault.table}-{changed[:30]}"


def list_parameters() -> list[Any]:
    marks = {"": [], "slow": [pytest.mark.slow], "nightly": [pytest.mark.nightly]}
    return [pytest.param(each, id=name_fault(each), marks=marks[each.mark]) for each in FAULTS]


@pytest.mark.parametrize("fault", list_parameters())
def test_a_faulty_build_is_refuted(
    true_tables: Path,
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
    fault: Fault,
) -> None:
    if fault.table in LARGE:
        true_tables = make_once(
            tmp_path_factory, f"true_{fault.table}", partial(build_one, name=fault.table)
        )
    true = read_made(true_tables, fault.table)
    with plant(fault):
        build_one(tmp_path, fault.table, in_shards=fault.in_shards)
        assert read_made(tmp_path, fault.table) != true
        with pytest.raises(VerifyFailed):
            verify(Folder(tmp_path))


@pytest.mark.parametrize("table", [BITS, PATTERN, LIST, OPEN])
def test_only_the_fault_makes_the_difference(true_tables: Path, tmp_path: Path, table: str) -> None:
    """Build with kernels as plain Python, but without a fault."""
    (fault,) = (each for each in FAULTS if each.function == "intrinsics:count_ones")
    with plant(fault._replace(new=fault.old)):
        build_one(tmp_path, table)
        assert read_made(tmp_path, table) == read_made(true_tables, table)
        assert [str(each.verdict) for each in verify(Folder(tmp_path)).verdicts] == ["proved"]


def test_every_rule_and_search_has_a_fault() -> None:
    rooms = (recipes, puzzles, tour_frontier, two_bit_bfs)
    modules = {
        each.name.removeprefix(f"{PACKAGE}.")
        for room in rooms
        for each in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")
        if not each.ispkg
    }
    faulty = {fault.function.partition(":")[0] for fault in FAULTS}
    assert modules - faulty == {*FAULTLESS}
    assert len({fault.function for fault in FAULTS}) >= 25
    assert len(FAULTS) == len({name_fault(fault) for fault in FAULTS})
    for fault in FAULTS:  # those of slow tests too: its text stands in the function
        change_code(fault)


# ---- what is shared ---------------------------------------------------------------------------


def test_a_fault_of_a_shared_format_is_noticed_by_readers_of_the_page_alone(
    true_tables: Path, tmp_path: Path
) -> None:
    """A proof reads records with the code that wrote them, so their layout may be wrong."""
    fields = 'table.index], "formats": formats'
    reversed_fields = 'table.index][::-1], "formats": formats[::-1]'
    with plant(Fault("formats.index:make_record_type", fields, reversed_fields, OPEN)):
        build_one(tmp_path, OPEN)
        (verdict,) = verify(Folder(tmp_path)).verdicts
    assert str(verdict.verdict) == "proved"
    assert document_reader.layers((true_tables / f"{OPEN}.idx").read_bytes())
    with pytest.raises(ValueError, match="zip"):
        document_reader.layers((tmp_path / f"{OPEN}.idx").read_bytes())


def test_a_fault_of_a_shared_notation_is_noticed_by_an_oracle(tmp_path: Path) -> None:
    """A proof names squares with the code that named them in the table."""
    named = "divmod(square, self.files)", "divmod(square ^ 1, self.files)"
    with plant(Fault("puzzles.knight.board:KnightBoard.name_square", *named, LIST)):
        build_one(tmp_path, LIST)
        (verdict,) = verify(Folder(tmp_path)).verdicts
    assert str(verdict.verdict) == "proved"
    for path in pl.read_parquet(tmp_path / f"{LIST}.parquet")["path"]:
        with pytest.raises(AssertionError):
            oracles.read_tour(3, 4, path)
