"""`verify` finds every kind of false value, and names its claim and row.

Senet has its false tables in `test_senet`, of a smaller board.
"""

import json
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from puzzle_tablebase.pipeline import proofs
from puzzle_tablebase.pipeline.proofs import TableResult, VerifyFailed, find_proof, prove
from puzzle_tablebase.pipeline.proofs.claims import ListedTable
from puzzle_tablebase.pipeline.proofs.knight_counts import prove_counts
from puzzle_tablebase.puzzles import MODULES, find_owner
from puzzle_tablebase.puzzles import fifteen as fifteen_tables
from puzzle_tablebase.puzzles.fifteen import PUZZLE as FIFTEEN
from puzzle_tablebase.puzzles.fifteen import Partition
from puzzle_tablebase.puzzles.knight.board import KnightBoard
from puzzle_tablebase.puzzles.knight.tables import PUZZLE as KNIGHT
from puzzle_tablebase.puzzles.knight.tables import make_ranking_table, make_tour_table
from puzzle_tablebase.puzzles.sliding import PUZZLE as SLIDING
from puzzle_tablebase.schema import Table
from puzzle_tablebase.stores.folder import Folder
from tests.conftest import make_once
from tests.support import jugs
from tests.support.build_recorder import build_tables
from tests.support.count_boards import LIMITS, TABLE, list_proved, open_counts
from tests.support.false_tables import ANY, CASES, Case, Files
from tests.support.pancakes import PUZZLE as PANCAKES
from tests.support.sliding_tables import treat_as_large
from tests.support.tampered import Records, change_records, link_copy, open_one, rewrite, run

TINY = Partition(3, 3, "1 2 5", "3 6", "4 7 8")


@pytest.fixture
def make_folder(
    outputs: Path,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[str], Path]:
    """Return a function that copies the true table of a name, as files that may be changed."""
    monkeypatch.setitem(MODULES, PANCAKES.name, "tests.support.pancakes")
    monkeypatch.setitem(MODULES, jugs.PUZZLE.name, "tests.support.jugs")
    monkeypatch.setitem(fifteen_tables.PARTITIONS, "5-5-5", TINY)
    treat_as_large(monkeypatch, 8)

    def make(place: Path) -> None:
        build_tables(place, PANCAKES)
        build_tables(place, jugs.PUZZLE)
        build_tables(place, FIFTEEN, *TINY.make_tables())
        build_tables(place, SLIDING, *SLIDING.find_tables("sliding_2x3"))
        build_tables(place, SLIDING, *SLIDING.find_tables("sliding_2x4"))
        build_tables(place, KNIGHT, TABLE, make_tour_table(KnightBoard(3, 4)))
        build_tables(place, KNIGHT, make_ranking_table(KnightBoard(5, 6), closed=True))

    def copy(name: str) -> Path:
        is_default = name.startswith(("eight", "knight_tours"))
        made = make_once(tmp_path_factory, "false_values", make)
        return link_copy(outputs if is_default else made, tmp_path)

    return copy


def prove_in(folder: Path, name: str) -> TableResult:
    """Prove a table; that of counts is a small one, and its list of the tours of 3x4 is proved."""
    if name != TABLE.name:
        listed = open_one(folder, name)
        return run(listed, prove(listed, {}))
    counts = open_counts(folder)
    return run(counts, prove_counts(counts, list_proved(folder, "3x4"), LIMITS))


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, id=f"{name}-{number}")
        for name, cases in CASES.items()
        for number, case in enumerate(cases)
    ],
)
def test_a_false_table_is_refuted(
    make_folder: Callable[[str], Path], name: str, case: Case
) -> None:
    (change, row, claim, values), folder = case, make_folder(name)
    if isinstance(change, Files):
        change.edit(folder, name)
    elif isinstance(change, Records):
        change_records(folder, name, change.edit)
    else:
        rewrite(folder, name, change, 100 if "tours" in name else 1 << 17, find_table(name))
    with pytest.raises(VerifyFailed) as caught:
        prove_in(folder, name)
    failure = caught.value
    assert fnmatchcase(failure.claim["claim"], f"{claim}*")
    assert row in (ANY, failure.row)
    assert fnmatchcase(f"{failure.found} | {failure.expected}", values)
    assert failure.exit_code == 3
    assert json.dumps(failure.to_dict())


def find_table(name: str) -> Table | None:
    return TABLE if name == TABLE.name else None


@pytest.mark.parametrize("name", CASES)
def test_every_claim_has_a_false_table_that_it_refutes(
    make_folder: Callable[[str], Path], name: str
) -> None:
    claims = [claim["claim"] for claim in prove_in(make_folder(name), name).claims]
    refuted = [claim for cases in CASES.values() for _, _, claim, _ in cases]
    for text in claims:
        assert any(fnmatchcase(text, f"{claim}*") for claim in refuted), text


@pytest.mark.usefixtures("make_folder")
def test_every_proof_has_false_tables() -> None:
    covered = set()
    for name in CASES:
        puzzle = find_owner(name)
        assert puzzle
        table = find_table(name) or puzzle.find_table(name)
        unlisted: Any = None
        covered.add(find_proof(ListedTable(Folder(""), name, unlisted, puzzle, table)))
    every = {name for name in vars(proofs) if name.startswith("prove_")}
    assert {proof.__name__ for proof in covered} == every - {"prove_senet"}
